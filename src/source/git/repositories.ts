import { Mirror } from "./mirror.ts";
import type { MirrorParts } from "./mirror_parts.ts";
import { ObjectReader } from "./object_reader.ts";
import type { ReaderParts } from "./object_session.ts";
import { createRepository, type Repository } from "./repository.ts";

/** Parts for opening repositories; the limits are those of their object readers. */
type RepositoriesParts =
  & Pick<ReaderParts, "idleMs" | "answerMs" | "largest">
  & Pick<MirrorParts, "git" | "files" | "clock" | "log" | "lock">;

/** The repositories of this process, each opened once. */
export class Repositories {
  readonly #parts: RepositoriesParts;
  readonly #open = new Map<string, Repository>();

  constructor(parts: RepositoriesParts) {
    this.#parts = parts;
  }

  /** The repository whose mirror is in a directory. */
  open(directory: string, name: string): Repository {
    const known = this.#open.get(directory);
    if (known !== undefined) return known;
    const { git, files, clock, log, lock, idleMs, answerMs, largest } = this.#parts;
    const start = () => git.start({ args: ["cat-file", "--batch"], gitDir: directory });
    const reader = new ObjectReader({ start, clock, idleMs, answerMs, largest });
    const mirror = new Mirror({ git, files, clock, log, lock, reader, directory, name });
    const repository = createRepository(mirror, reader);
    this.#open.set(directory, repository);
    return repository;
  }

  /** Ends the programs that read them. May be called twice. */
  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((each) => each.objects.close()));
  }
}
