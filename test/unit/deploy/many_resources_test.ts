import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ResourceSummary } from "../../../src/docker/engine.ts";
import { requireOwnVolumes } from "../../../src/deploy/anothers_resources.ts";
import { changedNetworks } from "../../../src/deploy/changed_networks.ts";
import { requireSameVolumes } from "../../../src/deploy/changed_volumes.ts";
import { fieldDrift } from "../../../src/deploy/engine/field_drift.ts";
import { lookForDrift } from "../../../src/deploy/look_for_drift.ts";
import type { ReleaseService } from "../../../src/model/mod.ts";

const MANY = 500;
const names = Array.from({ length: MANY }, (_, index) => `shop_${index}`);
const declared = Object.fromEntries(names.map((name) => [name, { name }]));
const model = {
  name: "shop",
  volumes: declared,
  networks: declared,
  services: {
    web: { volumes: names.map((name) => ({ type: "volume", source: name, target: `/${name}` })) },
  },
};

/** Everything that the model declares, in another order, and how often a name was looked at. */
function counted() {
  let looks = 0;
  const existing = names.toReversed().map((name): ResourceSummary => ({
    id: `id of ${name}`,
    get name() {
      looks++;
      return name;
    },
    driver: "local",
    labels: {},
    network: { internal: false, attachable: false, ipv6: false, pools: [] },
  }));
  return { existing, looks: () => looks };
}

describe("thousands of volumes, networks and aliases", () => {
  const key = { context: "default", name: "shop" };
  const ways = {
    "whose volumes they are": (existing: readonly ResourceSummary[]) =>
      requireOwnVolumes(
        key,
        model,
        {
          engine: {
            findVolumes: () => Promise.resolve([...existing]),
            everyVolume: () => assert.fail("all volumes"),
          },
          ownersOf: () => Promise.resolve({ here: undefined, elsewhere: [] }),
          isSeparate: () => false,
          definedBy: () => new Set<string>(),
          node: undefined,
        },
        { source: "git", reference: "main" },
        new AbortController().signal,
      ),
    "how volumes were made": (existing: readonly ResourceSummary[]) =>
      requireSameVolumes(model, existing),
    "how networks were made": (existing: readonly ResourceSummary[]) =>
      changedNetworks(model, existing),
    "which volumes are gone": (existing: readonly ResourceSummary[]) => {
      const services = [{ name: "web", expectation: { replicas: 1 } }] as ReleaseService[];
      const engine = {
        findVolumes: () => Promise.resolve([...existing]),
        inspectContainer: () => Promise.resolve(undefined),
      };
      const observed = { containers: [] };
      return lookForDrift(engine, { model, services }, observed, new AbortController().signal);
    },
  };
  for (const [what, look] of Object.entries(ways)) {
    it(`are not looked through one by one for ${what}`, async () => {
      const { existing, looks } = counted();
      await look(existing);
      assert.ok(looks() <= 3 * MANY, String(looks()));
    });
  }

  it("are not looked through one by one for aliases that are gone", () => {
    const networks = { lan: { aliases: names } };
    const aliases = Object.assign(["web", "shop-web-1", ...names.slice(1)], {
      includes: () => assert.fail("looked through"),
    });
    const drift = fieldDrift(
      {
        name: "shop",
        networks: { lan: { name: "shop_lan" } },
        services: { web: { networks } },
      },
      {
        container: { id: "1", name: "shop-web-1", service: "web", labels: {} },
        host: {},
        endpoints: { shop_lan: { aliases, ipv4: "" } },
      } as unknown as Parameters<typeof fieldDrift>[1],
      1,
    );
    assert.deepEqual(drift.map(({ field }) => field), ["alias shop_0 in network shop_lan"]);
  });
});
