import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeFile, FakeRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import type { World } from "./world.ts";

/** A stack's directory, as the walk knows it. */
interface Directory {
  /** Index of the area that it lies in. */
  readonly area: number;
  /** Names of its volumes: the one that compose gives, and those of stacks that were merged into it. */
  readonly volumes: readonly string[];
  /** Whether it calls volumes external that were another one's. */
  readonly external: boolean;
  /** Whether its image cannot be pulled. */
  readonly fails: boolean;
  /** What its `destroy` takes. */
  readonly destroy?: "all" | "no data";
  /** Whether it has become a link to where its files are now. */
  readonly isLink?: boolean;
  /** Whether it was handed over to the other configuration, which does not know what the first one's may go on with. */
  readonly isAdopted?: boolean;
}

/**
 * Where stacks are discovered: by the configuration of which repository, in which one and where. The second one's are
 * found by two configurations, in directories of their own.
 */
const AREAS = [
  { by: 0, repository: 0, path: "apps" },
  { by: 1, repository: 1, path: "apps" },
  { by: 0, repository: 1, path: "led" },
] as const;

/** How a configuration no longer sees an area, without anything having gone there. */
type Look = "as before" | "elsewhere" | "for another file";

const NAMES = ["0a", "0b", "0c", "1a", "1b", "1c"];

/** A walk: directories that come, go, move and are merged, and what must not be deleted by it. */
export class RemovalWalk {
  readonly #directories = new Map<string, Directory>();
  /** Stacks that were renamed, with their volumes: the new name begins empty, so nothing else has their data. */
  readonly #renamed = new Map<string, readonly string[]>();
  /** Stacks that a person holds, with their volumes. */
  readonly #held = new Map<string, readonly string[]>();
  readonly #looks: Look[] = AREAS.map(() => "as before");
  readonly #broken = new Set<number>();
  /** Paths of what containers have written, by stack. */
  readonly #written = new Map<string, Set<string>>();
  readonly said: string[] = [];
  /** How many volumes went. */
  gone = 0;
  readonly #world: World;
  readonly #repositories: readonly FakeRepository[];
  readonly #random: () => number;

  constructor(world: World, repositories: readonly FakeRepository[], random: () => number) {
    this.#world = world;
    this.#repositories = repositories;
    this.#random = random;
  }

  /** Changes something, polls, and returns what was deleted although it had to stay. */
  async step(): Promise<readonly string[]> {
    const before = this.said.length;
    let configurations = await this.#change();
    while (this.said.length === before) configurations = await this.#change();
    for (const at of this.#repositories.keys()) await this.#commit(at);
    this.#world.proxy.reset();
    const entries = configurations.map((at) => ({
      url: this.#repositories[at]?.url,
      reference: "main",
      run_once: true,
    }));
    await this.#world.restart({ POLL_CONFIG: JSON.stringify(entries) });
    await this.#world.app.polled;
    const deleted = this.#world.proxy.calls
      .filter(({ method }) => method === "DELETE")
      .flatMap(({ path }) => /\/volumes\/([^?]+)/.exec(path)?.[1] ?? []);
    this.gone += deleted.length;
    const kept = this.#kept();
    const lost = [
      ...deleted.filter((each) => kept.volumes.has(each)),
      ...kept.stacks.flatMap((each) => [...this.#written.get(each) ?? []])
        .filter((path) => !existsSync(path)),
    ];
    await this.#write();
    return lost;
  }

  /** What must not be deleted: of directories that are there, but for those with `destroy`, or renamed, or held. */
  #kept() {
    const wanted = [...this.#directories].filter(([, each]) => each.destroy !== "all");
    const all = [
      ...wanted.map(([name, { volumes }]) => [name, volumes] as const),
      ...this.#renamed,
      ...this.#held,
    ];
    return { stacks: all.map(([name]) => name), volumes: new Set(all.flatMap(([, each]) => each)) };
  }

  /** Writes to the relative mounts of all stacks, as their containers do. */
  async #write(): Promise<void> {
    const all = join(this.#world.dataDir, "releases", "default");
    for (const name of NAMES) {
      const live = join(all, this.#stack(name), "live");
      const there = await readdir(live, { recursive: true, withFileTypes: true }).catch(() => []);
      const written = new Set<string>();
      for (const each of there) {
        if (!each.isDirectory() || !["data", "cache"].includes(each.name)) continue;
        const path = join(each.parentPath, each.name, "precious");
        await mkdir(join(path, ".."), { recursive: true });
        await writeFile(path, name);
        written.add(path);
      }
      this.#written.set(name, written);
    }
  }

  #stack(name: string): string {
    return `${this.#world.stack}-${name}`;
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  /** Changes something of the directories, and returns the configurations to poll. */
  async #change(): Promise<readonly number[]> {
    const there = [...this.#directories.keys()];
    const free = NAMES.filter((each) => !this.#directories.has(each));
    const [one, other] = [this.#pick(there), this.#pick(free)];
    const old = one === undefined ? undefined : this.#directories.get(one);
    const area = old?.area ?? Math.floor(this.#random() * AREAS.length);
    const say = (what: string) => void this.said.push(`${area}: ${what}`);
    const kind = this.said.length < 3 ? "come" : this.#pick(KINDS);
    const both = [AREAS[area]?.by ?? 0, ...(this.#random() < 0.3 ? [0, 1] : [])];
    if (kind === "come" && other !== undefined) {
      const at = Math.floor(this.#random() * AREAS.length);
      say(`${other} comes to ${at}`);
      this.#put(other, { area: at, volumes: [this.#own(other)], external: false, fails: false });
      return [AREAS[at]?.by ?? 0];
    }
    if (kind === "mend" || kind === "resume") await this.#mend(kind, say);
    else if (kind === "break" || kind === "look") this.#hide(kind, area, say);
    else if (one !== undefined && old) await this.#changeOne(kind, one, old, say);
    return [...new Set(both)];
  }

  /** Changes a stack's directory. */
  async #changeOne(
    kind: string,
    one: string,
    old: Directory,
    say: (what: string) => void,
  ): Promise<void> {
    const fails = this.#random() < 0.3;
    // What another configuration wants is not known before it is deployed.
    const isBeside = ({ area, destroy, isAdopted }: Directory) =>
      AREAS[area]?.by === AREAS[old.area]?.by && !destroy && !isAdopted && !old.isAdopted;
    const beside = [...this.#directories].filter(([name, each]) => name !== one && isBeside(each));
    const [[into], other] = [
      this.#pick(beside) ?? [],
      this.#pick(NAMES.filter((each) => !this.#directories.has(each))),
    ];
    if (kind === "go") {
      say(`${one} goes`);
      this.#directories.delete(one);
    } else if (kind === "rename" && other !== undefined && old.destroy === undefined) {
      say(`${one} is renamed to ${other}${fails ? ", which fails" : ""}`);
      this.#directories.delete(one);
      this.#renamed.set(one, old.volumes);
      this.#put(other, { area: old.area, volumes: [this.#own(other)], external: false, fails });
    } else if ((kind === "merge" || kind === "hand") && into !== undefined) {
      const target = this.#directories.get(into) ?? old;
      const external = this.#random() < 0.5;
      say(
        `${one} is merged into ${into}${external ? " as external" : ""}${fails ? ", fails" : ""}`,
      );
      if (kind === "merge") this.#directories.delete(one);
      else this.#directories.set(one, { ...old, destroy: "all" });
      const volumes = [...new Set([...target.volumes, ...old.volumes])];
      this.#directories.set(into, { ...target, volumes, external, fails });
    } else if (kind === "move") await this.#move(one, old, say);
    else if (kind === "destroy") {
      const destroy = this.#random() < 0.5 ? "all" : "no data";
      say(`${one} has destroy, ${destroy}`);
      this.#directories.set(one, { ...old, destroy });
    } else if (kind === "undo") {
      say(`${one} has no destroy`);
      const { destroy: _, ...wanted } = old;
      this.#put(one, wanted);
    } else if (kind === "fail") {
      say(`${one} fails`);
      this.#directories.set(one, { ...old, fails: true });
    } else if (kind === "link") {
      say(`${one} becomes a link`);
      this.#directories.set(one, { ...old, isLink: true });
    } else if (kind === "hold") {
      const isHeld = await this.#command("hold", this.#stack(one));
      say(`${one} is held${isHeld ? "" : ", which fails"}`);
      if (isHeld) this.#held.set(one, old.volumes);
    }
  }

  /** Moves a directory to another area; where another configuration has that, a person hands the stack over first. */
  async #move(one: string, old: Directory, say: (what: string) => void): Promise<void> {
    const to = this.#pick([0, 1, 2].filter((each) => each !== old.area));
    const [from, next] = [AREAS[old.area], AREAS[to]];
    const url = this.#repositories[next?.by ?? 0]?.url ?? "";
    const isOthers = from?.by !== next?.by;
    const isShared = [...this.#directories].some(([name, { volumes }]) =>
      name !== one && volumes.some((each) => old.volumes.includes(each))
    );
    if (isOthers && (isShared || old.volumes.length > 1 || old.destroy)) return;
    const adopt = ["adopt", this.#stack(one), "--source", url];
    if (isOthers && !await this.#command(...adopt)) return;
    say(`${one} moves to ${to}`);
    this.#directories.set(one, { ...old, area: to, ...(isOthers && { isAdopted: true }) });
  }

  async #mend(kind: string, say: (what: string) => void): Promise<void> {
    if (kind === "resume") {
      say("all go on");
      for (const each of this.#held.keys()) await this.#command("resume", this.#stack(each));
      this.#held.clear();
      return;
    }
    say("all is mended");
    for (const [name, each] of this.#directories) {
      const { isLink: _, ...mended } = each;
      this.#directories.set(name, { ...mended, fails: false });
    }
    this.#broken.clear();
    this.#looks.fill("as before");
  }

  /** Hides what is in an area: by something that cannot be read, or as it is not looked for. */
  #hide(kind: string, area: number, say: (what: string) => void): void {
    if (kind === "break") {
      say("one is broken");
      this.#broken.add(area);
    } else {
      const look = this.#pick<Look>(["elsewhere", "for another file"]);
      say(`discovery looks ${look}`);
      this.#looks[area] = look;
    }
  }

  #own(name: string): string {
    return `${this.#stack(name)}_data`;
  }

  #put(name: string, directory: Directory): void {
    this.#directories.set(name, directory);
    this.#renamed.delete(name);
  }

  /** Whether a command has succeeded: one that fails as there is nothing to hold says so. */
  #command(...args: readonly string[]): Promise<boolean> {
    return commandTo(this.#world, 0, args).then(() => true, () => false);
  }

  async #commit(at: number): Promise<void> {
    const repository = this.#repositories[at];
    const documents = [...AREAS.entries()].filter(([, { by }]) => by === at)
      .map(([area, each]) => this.#document(area, each));
    const files: Record<string, FakeFile> = {
      ".stackwright.yaml": configFile(...documents),
      ...{ "apps/readme": "", "led/readme": "", "elsewhere/readme": "" },
    };
    for (const [name, directory] of this.#directories) {
      const area = AREAS[directory.area];
      if (area?.repository !== at) continue;
      const path = `${area.path}/${this.#stack(name)}`;
      const isLink = directory.isLink === true;
      const place = isLink ? `shared/${name}` : path;
      if (isLink) files[path] = { link: `../shared/${name}` };
      Object.assign(files, this.#files(place, name, directory));
    }
    for (const area of this.#broken) {
      const { repository: of, path } = AREAS[area] ?? AREAS[0];
      if (of !== at) continue;
      files[`${path}/broken/compose.yaml`] = composeFile({ web: service() });
      files[`${path}/broken/.stackwright.yaml`] = "nonsense: 1\n";
    }
    await repository?.remove(["apps", "led", "shared"]).catch(() => {});
    await repository?.remove(["apps", "led"]).catch(() => {});
    await repository?.commit(files);
  }

  #document(area: number, { by, repository, path }: typeof AREAS[number]) {
    const look = this.#looks[area];
    const from = by === repository
      ? {}
      : { repository_url: this.#repositories[repository]?.url, reference: "main" };
    return {
      ...from,
      working_dir: look === "elsewhere" ? "elsewhere" : path,
      ...(look === "for another file" && { compose_files: ["other.yaml"] }),
      auto_discovery: { enabled: true, delete: true, remove_volumes: true },
    };
  }

  #files(place: string, name: string, { volumes, external, fails, destroy }: Directory) {
    const named = volumes.map((each, at) => {
      const isOthers = external && each !== this.#own(name);
      return [`d${at}`, { name: each, ...(isOthers && { external: true }) }] as const;
    });
    const web = service({
      volumes: [
        ...named.map(([each]) => `${each}:/${each}`),
        ...["./data:/written", "./conf/cache:/cache", "./conf/app.conf:/app.conf:ro"],
      ],
      ...(fails && { image: "missing:1" }),
    });
    const wish = { enabled: true, remove_volumes: destroy === "all" };
    return {
      [`${place}/compose.yaml`]: composeFile({ web }, { volumes: Object.fromEntries(named) }),
      [`${place}/conf/app.conf`]: "x",
      ...(destroy && { [`${place}/.stackwright.yaml`]: JSON.stringify({ destroy: wish }) }),
    };
  }
}

/** What may happen in a step. */
const KINDS = [
  ...["come", "come", "come", "go", "go", "rename", "merge", "hand", "move", "destroy", "destroy"],
  ...["undo", "fail", "mend", "mend", "mend", "break", "hold", "resume", "resume", "look", "link"],
];
