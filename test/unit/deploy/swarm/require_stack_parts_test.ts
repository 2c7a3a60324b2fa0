import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lacksExternal } from "../../../../src/deploy/engine/ensure_resources.ts";
import { requireStackParts } from "../../../../src/deploy/swarm/require_stack_parts.ts";
import type { ResourceSummary } from "../../../../src/docker/engine.ts";
import type { ObjectKind, Swarm, SwarmObject } from "../../../../src/docker/swarm.ts";
import { LABELS, MANAGER, stackKey, type StackwrightError } from "../../../../src/model/mod.ts";
import { releaseOf } from "../../record/releases.ts";
import { swarmService } from "./swarm_values.ts";

const NAMESPACE = "com.docker.stack.namespace";
const secret: SwarmObject = { id: "s", name: "blog_key_12345678", version: 1, labels: {} };
/** As `docker stack deploy` labels it, too. */
const made = { [NAMESPACE]: "blog" };

/** Looks whether stack `a` can have its service `b_c`. */
async function require(
  model: Record<string, unknown>,
  there: {
    services?: ReturnType<typeof swarmService>[];
    secrets?: SwarmObject[];
    networks?: ResourceSummary[];
  } = {},
  handedOver: ReadonlySet<string> | "all" = new Set<string>(),
): Promise<void> {
  const swarm: Pick<Swarm, "networks" | "namedObjects" | "namedServices"> = {
    networks: () => Promise.resolve(there.networks ?? []),
    namedObjects: (kind: ObjectKind) =>
      Promise.resolve(kind === "secrets" ? there.secrets ?? [] : []),
    namedServices: (names) =>
      Promise.resolve((there.services ?? []).filter(({ name }) => names.includes(name))),
  };
  const { signal } = new AbortController();
  await requireStackParts(
    {
      host: { engine: { swarm: swarm as Swarm } },
      handedOver: () => handedOver === "all" ? undefined : handedOver,
    },
    { ...releaseOf(stackKey("", "a"), "1"), model },
    ["b_c"],
    signal,
  );
}

const external = (kind: string) => ({ [kind]: { key: { name: secret.name, external: true } } });

describe("requireStackParts()", () => {
  it("takes a secret that somebody made, and networks that each node has", async () => {
    await require(external("secrets"), { secrets: [secret] });
    await require({ networks: { host: { name: "host", external: true } } });
  });

  it("refuses a secret that was made for another stack, whatever stands in the file", async () => {
    await assert.rejects(require(external("secrets"), { secrets: [{ ...secret, labels: made }] }), {
      code: "conflict",
      message: /made for stack blog/,
    });
    const own = { [NAMESPACE]: "a" };
    await require(external("secrets"), { secrets: [{ ...secret, labels: own }] });
  });

  it("refuses a secret that was made for another source's stack of its name, unless that was handed over", async () => {
    const from = (more: Readonly<Record<string, string>>) => ({
      secrets: [{
        ...secret,
        labels: { [NAMESPACE]: "a", [LABELS.manager]: MANAGER, [LABELS.deployment]: "a", ...more },
      }],
    });
    const own = releaseOf(stackKey("", "a"), "1").revision.source.name;
    const [theirs, ours] = ["host/them/shop", own].map((each) =>
      from({ [LABELS.sourceName]: own, [LABELS.sourceConfiguration]: each })
    );
    await assert.rejects(require(external("secrets"), theirs), {
      code: "conflict",
      message: /was made for stack a of host\/them\/shop, and goes/,
    });
    for (const over of ["all", new Set(["host/them/shop"])] as const) {
      await require(external("secrets"), theirs, over);
    }
    await require(external("secrets"), ours);
    // As older versions made them.
    await require(external("secrets"), from({}));
    const others = from({ [LABELS.deployment]: "blog", [LABELS.sourceConfiguration]: own });
    await assert.rejects(require(external("secrets"), others, "all"), { code: "conflict" });
  });

  for (const kind of ["networks", "configs", "secrets"]) {
    it(`says which of the ${kind} is missing, which another deployment may make`, async () => {
      await assert.rejects(
        require(external(kind)),
        (error) => lacksExternal(error) && (error as StackwrightError).code === "deploy_failed",
      );
    });
  }

  it("refuses a network of the stack that it defines in another way: a swarm's is not made anew", async () => {
    const back = (stack: string): ResourceSummary => ({
      ...{ id: "1", name: "a_back", driver: "overlay", labels: { [NAMESPACE]: stack } },
      network: { internal: false, attachable: false, ipv6: false, pools: [] },
    });
    const wanted = (internal: boolean) => ({ networks: { back: { name: "a_back", internal } } });
    await require(wanted(false), { networks: [back("a")] });
    await require(wanted(true), { networks: [back("blog")] });
    await assert.rejects(require(wanted(true), { networks: [back("a")] }), {
      code: "conflict",
      message: /^networks.back: network a_back exists with another internal, .* it is a swarm's/,
    });
  });

  it("refuses a service whose name in the swarm is that of another stack's", async () => {
    const named = (stack: string) =>
      swarmService({ name: "a_b_c", labels: { [NAMESPACE]: stack } });
    await require({}, { services: [named("a")] });
    await assert.rejects(require({}, { services: [named("a_b")] }), {
      code: "conflict",
      message: /a_b_c, which is a service of stack a_b/,
    });
  });
});
