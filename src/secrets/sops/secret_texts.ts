import { Buffer } from "node:buffer";
import type { PlainFile } from "./decrypt_text.ts";
import type { SopsText } from "./sops_text.ts";

/** Length below which a decrypted text is too likely an ordinary word. */
const SHORTEST = 6;
/** Length from which a word of a binary file is hardly an ordinary one. */
const LONG_WORD = 16;
/** What would blank out half of a log. */
const ORDINARY = /^(?:true|false|enabled|disabled|localhost|production|development)$/i;

/**
 * The texts of a decrypted file that must not be shown: every value of one that has values; of a
 * binary one the values of its assignments and its long words, since the rest is ordinary text.
 */
export function secretTexts(format: SopsText["format"], { bytes, secrets }: PlainFile): string[] {
  const all = format === "binary" ? binarySecrets(bytes) : secrets;
  return [...new Set(all)].filter((each) => each.length >= SHORTEST && !ORDINARY.test(each));
}

function binarySecrets(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString("utf8");
  const assigned = [...text.matchAll(/^\s*(?:export\s+)?["\w.-]+\s*[=:]\s*(\S.*?)\s*$/gm)]
    .map((match) => (match[1] ?? "").replace(/^(["'])(.*)\1,?$/, "$2"));
  const words = text.split(/\s+/).filter((word) => word.length >= LONG_WORD);
  return [...assigned, ...words];
}
