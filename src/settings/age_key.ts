import type { VariableReader } from "./variable_reader.ts";

/** No more of how keys begin: the mask of a wrong one would hide it. */
const EXPECTED = "expected AGE-…, as age-keygen writes it, one a line";

/**
 * The keys of encrypted files: text with age identities, a line each. Refuses a text without any, and lines
 * that are none. No line is shown: a mistyped key is a key.
 */
export function readAgeKey(reader: VariableReader): string | undefined {
  const before = reader.problems.length;
  const text = reader.text("SOPS_AGE_KEY");
  const refuse = (message: string) => reader.refuse(reader.origin("SOPS_AGE_KEY"), message);
  const lines = (text ?? "").split("\n").map((line) => line.trim());
  const isKey = (line: string) => line !== "" && !line.startsWith("#");
  const isGiven = ["SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE"].some((name) => reader.isSet(name));
  if (isGiven && reader.problems.length === before && !lines.some(isKey)) {
    refuse(
      `it has no age identity, ${
        text === undefined ? "it is empty" : "only comments"
      }: ${EXPECTED}`,
    );
  }
  for (const [at, line] of lines.entries()) {
    const wrong = isKey(line) ? whatIsWrong(line) : undefined;
    if (wrong === undefined) continue;
    refuse(`line ${at + 1} ${wrong}`);
    break;
  }
  return text;
}

function whatIsWrong(line: string): string | undefined {
  if (!/^AGE-(?:SECRET-KEY|PLUGIN)-[A-Z0-9-]+$/.test(line)) {
    return `is no age identity: ${EXPECTED}`;
  }
  if (!line.startsWith("AGE-SECRET-KEY-") || hasChecksum(line)) return undefined;
  return `is a damaged age identity (${line.length} characters with a wrong checksum): it was cut off or ` +
    "mistyped; take the whole line that age-keygen wrote";
}

/** Characters of Bech32, each for five bits. */
const DIGITS = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
/** What a wrong text changes in the checksum of Bech32, by the bits that are shifted out. */
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Whether a text in capitals ends with the checksum of Bech32 (BIP 173) over it. */
function hasChecksum(text: string): boolean {
  const border = text.lastIndexOf("1");
  const digits = [...text.slice(border + 1)].map((each) => DIGITS.indexOf(each));
  if (border < 1 || digits.includes(-1)) return false;
  const prefix = [...text.slice(0, border).toLowerCase()].map((each) => each.charCodeAt(0));
  const values = [
    ...prefix.map((each) => each >> 5),
    0,
    ...prefix.map((each) => each & 31),
    ...digits,
  ];
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    for (const [bit, each] of GENERATOR.entries()) if (top >> bit & 1) sum ^= each;
  }
  return sum === 1;
}
