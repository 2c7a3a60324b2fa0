import { dirname, join } from "node:path";
import { createRepository, type FakeFile, type FakeRepository } from "../fakes/git_repository.ts";
import { filesOf, usesLibrary, type WalkState } from "./walk_model.ts";
import type { World } from "./world.ts";

/** The repository of a walk's world, and the one beside it that it has as a submodule. */
export class WalkRepository {
  readonly #world: World;
  readonly #port: number;
  #paths: readonly string[] = [];
  #library: FakeRepository | undefined;
  /** What the submodule is pinned to. */
  #pinned: string | undefined;

  /** `port` is the one that a service may publish. */
  constructor(world: World, port: number) {
    this.#world = world;
    this.#port = port;
  }

  /** Commits a state, and nothing else that was there before; `change` may edit its files. */
  async commit(
    state: WalkState,
    message: string,
    change: (files: Record<string, FakeFile>) => Record<string, FakeFile> = (files) => files,
  ): Promise<void> {
    const { repository, stack } = this.#world;
    if (usesLibrary(state) && this.#pinned !== state.library) await this.#pin(state.library);
    const files = change(filesOf(state, stack, this.#port));
    const gone = this.#paths.filter((path) => files[path] === undefined);
    if (gone.length > 0) await repository.git("rm", "--quiet", ...gone);
    await repository.commit(files, message);
    this.#paths = Object.keys(files);
  }

  async #pin(content: string): Promise<void> {
    const { repository } = this.#world;
    this.#library ??= await createRepository(join(dirname(repository.path), "lib"));
    const id = await this.#library.commit({ "page.txt": content });
    await repository.submodule("mod", "../lib/remote.git", id);
    this.#pinned = content;
  }
}
