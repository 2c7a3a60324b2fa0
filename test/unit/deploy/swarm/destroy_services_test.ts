import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { destroyServices } from "../../../../src/deploy/mod.ts";
import { stackKey } from "../../../../src/model/mod.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";

const SIGNAL = new AbortController().signal;

/** A thing of the stack, with whose it is in a label. */
const thing = (kind: string, whose: string) => ({
  id: `${whose} ${kind}`,
  name: `shop_${kind}`,
  labels: { whose },
});

describe("destroyServices()", () => {
  it("asks of each thing whose it is, by a look after the tasks have ended", async () => {
    const removed: string[] = [];
    let own = "own";
    const remove = (id: string) => Promise.resolve(void removed.push(id));
    const list = (kind: string) => Promise.resolve([thing(kind, "own"), thing(kind, own)]);
    const engine = {
      listNetworks: () => list("network"),
      removeNetwork: remove,
      swarm: {
        services: () => Promise.resolve([thing("service", "own"), thing("worker", "theirs")]),
        removeService: remove,
        tasks: () => {
          own = "their";
          return Promise.resolve([]);
        },
        objects: (kind: string) => list(kind.slice(0, -1)),
        removeObject: (_: string, id: string) => remove(id),
      },
    } as unknown as Parameters<typeof destroyServices>[0]["engine"];
    const whyKept = ({ labels }: { readonly labels: Readonly<Record<string, string>> }) =>
      labels["whose"] === "own" ? undefined : `of ${labels["whose"]}`;
    const what = { key: stackKey("", "shop"), removeVolumes: false, whyKept };
    const data = await destroyServices({ engine, clock: createFakeClock() }, what, SIGNAL);
    assert.deepEqual(removed, ["own service", "own secret", "own config", "own network"]);
    assert.deepEqual(data, {
      deleted: [],
      kept: [
        "service shop_worker: of theirs",
        "secret shop_secret: of their",
        "config shop_config: of their",
        "network shop_network: of their",
      ],
    });
  });
});
