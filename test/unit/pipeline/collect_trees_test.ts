import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { containerMounts } from "../../../src/docker/container_mounts.ts";
import {
  createTreeCollector,
  type TreeCollectorParts,
} from "../../../src/pipeline/collect_trees.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

/** An engine that answers every call with this list. */
function engineThatTells(list: unknown): EngineApi {
  const answer = (said: string) => {
    async function* body() {
      yield new TextEncoder().encode(said);
    }
    return Promise.resolve({ status: 200, headers: {}, body: body(), discard: () => {} });
  };
  return new EngineApi({
    description: "told",
    close: () => {},
    request: ({ path }) =>
      answer(path === "/version" ? '{"ApiVersion":"1.45"}' : JSON.stringify(list)),
  });
}

const signal = new AbortController().signal;
const mirrors = {
  list: () => Promise.resolve([]),
  pathOf: ({ name }: { readonly name: string }) => `/data/sources/${name}/mirror/1`,
  removeUnused: () => Promise.resolve(0),
};
const mirrorOf = (name: string) => ({ repository: name, path: `/data/sources/${name}/mirror/1` });

/** A collector that finds nothing, and how often it looked. */
function createLooking(list: () => void = () => {}) {
  const clock = createFakeClock();
  let looks = 0;
  const trees = {
    list: () => {
      looks++;
      list();
      return Promise.resolve([]);
    },
    pathOf: () => "/data/none",
  };
  const ledger = { releasesUnderWay: () => [], currents: () => [] };
  const files = { list: () => Promise.resolve([]) };
  const parts = {
    trees,
    mirrors,
    ledger,
    files,
    clock,
    log: createRecordingLog(),
    dataDir: "/data",
  };
  const collector = createTreeCollector(parts as unknown as TreeCollectorParts);
  return { clock, looks: () => looks, collect: () => collector.collect(signal) };
}

describe("createTreeCollector()", () => {
  it("does not look at all stacks for every deployment", async () => {
    const { clock, looks, collect } = createLooking();
    await Promise.all([collect(), collect()]);
    await clock.advance(10 * 60 * 1000 - 1);
    await collect();
    assert.equal(looks(), 1);
    await clock.advance(1);
    await collect();
    assert.equal(looks(), 2);
  });

  it("tries again soon when it failed", async () => {
    let fails = true;
    const { looks, collect } = createLooking(() => {
      if (fails) throw new Error("no");
    });
    await collect();
    fails = false;
    await collect();
    await collect();
    assert.equal(looks(), 2);
  });

  it("needs the mirrors of what was deployed, and of the configuration that asked for it", async () => {
    const asked: string[][] = [];
    const of = (name: string) => ({ source: { name } });
    const current = { key: {}, revision: of("app"), configuration: of("configuration") };
    const parts = {
      mirrors: {
        ...mirrors,
        removeUnused({ needed }: { readonly needed: ReadonlySet<string> }) {
          asked.push([...needed]);
          return Promise.resolve(0);
        },
      },
      trees: { list: () => Promise.resolve([]), pathOf: () => "/data/none" },
      ledger: {
        releasesUnderWay: () => [],
        currents: () => [current, { key: {}, revision: of("alone") }],
        history: () => [],
      },
      files: { list: () => Promise.resolve([]) },
      ...{ clock: createFakeClock(), log: createRecordingLog(), dataDir: "/data" },
    };
    await createTreeCollector(parts as unknown as TreeCollectorParts).collect(signal);
    assert.deepEqual(asked, [["app", "configuration", "alone"].map((name) => mirrorOf(name).path)]);
  });

  it("removes what others do not need beside a container of which the engine tells nothing", async () => {
    const clock = createFakeClock();
    const trees = (source: string) =>
      ["a", "b"].map((each, index) => ({
        path: `/data/sources/${source}/trees/${each}`,
        usedAt: new Date(index),
      }));
    const removed: string[] = [];
    const silent = {
      ...{ id: "1", state: "restarting", deployment: "" },
      mounts: ["/data/releases/default/silent/current/x"],
    };
    const span = { tree: "sources/silent/trees/b", beganAt: new Date(0), doneAt: new Date(0) };
    const parts = {
      mirrors: { ...mirrors, list: () => Promise.resolve(["silent", "other"].map(mirrorOf)) },
      trees: {
        list: () => Promise.resolve([...trees("silent"), ...trees("other")]),
        pathOf: () => "/data/none",
        remove(path: string) {
          removed.push(path);
          return Promise.resolve(true);
        },
      },
      engines: () =>
        Promise.resolve([{
          context: "default",
          client: {
            containerMounts: () => Promise.resolve([silent]),
            inspectContainer: (_id: string, signal: AbortSignal) =>
              new Promise((_, reject) =>
                signal.addEventListener("abort", () => reject(signal.reason))
              ),
          },
        }]),
      ledger: {
        releasesUnderWay: () => [],
        currents: () => [],
        deployedStacks: () => [],
        shownTrees: { of: () => [span], forget: () => {} },
      },
      files: { list: () => Promise.resolve([]) },
      ...{ clock, log: createRecordingLog(), dataDir: "/data", hostDataDir: "/data" },
    };
    const collector = createTreeCollector(parts as unknown as TreeCollectorParts);
    const done = collector.collect(signal);
    for (let seconds = 0; seconds < 60 && removed.length === 0; seconds++) {
      await clock.advance(1000);
    }
    await done;
    assert.deepEqual(removed, ["/data/sources/other/trees/a"]);
  });

  it("lets another context's engine keep the trees of its own stacks alone, and release none", async () => {
    const path = (stack: string, tree: string) => `/data/sources/${stack}/trees/${tree}`;
    const stacks = ["shop", "bare", "lost", "theirs", "old"];
    const removed: string[] = [];
    const holder = (id: string, where: string) => ({
      ...{ id, state: "running", deployment: "", mounts: [`/data/releases/${where}/current/x`] },
    });
    const engineOf = (
      context: string,
      containers: readonly unknown[] | Error,
      details?: unknown,
    ) => ({
      context,
      client: {
        containerMounts: () =>
          containers instanceof Error ? Promise.reject(containers) : Promise.resolve(containers),
        inspectContainer: () => Promise.resolve(details),
      },
    });
    const began = { startedAt: new Date(0) };
    const keys = [
      { context: "default", name: "shop" },
      { context: "away", name: "lost" },
      { context: "liar", name: "theirs" },
      { context: "early", name: "old" },
      { context: "removed", name: "none" },
    ];
    const parts = {
      mirrors: { ...mirrors, list: () => Promise.resolve(["free", ...stacks].map(mirrorOf)) },
      trees: {
        list: () =>
          Promise.resolve(
            ["free", ...stacks].flatMap((each) =>
              ["a", "b"].map((tree, at) => ({ path: path(each, tree), usedAt: new Date(at) }))
            ),
          ),
        pathOf: () => "/data/none",
        remove: (each: string) => Promise.resolve(removed.push(each) > 0),
      },
      engines: () =>
        Promise.resolve([
          engineOf("default", ["default/shop", "default/bare"].map((at) => holder("1", at)), began),
          engineOf("away", new Error("no answer")),
          // The same id, of which it says that it is gone, and a claim on another context's stack.
          engineOf("liar", [holder("1", "liar/theirs"), holder("2", "default/free")]),
          // Started before all that is known, also of a stack that there is not.
          engineOf("early", ["early/old", "early/none"].map((where) => holder("3", where)), {
            startedAt: new Date(-10_000),
          }),
          { context: "removed" },
        ]),
      ledger: {
        releasesUnderWay: () => [],
        currents: () => [],
        deployedStacks: () => keys.map((key) => ({ key })),
        shownTrees: {
          of: ({ name }: { name: string }) =>
            [{ tree: `sources/${name}/trees/a`, beganAt: new Date(0), doneAt: new Date(0) }]
              .filter(() => stacks.includes(name) && name !== "bare"),
          forget: () => {},
        },
      },
      files: {
        list: (path: string) => Promise.resolve(path === "/data/releases" ? ["default"] : ["bare"]),
        readLink: () => Promise.resolve(path("bare", "b")),
      },
      ...{ clock: createFakeClock(), log: createRecordingLog() },
      ...{ dataDir: "/data", hostDataDir: "/data" },
    };
    await createTreeCollector(parts as unknown as TreeCollectorParts).collect(signal);
    assert.deepEqual(removed, [path("free", "a"), path("theirs", "a")]);
  });

  it("removes nothing where the engine's list is too much: a container in it may hold any tree", async () => {
    const removed: string[] = [];
    const mounts = Array.from({ length: 3000 }, () => ({ Source: `/${"x".repeat(4000)}` }));
    const current = [{ Source: "/data/releases/default/shop/current/x" }];
    const list = [
      { Id: "1", State: "running", Mounts: current },
      { Id: "2", State: "running", Mounts: mounts.concat(current) },
    ];
    const api = engineThatTells(list);
    const log = createRecordingLog();
    const parts = {
      mirrors,
      trees: {
        list: () => Promise.resolve([{ path: "/data/sources/x/trees/a", usedAt: new Date(0) }]),
        pathOf: () => "/data/none",
        remove: (path: string) => Promise.resolve(removed.push(path) > 0),
      },
      engines: () =>
        Promise.resolve([{
          context: "default",
          client: {
            containerMounts: (signal: AbortSignal) => containerMounts(api, signal),
            inspectContainer: () => Promise.resolve({ startedAt: new Date(0) }),
          },
        }]),
      ledger: {
        releasesUnderWay: () => [],
        currents: () => [],
        deployedStacks: () => [],
        shownTrees: {
          of: () => [{ tree: "sources/y/trees/b", beganAt: new Date(0), doneAt: new Date(0) }],
          forget: () => {},
        },
      },
      files: { list: () => Promise.resolve([]) },
      ...{ clock: createFakeClock(), log },
      ...{ dataDir: "/data", hostDataDir: "/data" },
    };
    await createTreeCollector(parts as unknown as TreeCollectorParts).collect(signal);
    assert.deepEqual(removed, []);
    assert.match(log.lines.at(-1)?.message ?? "", /old trees were not removed: .* too large/);
  });

  it("asks once which stacks there are, however many containers have volumes", async () => {
    const key = (at: number) => ({ context: "default", name: `s${at}` });
    const stacks = Array.from({ length: 50 }, (_, at) => ({ key: key(at) }));
    const containers = stacks.map(({ key: { name } }) => ({
      ...{ id: name, state: "running", deployment: name },
      mounts: [`${name}_data`],
    }));
    let asked = 0;
    const of: string[] = [];
    const parts = {
      mirrors,
      trees: {
        list: () => Promise.resolve([{ path: "/data/sources/x/trees/a", usedAt: new Date(0) }]),
        pathOf: () => "/data/none",
        remove: () => Promise.resolve(false),
      },
      engines: () =>
        Promise.resolve([{
          context: "default",
          client: {
            containerMounts: () => Promise.resolve(containers),
            inspectContainer: () => Promise.resolve({ startedAt: new Date(0) }),
          },
        }]),
      ledger: {
        releasesUnderWay: () => [],
        currents: () => [],
        deployedStacks: () => (asked++, stacks),
        history: () => [],
        shownTrees: { of: ({ name }: { name: string }) => (of.push(name), []) },
      },
      files: { list: () => Promise.resolve([]) },
      ...{ clock: createFakeClock(), log: createRecordingLog() },
      ...{ dataDir: "/data", hostDataDir: "/data" },
    };
    await createTreeCollector(parts as unknown as TreeCollectorParts).collect(signal);
    assert.deepEqual([asked, of.length], [1, stacks.length]);
  });
});
