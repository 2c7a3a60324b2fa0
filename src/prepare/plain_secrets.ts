import { basename, join } from "node:path";
import {
  dotenvEntries,
  insideTree,
  notNames,
  secretsInModel,
  secretsInVariables,
} from "../compose/mod.ts";
import { MOST_BYTES } from "../config/mod.ts";
import { RealTree } from "../deploy/mod.ts";
import { type ComposeInvocation, type ComposeModel, errors } from "../model/mod.ts";
import {
  contains,
  createPauses,
  embeddedSecrets,
  type FileInfo,
  isSecretVariable,
  MOST_CHARACTERS,
  MOST_OF_AN_OWNER,
  namedSecretParts,
  readText,
  secretParts,
  secretsOfFile,
  writtenSecrets,
} from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";
import { secretPlaces } from "./secret_places.ts";

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
/** Entries of directories of secrets that are looked at; each is one at least. */
const MOST_ENTRIES = MOST_OF_AN_OWNER;

/**
 * The secrets in a target's repository, in the clear or decrypted. Each step hides what it finds from all
 * output, before the next step can fail and quote it.
 */
export class PlainSecrets {
  readonly #parts: Parts;
  readonly #owner: string;
  readonly #names: string;
  readonly #hidden = new Set<string>();
  /** Texts for the record of a release, beside those that its model shows again. */
  readonly #texts = new Set<string>();
  readonly #decrypted = new Set<string>();
  readonly #looked = new Set<string>();
  readonly #dotenv: Record<string, string> = {};
  #hiddenCharacters = 0;
  #decryptedCharacters = 0;
  #dotenvBytes = 0;
  #namesCollector = false;

  /** Texts that are part of one of `names` are not hidden, so that messages can name the target. */
  constructor(parts: Parts, owner: string, names: readonly string[] = []) {
    this.#parts = parts;
    this.#owner = owner;
    this.#names = names.join("\n").slice(0, LONGEST_NAMES);
  }

  /**
   * What was hidden so far, for the ledger; without what the model shows by itself, once that is known:
   * a process that has never rendered the release hides the same.
   */
  get texts(): readonly string[] {
    return [...new Set([...this.#texts, ...this.#decrypted])];
  }

  /** Hides texts of decrypted files that a target uses. Throws `config_invalid` for more than are recorded. */
  hideDecrypted(texts: Iterable<string>): void {
    this.#parts.secrets.hide(texts, this.#owner);
    for (const each of texts) {
      // The redactor knows no more of a text.
      const text = each.slice(0, MOST_CHARACTERS);
      if (!this.#decrypted.has(text)) this.#decryptedCharacters += text.length;
      this.#decrypted.add(text);
    }
    this.#requireFew(this.#decrypted.size, this.#decryptedCharacters, {
      are: "are encrypted",
      todo: "encrypt only what is a secret",
    });
  }

  /** The variables of the dotenv files that were read, with what the last file says. Never log them. */
  get dotenv(): Readonly<Record<string, string>> {
    return this.#dotenv;
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
   * Hides secrets in dotenv files (absolute paths), each read once, and again where another one is in
   * its place; missing ones are fine.
   *
   * Throws `config_invalid` for files, alone or together, too large to be read: they could be shown.
   */
  async hideDotenv(files: readonly string[], signal: AbortSignal): Promise<void> {
    for (const file of files) {
      const real = await this.#parts.files.realPath(file);
      const info = real === undefined ? undefined : await this.#parts.files.stat(real);
      const key = `${info?.id} ${file}`;
      if (this.#looked.has(key)) continue;
      this.#looked.add(key);
      this.#requireSmall(file, info);
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
    const before = [...this.#hidden];
    const shown = new Set([
      ...await secretsInModel(model, createPauses()),
      ...secretsInVariables(model, invocation.environment),
    ]);
    this.#hide([...shown]);
    this.#add(secretsInVariables(model, this.#dotenv));
    const others = before.filter((each) => !shown.has(each));
    for (const each of await notNames(others, model, createPauses())) this.#texts.add(each);
  }

  /**
   * Hides the content of the model's secret files, which are decrypted already; see {@link secretPlaces}.
   *
   * Throws `config_invalid` for more files than are looked at.
   */
  async hideFiles(
    model: ComposeModel,
    tree: string,
    values: ComposeInvocation["values"] = {},
  ): Promise<void> {
    const { paths, texts } = secretPlaces(model, values);
    for (const text of texts) this.#add(secretsOfFile(text));
    const looked = new Set<string>();
    const realTree = new RealTree(this.#parts.files, tree);
    const left = paths.filter((path) => insideTree(path, tree) !== undefined);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { real, inside } = await realTree.at(next);
      if (real === undefined || inside === undefined || looked.has(real)) continue;
      looked.add(real);
      const found = await this.#lookAtSecret(real);
      if (looked.size + left.length + found.length > MOST_ENTRIES) throw tooManyFiles();
      left.push(...found);
    }
  }

  /** Hides a secret file; returns the entries of a directory. */
  async #lookAtSecret(real: string): Promise<string[]> {
    if ((await this.#parts.files.stat(real))?.kind === "directory") {
      return (await this.#parts.files.list(real)).map((name) => join(real, name));
    }
    const text = await this.#textOf(real, LARGEST_SECRET);
    if (text !== undefined) this.#add(secretsOfFile(text));
    return [];
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
    this.#requireFew(this.#hidden.size, this.#hiddenCharacters, {
      are: "look like secrets",
      todo: "take out what is none, or keep it in files that no secret is read from",
    });
    this.#parts.secrets.hide(hidden, this.#owner);
    return hidden;
  }

  #requireFew(
    count: number,
    characters: number,
    { are, todo }: { readonly are: string; readonly todo: string },
  ): void {
    const isMuch = characters > MOST_HIDDEN;
    if (count <= MOST_OF_AN_OWNER && !isMuch) return;
    const most = isMuch ? `${MOST_HIDDEN} characters of texts` : `${MOST_OF_AN_OWNER} texts`;
    throw errors.config_invalid(
      `${this.#owner} has more than ${most} that ${are} in its files; ${todo}`,
    );
  }

  #requireSmall(path: string, info: FileInfo | undefined): void {
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
    const text = info.size > largest ? undefined : await readText(this.#parts.files, real, largest);
    this.#namesCollector ||= text === undefined || COLLECTOR.test(text);
    return text;
  }
}

function tooManyFiles() {
  return errors.config_invalid(
    `more than ${MOST_ENTRIES} files are secrets, or lie in directories that are mounted as such; ` +
      "mount only the files that the services need",
  );
}
