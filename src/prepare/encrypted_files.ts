import { createHash, randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { isConfigFileName } from "../config/mod.ts";
import { errors, messageOf, type Revision, StackwrightError } from "../model/mod.ts";
import { fileKind, type PlainFile, type Sops } from "../secrets/mod.ts";
import type { Source } from "../source/source.ts";
import { createFairLimiter, type Files, MOST_OF_AN_OWNER, sourceAsOwner } from "../system/mod.ts";
import { filesAt } from "./content.ts";

/** Files of a tree that a deployment uses. */
export interface RevealJob {
  readonly revision: Revision;
  /** Directory of the tree. */
  readonly tree: string;
  /** Paths of files and directories in the tree, links resolved; `.` for any. They may be missing. */
  readonly paths: readonly string[];
  /** Owner of the texts of encrypted files in the redactor. */
  readonly owner: string;
  /** Whether to skip a file that cannot be decrypted instead of failing. */
  readonly tolerant?: boolean;
}

/** Result of decrypting files. */
export interface Revealed {
  /** Id of the plain content, a keyed digest, by path of each encrypted file. */
  readonly identities: ReadonlyMap<string, string>;
  /** Texts that were decrypted. */
  readonly secrets: ReadonlySet<string>;
  /** The first failures to decrypt files, if these are tolerated. */
  readonly failures: readonly StackwrightError[];
}

/** Decrypts exactly the used files of trees on disk. */
export interface EncryptedFiles {
  /**
   * Replaces the encrypted files at or below `paths` by their plain content, with the same mode.
   * All deployments of a revision share one tree and get the same plain content, so doing it again,
   * even concurrently, changes nothing. Unused files stay encrypted; a file that cannot be
   * decrypted fails only the deployments that use it.
   *
   * Throws what {@link Sops.decrypt} throws, `config_invalid` where all files together have too many
   * texts, and `data_dir_unusable` when the disk refuses.
   */
  reveal(job: RevealJob, signal: AbortSignal): Promise<Revealed>;
}

interface EncryptedFilesParts {
  /** The original source, which reads encrypted files as they are. */
  readonly source: Source;
  readonly sops: Sops;
  readonly files: Files;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
}

/** Bytes of the largest file that is checked for encryption; larger ones count as plain. */
const LARGEST = 16 * 1024 * 1024;
/** Bytes from which a file is large. */
const LARGE = 1024 * 1024;
/** Number of files remembered as plain, by kind and object id, which never changes its content. */
const MOST_REMEMBERED = 100_000;

/** Most texts of the files of one call: each of them is hidden. */
const MOST_TEXTS = 4 * MOST_OF_AN_OWNER;
/** Most failures that are kept: they only say why something is still encrypted. */
const MOST_FAILURES = 3;

/** Makes the decryption for the pipeline. */
export function createEncryptedFiles(parts: EncryptedFilesParts): EncryptedFiles {
  return new TreeFiles(parts);
}

class TreeFiles implements EncryptedFiles {
  readonly #parts: EncryptedFilesParts;
  readonly #plain = new Set<string>();
  /** One large file is in memory at a time, and sources take turns. */
  readonly #large = createFairLimiter(1);

  constructor(parts: EncryptedFilesParts) {
    this.#parts = parts;
  }

  async reveal(job: RevealJob, signal: AbortSignal): Promise<Revealed> {
    const identities = new Map<string, string>();
    const secrets = new Set<string>();
    const failures: StackwrightError[] = [];
    for (const [path, id] of await this.#filesOf(job, signal)) {
      // Without known paths, skips our own configuration: neither containers nor compose read it.
      const isAnyPath = job.tolerant === true && job.paths.includes(".");
      if (isAnyPath && isConfigFileName(basename(path))) continue;
      try {
        const plain = await this.#plainOf(job, { path, id }, signal);
        if (plain === undefined) continue;
        await this.#put(job.tree, path, plain.bytes);
        identities.set(path, this.#identityOf(plain.bytes));
        plain.secrets.forEach((each) => secrets.add(each));
      } catch (error) {
        const isOurs = error instanceof StackwrightError && error.code !== "data_dir_unusable";
        if (job.tolerant !== true || !isOurs) throw error;
        if (failures.length < MOST_FAILURES) failures.push(error);
      }
      if (secrets.size > MOST_TEXTS) throw tooMany();
    }
    return { identities, secrets, failures };
  }

  /** Files with their object ids, by path. */
  async #filesOf({ revision, paths }: RevealJob, signal: AbortSignal) {
    const { source } = this.#parts;
    const found = new Map<string, string>();
    const own = await source.entries(revision, paths, signal);
    for (const path of new Set(paths)) {
      const entry = own.get(path);
      if (entry === undefined) continue;
      const isWhole = entry.kind === "directory" || entry.kind === "submodule";
      const below = isWhole
        ? await filesAt(source, revision, path, signal)
        : [[path, entry] as const];
      for (const [at, { kind, id }] of below) {
        if (kind === "file" || kind === "executable") found.set(at, id);
      }
    }
    return found;
  }

  /** Decrypts the committed content, not the tree's: the result never depends on earlier runs. */
  async #plainOf(
    { revision, tree, owner }: RevealJob,
    { path, id }: { readonly path: string; readonly id: string },
    signal: AbortSignal,
  ): Promise<PlainFile | undefined> {
    const { source, sops, files } = this.#parts;
    // Whether bytes are an encrypted file depends on what their name says, too.
    const key = `${fileKind(path)} ${id}`;
    if (this.#plain.has(key)) return undefined;
    const info = await files.stat(join(tree, path));
    if (info?.kind !== "file" || info.size > LARGEST) return undefined;
    const look = async () => {
      const bytes = await source.read(revision, path, signal, LARGEST);
      if (bytes === undefined) return undefined;
      const plain = await sops.decrypt({ name: path, bytes, owner }, signal);
      if (plain === undefined) this.#rememberPlain(key);
      return plain;
    };
    if (info.size <= LARGE) return await look();
    return await this.#large.run(sourceAsOwner(revision.source.name), look, signal);
  }

  #rememberPlain(key: string): void {
    this.#plain.add(key);
    const [oldest] = this.#plain;
    if (this.#plain.size > MOST_REMEMBERED && oldest !== undefined) {
      this.#plain.delete(oldest);
    }
  }

  #identityOf(bytes: Uint8Array): string {
    return this.#parts.digest(createHash("sha256").update(bytes).digest("hex"));
  }

  /**
   * Writes through a file beside the tree, so that the tree never holds a half-written file.
   * Renaming also leaves other trees alone that share the encrypted file by a hard link.
   */
  async #put(tree: string, path: string, bytes: Uint8Array): Promise<void> {
    const { files } = this.#parts;
    const place = join(tree, path);
    try {
      const info = await files.stat(place);
      if (info === undefined) return;
      const isSame = info.size === bytes.length &&
        equal(await files.readIfExists(place, bytes.length), bytes);
      if (isSame) return;
      const scratch = join(dirname(tree), `.tmp-plain-${randomUUID()}`);
      try {
        await files.write(scratch, bytes, { mode: 0o600 });
        await files.chmod(scratch, info.mode);
        await files.rename(scratch, place);
      } finally {
        await files.remove(scratch);
      }
    } catch (cause) {
      throw errors.data_dir_unusable(
        `writing the plain content of ${path} into ${tree} failed: ${messageOf(cause)}`,
        { cause },
      );
    }
  }
}

function tooMany(): StackwrightError {
  return errors.config_invalid(
    `the encrypted files that compose may read have more than ${MOST_TEXTS} texts that must not be ` +
      "shown; name what compose reads without variables, so that only that is decrypted",
  );
}

function equal(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((each, index) => each === b[index]);
}
