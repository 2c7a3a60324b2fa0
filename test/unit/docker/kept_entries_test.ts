import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { describeContainers } from "../../../src/docker/container_summary.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import { imageCalls } from "../../../src/docker/images.ts";
import { KeptEntries } from "../../../src/docker/kept_entries.ts";
import { resourceCalls } from "../../../src/docker/resources.ts";
import { swarmCalls } from "../../../src/docker/swarm_calls.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { type Clock, systemClock } from "../../../src/system/mod.ts";
import { sampleOf } from "../../fakes/sample.ts";

const signal = new AbortController().signal;
const refused = (error: unknown) => isStackwrightError(error, "engine_refused");

describe("KeptEntries", () => {
  /** An entry that counts for a quarter of what is kept. */
  const large = { text: "{}", values: 2 << 20 };

  it("leaves out the name of which it has the most, what it had and what comes", () => {
    const told: string[] = [];
    const kept = new KeptEntries<string>((why) => void told.push(why));
    kept.add("shop", { text: "{}", values: 9 }, "h/org/shop");
    for (const each of ["1", "2", "3", "4"]) kept.add(`evil ${each}`, large, "h/evil/app");
    kept.add("blog", large, "h/org/blog");
    assert.deepEqual(kept.values, ["shop", "blog"]);
    assert.ok(kept.isLeftOut("h/evil/app") && !kept.isLeftOut("h/org/shop"));
    assert.match(told.join(), /^a list with \d+ characters of "h\/evil\/app"$/);
  });

  it("refuses too much that has no names", () => {
    const kept = new KeptEntries<string>(() => {});
    for (let at = 0; at < 3; at++) kept.add("each", large, undefined);
    assert.throws(() => kept.add("last", { ...large, values: 3 << 20 }, undefined), refused);
  });

  it("counts of a long entry what was made of it alone", () => {
    const kept = new KeptEntries<object>(() => {});
    const long = { text: "x".repeat(8 << 20), values: 1 << 20 };
    for (let at = 0; at < 200; at++) {
      kept.add({ name: "shop", labels: { a: "b" } }, long, undefined);
    }
    assert.equal(kept.values.length, 200);
    const half = { Options: "x".repeat(65 << 20) };
    kept.add(half, long, undefined);
    assert.throws(() => kept.add(half, long, undefined), refused);
  });
});

/** Rests between the parts of long answers take no time. */
const RESTLESS: Clock = {
  ...systemClock,
  now: () => systemClock.now(),
  sleep: (ms, within) => systemClock.sleep(ms < 1000 ? 0 : ms, within),
};

interface List {
  readonly victim: object;
  /** An entry of an author, with `#` for what he made long. */
  readonly theirs: object;
  /** That, so many times; it may have a number. */
  readonly long: readonly [part: (at: number) => string, times: number];
  readonly under?: string;
  readonly read: (api: EngineApi) => Promise<readonly { readonly name: string }[]>;
}

const members = [(at: number) => `"${at}":{}`, 250_000] as const;
const EVIL = { "stackwright.source.name": "h/evil/app" };
const CONTAINER = {
  victim: { Id: "1", Names: ["/shop"] },
  theirs: { Id: "2", Names: ["/evil"], Labels: EVIL, NetworkSettings: { Networks: { "#": 0 } } },
  long: members,
};
const NETWORK = {
  victim: { Id: "1", Name: "shop" },
  theirs: { Id: "2", Name: "zz-shop", Labels: EVIL, Options: { "#": 0 } },
  long: members,
};

/** Lists over everybody's things, with as many values as an author may make. */
const LISTS: Readonly<Record<string, List>> = {
  "all containers": {
    ...CONTAINER,
    read: (api) => containerCalls(api).listContainers({}, signal),
  },
  "described containers": {
    ...CONTAINER,
    read: (api) => describeContainers(api, { "com.docker.compose.project": undefined }, signal),
  },
  "networks by name": {
    ...NETWORK,
    read: (api) => resourceCalls(api).findNetworks(["shop"], signal),
  },
  "networks of a swarm": { ...NETWORK, read: (api) => swarmCalls(api).networks(signal) },
  "all volumes": {
    ...NETWORK,
    under: "Volumes",
    read: (api) => resourceCalls(api).listVolumes({}, signal),
  },
  "all services": {
    victim: { ID: "1", Spec: { Name: "shop" } },
    theirs: {
      ID: "2",
      Spec: { Name: "e", Labels: EVIL, TaskTemplate: { ContainerSpec: { Mounts: ["#"] } } },
    },
    long: [() => "{}", 400_000],
    read: (api) => swarmCalls(api).services({}, signal),
  },
  images: {
    victim: { Id: "1", RepoTags: ["shop"] },
    theirs: { Id: "2", RepoTags: ["#"] },
    long: [() => '""', 900_000],
    read: async (api) =>
      (await imageCalls(api).listImages(signal)).map(({ tags }) => ({ name: tags.join() })),
  },
};

describe("lists over everybody's things", () => {
  for (const [name, { victim, theirs, long, under, read }] of sampleOf(Object.entries(LISTS), 8)) {
    it(`are read for others, however many values authors make: ${name}`, async () => {
      const [part, times] = long;
      const parts = Array.from({ length: times }, (_, at) => part(at)).join();
      const entry = JSON.stringify(theirs).replace(/"#"(?::0)?/, parts) + ",";
      const bytes = (text: string) => new TextEncoder().encode(text);
      const body = async function* () {
        yield bytes(under === undefined ? "[" : `{"${under}":[`);
        const theirEntry = bytes(entry);
        for (let at = 0; at < 14; at++) yield theirEntry;
        await Promise.resolve();
        yield bytes(JSON.stringify(victim) + (under === undefined ? "]" : "]}"));
      };
      const version = async function* () {
        await Promise.resolve();
        yield bytes('{"ApiVersion":"1.45"}');
      };
      const api = new EngineApi({
        description: "engine",
        close: () => {},
        request: ({ path }) =>
          Promise.resolve({
            status: 200,
            headers: {},
            body: path === "/version" ? version() : body(),
            discard: () => {},
          }),
      }, { clock: RESTLESS });
      const found = await read(api);
      assert.equal(found.filter((each) => each.name === "shop").length, 1);
    });
  }
});
