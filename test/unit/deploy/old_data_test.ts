import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findOldData } from "../../../src/deploy/old_data.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import type { ComposeModel, ObservedContainer } from "../../../src/model/mod.ts";

const MOST_AT_ONCE = 10;

describe("findOldData()", () => {
  it("finds what moves, without what is in it, and the containers that may write there", async () => {
    const bind = (source: string, destination: string, writable = true) => (
      { kind: "bind", name: "", source, destination, writable }
    );
    const mounts: Readonly<Record<string, unknown[]>> = {
      web: [bind("/home/a/data", "/data/"), bind("/home/a/data/in", "/in"), bind("/live/c", "/c")],
      db: [bind("/home/a", "/everything"), bind("/home/a/db", "/db", false)],
      other: [bind("/home/a/data", "/x", false), bind("/home/ab", "/y")],
      ended: [bind("/home/a/data", "/x")],
    };
    const engine = {
      inspectContainer: (id: string) => Promise.resolve({ mounts: mounts[id] }),
    } as unknown as Engine;
    const containers = Object.keys(mounts).map((id) => (
      { id, service: id, labels: {}, state: id === "ended" ? "exited" : "running" }
    )) as unknown as ObservedContainer[];
    const volume = (path: string, target: string) => (
      { type: "bind", source: `/live/${path}`, target }
    );
    const model = {
      services: {
        web: { volumes: [volume("data", "/data"), volume("data/in", "/in"), volume("c", "/c")] },
        db: { volumes: [volume("db", "/db"), { type: "bind", source: "/home/a", target: "/x" }] },
      },
    } as unknown as ComposeModel;
    const place = { model, hostLive: "/live" };
    const found = await findOldData(engine, place, { containers }, new AbortController().signal);
    assert.deepEqual(
      found.map(({ writers, ...each }) => ({ ...each, writers: writers.map(({ id }) => id) })),
      [
        {
          ...{ service: "web", target: "/data", source: "/home/a/data", path: "data" },
          ...{ writable: true, writers: ["web", "db"] },
        },
        {
          ...{ service: "db", target: "/db", source: "/home/a/db", path: "db" },
          ...{ writable: false, writers: ["db"] },
        },
      ],
    );
  });

  it("inspects containers a few at a time: an engine may tell of thousands", async () => {
    let [now, most, asked] = [0, 0, 0];
    const engine = {
      async inspectContainer() {
        asked++;
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 0));
        now--;
        return undefined;
      },
    } as unknown as Engine;
    const containers = Array.from(
      { length: 200 },
      (_, at) => ({ id: `${at}`, labels: {} }),
    ) as unknown as ObservedContainer[];
    const place = { model: { services: {} } as ComposeModel, hostLive: "/live" };
    await findOldData(engine, place, { containers }, new AbortController().signal);
    assert.equal(asked, containers.length);
    assert.ok(most <= MOST_AT_ONCE, `${most} at once`);
  });
});
