import { Buffer } from "node:buffer";
import { assignedIn, MOST_OF_AN_OWNER, secretParts } from "../../system/mod.ts";
import type { DecryptedText } from "./decrypt_text.ts";
import type { FileKind } from "./file_kind.ts";
import type { SopsText } from "./sops_text.ts";

/** Maps of compose files and of our configuration whose values may be anything. */
const FREE_MAPS = new Set(["environment", "args", "labels", "content", "driver_opts"]);
/** Members of such files that name things, which messages have to name too. */
const NAMES = new Set([
  "compose_files",
  "container_name",
  "context",
  "depends_on",
  "dockerfile",
  "driver",
  "env_file",
  "env_files",
  "file",
  "hostname",
  "image",
  "include",
  "name",
  "networks",
  "profiles",
  "reference",
  "repository_url",
  "source",
  "target",
  "volumes",
  "working_dir",
]);

/**
 * The texts of a decrypted file that must not be shown: every value that was encrypted, but the
 * names of things where the file is a compose file or one of ours. Of a binary file the values of
 * its assignments and its long words, since the rest is ordinary text, unless it is one line.
 */
export function secretTexts(
  kind: FileKind,
  { format, leaves }: Pick<SopsText, "format" | "leaves">,
  { bytes, texts }: DecryptedText,
): string[] {
  if (format === "binary") return hidden(binaryTexts(Buffer.from(bytes).toString("utf8")));
  const describesStacks = kind === "configuration" ||
    leaves.some(({ path }) => path[0] === "services");
  return hidden(
    texts.filter(({ path }) => !(describesStacks && isName(path))).map(({ text }) => text),
  );
}

function isName(path: readonly string[]): boolean {
  return !path.some((key) => FREE_MAPS.has(key)) && path.some((key) => NAMES.has(key));
}

function binaryTexts(text: string): string[] {
  const whole = text.trim();
  return [...(whole.includes("\n") ? [] : [whole]), ...assignedIn(text)];
}

/**
 * A text between quotes also without them: so a container gets a value of a dotenv file. With more than
 * an owner may have, the file is refused, and the rest of its megabytes is not looked at.
 */
function hidden(texts: readonly string[]): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    for (const each of new Set([text, text.replace(/^(["'])(.*)\1$/s, "$2")])) {
      for (const part of secretParts(each)) found.add(part);
    }
    if (found.size > MOST_OF_AN_OWNER) break;
  }
  return [...found];
}
