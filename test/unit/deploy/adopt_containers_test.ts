import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { adoptContainers } from "../../../src/deploy/mod.ts";
import type { RolloutResult } from "../../../src/deploy/rollout_words.ts";
import { systemFiles } from "../../../src/system/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { errors, LABELS, MANAGER } from "../../../src/model/mod.ts";
import { releaseOf } from "./releases.ts";

const MIB = 1 << 20;

/** Adopts 100 containers of each of which an engine tells so many characters. */
async function adopt(length: number) {
  const containers = Array.from(
    { length: 100 },
    (_, at) => runningContainer("shop", "web", { id: `${at}` }),
  );
  const engine = createMemoryEngine(containers);
  const asked: string[] = [];
  engine.containerRecipe = (id) => {
    asked.push(id);
    const body = { Env: ["x".repeat(length)] };
    return Promise.resolve({ id, name: id, runs: true, labels: {}, imageId: "1", body });
  };
  const parts = {
    host: { engine, dataDir: "/data" },
    files: systemFiles,
    ledger: { current: () => undefined },
    options: { dataDir: "/data/that/is/not/there", rollback: false },
  };
  const deployed: RolloutResult = { kind: "deployed", images: {} };
  const result = await adoptContainers(
    parts as unknown as Parameters<typeof adoptContainers>[0],
    {
      release: releaseOf("1", []),
      services: [],
      observed: { containers },
      progress: () => {},
      slot: { leave: () => {}, takeAgain: () => Promise.resolve() },
      hasPrevious: false,
      ranBefore: [],
      halts: { had: { halted: {}, copying: [], copied: [] }, note: () => {} },
    },
    () => Promise.resolve(deployed),
    new AbortController().signal,
  );
  return { result, asked, calls: engine.calls };
}

describe("adoptContainers()", () => {
  it("keeps 16 MiB of what an engine tells of the containers, and refuses more before it replaces any", async () => {
    const { result, asked, calls } = await adopt(MIB);
    assert.ok(result.kind === "failed" && result.error.code === "engine_refused");
    assert.match(result.error.message, /100 containers takes more than 16777216 characters/);
    assert.equal(result.text, "nothing was replaced");
    assert.ok(asked.length <= 20, `${asked.length} were asked for`);
    assert.deepEqual(calls, []);
  });

  it("replaces those of which it tells what containers have", async () => {
    const { result, asked } = await adopt(MIB / 10);
    assert.equal(result.kind, "deployed");
    assert.equal(asked.length, 100);
  });
});

/** A release that ends so, after data of `web` was copied by a process that was killed; tells calls and text. */
async function goOn(
  action: "keep" | "recreate",
  { ends, isThere = true }: { readonly ends: RolloutResult["kind"]; readonly isThere?: boolean },
) {
  const web = runningContainer("shop", "web");
  const engine = createMemoryEngine([web]);
  const made: unknown[] = [];
  engine.containerRecipe = (id) => {
    const body = { HostConfig: { RestartPolicy: { Name: "no" } } };
    return Promise.resolve({ id, name: id, runs: true, labels: web.labels, imageId: "1", body });
  };
  engine.createContainer = ({ id, body }) => {
    made.push(body);
    return Promise.resolve(id);
  };
  const parts = {
    host: { engine, dataDir: "/data" },
    files: systemFiles,
    ledger: { current: () => undefined },
    options: { dataDir: "/data/that/is/not/there", rollback: ends === "rolled_back" },
  };
  const halted = { [web.id]: { Name: "always", MaximumRetryCount: 0 } };
  const release = releaseOf("1", []);
  const error = errors.unhealthy("no");
  const result = await adoptContainers(
    parts as unknown as Parameters<typeof adoptContainers>[0],
    {
      release: { ...release, model: { services: { web: {} } } },
      services: [{ name: "web", action, because: [] }],
      observed: { containers: [web] },
      progress: () => {},
      slot: { leave: () => {}, takeAgain: () => Promise.resolve() },
      hasPrevious: false,
      ranBefore: ["web"],
      halts: { had: { halted, copying: [], copied: ["shop"] }, note: () => {} },
    },
    () => {
      if (!isThere) engine.containers = [];
      const kind = ends === "deployed" ? ends : "failed";
      return Promise.resolve({ kind, images: {}, error, text: "" } as RolloutResult);
    },
    new AbortController().signal,
  );
  return { text: result.kind === "deployed" ? "" : result.text, made, calls: engine.calls };
}

describe("adoptContainers() after what wrote to copied data was stopped for good", () => {
  it("starts what the release keeps, with its restart policy", async () => {
    const { calls } = await goOn("keep", { ends: "deployed" });
    assert.deepEqual(calls, ["restart policy web-id always", "start web-id"]);
  });

  it("leaves what the release replaces as it is", async () => {
    assert.deepEqual((await goOn("recreate", { ends: "deployed" })).calls, []);
  });

  it("makes what was replaced again with the restart policy that it had", async () => {
    const { made } = await goOn("recreate", { ends: "rolled_back", isThere: false });
    const RestartPolicy = { Name: "always", MaximumRetryCount: 0 };
    assert.deepEqual(made, [{ HostConfig: { RestartPolicy } }]);
  });

  for (const isThere of [true, false]) {
    it(`says how to start what stays stopped, if it is there: ${isThere}`, async () => {
      const { text } = await goOn("recreate", { ends: "failed", isThere });
      assert.equal(/docker update --restart always web-id; docker start/.test(text), isThere, text);
    });
  }
});

/** A first release that fails, where containers of an older ledger's and a person's one were; tells the calls. */
async function failFirst(had: { readonly halted: object; readonly copied: readonly string[] }) {
  const own = { labels: { [LABELS.manager]: MANAGER } };
  const of = (service: string, more = {}) => runningContainer("shop", service, more);
  const containers = [of("db", own), of("web", own), of("extra")];
  const engine = createMemoryEngine([...containers]);
  engine.containerRecipe = (id) => {
    const { name, labels } = containers.find((each) => each.id === id) ?? assert.fail();
    return Promise.resolve({ id, name, runs: true, labels, imageId: "1", body: {} });
  };
  const parts = {
    host: { engine, dataDir: "/data" },
    files: systemFiles,
    ledger: { current: () => undefined },
    options: { dataDir: "/data/that/is/not/there", rollback: true },
  };
  const planned = { db: "keep", web: "recreate" } as const;
  const result = await adoptContainers(
    parts as unknown as Parameters<typeof adoptContainers>[0],
    {
      release: releaseOf("1", []),
      services: Object.entries(planned).map(([name, action]) => ({ name, action, because: [] })),
      observed: { containers },
      progress: () => {},
      slot: { leave: () => {}, takeAgain: () => Promise.resolve() },
      hasPrevious: false,
      ranBefore: [],
      halts: { had: { ...had, copying: [] } as never, note: () => {} },
    },
    () => {
      engine.containers = [of("db", own), of("web", { ...own, id: "new" }), of("extra")];
      return Promise.resolve({ kind: "failed", error: errors.unhealthy("no"), text: "" });
    },
    new AbortController().signal,
  );
  return [result.kind === "deployed" ? "" : result.text, ...engine.calls];
}

describe("adoptContainers() where a ledger was lost", () => {
  const text = "the containers that ran before were put back: shop-";

  it("leaves the stack's own containers that the release keeps, and puts those back that it replaced", async () => {
    assert.deepEqual(await failFirst({ halted: {}, copied: [] }), [
      `${text}web-1, shop-extra-1`,
      ...["remove new", "create shop-web-1", "start web-id", "start extra-id"],
    ]);
  });

  it("keeps none where an attempt before has made room: they would write beside what comes back", async () => {
    assert.deepEqual(await failFirst({ halted: {}, copied: ["shop_copy"] }), [
      `${text}extra-1`,
      ...["remove db-id", "remove new", "start extra-id"],
    ]);
  });
});
