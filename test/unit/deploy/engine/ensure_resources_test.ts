import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ensureResources,
  requireExternals,
} from "../../../../src/deploy/engine/ensure_resources.ts";
import type { EngineWork } from "../../../../src/deploy/engine/engine_work.ts";
import type { Engine, ResourceSummary } from "../../../../src/docker/engine.ts";
import { StackwrightError } from "../../../../src/model/mod.ts";

const never = new AbortController().signal;
const model = {
  services: {
    web: { networks: { front: null }, volumes: [{ type: "volume", source: "data", target: "/d" }] },
    other: { networks: { elsewhere: null } },
  },
  networks: {
    front: { name: "shared", external: true },
    elsewhere: { name: "elsewhere", external: true },
  },
  volumes: { data: { name: "shared", external: true } },
};

function engineWith(networks: readonly ResourceSummary[], volumes: readonly ResourceSummary[]) {
  return {
    findNetworks: () => Promise.resolve([...networks]),
    findVolumes: () => Promise.resolve([...volumes]),
  };
}

function named(name: string, id = name): ResourceSummary {
  return { id, name, driver: "", labels: {} };
}

describe("requireExternals()", () => {
  const missing = (what: string) => (error: unknown) =>
    error instanceof StackwrightError && error.code === "deploy_failed" &&
    error.message.startsWith(`${what} is declared external and does not exist`);

  it("is content with what the services use", async () => {
    const engine = engineWith([named("shared")], [named("shared")]);
    await requireExternals(engine, model, ["web"], never);
  });

  it("knows a network by its id", async () => {
    const engine = engineWith([named("front", "shared")], [named("shared")]);
    await requireExternals(engine, model, ["web"], never);
  });

  it("names a network that is not there", async () => {
    const engine = engineWith([], [named("shared")]);
    const asked = requireExternals(engine, model, ["web"], never);
    await assert.rejects(asked, missing("networks.front: network shared"));
  });

  it("takes no network for a volume of its name", async () => {
    const engine = engineWith([named("shared")], []);
    const asked = requireExternals(engine, model, ["web"], never);
    await assert.rejects(asked, missing("volumes.data: volume shared"));
  });
});

describe("ensureResources()", () => {
  it("joins no network that leads outside in the place of an internal one, whoever made it", async () => {
    const facts = { attachable: false, ipv6: false, pools: [] };
    const ask = (is: { project: string; internal: boolean; id?: string }, wanted: object) => {
      const { project, internal, id = "1" } = is;
      const labels = { "com.docker.compose.project": project };
      const there = { ...named("lan", id), labels, network: { ...facts, internal } };
      const lan = { name: id === "1" ? "lan" : id, ...wanted };
      const model = { services: { web: { networks: { lan: null } } }, networks: { lan } };
      const changes = { key: { context: "", name: "shop" }, scale: { web: 1 } };
      const work = { parts: { engine: engineWith([there], []) }, changes, model, api: "1.44" };
      return ensureResources({ ...work, tell: () => {} } as unknown as EngineWork, never);
    };
    const theirs = { project: "wiki", internal: false };
    const isRefused = { code: "conflict", message: /network lan is to be internal/ };
    await assert.rejects(ask(theirs, { internal: true }), isRefused);
    await assert.rejects(ask({ ...theirs, id: "abc" }, { internal: true }), isRefused);
    await ask({ ...theirs, internal: true }, { internal: true });
    await assert.rejects(ask({ ...theirs, project: "shop" }, { internal: true }), isRefused);
    await ask(theirs, { internal: true, external: true });
    await ask(theirs, {});
  });

  const mounting = {
    name: "shop",
    services: { web: { volumes: [{ type: "volume", source: "data", target: "/d" }] } },
    volumes: { data: { name: "common" } },
  };

  it("asks whose the volumes are once they are there: another stack may have made them", async () => {
    for (const there of [[], [named("common")]]) {
      const [done, asked]: [string[], string[]] = [[], []];
      const engine: Partial<Engine> = {
        findNetworks: () => Promise.resolve([]),
        findVolumes: () => Promise.resolve(there),
        makeVolume: ({ Name }) => Promise.resolve(void done.push(Name)),
      };
      const refuses = () => there.length > 0 || done.length > 0;
      const requireAllowed = () => {
        asked.push([...done, "asked"].join());
        return refuses() ? Promise.reject(new Error(asked.join(" "))) : Promise.resolve();
      };
      const changes = { scale: { web: 1 }, requireAllowed };
      const work = { parts: { engine }, changes, model: mounting, api: "1.44", tell: () => {} };
      const refused = ensureResources(work as unknown as EngineWork, never);
      // What is missing may be another stack's, which has not made it yet.
      const message = there.length === 0 ? "asked common,asked" : "asked";
      await assert.rejects(refused, { message });
    }
  });
});
