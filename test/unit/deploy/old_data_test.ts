import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findOldData } from "../../../src/deploy/old_data.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import {
  type ComposeModel,
  LABELS,
  MANAGER,
  type ObservedContainer,
  stackKey,
} from "../../../src/model/mod.ts";

const MOST_AT_ONCE = 10;
const LIVE = "/ours/releases/default/shop/live";
const PLACE = { key: stackKey("", "shop"), dataDir: "/ours" };

describe("findOldData()", () => {
  it("finds what moves, without what is in it, and the containers that may write there", async () => {
    const bind = (source: string, destination: string, writable = true) => (
      { kind: "bind", name: "", source, destination, writable }
    );
    const mounts: Readonly<Record<string, unknown[]>> = {
      web: [
        bind("/home/a/data", "/data/"),
        bind("/home/a/data/in", "/in"),
        bind(`${LIVE}/c`, "/c"),
      ],
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
      { type: "bind", source: `${LIVE}/${path}`, target }
    );
    const model = {
      services: {
        web: { volumes: [volume("data", "/data"), volume("data/in", "/in"), volume("c", "/c")] },
        db: { volumes: [volume("db", "/db"), { type: "bind", source: "/home/a", target: "/x" }] },
      },
    } as unknown as ComposeModel;
    const place = { ...PLACE, model };
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

  it("finds what a container of ours has in another data directory, and in no other place", async () => {
    const theirs = "/before/releases/nas/shop/live";
    const sources: Readonly<Record<string, string>> = {
      "/moved": `${theirs}/data`,
      "/here": `${LIVE}/here`,
      "/context": "/ours/releases/nas/shop/live/context",
      "/other": "/before/releases/default/other/live/other",
      "/absolute": "/srv/absolute",
      "/current": "/before/releases/default/shop/current/current",
    };
    const mounts = Object.entries(sources).map(([destination, source]) => (
      { kind: "bind", name: "", source, destination, writable: true }
    ));
    const engine = {
      inspectContainer: () => Promise.resolve({ mounts }),
    } as unknown as Engine;
    const labels = { [LABELS.manager]: MANAGER, [LABELS.sourceName]: "h/o/r" };
    const containers = [
      { id: "web", service: "old", labels, state: "running" },
    ] as unknown as ObservedContainer[];
    const volumes = ["data", "here", "context", "other", "absolute", "current"].map((path) => (
      { type: "bind", source: `${LIVE}/${path}`, target: `/new/${path}` }
    ));
    const place = { ...PLACE, model: { services: { web: { volumes } } } as ComposeModel };
    const found = await findOldData(engine, place, { containers }, new AbortController().signal);
    assert.deepEqual(found.map(({ writers, ...each }) => ({ ...each, writers: writers.length })), [
      {
        ...{ service: "web", target: "/moved", source: `${theirs}/data`, path: "data" },
        ...{ writable: true, writers: 1, owner: "h/o/r" },
      },
    ]);
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
    const volumes = [{ type: "bind", source: `${LIVE}/data`, target: "/data" }];
    const place = { ...PLACE, model: { services: { web: { volumes } } } as ComposeModel };
    await findOldData(engine, place, { containers }, new AbortController().signal);
    assert.equal(asked, containers.length);
    assert.ok(most <= MOST_AT_ONCE, `${most} at once`);
  });
});
