import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, it } from "node:test";

const [KIB, MIB] = [1024, 1024 * 1024];
const SRC = new URL("../../src/", import.meta.url).pathname;

/** What a cache holds: items, the bytes of one at most, and how many caches of its kind there are. */
interface Held {
  readonly items: number;
  readonly bytes: number;
  /** 1 where it is left out; 100 where each open repository has one. */
  readonly caches?: number;
}

/** A file of `src/` that forgets something once there is too much of it, and what it holds at most. */
const CACHES: Readonly<Record<string, Held>> = {
  // A version, and a mark for each release that is alive: a ledger keeps few of a stack.
  "app/recorded_secrets.ts": { items: 10_000, bytes: 4 * KIB },
  // Names of services of a release.
  "app/stack_of_service.ts": { items: 100, bytes: 500 * 400 },
  // Paths of questions.
  "docker/call_turns.ts": { items: 1000, bytes: 2 * 4096 },
  // An id or the label of a project, and a name: both have at most 512 characters.
  "docker/owners.ts": { items: 20_000, bytes: 2 * (512 + 40 + 512) },
  "prepare/encrypted_files.ts": { items: 100_000, bytes: 200 },
  // Ids of layers: those of pulls that ended, and of pulls that go on.
  "prepare/heard_pull.ts": { items: 1000, bytes: 12, caches: 10 },
  // Models are counted by their characters, 16 Mi; failures have the end of what compose said.
  "prepare/rendered_models.ts": { items: 1000, bytes: 32 * KIB + 2 * 16 * KIB },
  // Two ids and a directory.
  // Bytes, of plain files and of their texts.
  "secrets/sops/sops.ts": { items: 1, bytes: 16 * MIB },
  "source/git/ancestry.ts": { items: 1024, bytes: 2 * 4096 },
  // Tokens of an owner, with what the App may read there, refusals, and times of those of authors.
  "source/git/github_tokens.ts": { items: 1000, bytes: 12 * KIB },
  // A host and a login, and a URL and a login.
  "source/git/host_holds.ts": { items: 1000, bytes: 2 * 4096, caches: 2 },
  // A login with its URL, and an id.
  "source/git/mirror_access.ts": { items: 100, bytes: 2 * 4096, caches: 100 },
  "source/git/mirror_content.ts": { items: 100, bytes: 200, caches: 100 },
  // What each open one holds is listed with its files.
  "source/git/repositories.ts": { items: 100, bytes: 16 * KIB },
  // The ids of a commit and of its root.
  "source/git/revision_reader.ts": { items: 1024, bytes: 300, caches: 100 },
  // An id and two numbers.
  "source/git/source_depths.ts": { items: 1000, bytes: 200, caches: 100 },
  // URLs of remotes with what they told of themselves.
  "source/git/smart_http.ts": { items: 10_000, bytes: 2 * 4096 },
  // Bytes, of all repositories together: one of directories and one of listings.
  "source/git/tree_cache.ts": { items: 1, bytes: 64 * MIB, caches: 2 },
  // A digest and an id.
  "source/newest_commits.ts": { items: 10_000, bytes: 300 },
  // Names of two sources.
  "source/git_source.ts": { items: 500, bytes: 2 * 4096 },
  // Paths of a submodule, as deep as they nest, and its URL.
  // An id and a few words.
  "source/git/tree_listings.ts": { items: 100, bytes: 300, caches: 100 },
  "source/trees/submodule_paths.ts": { items: 256, bytes: 2 * (2 * 10 * 2048 + 3 * 4096) },
  // The directory of a tree, and three numbers.
  "source/trees/tree_times.ts": { items: 1000, bytes: 2 * 4096 },
  // Bytes of an owner's notes, while it is to be forgotten.
  "system/late_forgetting.ts": { items: 1, bytes: 2 * 4 * MIB },
  // Names of stacks.
  "system/watched_lock.ts": { items: 10_000, bytes: 2 * 512 },
  // An event with its container, for each context.
  "trigger/event_stream.ts": { items: 10_000, bytes: 1024, caches: 10 },
  // Ids of containers, for each of some stacks that many events are about.
  "trigger/job_scheduler.ts": { items: 21, bytes: 512 },
  "trigger/reconciler.ts": { items: 2000, bytes: 400, caches: 100 },
  // Names whose turns are remembered.
  "system/fair_limiter.ts": { items: 10_000, bytes: 2 * 4096 },
  // References that polls of a repository named.
  "trigger/repository_polls.ts": { items: 50, bytes: 2 * 1024, caches: 100 },
  // A request, and keys of the stacks of a run.
  "trigger/retry_alarm.ts": { items: 1000, bytes: 128 * KIB },
};

/** What bounds no cache: it holds what is under way, or is not kept beyond one work. */
const NO_CACHES: ReadonlySet<string> = new Set([
  // Discoveries that a run looks into.
  "pipeline/source/look_into.ts",
  // Who calls it is listed.
  "system/keep_latest.ts",
  // Connections and bodies of requests have limits of their own.
  "serve/body_budget.ts",
  "serve/connections.ts",
  // Lists that are read, counted by their characters, and connections.
  "docker/kept_entries.ts",
  "docker/list_entries.ts",
  "docker/ssh_forward.ts",
  // Programs that run.
  "system/memory_watch.ts",
  // Owners of secret texts, counted by their bytes (docs/limits.md).
  "system/known_secrets.ts",
]);

/** Forgets once a number of things is exceeded. */
const BOUNDED = /(?:size|weight|length)\)? *(?:>=?|<=) *(?:this\.#most|most\b|MOST)|#most\b/;

describe("caches", () => {
  it("are all listed with what they hold at most", async () => {
    const found: string[] = [];
    for (const file of await readdir(SRC, { recursive: true })) {
      if (!file.endsWith(".ts")) continue;
      const text = await readFile(SRC + file, "utf8");
      const forgets = BOUNDED.test(text) && /\.(?:delete|clear)\(/.test(text);
      if ((forgets || /\bkeepLatest\(/.test(text)) && !NO_CACHES.has(file)) found.push(file);
    }
    assert.deepEqual(found.toSorted(), Object.keys(CACHES).toSorted());
  });

  it("hold no more than a machine with little memory has", () => {
    const weights = Object.entries(CACHES).map(([file, { items, bytes, caches = 1 }]) =>
      [file, items * bytes * caches] as const
    );
    for (const [file, weight] of weights) {
      assert.ok(weight <= 128 * MIB, `${file}: ${Math.round(weight / MIB)} MiB`);
    }
    const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
    assert.ok(all <= 1024 * MIB, `${Math.round(all / MIB)} MiB`);
  });
});
