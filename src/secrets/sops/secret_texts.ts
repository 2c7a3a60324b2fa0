import { Buffer } from "node:buffer";
import type { DecryptedText } from "./decrypt_text.ts";
import type { SopsText } from "./sops_text.ts";

/** Length below which a decrypted text is too likely an ordinary word. */
const SHORTEST = 6;
/** Length below which digits are too likely part of an ordinary number. */
const SHORTEST_NUMBER = 8;
/** Length from which a word of a binary file is hardly an ordinary one. */
const LONG_WORD = 16;
/** What would blank out half of a log. */
const ORDINARY = /^(?:enabled|disabled|localhost|production|development|unless-stopped)$/i;
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
 * its assignments and its long words, since the rest is ordinary text.
 */
export function secretTexts(
  name: string,
  { format, leaves }: Pick<SopsText, "format" | "leaves">,
  { bytes, texts }: DecryptedText,
): string[] {
  if (format === "binary") return worthHiding(binarySecrets(bytes));
  const describesStacks = /(?:^|\/)\.(?:stackwright|doco-cd)[^/]*$/.test(name) ||
    leaves.some(({ path }) => path[0] === "services");
  return worthHiding(
    texts.filter(({ path }) => !(describesStacks && isName(path))).map(({ text }) => text),
  );
}

function isName(path: readonly string[]): boolean {
  return !path.some((key) => FREE_MAPS.has(key)) && path.some((key) => NAMES.has(key));
}

function worthHiding(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => {
    const shortest = /^[\d.:/-]*$/.test(text) ? SHORTEST_NUMBER : SHORTEST;
    return text.length >= shortest && !ORDINARY.test(text);
  });
}

function binarySecrets(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString("utf8");
  const assigned = [...text.matchAll(/^\s*(?:export\s+)?["\w.-]+\s*[=:]\s*(\S.*?)\s*$/gm)]
    .map((match) => (match[1] ?? "").replace(/^(["'])(.*)\1,?$/, "$2"));
  const words = text.split(/\s+/).filter((word) => word.length >= LONG_WORD);
  return [...assigned, ...words];
}
