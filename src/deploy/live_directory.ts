import { join } from "node:path";
import { errors, partsOfPath, type StackwrightError } from "../model/mod.ts";
import type { Files, HeldDirectory } from "../system/mod.ts";

/** Limit of steps to one file, links and new directories included: containers may keep renaming. */
const MOST_STEPS = 1000;

/**
 * Acts on files below a directory in which containers may rename and link anything at any moment,
 * with rights that containers do not have. Each directory on the way is held open before the next
 * is looked up in it, and links are resolved here, one by one, so that none ever leads out.
 */
export class LiveDirectory {
  readonly #files: Files;
  readonly #root: string;

  /** `root` is the directory; only Stackwright may rename it or its parents. */
  constructor(files: Files, root: string) {
    this.#files = files;
    this.#root = root;
  }

  /**
   * Runs `work` with a path at which `path` can be reached meanwhile; links above it are resolved,
   * but it may be a link itself. Creates missing parent directories if `makes` is set, else returns
   * `undefined` without running `work`.
   *
   * Throws `path_escapes` when a link on the way leads out, and the errors of the disk.
   */
  async at<T>(
    path: string,
    { makes }: { readonly makes: boolean },
    work: (place: string) => Promise<T>,
  ): Promise<T | undefined> {
    const names = partsOfPath(path);
    const last = names.pop() ?? ".";
    return await this.#within(path, { names, makes }, (held) => work(join(held.path, last)));
  }

  /** Makes a directory and those above it; one that exists is fine. Throws as {@link at} does. */
  async makeDirectory(path: string): Promise<void> {
    const done = () => Promise.resolve();
    await this.#within(path, { names: partsOfPath(path), makes: true }, done);
  }

  async #within<T>(
    path: string,
    { names, makes }: { readonly names: readonly string[]; readonly makes: boolean },
    work: (held: HeldDirectory) => Promise<T>,
  ): Promise<T | undefined> {
    const held: HeldDirectory[] = [];
    try {
      if (makes) await this.#files.makeDirectory(this.#root);
      const root = await this.#files.holdDirectory(this.#root);
      if (root === undefined) return undefined;
      held.push(root);
      if (!await this.#enter(held, { path, names, makes })) return undefined;
      return await work(held.at(-1) ?? root);
    } finally {
      for (const each of held) await each.close();
    }
  }

  /** Opens one directory after the other; false when one is missing, or none, and `makes` is not set. */
  async #enter(
    held: HeldDirectory[],
    { path, names, makes }: {
      readonly path: string;
      readonly names: readonly string[];
      readonly makes: boolean;
    },
  ): Promise<boolean> {
    const todo = [...names];
    for (let steps = 0; todo.length > 0; steps++) {
      const name = todo.shift() ?? ".";
      if (name === "..") {
        if (held.length === 1) throw this.#escape(path, "..");
        await held.pop()?.close();
        continue;
      }
      const place = join(held.at(-1)?.path ?? this.#root, name);
      const next = await this.#files.holdDirectory(place);
      if (next !== undefined) {
        held.push(next);
        continue;
      }
      if (steps > MOST_STEPS) throw this.#escape(path, name);
      const info = await this.#files.stat(place);
      if (info?.kind === "symlink") {
        const target = await this.#files.readLink(place) ?? "";
        if (target.startsWith("/")) throw this.#escape(path, target);
        todo.unshift(...partsOfPath(target));
      } else if (!makes) return false;
      else {
        // Fails if something else was put there meanwhile; then the loop looks it up again.
        await this.#files.makeDirectory(place);
        todo.unshift(name);
      }
    }
    return true;
  }

  #escape(path: string, target: string): StackwrightError {
    return errors.path_escapes(
      `${join(this.#root, path)} is to be written, but a container put a link to ${target} in ` +
        "its way; remove that link",
    );
  }
}
