import { Buffer } from "node:buffer";
import { createCipheriv, createHash, randomBytes } from "node:crypto";
import * as age from "age-encryption";

/** A value; a member of a map whose name begins with `#` is a comment. */
export type SopsValue =
  | string
  | number
  | boolean
  | null
  | readonly SopsValue[]
  | { readonly [key: string]: SopsValue };

/** A map at the root of a document. */
export type SopsTree = { readonly [key: string]: SopsValue };

/** How a file is encrypted. */
export interface SopsOptions {
  /** age recipients; any of them can decrypt. */
  readonly recipients: readonly string[];
  readonly unencryptedSuffix?: string;
  readonly encryptedSuffix?: string;
  readonly encryptedRegex?: string;
  readonly unencryptedRegex?: string;
  readonly macOnlyEncrypted?: boolean;
  /** Further members of the metadata, or others than usual. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Checksum instead of the right one. */
  readonly mac?: string;
}

/** A pair of keys for a test. */
export interface AgeKeys {
  readonly identity: string;
  readonly recipient: string;
}

/** Makes a fresh pair. */
export async function createAgeKeys(): Promise<AgeKeys> {
  const identity = await age.generateX25519Identity();
  return { identity, recipient: await age.identityToRecipient(identity) };
}

/** Encrypts documents as the `sops` program writes YAML, all with one data key. */
export async function encryptYaml(
  trees: SopsTree | readonly SopsTree[],
  options: SopsOptions,
): Promise<string> {
  const documents = Array.isArray(trees) ? trees as readonly SopsTree[] : [trees as SopsTree];
  const encryption = new Encryption(options, "yaml");
  const encrypted = documents.map((each) => encryption.tree(each));
  const sops = await encryption.metadata();
  return encrypted.map((each) => yaml({ ...each, sops }, "")).join("---\n");
}

/** Encrypts as JSON. */
export async function encryptJson(tree: SopsTree, options: SopsOptions): Promise<string> {
  const encryption = new Encryption(options, "json");
  const encrypted = encryption.tree(tree);
  return JSON.stringify({ ...encrypted, sops: await encryption.metadata() }, null, "\t") + "\n";
}

/** Encrypts a file of any kind as a whole. */
export async function encryptBinary(content: string, options: SopsOptions): Promise<string> {
  return await encryptJson({ data: content }, options);
}

/** Encrypts the lines of a dotenv file. */
export async function encryptDotenv(text: string, options: SopsOptions): Promise<string> {
  const lines = text.split("\n").filter((line) => line !== "");
  const tree = Object.fromEntries(lines.map((line, index) => {
    if (line.startsWith("#")) return [`#${index}`, line.slice(1)];
    const [name = "", ...rest] = line.split("=");
    return [name, rest.join("=").replaceAll("\\n", "\n")];
  }));
  const encryption = new Encryption(options, "dotenv");
  const encrypted = Object.entries(encryption.tree(tree));
  const flat = flattened(await encryption.metadata(), "sops");
  const written = [...encrypted, ...flat].map(([name, value]) =>
    name.startsWith("#") ? `#${value}` : `${name}=${String(value).replaceAll("\n", "\\n")}`
  );
  return written.join("\n") + "\n";
}

/** Encrypts values in order and sums them up. */
class Encryption {
  readonly #key = randomBytes(32);
  readonly #hash = createHash("sha512");
  readonly #options: SopsOptions;
  readonly #format: "yaml" | "json" | "dotenv";

  constructor(options: SopsOptions, format: "yaml" | "json" | "dotenv") {
    this.#options = options;
    this.#format = format;
    if (options.macOnlyEncrypted === true) {
      this.#hash.update(createHash("sha256").update("sops").digest());
    }
  }

  tree(tree: SopsTree): Record<string, SopsValue> {
    return this.#map(tree, []);
  }

  async metadata(): Promise<SopsTree> {
    const lastmodified = "2026-11-20T10:11:12Z";
    const { recipients, metadata, mac, macOnlyEncrypted } = this.#options;
    const keys = await Promise.all(recipients.map(async (recipient) => {
      const encrypter = new age.Encrypter();
      encrypter.addRecipient(recipient);
      return { recipient, enc: age.armor.encode(await encrypter.encrypt(this.#key)) };
    }));
    const sum = mac ?? this.#hash.digest("hex").toUpperCase();
    const { unencryptedSuffix, encryptedSuffix, encryptedRegex, unencryptedRegex } = this.#options;
    const rules = {
      unencrypted_suffix: unencryptedSuffix,
      encrypted_suffix: encryptedSuffix,
      encrypted_regex: encryptedRegex,
      unencrypted_regex: unencryptedRegex,
      mac_only_encrypted: macOnlyEncrypted,
    };
    const all = {
      age: keys,
      lastmodified,
      mac: this.#seal("str", sum, lastmodified),
      ...rules,
      version: "3.10.2",
      ...metadata,
    };
    return Object.fromEntries(
      Object.entries(all).filter((each) => each[1] !== undefined),
    ) as SopsTree;
  }

  #map(map: SopsTree, path: readonly string[]): Record<string, SopsValue> {
    return Object.fromEntries(
      Object.entries(map).map(([key, value]) => {
        if (!key.startsWith("#")) return [key, this.#value(value, [...path, key])];
        const secret = this.#isSecret(path);
        return [key, secret ? this.#seal("comment", String(value), bound(path)) : value];
      }),
    );
  }

  #value(value: SopsValue, path: readonly string[]): SopsValue {
    if (value === null) return null;
    if (Array.isArray(value)) return value.map((each) => this.#value(each, path));
    if (typeof value === "object") return this.#map(value as SopsTree, path);
    const [type, text] = this.#typed(value);
    const secret = this.#isSecret(path);
    if (secret || this.#options.macOnlyEncrypted !== true) this.#hash.update(text);
    if (!secret) return value;
    return text === "" ? "" : this.#seal(type, text, bound(path));
  }

  #typed(value: string | number | boolean | unknown): [string, string] {
    if (typeof value === "boolean") return ["bool", value ? "True" : "False"];
    if (typeof value !== "number") return ["str", String(value)];
    const isInteger = Number.isInteger(value) && this.#format === "yaml";
    const long = Math.abs(value) >= 1e21 ? BigInt(value).toString() : String(value);
    return [isInteger ? "int" : "float", long];
  }

  #isSecret(path: readonly string[]): boolean {
    const { unencryptedSuffix, encryptedSuffix, encryptedRegex, unencryptedRegex } = this.#options;
    const some = (test: (key: string) => boolean) => path.some(test);
    if (encryptedSuffix !== undefined) return some((key) => key.endsWith(encryptedSuffix));
    if (encryptedRegex !== undefined) return some((key) => new RegExp(encryptedRegex).test(key));
    if (unencryptedRegex !== undefined) {
      return !some((key) => new RegExp(unencryptedRegex).test(key));
    }
    return !some((key) => key.endsWith(unencryptedSuffix ?? "_unencrypted"));
  }

  #seal(type: string, text: string, additional: string): string {
    const iv = randomBytes(32);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv);
    cipher.setAAD(Buffer.from(additional));
    const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]).toString("base64");
    const tag = cipher.getAuthTag().toString("base64");
    return `ENC[AES256_GCM,data:${data},iv:${iv.toString("base64")},tag:${tag},type:${type}]`;
  }
}

function bound(path: readonly string[]): string {
  return path.join(":") + ":";
}

/** YAML in block style with four spaces; block literals for texts of several lines. */
function yaml(map: SopsTree, indent: string): string {
  return Object.entries(map).map(([key, value]) =>
    key.startsWith("#")
      ? `${indent}#${value}\n`
      : `${indent}${/^[\w.-]+$/.test(key) ? key : JSON.stringify(key)}:${yamlValue(value, indent)}`
  ).join("");
}

function yamlValue(value: SopsValue, indent: string): string {
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return " []\n";
    return "\n" + value.map((each: SopsValue) => {
      const isMap = typeof each === "object" && each !== null && !Array.isArray(each);
      const text = isMap
        ? yaml(each as SopsTree, `${inner}  `).trimStart()
        : yamlValue(each, inner);
      return `${inner}-${isMap ? " " : ""}${text}`;
    }).join("");
  }
  if (typeof value === "object" && value !== null) {
    return Object.keys(value).length === 0 ? " {}\n" : `\n${yaml(value as SopsTree, inner)}`;
  }
  if (typeof value === "string" && value.endsWith("\n")) {
    return ` |\n${value.trimEnd().split("\n").map((line) => `${inner}${line}\n`).join("")}`;
  }
  if (typeof value === "string" && !value.startsWith("ENC[")) return ` ${JSON.stringify(value)}\n`;
  return ` ${value === null ? "null" : value}\n`;
}

/** Nested lists and maps as the names of dotenv. */
function flattened(value: SopsValue, name: string): [string, SopsValue][] {
  const separator = name === "sops" ? "_" : "__map_";
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => flattened(each, `${name}__list_${index}`));
  }
  if (typeof value !== "object" || value === null) return [[name, value]];
  return Object.entries(value).flatMap(([key, each]) =>
    flattened(each, `${name}${separator}${key}`)
  );
}
