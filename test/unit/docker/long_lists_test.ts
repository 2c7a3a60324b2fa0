import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEngine, type EngineClient } from "../../../src/docker/mod.ts";
import { type Clock, systemClock } from "../../../src/system/mod.ts";
import { type HostileEngine, startHostileEngine } from "../../fakes/hostile_engine.ts";
import { sampleOf } from "../../fakes/sample.ts";

const signal = new AbortController().signal;
const NAMESPACE = "com.docker.stack.namespace";
const PROJECT = "com.docker.compose.project";

/** Text with escapes of which a JSON encoder makes six bytes each, as in labels of authors. */
const WIDE = "\\u2028".repeat(40_000);

/** Rests between the parts of long answers take no time; limits of calls do. */
const RESTLESS: Clock = {
  ...systemClock,
  now: () => systemClock.now(),
  sleep: (milliseconds, within) => systemClock.sleep(milliseconds < 100 ? 0 : milliseconds, within),
};

interface List {
  /** What the victim's thing is, among what others made. */
  readonly victim: object;
  /** Where an author's own text goes. */
  readonly theirs: (text: string) => object;
  readonly under?: string;
  readonly read: (engine: EngineClient) => Promise<readonly unknown[] | ReadonlySet<unknown>>;
}

const labelled = (text: string) => ({ Id: "evil", Name: "evil", Labels: { a: text, [text]: "b" } });
const CONTAINER = {
  Id: "1",
  Names: ["/shop-web-1"],
  ImageID: "i",
  Labels: { [PROJECT]: "shop", "com.docker.compose.container-number": "1" },
};
const inSpec = (text: string) => ({ ID: "evil", Spec: { Name: "shop_web2", Labels: { a: text } } });
const SERVICE = { ID: "1", Spec: { Name: "shop_web", Labels: { [NAMESPACE]: "shop" } } };

/** Every list over everybody's things, and what is asked by name. */
const LISTS: Readonly<Record<string, List>> = {
  "all containers": {
    victim: CONTAINER,
    theirs: labelled,
    read: (engine) => engine.listContainers({}, signal),
  },
  "containers with a label": {
    victim: CONTAINER,
    theirs: labelled,
    read: (engine) => engine.listContainers({ [PROJECT]: undefined }, signal),
  },
  "described containers": {
    victim: CONTAINER,
    theirs: labelled,
    read: (engine) => engine.describeContainers({}, signal),
  },
  "images in use": {
    victim: CONTAINER,
    theirs: (text) => ({ ...labelled(text), ImageID: "i" }),
    read: (engine) => engine.imagesInUse(signal),
  },
  images: {
    victim: { Id: "1", RepoTags: ["shop:1"] },
    theirs: labelled,
    read: (engine) => engine.listImages(signal),
  },
  "all volumes": {
    victim: { Name: "shop_data" },
    theirs: labelled,
    under: "Volumes",
    read: (engine) => engine.listVolumes({}, signal),
  },
  "volumes by name": {
    victim: { Name: "shop_data" },
    theirs: labelled,
    under: "Volumes",
    read: (engine) => engine.findVolumes(["shop_data"], signal),
  },
  "all networks": {
    victim: { Id: "1", Name: "shop_default" },
    theirs: labelled,
    read: (engine) => engine.listNetworks({}, signal),
  },
  "networks by name": {
    victim: { Id: "1", Name: "shop_default" },
    theirs: labelled,
    read: (engine) => engine.findNetworks(["shop_default"], signal),
  },
  "networks of a swarm": {
    victim: { Id: "1", Name: "shop_default" },
    theirs: labelled,
    read: (engine) => engine.swarm.networks(signal),
  },
  "all services": {
    victim: SERVICE,
    theirs: inSpec,
    read: (engine) => engine.swarm.services({}, signal),
  },
  "services by name": {
    victim: SERVICE,
    theirs: inSpec,
    read: (engine) => engine.swarm.namedServices(["shop_web"], signal),
  },
  "configs by name": {
    victim: { ID: "1", Spec: { Name: "shop_conf", Data: "YQ==" } },
    theirs: (text) => ({ ID: "e", Spec: { Name: "shop_conf2", Data: text } }),
    read: (engine) => engine.swarm.namedObjects("configs", ["shop_conf"], signal),
  },
};

describe("lists over everybody's things, whose length authors decide", () => {
  let hostile: HostileEngine;
  before(async () => void (hostile = await startHostileEngine()));
  after(() => hostile.close());

  for (const [name, list] of sampleOf(Object.entries(LISTS), 3)) {
    it(`are read: ${name}`, async () => {
      const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
      const entry = (text: string) =>
        chunk(JSON.stringify(list.theirs("#")).replaceAll("#", text) + ",");
      // One entry of 9 MiB, and 70 MB in all: more than could be read once.
      const large = entry("x".repeat(5 << 20));
      const some = entry(WIDE);
      const open = list.under === undefined ? "[" : `{"${list.under}":[`;
      const close = list.under === undefined ? "]" : "]}";
      hostile.answer = {
        pieces: [
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
          chunk(open),
          large,
          ...Array(Math.ceil((70 << 20) / some.length)).fill(some),
          chunk(JSON.stringify(list.victim) + close),
          "0\r\n\r\n",
        ],
      };
      const engine = createEngine({ host: `unix://${hostile.socketPath}`, clock: RESTLESS });
      const found = JSON.stringify([...await list.read(engine)]);
      engine.close();
      const { Name, Names, RepoTags, Spec, ImageID } = list.victim as Record<string, unknown>;
      const wanted = name === "images in use"
        ? [ImageID]
        : [Name ?? (Spec as Record<string, unknown>)?.["Name"] ?? RepoTags ?? Names].flat();
      for (const each of wanted) {
        assert.ok(found.includes(String(each).replace(/^\//, "")), found.slice(0, 200));
      }
      assert.ok(found.length < 5 << 20);
    });
  }

  it("are not asked for where something has a name", async () => {
    hostile.answer = { pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull"] };
    const engine = createEngine({ host: `unix://${hostile.socketPath}` });
    await engine.findVolumes(["shop_data.1"], signal);
    await engine.findNetworks(["shop_default"], signal);
    await engine.findVolumes(Array.from({ length: 101 }, (_, at) => `shop_${at}`), signal);
    engine.close();
    const asked = hostile.asked.slice(-3).map((each) => decodeURIComponent(each));
    assert.match(asked[0] ?? "", /volumes\?filters=\{"name":\["\^shop_data\\\\\.1\$"\]\}$/);
    assert.match(asked[1] ?? "", /networks\?filters=\{"name":\["shop_default"\]\}$/);
    // So many patterns keep the engine busy for longer than a list of all.
    assert.match(asked[2] ?? "", /volumes$/);
  });
});
