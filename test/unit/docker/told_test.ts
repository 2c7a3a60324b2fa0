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
import { itAtLength } from "../../fakes/sample.ts";

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

/** Texts of so many characters together, by names that begin with `name`. */
function texts(length: number, name: string): Record<string, string> {
  const all = Array.from({ length: Math.ceil(length / 60_000) }, (_, at) => `${name}${at}`);
  return Object.fromEntries(all.map((each) => [each, "x".repeat(60_000)]));
}

type Reads = (api: EngineApi) => Promise<readonly unknown[]>;
const containers: Reads = (api) => containerCalls(api).listContainers({}, signal);
const described: Reads = (api) => describeContainers(api, {}, signal);
const volumes: Reads = (api) => resourceCalls(api).listVolumes({}, signal);
const networks: Reads = (api) => resourceCalls(api).listNetworks({}, signal);
const images: Reads = (api) => imageCalls(api).listImages(signal);
const services: Reads = (api) => swarmCalls(api).services({}, signal);
const PROJECT = "com.docker.compose.project";
const NUMBER = "com.docker.compose.container-number";
const PLACE = { [PROJECT]: "shop", [NUMBER]: "1" };

/** Members with a name that is too long, by the list that they are in. */
const TOO_LONG: readonly (readonly [string, Reads, JsonRecord])[] = [
  ["a container's id", containers, { Id: "1".repeat(129) }],
  ["the id of a described container", described, { Id: "1".repeat(129) }],
  ["a volume's name", volumes, { Name: LONG }],
  ["a volume's driver", volumes, { Driver: LONG }],
  ["a network's id", networks, { Id: LONG }],
  ["a network's range", networks, { IPAM: { Config: [{ Subnet: LONG }] } }],
  ["an image's tag", images, { RepoTags: [LONG] }],
  ["a service's name", services, { Spec: { Name: LONG } }],
];

describe("what an engine tells", () => {
  it("lists what has more labels than are read of it, without the longest of them", async () => {
    const long = "x".repeat(4000);
    const names = { ...PLACE, [PROJECT]: long, "stackwright.deployment": "shop" };
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
        const own = { "stackwright.manager": "stackwright", [NUMBER]: "1" };
        const Labels = { ...own, [name]: "x".repeat(length) };
        const { api, leftOut } = engineThatTells([{ Id: "a", Labels }]);
        for (const filter of [{}, { [PROJECT]: "shop" }]) {
          const [found] = await containerCalls(api).listContainers(filter, signal);
          assert.deepEqual(found?.labels, { ...own, [name]: "…" });
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
      ...PLACE,
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

  it("never leaves a container out for what it is called, runs, mounts or is connected to", async () => {
    for (const long of [LONG, "x".repeat(100_000)]) {
      const Networks = long === LONG ? { [long]: { NetworkID: long } } : { a: { NetworkID: long } };
      const entry = {
        ...{ Id: "a", Names: [`/${long}`], Image: long, ImageID: long },
        Ports: [{ IP: long, PublicPort: 1, Type: long }],
        ...{ NetworkSettings: { Networks }, HostConfig: { NetworkMode: `container:${long}` } },
        ...{ Mounts: [{ Source: long }], Labels: PLACE },
      };
      const { api, leftOut } = engineThatTells([entry]);
      for (const filter of [{}, { [PROJECT]: "shop" }]) {
        const [listed] = await containerCalls(api).listContainers(filter, signal);
        const [shown] = await describeContainers(api, filter, signal);
        for (const found of [listed, shown]) {
          assert.deepEqual([found?.id, found?.name, found?.imageId], ["a", "…", "…"]);
          assert.equal(found?.labels[PROJECT], "shop");
        }
        assert.deepEqual([shown?.image, shown?.mounts], ["…", ["…"]]);
      }
      assert.deepEqual(leftOut, []);
    }
  });

  it("tells all containers of a project, or none", async () => {
    const other = { Id: "b", Labels: PLACE };
    const large = { Id: "a", Labels: texts(9 << 20, "stackwright.x"), Names: ["/a"] };
    for (const entry of [{ Id: "1".repeat(129) }, large]) {
      const { api } = engineThatTells([entry, other]);
      const all = await containerCalls(api).listContainers({}, signal);
      assert.deepEqual(all.map(({ id }) => id), ["b"]);
      const refused = { code: "engine_refused" };
      const calls = containerCalls(api);
      await assert.rejects(calls.listContainers({ [PROJECT]: "shop" }, signal), refused);
      await assert.rejects(describeContainers(api, { [PROJECT]: "shop" }, signal), refused);
      await assert.rejects(calls.everyContainer(({ id }) => id, signal), refused);
    }
  });

  it("tells all of a stack in a swarm, or nothing, and of the spec before as much as is read", async () => {
    const name = "com.docker.stack.namespace";
    const long = texts(9 << 20, "x");
    const TaskTemplate = {
      ContainerSpec: { Configs: [{ ConfigID: "c", File: {} }], Labels: long },
    };
    const service = { ID: "1", Spec: { Name: "shop_web" }, PreviousSpec: { TaskTemplate } };
    const { services: listed } = swarmCalls(engineThatTells([service]).api);
    const [found] = await listed({ [name]: "shop" }, signal);
    assert.deepEqual(found?.previousSpec, {
      TaskTemplate: { ContainerSpec: { Configs: [{ ConfigID: "c" }] } },
    });
    const Spec = { Name: "shop_web", Labels: texts(9 << 20, "stackwright.x"), TaskTemplate };
    const { api, leftOut } = engineThatTells([{ ID: "1", Spec, Data: "" }]);
    const swarm = swarmCalls(api);
    const calls: readonly Promise<unknown>[] = [
      swarm.services({ [name]: "shop" }, signal),
      swarm.namedServices(["shop_web"], signal),
      swarm.everyService(({ id }) => id, signal),
      swarm.tasks({ [name]: "shop" }, signal),
      swarm.tasksOf("1", signal),
      swarm.objects("configs", { [name]: "shop" }, signal),
      swarm.namedObjects("secrets", ["shop_web"], signal),
    ];
    for (const call of calls) await assert.rejects(call, { code: "engine_refused" });
    assert.deepEqual([await swarm.services({}, signal), leftOut.length], [[], 1]);
  });

  itAtLength("finds a wanted volume, however many others their authors made", async () => {
    const options = (at: number) => ({ Name: `v${at}`, Options: { o: "x".repeat(60_000) } });
    const many = Array.from({ length: 2300 }, (_, at) => options(at));
    const { api, leftOut } = engineThatTells({ Volumes: [...many, { Name: "data-1" }] });
    const calls = resourceCalls(api);
    const found = await calls.everyVolume((name) => ["v1", "data-1"].includes(name), signal);
    assert.deepEqual([found.map(({ name }) => name), leftOut], [["v1", "data-1"], []]);
    await assert.rejects(calls.everyVolume(() => true, signal), { code: "engine_refused" });
    assert.deepEqual(await calls.listVolumes({}, signal), []);
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
    const labels = { ...PLACE, [PROJECT]: LONGEST, "stackwright.job.stops": "y".repeat(60_000) };
    const all = { ...labels, other: "z", "com.docker.compose.depends_on": "x".repeat(70_000) };
    const entry = { Id: "1".repeat(128), Names: [`/${LONGEST}`], Labels: all };
    const { api, leftOut } = engineThatTells([entry]);
    const [container] = await containerCalls(api).listContainers({ [PROJECT]: "a" }, signal);
    assert.deepEqual(
      [container?.id, container?.name, container?.labels],
      [entry.Id, LONGEST, labels],
    );
    assert.deepEqual(leftOut, []);
  });

  it("refuses a single thing with a name that is too long", async () => {
    const { api } = engineThatTells({ Id: LONG, Name: "a", ID: LONG });
    const refused = { code: "engine_refused" };
    await assert.rejects(containerCalls(api).inspectContainer("a", signal), refused);
    const change = { body: {}, auth: "" };
    await assert.rejects(swarmCalls(api).createService(change, signal), refused);
  });

  it("tells a container that has a name, an image or an alias that is too long", async () => {
    const NetworkSettings = { Networks: { a: { Aliases: [LONG], IPAddress: LONG } } };
    const { api } = engineThatTells({ Id: "a", Name: `/${LONG}`, Image: LONG, NetworkSettings });
    const found = await containerCalls(api).inspectContainer("a", signal);
    assert.deepEqual([found?.container.id, found?.container.name], ["a", "…"]);
    assert.deepEqual(found?.endpoints, { a: { ipv4: "…", ipv6: "", aliases: ["…"] } });
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
    const other = { Id: "b", Labels: PLACE };
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
