import { basename, join } from "node:path";
import {
  dotenvEntries,
  insideTree,
  objectsAt,
  resourcesOf,
  secretsInLargeModel,
  secretsInVariables,
  servicesOf,
  textAt,
} from "../compose/mod.ts";
import { MOST_BYTES } from "../config/mod.ts";
import { RealTree } from "../deploy/mod.ts";
import { type ComposeInvocation, type ComposeModel, errors } from "../model/mod.ts";
import {
  contains,
  createPauses,
  embeddedSecrets,
  isSecretVariable,
  MOST_OF_AN_OWNER,
  namedSecretParts,
  readText,
  secretParts,
  secretsOfFile,
  writtenSecrets,
} from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";

type Parts = Pick<PrepareParts, "files" | "secrets" | "turns">;

/** Variables that control the garbage collector of Go programs, such as compose. */
const COLLECTOR = /GO(?:GC|MEMLIMIT)/;

/** Bytes of all dotenv files of a deployment; each may have {@link MOST_BYTES}. */
const MOST_OF_ALL = 4 * 1024 * 1024;
/** Characters of all texts that look like secrets. */
const MOST_HIDDEN = 2 * 1024 * 1024;
/** Characters of the names that are not hidden: each text that looks like a secret is searched for in them. */
const LONGEST_NAMES = 16 * 1024;
/** Bytes above which a file is unlikely to be a single secret. */
const LARGEST_SECRET = 64 * 1024;

/**
 * The plain-text secrets in a target's repository. Each step hides what it finds from all output,
 * before the next step can fail and quote it.
 */
export class PlainSecrets {
  readonly #parts: Parts;
  readonly #owner: string;
  readonly #names: string;
  readonly #hidden = new Set<string>();
  /** Texts for the record of a release, beside its model: from dotenv files and secret files. */
  readonly #texts = new Set<string>();
  readonly #looked = new Set<string>();
  readonly #dotenv: Record<string, string> = {};
  #hiddenCharacters = 0;
  #dotenvBytes = 0;
  #namesCollector = false;

  /** Texts that are part of one of `names` are not hidden, so that messages can name the target. */
  constructor(parts: Parts, owner: string, names: readonly string[] = []) {
    this.#parts = parts;
    this.#owner = owner;
    this.#names = names.join("\n").slice(0, LONGEST_NAMES);
  }

  /** Secrets found so far, for the ledger. */
  get texts(): readonly string[] {
    return [...this.#texts];
  }

  /** Whether a file that was read, or was too large for that, may name {@link COLLECTOR}. */
  get namesCollector(): boolean {
    return this.#namesCollector;
  }

  /** Hides variables for rendering whose name or value looks like a secret. */
  hideVariables(variables: Readonly<Record<string, string>>): void {
    const found = Object.entries(variables).flatMap(([name, value]) => [
      ...namedSecretParts(name, value),
      ...embeddedSecrets(value),
    ]);
    this.#hide(found);
  }

  /** Hides secrets in compose files (absolute paths): compose quotes values it cannot read. */
  async hideCompose(files: readonly string[], signal: AbortSignal): Promise<void> {
    for (const file of files) {
      const text = await this.#textOf(file);
      if (text === undefined) continue;
      await this.#parts.turns.take(() => this.#hide(writtenSecrets(text)), signal);
    }
  }

  /**
   * Hides secrets in dotenv files (absolute paths), each read once; missing ones are fine.
   *
   * Throws `config_invalid` for a file, or for files together, too large to be read: their content
   * could be shown.
   */
  async hideDotenv(files: readonly string[], signal: AbortSignal): Promise<void> {
    for (const file of files) {
      if (this.#looked.has(file)) continue;
      this.#looked.add(file);
      await this.#requireSmall(file);
      const text = await this.#textOf(file);
      if (text !== undefined) await this.#parts.turns.take(() => this.#hideEntries(text), signal);
    }
  }

  #hideEntries(text: string): void {
    for (const { name, value } of dotenvEntries(text)) {
      this.#dotenv[name] = value;
      this.#add(isSecretVariable(name, value) ? secretParts(value) : []);
      this.#add(embeddedSecrets(value));
    }
  }

  /** Hides secrets that only the rendered model shows: values of any origin by name and use. */
  async hideModel(model: ComposeModel, invocation: ComposeInvocation): Promise<void> {
    this.#hide(await secretsInLargeModel(model, createPauses()));
    this.#hide(secretsInVariables(model, invocation.environment));
    this.#add(secretsInVariables(model, this.#dotenv));
  }

  /** Hides the content of the model's secret files, which are decrypted already. */
  async hideFiles(model: ComposeModel, tree: string): Promise<void> {
    const realTree = new RealTree(this.#parts.files, tree);
    for (const file of secretFiles(model)) {
      if (insideTree(file, tree) === undefined) continue;
      const { real, inside } = await realTree.at(file);
      if (real === undefined || inside === undefined) continue;
      const text = await this.#textOf(real, LARGEST_SECRET);
      if (text !== undefined) this.#add(secretsOfFile(text));
    }
  }

  #add(texts: readonly string[]): void {
    for (const text of this.#hide(texts)) this.#texts.add(text);
  }

  #hide(texts: readonly string[]): string[] {
    const hidden = texts.filter((text) => !contains(this.#names, text));
    for (const text of hidden) {
      if (!this.#hidden.has(text)) this.#hiddenCharacters += text.length;
      this.#hidden.add(text);
    }
    const isMuch = this.#hiddenCharacters > MOST_HIDDEN;
    if (this.#hidden.size > MOST_OF_AN_OWNER || isMuch) {
      const most = isMuch ? `${MOST_HIDDEN} characters of texts` : `${MOST_OF_AN_OWNER} texts`;
      throw errors.config_invalid(
        `${this.#owner} has more than ${most} that look like secrets in its files; ` +
          "take out what is none, or keep it in files that no secret is read from",
      );
    }
    this.#parts.secrets.hide(hidden, this.#owner);
    return hidden;
  }

  async #requireSmall(path: string): Promise<void> {
    const real = await this.#parts.files.realPath(path);
    const info = real === undefined ? undefined : await this.#parts.files.stat(real);
    if (info?.kind !== "file") return;
    this.#dotenvBytes += info.size;
    if (info.size <= MOST_BYTES && this.#dotenvBytes <= MOST_OF_ALL) return;
    const message = info.size > MOST_BYTES
      ? `the dotenv file ${basename(path)} has ${info.size} bytes, at most ${MOST_BYTES} are read`
      : `the dotenv files of the deployment have more than ${MOST_OF_ALL} bytes together`;
    throw errors.config_invalid(`${message}: take out what is no variable`);
  }

  async #textOf(path: string, largest: number = MOST_BYTES): Promise<string | undefined> {
    const real = await this.#parts.files.realPath(path);
    const info = real === undefined ? undefined : await this.#parts.files.stat(real);
    if (real === undefined || info?.kind !== "file") return undefined;
    const text = info.size > largest ? undefined : await readText(this.#parts.files, real);
    this.#namesCollector ||= text === undefined || COLLECTOR.test(text);
    return text;
  }
}

/** Files of `secrets:`, and files mounted to the usual place of secrets in containers. */
function secretFiles(model: ComposeModel): string[] {
  const declared = resourcesOf(model, "secrets").map((each) => textAt(each.definition, "file"));
  const mounted = Object.values(servicesOf(model)).flatMap((service) =>
    objectsAt(service, "volumes").filter((volume) =>
      volume["type"] === "bind" && textAt(volume, "target").startsWith("/run/secrets/")
    ).map((volume) => textAt(volume, "source"))
  );
  return [...new Set([...declared, ...mounted])].filter((file) => join(file) === file);
}
