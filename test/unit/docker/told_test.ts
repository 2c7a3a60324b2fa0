import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { detailed } from "../../../src/docker/container_details.ts";
import { describeContainers } from "../../../src/docker/container_summary.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import { containerEvents } from "../../../src/docker/events.ts";
import { imageCalls } from "../../../src/docker/images.ts";
import type { JsonRecord } from "../../../src/docker/json.ts";
import { resourceCalls } from "../../../src/docker/resources.ts";
import { swarmCalls } from "../../../src/docker/swarm_calls.ts";
import { whoseLabels } from "../../../src/docker/told.ts";

const signal = new AbortController().signal;
const LONG = "x".repeat(4097);
const LONGEST = "x".repeat(4096);

/** An engine that answers every call with this value, and what it was told to leave out. */
function engineThatTells(value: unknown, lines = false) {
  const leftOut: string[] = [];
  const text = lines
    ? (value as unknown[]).map((each) => JSON.stringify(each)).join("\n") + "\n"
    : JSON.stringify(value);
  const api = new EngineApi({
    description: "told",
    close: () => {},
    request: ({ path }) => {
      const said = path === "/version" ? '{"ApiVersion":"1.45","Version":"26"}' : text;
      async function* body() {
        yield new TextEncoder().encode(said);
      }
      return Promise.resolve({ status: 200, headers: {}, body: body(), discard: () => {} });
    },
  }, { onLeftOut: (why) => void leftOut.push(why) });
  return { api, leftOut };
}

type Reads = (api: EngineApi) => Promise<readonly unknown[]>;
const containers: Reads = (api) => containerCalls(api).listContainers({}, signal);
const described: Reads = (api) => describeContainers(api, {}, signal);
const volumes: Reads = (api) => resourceCalls(api).listVolumes({}, signal);
const networks: Reads = (api) => resourceCalls(api).listNetworks({}, signal);
const images: Reads = (api) => imageCalls(api).listImages(signal);
const services: Reads = (api) => swarmCalls(api).services({}, signal);
const tasks: Reads = (api) => swarmCalls(api).tasks({}, signal);
const configs: Reads = (api) => swarmCalls(api).objects("configs", {}, signal);
const PROJECT = "com.docker.compose.project";

/** Members with a name that is too long, by the list that they are in. */
const TOO_LONG: readonly (readonly [string, Reads, JsonRecord])[] = [
  ["a container's id", containers, { Id: "1".repeat(129) }],
  ["a container's name", containers, { Names: [`/${LONG}`] }],
  ["a container's image", containers, { ImageID: LONG }],
  ["a container's network", containers, { NetworkSettings: { Networks: { [LONG]: {} } } }],
  ["a container's address", containers, { Ports: [{ IP: LONG, PublicPort: 1 }] }],
  ["the image of a described container", described, { Image: LONG }],
  ["a mount of a described container", described, { Mounts: [{ Source: LONG }] }],
  ["a volume's name", volumes, { Name: LONG }],
  ["a volume's driver", volumes, { Driver: LONG }],
  ["a network's id", networks, { Id: LONG }],
  ["a network's range", networks, { IPAM: { Config: [{ Subnet: LONG }] } }],
  ["an image's tag", images, { RepoTags: [LONG] }],
  ["a service's name", services, { Spec: { Name: LONG } }],
  ["a task's node", tasks, { NodeID: LONG }],
  ["a task's state", tasks, { Status: { State: LONG } }],
  ["a config's name", configs, { Spec: { Name: LONG } }],
];

describe("what an engine tells", () => {
  it("lists what has more labels than are read of it, without the longest of them", async () => {
    const long = "x".repeat(4000);
    const names = { [PROJECT]: long, "stackwright.deployment": "shop" };
    const some = { "stackwright.a": long, "stackwright.digest": "1", "stackwright.b": `${long}y` };
    const { api, leftOut } = engineThatTells([{ Id: "a", Labels: { ...some, ...names } }]);
    const [found] = await containerCalls(api).listContainers({}, signal);
    assert.deepEqual(leftOut, []);
    const { "stackwright.b": _, ...kept } = { ...some, ...names };
    assert.deepEqual(found?.labels, kept);
  });

  it("never leaves a thing out for its labels: a name that is too long is the name of nothing", async () => {
    for (const length of [4097, 100_000]) {
      for (const name of [PROJECT, "com.docker.compose.service", "stackwright.source.name"]) {
        const Labels = { "stackwright.manager": "stackwright", [name]: "x".repeat(length) };
        const { api, leftOut } = engineThatTells([{ Id: "a", Labels }]);
        for (const filter of [{}, { [PROJECT]: "shop" }]) {
          const [found] = await containerCalls(api).listContainers(filter, signal);
          assert.deepEqual(found?.labels, { "stackwright.manager": "stackwright", [name]: "…" });
        }
        assert.deepEqual(leftOut, []);
      }
    }
  });

  it("reads the labels that decide, however many others their author wrote", async () => {
    const junk = Object.fromEntries(
      Array.from({ length: 12_000 }, (_, at) => [`cd.doco.z${at}`, ""]),
    );
    const ours = {
      "stackwright.manager": "stackwright",
      "stackwright.source.configuration": "git.example/them/shop",
      "stackwright.files": "shop_files_0",
      [PROJECT]: "shop",
    };
    const kept = (labels?: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.keys(ours).map((name) => [name, labels?.[name]]));
    const entry = { Id: "a", Name: "a", Labels: { ...junk, ...ours } };
    const { api } = engineThatTells([entry]);
    const [container] = await containerCalls(api).listContainers({}, signal);
    assert.deepEqual(kept(container?.labels), ours);
    const [network] = await resourceCalls(api).listNetworks({}, signal);
    assert.deepEqual(kept(network?.labels), ours);
    const long = { ...entry, Labels: { ...entry.Labels, "com.docker.compose.service": LONGEST } };
    const { api: volumesApi } = engineThatTells({ Volumes: [long] });
    const [volume] = await resourceCalls(volumesApi).findVolumes(["a"], signal);
    assert.deepEqual(kept(volume?.labels), ours);
  });

  it("refuses to look for a volume or network that cannot be read, and for a stack's", async () => {
    const refused = { code: "engine_refused" };
    const volume = { Volumes: [{ Name: "a", Driver: LONG }] };
    const ofVolumes = resourceCalls(engineThatTells(volume).api);
    await assert.rejects(ofVolumes.findVolumes(["a"], signal), refused);
    await assert.rejects(ofVolumes.listVolumes({ [PROJECT]: "shop" }, signal), refused);
    assert.deepEqual(await ofVolumes.findVolumes(["b"], signal), []);
    const network = [{ Name: "a", Id: LONG }];
    const ofNetworks = resourceCalls(engineThatTells(network).api);
    await assert.rejects(ofNetworks.findNetworks(["a"], signal), refused);
    await assert.rejects(ofNetworks.listNetworks({ [PROJECT]: "shop" }, signal), refused);
    assert.deepEqual(await ofNetworks.findNetworks(["b"], signal), []);
  });

  for (const [what, read, entry] of TOO_LONG) {
    it(`leaves an entry alone for ${what}, says so once, and reads the others`, async () => {
      const list = [{ Id: "a", Name: "a" }, entry, { Id: "b", Name: "b" }, entry];
      const { api, leftOut } = engineThatTells(read === volumes ? { Volumes: list } : list);
      assert.equal((await read(api)).length, 2);
      assert.equal((await read(api)).length, 2);
      assert.equal(leftOut.length, 1);
      assert.match(
        leftOut[0] ?? "",
        /with (?:a name of )?\d+ characters.*; the most is (?:4096|128|8192)$/,
      );
    });
  }

  it("keeps names of 4,096 characters, and of a project all labels that are used, whole", async () => {
    const labels = { [PROJECT]: LONGEST, "stackwright.job.stops": "y".repeat(60_000) };
    const all = { ...labels, other: "z", "com.docker.compose.depends_on": "x".repeat(70_000) };
    const entry = { Id: "1".repeat(128), Names: [`/${LONGEST.slice(1)}`], Labels: all };
    const { api, leftOut } = engineThatTells([entry]);
    const [container] = await containerCalls(api).listContainers({ [PROJECT]: "a" }, signal);
    assert.deepEqual(
      [container?.id, container?.name, container?.labels],
      [entry.Id, LONGEST.slice(1), labels],
    );
    assert.deepEqual(leftOut, []);
  });

  it("refuses a single thing with a name that is too long", async () => {
    const { api } = engineThatTells({ Id: "a", Name: LONG, ID: LONG });
    const refused = { code: "engine_refused" };
    await assert.rejects(containerCalls(api).inspectContainer("a", signal), refused);
    const change = { body: {}, auth: "" };
    await assert.rejects(swarmCalls(api).createService(change, signal), refused);
  });

  it("keeps the beginning of texts for people", () => {
    const text = "z".repeat(1_000_000);
    const State = { Error: text, Health: { Log: [{ Output: text }] } };
    const { error, healthOutput } = detailed({ State });
    assert.deepEqual([error.length, healthOutput.length], [8193, 8193]);
  });

  it("leaves out events of what has too long an id or name", async () => {
    const event = (ID: string, more = {}) => ({ Action: "die", Actor: { ID, Attributes: more } });
    const told = [event("a"), event("1".repeat(129)), event("c")];
    const { api, leftOut } = engineThatTells(told, true);
    const heard: string[] = [];
    await assert.rejects(async () => {
      for await (const each of containerEvents(api, { labels: {} }, signal)) {
        heard.push(each.containerId);
      }
    }, { code: "engine_unreachable" });
    assert.deepEqual([heard, leftOut.length], [["a", "c"], 1]);
  });

  it("leaves out what is more than is kept in memory, and says so", async () => {
    const entry = { Id: "a", Ports: Array(100_000).fill({ PublicPort: 1 }) };
    const other = { Id: "b", Labels: { [PROJECT]: "shop" } };
    const { api, leftOut } = engineThatTells([...Array(28).fill(entry), other]);
    const found = await containerCalls(api).listContainers({}, signal);
    assert.deepEqual([found.map(({ id }) => id), leftOut.length], [["b"], 1]);
    const own = containerCalls(api).listContainers({ [PROJECT]: "shop" }, signal);
    await assert.rejects(own, /a list of more than 134217728 characters/);
  });
});

describe("whoseLabels()", () => {
  const [configuration, source] = ["stackwright.source.configuration", "stackwright.source.name"];
  const table: readonly [Record<string, string>, string][] = [
    [{ [configuration]: "h/me/conf", [source]: "h/them/app" }, "h/me/conf"],
    // Anybody may deploy from a repository: its own stacks are not left out for that.
    [{ [source]: "h/them/app", "com.docker.compose.project": "mine" }, "h/them/app mine"],
    [{ [source]: "h/them/app", "com.docker.stack.namespace": "mine" }, "h/them/app mine"],
    [{ "com.docker.compose.project": "hand" }, "hand"],
    [{}, ""],
  ];
  for (const [labels, whose] of table) {
    it(`tells ${JSON.stringify(labels)} as ${JSON.stringify(whose)}`, () => {
      assert.equal(whoseLabels(labels), whose);
    });
  }
});
