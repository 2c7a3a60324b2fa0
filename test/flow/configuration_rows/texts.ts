import { composeFile, service } from "../compose_text.ts";

/** The configuration file of a row. */
export const CONFIG = ".stackwright.yaml";

/** A compose file of a service `web` that carries a text as the label `test.v`. */
export function app(text: string): string {
  return composeFile({ web: service({ labels: { "test.v": text } }) });
}
