import { clip } from "../model/mod.ts";

/** The message of the YAML library without quoted pieces of the text, which may be passwords. */
export function yamlMessage({ message }: Error): string {
  const said = message.replace(/\s+/g, " ")
    .replace(/^(Block scalar header includes extra characters|Unresolved tag): .*$/, "$1")
    .replace(/^(Invalid escape sequence) .*$/, "$1")
    .replace(/: ".*$/, "");
  return `not valid YAML: ${clip(said, 200)}`;
}
