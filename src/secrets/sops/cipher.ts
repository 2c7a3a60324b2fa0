import { Buffer } from "node:buffer";
import { createDecipheriv } from "node:crypto";
import { LONGEST_INTEGER, plainNumber } from "./checked_scalar.ts";
import { type PlainValue, SopsFormatError } from "./sops_text.ts";

const ENCRYPTED =
  /^ENC\[AES256_GCM,data:([A-Za-z0-9+/=]*),iv:([A-Za-z0-9+/=]+),tag:([A-Za-z0-9+/=]+),type:([a-z0-9]+)\]\s*$/;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** True when a text is the cipher text of a value. */
export function isEncryptedValue(text: string): boolean {
  return text.startsWith("ENC[AES256_GCM,");
}

/**
 * Decrypts one value. `bound` is the text the cipher text is bound to: keys with a colon behind each,
 * or the time of the last change for the checksum.
 *
 * Throws {@link SopsFormatError} when it is malformed, was changed, moved, or has another key.
 */
export function openValue(text: string, key: Uint8Array, bound: string): PlainValue {
  const match = ENCRYPTED.exec(text);
  if (match === null) throw new SopsFormatError("is no cipher text of SOPS, or was cut off");
  const [data, iv, tag] = match.slice(1, 4).map((each) => Buffer.from(each, "base64"));
  const type = typeOf(match[4] ?? "");
  if (key.length !== KEY_BYTES || tag?.length !== TAG_BYTES || data === undefined || !iv?.length) {
    throw new SopsFormatError("is no cipher text of SOPS, or was cut off");
  }
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, iv);
    decipher.setAAD(Buffer.from(bound, "utf8"));
    decipher.setAuthTag(tag);
    const bytes = Buffer.concat([decipher.update(data), decipher.final()]);
    return { type, bytes: Uint8Array.from(bytes) };
  } catch {
    throw new SopsFormatError("was changed or moved after it was encrypted");
  }
}

/** A cipher text that the sops program opens to a text, whatever its type was. */
interface SealedText {
  readonly sealed: string;
  /** The type that it has, which is not bound to it. */
  readonly type: PlainValue["type"];
  /** Bytes that it opens to. */
  readonly length: number;
}

/** Makes one of a cipher text. Throws {@link SopsFormatError} when it is malformed. */
export function sealedText(text: string): SealedText {
  const match = ENCRYPTED.exec(text);
  if (match === null) throw new SopsFormatError("is no cipher text of SOPS, or was cut off");
  const [, data = "", iv, tag, name = ""] = match;
  const type = typeOf(name);
  const sealed = `ENC[AES256_GCM,data:${data},iv:${iv},tag:${tag},type:str]`;
  return { sealed, type, length: Buffer.from(data, "base64").length };
}

/** The bytes of a decrypted value that the checksum covers: none of a comment. */
export function checkedValue({ type, bytes }: PlainValue): Uint8Array {
  const text = Buffer.from(bytes).toString("utf8");
  switch (type) {
    case "int":
      // Longer ones are no integer that SOPS writes.
      if (text.length > LONGEST_INTEGER || !/^[-+]?\d+$/.test(text)) return bytes;
      return Buffer.from(String(BigInt(text)));
    case "float":
      return Buffer.from(plainNumber(Number(text)));
    case "bool":
      return Buffer.from(/^(?:1|t|true)$/i.test(text) ? "True" : "False");
    case "comment":
      return new Uint8Array();
    default:
      return bytes;
  }
}

function typeOf(name: string): PlainValue["type"] {
  switch (name) {
    case "str":
    case "int":
    case "float":
    case "bool":
    case "bytes":
    case "time":
    case "comment":
      return name;
    case "int64":
      return "int";
    default:
      throw new SopsFormatError(`has the type ${name}, which is unknown`);
  }
}
