import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fractionsFrom } from "../fakes/random.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { createWorld, type World } from "./world.ts";

/** `WALK_SEED` and `WALK_STEPS` make other walks, and longer ones. */
const SEED = Number(process.env["WALK_SEED"] ?? "20261129");
const STEPS = Number(process.env["WALK_STEPS"] ?? "40");

/** A directory with a stack, as the walk knows it. */
interface Directory {
  /** Name of its volume: the one that compose gives, unless it goes on with another one's. */
  readonly volume: string;
  /** Whether its image cannot be pulled. */
  readonly fails: boolean;
}

/** A repository in which stacks are discovered. */
interface Place {
  readonly repository: FakeRepository;
  readonly directories: Map<string, Directory>;
  /** Whether a directory beside them cannot be read. */
  broken: boolean;
}

const NAMES = ["a", "b", "c", "d"];

/** A walk: repositories whose directories come, go, are renamed and merged, and what must not be deleted by it. */
class Walk {
  /** Volumes of directories that were renamed: the new name begins empty, so nothing else has their data. */
  readonly #renamed = new Set<string>();
  readonly #held = new Set<string>();
  readonly said: string[] = [];
  /** How many volumes went. */
  gone = 0;
  readonly #world: World;
  readonly #places: readonly Place[];
  readonly #random: () => number;

  constructor(world: World, places: readonly Place[], random: () => number) {
    this.#world = world;
    this.#places = places;
    this.#random = random;
  }

  /** Changes something, polls, and returns what was deleted although it had to stay. */
  async step(): Promise<readonly string[]> {
    const at = this.#places.indexOf(this.#pick(this.#places));
    const place = this.#places[at];
    assert.ok(place !== undefined);
    await this.#change(place, at);
    await this.#commit(place);
    this.#world.proxy.reset();
    const entry = { url: place.repository.url, reference: "main", run_once: true };
    await this.#world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
    await this.#world.app.polled;
    const wanted = this.#places.flatMap((each) =>
      [...each.directories.values()].map(({ volume }) => volume)
    );
    const deleted = this.#world.proxy.calls
      .filter(({ method }) => method === "DELETE")
      .flatMap(({ path }) => /\/volumes\/([^?]+)/.exec(path)?.[1] ?? []);
    this.gone += deleted.length;
    return deleted.filter((each) => wanted.includes(each) || this.#renamed.has(each));
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  async #change(place: Place, at: number): Promise<void> {
    const stack = (name: string) => `${this.#world.stack}-${at}${name}`;
    const own = (name: string) => ({ volume: `${stack(name)}_data`, fails: false });
    const { directories } = place;
    const there = [...directories.keys()];
    const free = NAMES.filter((each) => !directories.has(each));
    const [one, other] = [this.#pick(there), this.#pick(free)];
    const say = (what: string) => void this.said.push(`${at}: ${what}`);
    const kinds = ["come", "go", "rename", "merge", "fail", "mend", "break", "hold", "resume"];
    const kind = this.#pick(kinds);
    const old = one === undefined ? undefined : directories.get(one);
    if (kind === "come" && other !== undefined) {
      say(`${other} comes`);
      directories.set(other, own(other));
      this.#renamed.delete(own(other).volume);
    } else if (kind === "go" && one !== undefined) {
      say(`${one} goes`);
      directories.delete(one);
    } else if (kind === "rename" && one !== undefined && other !== undefined && old) {
      say(`${one} is renamed to ${other}`);
      directories.delete(one);
      directories.set(other, { ...own(other), fails: this.#random() < 0.3 });
      this.#renamed.delete(own(other).volume);
      this.#renamed.add(old.volume);
    } else if (kind === "merge" && there.length > 1 && one !== undefined && old) {
      const into = this.#pick(there.filter((each) => each !== one));
      const fails = this.#random() < 0.3;
      say(`${one} is merged into ${into}${fails ? ", which fails" : ""}`);
      directories.delete(one);
      directories.set(into, { volume: old.volume, fails });
    } else if (kind === "fail" && one !== undefined && old) {
      say(`${one} fails`);
      directories.set(one, { ...old, fails: true });
    } else if (kind === "mend") {
      say("all is mended");
      for (const [name, each] of directories) directories.set(name, { ...each, fails: false });
      place.broken = false;
    } else if (kind === "break") {
      say("one is broken");
      place.broken = true;
    } else if (kind === "hold" && one !== undefined) {
      say(`${one} is held`);
      await this.#command("hold", stack(one));
      this.#held.add(stack(one));
    } else if (kind === "resume") {
      say("all go on");
      for (const each of this.#held) await this.#command("resume", each);
      this.#held.clear();
    }
  }

  /** One that fails as there is nothing to hold says so. */
  async #command(command: string, stack: string): Promise<void> {
    await commandTo(this.#world, 0, [command, stack]).catch(() => {});
  }

  async #commit({ repository, directories, broken }: Place): Promise<void> {
    const at = this.#places.findIndex((each) => each.repository === repository);
    const files: Record<string, string> = {
      ".stackwright.yaml": configFile({
        working_dir: "apps",
        auto_discovery: { enabled: true, delete: true, remove_volumes: true },
      }),
      "apps/readme": "",
    };
    for (const [name, { volume, fails }] of directories) {
      const web = service({ volumes: ["data:/data"], ...(fails && { image: "missing:1" }) });
      const text = composeFile({ web }, { volumes: { data: { name: volume } } });
      files[`apps/${this.#world.stack}-${at}${name}/compose.yaml`] = text;
    }
    if (broken) {
      files["apps/broken/compose.yaml"] = composeFile({ web: service() });
      files["apps/broken/.stackwright.yaml"] = "nonsense: 1\n";
    }
    await repository.remove(["apps"]).catch(() => {});
    await repository.commit(files);
  }
}

describe("a random walk of directories that come, go and are renamed", () => {
  it(`deletes in ${STEPS} steps from seed ${SEED} nothing that is wanted, or was renamed`, async () => {
    const directory = await mkdtemp(join(tmpdir(), "stackwright-removals-"));
    const world = await createWorld({ engine: "fake" });
    try {
      const others = await createRepository(directory);
      const places = [world.repository, others].map((repository) => ({
        repository,
        directories: new Map<string, Directory>(),
        broken: false,
      }));
      const walk = new Walk(world, places, fractionsFrom(SEED));
      for (let count = 0; count < STEPS; count++) {
        assert.deepEqual(await walk.step(), [], `seed ${SEED}:\n${walk.said.join("\n")}`);
      }
      assert.ok(walk.gone > 0, walk.said.join("\n"));
    } finally {
      await world.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
