import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { errors, type StackKey, utf8 } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

/** Name of the key file in the data directory. It belongs in the backup, beside the ledger. */
export const INSTANCE_KEY_FILE = "instance.key";

const KEY_BYTES = 32;
/** Most bytes of its file. */
const MOST_OF_KEY = 64 * 1024;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of a JSON object; compressed texts, which this version seals, begin with 0x78. */
const BRACE = 0x7b;

/**
 * The secret of this installation. Digests that end up in labels are keyed with it, because they
 * cover secrets and anybody who can list containers can read labels; models are sealed with it.
 */
export class InstanceKey {
  readonly #digestKey: Uint8Array;
  readonly #shownKey: Uint8Array;
  readonly #sealKey: Uint8Array;

  /** `secret` has at least 32 bytes that nobody else knows. */
  constructor(secret: Uint8Array) {
    this.#digestKey = derive(secret, "stackwright digest v1");
    this.#shownKey = derive(secret, "stackwright shown digest v1");
    this.#sealKey = derive(secret, "stackwright seal v1");
  }

  /** HMAC-SHA-256 of a text, as the first 32 hex digits: 128 bits. */
  digest(text: string): string {
    return hmac(this.#digestKey, text);
  }

  /**
   * The digest of a text, or of a {@link digest}, that is shown to readers of a stack. Equal texts of two
   * stacks have different ones: whoever may deploy one stack could test guesses of another's secrets.
   */
  shown({ context, name }: StackKey, text: string): string {
    return hmac(this.#shownKey, JSON.stringify([context, name, text]));
  }

  /**
   * Compresses a text and encrypts it with AES-256-GCM; two calls never return the same bytes.
   * Models are most of the ledger, and compress to a tenth.
   */
  seal(text: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#sealKey, nonce);
    const parts = [nonce, cipher.update(deflateSync(text)), cipher.final(), cipher.getAuthTag()];
    return concat(parts);
  }

  /**
   * Reverses {@link seal}; also opens objects that earlier versions sealed uncompressed. Throws
   * `ledger_unusable` when the bytes were sealed with another key or damaged.
   */
  open(sealed: Uint8Array): string {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const body = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", this.#sealKey, nonce);
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      const opened = concat([decipher.update(body), decipher.final()]);
      return utf8(opened[0] === BRACE ? opened : inflateSync(opened));
    } catch (cause) {
      throw errors.ledger_unusable(
        `a recorded release cannot be opened: ${INSTANCE_KEY_FILE} is not the key it was sealed ` +
          `with, or the ledger is damaged; restore ${INSTANCE_KEY_FILE} and state.db from one backup`,
        { cause },
      );
    }
  }
}

/**
 * Reads the key of a data directory, or makes it on the first start (mode 0600).
 *
 * Throws `data_dir_unusable` when the file exists and is no key: a new key would change every
 * digest and so recreate every container.
 */
export async function loadInstanceKey(files: Files, dataDir: string): Promise<InstanceKey> {
  const path = join(dataDir, INSTANCE_KEY_FILE);
  const existing = await files.readIfExists(path, MOST_OF_KEY) ?? await makeKey(files, path);
  const text = utf8(existing).trim();
  if (!/^[0-9a-f]{64,}$/.test(text)) {
    throw errors.data_dir_unusable(
      `${path} is not an instance key (64 hex digits): restore it from a backup; without it every ` +
        `service would be recreated once, which is what happens when you delete the file`,
    );
  }
  return new InstanceKey(Buffer.from(text, "hex"));
}

/** Makes the key, unless another process makes it first: then both use that one. */
async function makeKey(files: Files, path: string): Promise<Uint8Array> {
  const beside = `${path}.${randomBytes(8).toString("hex")}`;
  const text = randomBytes(KEY_BYTES).toString("hex") + "\n";
  await files.write(beside, text, { mode: 0o600 });
  try {
    await files.link(beside, path);
  } catch {
    // The file exists already, or its file system has no hard links.
    if (await files.stat(path) === undefined) await files.rename(beside, path);
  } finally {
    await files.remove(beside);
  }
  return await files.readIfExists(path, MOST_OF_KEY) ?? new TextEncoder().encode(text);
}

function derive(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(), purpose, KEY_BYTES));
}

function hmac(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex").slice(0, 32);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
