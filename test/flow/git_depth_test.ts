import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const run = promisify(execFile);

/** Commits of history that the repositories have before what is deployed. */
const EARLIER = 5;

interface Case {
  readonly title: string;
  /** GIT_CLONE_DEPTH. */
  readonly setting: string;
  readonly git_depth?: number;
  /** Whether what is deployed lies in a repository of its own. */
  readonly elsewhere?: true;
  /** Commits that the mirror of what is deployed has. */
  readonly fetched: number;
}

const ALL = EARLIER + 1;
const CASES: readonly Case[] = [
  { title: "neither: all of it", setting: "0", fetched: ALL },
  { title: "the setting alone", setting: "2", fetched: 2 },
  { title: "git_depth 0 is the setting", setting: "2", git_depth: 0, fetched: 2 },
  { title: "git_depth over the setting", setting: "1", git_depth: 4, fetched: 4 },
  { title: "git_depth beyond the history: all of it", setting: "1", git_depth: 99, fetched: ALL },
  { title: "another repository, the setting", setting: "3", elsewhere: true, fetched: 3 },
  {
    title: "another repository, git_depth below the setting",
    setting: "3",
    git_depth: 2,
    elsewhere: true,
    fetched: 2,
  },
  {
    title: "another repository, git_depth where the setting is all",
    setting: "0",
    git_depth: 2,
    elsewhere: true,
    fetched: 2,
  },
];

describe("git_depth and GIT_CLONE_DEPTH", () => {
  for (const each of CASES) {
    const asked = `${each.setting}, ${each.git_depth ?? "not given"}`;
    it(`${each.title} (${asked}) fetches ${each.fetched} commits`, () =>
      inWorld("fake", async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "stackwright-depth-"));
        try {
          const other = await createRepository(join(directory, "other"));
          const tip = await commitHistories(world, other, each);
          await pollTo(world, "succeeded");
          assert.equal((await world.containers()).length, 1);
          assert.equal(await commitsOf(world, tip), each.fetched);
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      }, { GIT_CLONE_DEPTH: each.setting }));
  }

  it("a larger git_depth deepens what was fetched, a smaller one keeps the depth that is reached", () =>
    inWorld("fake", async (world) => {
      await commitEarlier(world.repository);
      const fetched: number[] = [];
      for (const git_depth of [1, 3, 2]) {
        const tip = await world.repository.commit({
          ".stackwright.yaml": configFile({ name: world.stack, git_depth }),
          "compose.yaml": composeFile({ web: service() }),
        });
        await world.poll();
        fetched.push(await commitsOf(world, tip));
      }
      assert.deepEqual(fetched, [1, 3, 3]);
    }, { GIT_CLONE_DEPTH: "1" }));
});

/** Makes both histories; returns the commit that is deployed. */
async function commitHistories(
  world: World,
  other: FakeRepository,
  { elsewhere, git_depth }: Case,
): Promise<string> {
  const depth: Part = git_depth === undefined ? {} : { git_depth };
  const files = { "compose.yaml": composeFile({ web: service() }) };
  const deployed = elsewhere === true ? other : world.repository;
  await commitEarlier(deployed);
  const configuration = {
    ".stackwright.yaml": configFile({
      name: world.stack,
      ...depth,
      ...(elsewhere === true ? { repository_url: other.url } : {}),
    }),
  };
  if (elsewhere !== true) return await deployed.commit({ ...configuration, ...files });
  await world.repository.commit(configuration);
  return await deployed.commit(files);
}

async function commitEarlier(repository: FakeRepository): Promise<void> {
  for (let number = 1; number <= EARLIER; number++) {
    await repository.commit({ "history.txt": `${number}\n` });
  }
}

/** How many commits of a history the mirror has that has its tip. */
async function commitsOf(world: World, tip: string): Promise<number> {
  const sources = join(world.dataDir, "sources");
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const mirrors = entries.filter((each) => each.isDirectory() && /\/mirror$/.test(each.parentPath))
    .map((each) => join(each.parentPath, each.name));
  for (const mirror of mirrors) {
    const count = run("git", ["--git-dir", mirror, "rev-list", "--count", tip]);
    const found = await count.then(({ stdout }) => Number(stdout), () => undefined);
    if (found !== undefined) return found;
  }
  throw new Error(`no mirror has ${tip}`);
}
