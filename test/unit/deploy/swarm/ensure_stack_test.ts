import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ResourceSummary } from "../../../../src/docker/engine.ts";
import type { ObjectKind, Swarm, SwarmObject } from "../../../../src/docker/swarm.ts";
import { ensureStack } from "../../../../src/deploy/swarm/ensure_stack.ts";
import { isStackwrightError, LABELS, MANAGER } from "../../../../src/model/mod.ts";

const NO_SIGNAL = new AbortController().signal;
const body = { Name: "shop_c_12345678", Labels: {}, Data: "bWluZQ==" };

/** What a stack with one config is made with, where these objects are there. */
function ensure(
  there: readonly SwarmObject[],
  lan: readonly ResourceSummary[] = [],
  { kind = "configs", isAdopted = false, isExternal = false }: {
    kind?: ObjectKind;
    isAdopted?: boolean;
    isExternal?: boolean;
  } = {},
) {
  const created: string[] = [];
  const swarm: Pick<Swarm, "networks" | "namedObjects" | "createObject"> = {
    networks: () => Promise.resolve([...lan]),
    namedObjects: () => Promise.resolve([...there]),
    createObject(_kind: ObjectKind, wanted) {
      created.push(wanted.Name);
      return Promise.resolve("made");
    },
  };
  const stack = {
    name: "shop",
    model: {},
    networks: lan.map(({ name }) => ({
      ...{ key: name, name, external: false },
      body: { Name: name, Internal: true, Labels: {} },
    })),
    sources: isAdopted ? undefined : new Set(["host/me/shop"]),
    objects: [{ kind, key: "c", name: body.Name, ...(isExternal ? {} : { body }) }],
    parts: { stack: "shop", model: {}, api: "1.45", replicas: {}, content: {} },
  };
  const engine = { swarm: swarm as Swarm, makeNetwork: () => Promise.reject(new Error()) };
  return { created, found: ensureStack(engine, stack, NO_SIGNAL) };
}

describe("ensureStack()", () => {
  const known = { id: "theirs", name: body.Name, version: 1, labels: {} };

  it("makes a config that is missing, and uses one with the same content", async () => {
    const missing = ensure([]);
    assert.deepEqual((await missing.found)("configs", "c"), { id: "made", name: body.Name });
    assert.deepEqual(missing.created, [body.Name]);
    const there = ensure([{ ...known, data: body.Data }]);
    assert.deepEqual((await there.found)("configs", "c"), { id: "theirs", name: body.Name });
    assert.deepEqual(there.created, []);
  });

  it("joins no network that leads outside in the place of an internal one, whoever made it", async () => {
    const lan = (stack: string, internal = false) => [{
      ...{ id: "1", name: "lan", driver: "overlay" },
      network: { internal, attachable: false, ipv6: false, pools: [] },
      labels: { "com.docker.stack.namespace": stack },
    }];
    for (const stack of ["wiki", "shop"]) {
      await assert.rejects(
        ensure([], lan(stack)).found,
        (error) => isStackwrightError(error, "conflict") && /to be internal/.test(error.message),
      );
      await ensure([], lan(stack, true)).found;
    }
  });

  it("gives no service a config that another stack made under its name with other content", async () => {
    await assert.rejects(
      ensure([{ ...known, data: "ZXZpbA==" }]).found,
      (error) => isStackwrightError(error, "conflict") && /other content/.test(error.message),
    );
  });

  it("takes no secret or config that was made for another stack, or for another source's of its name", async () => {
    const made = (deployment: string, configuration?: string) => ({
      [LABELS.manager]: MANAGER,
      [LABELS.deployment]: deployment,
      "com.docker.stack.namespace": deployment,
      ...(configuration === undefined ? {} : { [LABELS.sourceConfiguration]: configuration }),
    });
    const own = "host/me/shop";
    for (const kind of ["secrets", "configs"] as const) {
      const there = (labels: Readonly<Record<string, string>>) => [{
        ...known,
        labels,
        ...(kind === "configs" ? { data: body.Data } : {}),
      }];
      for (
        const [labels, whose] of [
          [made("blog", own), "stack blog"],
          [{ "com.docker.stack.namespace": "blog" }, "stack blog"],
          [made("shop", "host/them/shop"), "stack shop of host/them/shop"],
        ] as const
      ) {
        for (const isExternal of [false, true]) {
          await assert.rejects(ensure(there(labels), [], { kind, isExternal }).found, {
            code: "conflict",
            message:
              `stack shop: ${kind}.c: there is ${body.Name}, which was made for ${whose}; give ` +
              "one of them another name",
          });
        }
      }
      for (const labels of [{}, made("shop"), made("shop", own)]) {
        assert.equal((await ensure(there(labels), [], { kind }).found)(kind, "c").id, "theirs");
      }
      const handedOver = there(made("shop", "host/them/shop"));
      await ensure(handedOver, [], { kind, isAdopted: true }).found;
    }
  });
});
