import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clearHalfReplaced } from "../../src/deploy/compose/half_replaced.ts";
import { observe, requireFew } from "../../src/deploy/observe.ts";
import { RestartWatch } from "../../src/deploy/restart_watch.ts";
import type { ContainerDetails, Engine } from "../../src/docker/engine.ts";
import {
  beyondObserved,
  COMPOSE_LABELS,
  LONGEST_OBSERVED_NAMES,
  MOST_OBSERVED,
  MOST_OBSERVED_SERVICES,
  type ObservedContainer,
  stackKey,
} from "../../src/model/mod.ts";
import { decideReconciliation } from "../../src/plan/decide_reconciliation.ts";
import { judgeDrift, toRemember } from "../../src/plan/judge_drift.ts";
import { leftByAdoption, listedDrift } from "../../src/plan/listed_drift.ts";
import { planFor } from "../../src/plan/plan_for.ts";
import { containerOf, serviceOf } from "./plan/values.ts";

const { signal } = new AbortController();
const key = stackKey("evil", "shop");

/** Containers as the engine of another context may tell of them, and how often one's service was read. */
function counted(count: number, fields: (at: number) => Partial<ObservedContainer> = () => ({})) {
  let reads = 0;
  const containers = Array.from({ length: count }, (_, at) => {
    const { service, ...rest } = containerOf(`x${at}`, { labels: {}, ...fields(at) });
    return Object.defineProperty(rest, "service", {
      enumerable: true,
      get: () => (reads++, service),
    }) as ObservedContainer;
  });
  return { containers, reads: () => reads };
}

/** Containers, each of a service of its own name. */
function many(count: number, fields?: (at: number) => Partial<ObservedContainer>) {
  return counted(count, fields).containers;
}

describe("a stack of as many containers as an engine likes to tell of", () => {
  const wanted = { kind: "wanted", deployed: [], policy: { removeOrphans: true } } as const;
  const inactive = Array.from({ length: 500 }, (_, at) => `x${at}`);

  for (const [title, release] of [["orphans", {}], ["inactive ones", { inactive }]] as const) {
    it(`is planned for by a few looks at each of its ${title}`, () => {
      const { containers, reads } = counted(500);
      planFor({ services: [serviceOf("web")], ...release }, { containers }, wanted);
      assert.ok(reads() < 500 * 20, `${reads()} reads`);
    });
  }

  it("is reconciled without comparing each event with each container", () => {
    let reads = 0;
    const containers = many(500).map((each) =>
      Object.defineProperty({ ...each }, "id", { get: () => (reads++, each.service) })
    );
    const services = Array.from({ length: 20 }, (_, at) => serviceOf(`gone${at}`));
    const heard = new Map(
      Array.from({ length: 500 }, (_, at) => [`old${at}`, new Set(["destroy" as const])]),
    );
    const options = {
      ...{ enabled: true, events: ["unhealthy" as const], drift: "report" as const },
      ...{ restartLimit: 5, restartWindowSeconds: 300 },
    };
    const input = { services, observed: { containers }, options, heard, restarts: () => 0 };
    decideReconciliation(input as unknown as Parameters<typeof decideReconciliation>[0]);
    assert.ok(reads < 500 * 20, `${reads} reads`);
  });

  it("is cleared of replacements without comparing each container with each", async () => {
    let reads = 0;
    const list = many(500, (at) => ({
      name: `${String(at).padStart(12, "0")}_shop-x${at}-1`,
      state: "created",
      labels: { [COMPOSE_LABELS.replaces]: "x", [COMPOSE_LABELS.number]: "1" },
    })).map((each, at) =>
      Object.defineProperty({ ...each }, "id", { get: () => (reads++, `c${at}`) })
    );
    const engine = {
      listContainers: (() => {
        const lists = [list, []];
        return () => Promise.resolve(lists.shift() ?? []);
      })(),
      renameContainer: () => Promise.resolve(),
    } as unknown as Engine;
    await clearHalfReplaced(engine, key, signal);
    assert.ok(reads < 500 * 20, `${reads} reads`);
  });

  it("is told in a message of bounded length, and with few reasons for each service", () => {
    const containers = many(2500, () => ({ labels: { [COMPOSE_LABELS.project]: "shop" } }))
      .map((each, at) => ({ ...each, service: `${at}${"y".repeat(4000)}` }));
    const { message } = planFor({ services: [serviceOf("web")] }, { containers }, wanted);
    assert.ok(message.length < 40_000, `${message.length} characters`);
    assert.match(message, /y…, .* and 2480 more/);
    const own = many(2000, () => ({ state: "exited" })).map((each) => ({
      ...each,
      service: "web",
    }));
    const services = [serviceOf("web")];
    const plan = planFor({ services }, { containers: own.map(managed) }, { kind: "repaired" });
    assert.ok(plan.services.every(({ because }) => because.length <= 21));
  });

  it("is refused beyond its limits, with what to do", () => {
    const long = many(70).map((each, at) => ({ ...each, service: `${at}${"y".repeat(4000)}` }));
    const same = (count: number) => many(count).map((each) => ({ ...each, service: "web" }));
    assert.equal(beyondObserved("shop", { containers: same(MOST_OBSERVED) }), undefined);
    assert.equal(beyondObserved("shop", { containers: many(MOST_OBSERVED_SERVICES) }), undefined);
    const [one] = same(1);
    for (
      const [observed, most] of [
        [{ containers: same(MOST_OBSERVED + 1) }, MOST_OBSERVED],
        [{ containers: same(MOST_OBSERVED), idle: [one!] }, MOST_OBSERVED],
        [{ containers: many(MOST_OBSERVED_SERVICES + 1) }, MOST_OBSERVED_SERVICES],
        [{ containers: long }, LONGEST_OBSERVED_NAMES],
      ] as const
    ) {
      const told = new RegExp(`stack shop has .* ${most}, .*nothing is decided.*docker ps -a`);
      assert.match(beyondObserved("shop", observed) ?? "", told);
      assert.throws(() => requireFew(key, observed), { code: "engine_refused", message: told });
    }
  });

  it("is not observed beyond its limits", async () => {
    const engine = { listContainers: () => Promise.resolve(many(20_000)) } as unknown as Engine;
    const refused = { code: "engine_refused", message: /20000 containers/ };
    await assert.rejects(observe(engine, { key }, signal), refused);
    await assert.rejects(clearHalfReplaced(engine, key, signal), refused);
  });
});

describe("what is remembered of a stack", () => {
  it("has the orphans that an adoption left once for each service", () => {
    const containers = many(1000).map((each) => ({ ...each, service: "other" }));
    const release = { key, services: [serviceOf("web")] };
    const left = leftByAdoption(release, { containers });
    assert.equal(left.length, 1);
    const listed = listedDrift(release, { containers });
    const before = { count: 0, fields: [], tried: left };
    const judged = judgeDrift({ listed, fields: [], before }, {
      drift: "repair",
      removeOrphans: true,
    }, new Date(0));
    assert.deepEqual(judged.mended.map(({ service }) => service), ["web"]);
  });

  it("has no orphans beyond a limit: an adoption of more is refused", () => {
    const containers = many(1000).map((each) => ({ ...each, service: each.service.repeat(40) }));
    const release = { key, services: [serviceOf("web")] };
    assert.throws(() => leftByAdoption(release, { containers }), {
      code: "conflict",
      message: /1000 services .* the most is 131072\. Nothing was changed/,
    });
  });

  it("has drift of bounded length, whatever an engine and a model name", () => {
    const fields = Array.from({ length: 1000 }, (_, at) => ({
      ...{ service: "web", container: { id: `${at}`, name: "n".repeat(4096) } },
      ...{ field: `labels.${at}`, wanted: "w".repeat(9000), found: "f".repeat(9000) },
    }));
    const judged = judgeDrift(
      { listed: [], fields, before: undefined },
      { drift: "report" },
      new Date(0),
    );
    assert.ok(JSON.stringify(judged.found).length < 600_000);
    const again = judgeDrift(
      { listed: [], fields, before: judged.found },
      { drift: "report" },
      new Date(0),
    );
    assert.deepEqual(again.news, [], "what is known is no news");
    assert.equal(toRemember(fields.map((each) => ({ ...each, field: "a" }))).length, 1);
  });

  it("has a bounded number of differences, of any number of containers and networks", () => {
    const networks = Array.from({ length: 100 }, (_, at) => `n${at}`);
    const service = serviceOf("web", { place: { containerName: "", networks } });
    const containers = many(300, () => ({ networkNames: [] }))
      .map((each) => managed({ ...each, service: "web" }));
    assert.ok(listedDrift({ services: [service] }, { containers }).length <= 1000);
  });
});

describe("RestartWatch", () => {
  it("forgets the containers that a look has not found", () => {
    const of = (id: string, restartCount: number) =>
      ({ container: containerOf("web", { id }), restartCount }) as ContainerDetails;
    const watch = new RestartWatch();
    watch.look([of("a", 5), of("b", 5)]);
    watch.look([of("b", 6)]);
    assert.deepEqual([...watch.look([of("a", 7), of("b", 7)]).restarted], ["b"]);
    watch.look([], [of("b", 7)]);
    assert.deepEqual([...watch.look([of("b", 7)]).restarted], ["b"], "it is there, unlooked at");
  });
});

function managed(each: ObservedContainer): ObservedContainer {
  return { ...each, labels: containerOf("web").labels };
}
