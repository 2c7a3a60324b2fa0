import assert from "node:assert/strict";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { createEngine, type EngineClient } from "../../../src/docker/mod.ts";
import { StackwrightError } from "../../../src/model/mod.ts";
import { HOSTILE, type HostileEngine, startHostileEngine } from "../../fakes/hostile_engine.ts";
import { processorMs } from "../processor_time.ts";

/** Processor time that this thread may take between two beats, in milliseconds. */
const MOST_BLOCKED = 2000;
/** Milliseconds after which whoever called gives up. */
const PATIENCE_MS = 400;
/** Calls at the same time. */
const AT_ONCE = 16;
/** Bytes that answers may take while they are read, of all calls together. */
const MOST_MEMORY = 1 << 30;

type Call = (engine: EngineClient, signal: AbortSignal) => Promise<unknown>;

/** Every function of the client that asks its engine for something. */
const CALLS: Readonly<Record<string, Call>> = {
  info: (engine, signal) => engine.info(signal),
  apiVersion: (engine, signal) => engine.apiVersion(signal),
  listContainers: (engine, signal) => engine.listContainers({ a: "b" }, signal),
  describeContainers: (engine, signal) => engine.describeContainers({}, signal),
  containerMounts: (engine, signal) => engine.containerMounts(signal),
  everyContainer: (engine, signal) => engine.everyContainer(({ id }) => id, signal),
  inspectContainer: (engine, signal) => engine.inspectContainer("1", signal),
  containerRecipe: (engine, signal) => engine.containerRecipe("1", signal),
  createContainer: (engine, signal) =>
    engine.createContainer(
      { id: "1", name: "a", runs: false, labels: {}, imageId: "2", body: { Image: "a" } },
      signal,
    ),
  makeContainer: (engine, signal) =>
    engine.makeContainer(
      { name: "a", platform: "", body: { Image: "a" } as never, connect: {} },
      signal,
    ),
  fileHas: (engine, signal) => engine.fileHas("1", { path: "/a", text: "b" }, signal),
  unpackInto: (engine, signal) => engine.unpackInto("1", new Uint8Array(10), signal),
  containerEvents: async (engine, signal) => {
    for await (const _ of engine.containerEvents({ labels: {} }, signal));
  },
  containerLogs: (engine, signal) => engine.containerLogs("1", 10, signal),
  startContainer: (engine, signal) => engine.startContainer("1", signal),
  stopContainer: (engine, signal) => engine.stopContainer("1", 1, signal),
  restartContainer: (engine, signal) => engine.restartContainer("1", {}, signal),
  renameContainer: (engine, signal) => engine.renameContainer("1", "b", signal),
  setRestartPolicy: (engine, signal) =>
    engine.setRestartPolicy("1", { Name: "no", MaximumRetryCount: 0 }, signal),
  unpauseContainer: (engine, signal) => engine.unpauseContainer("1", signal),
  killContainer: (engine, signal) => engine.killContainer("1", "SIGHUP", signal),
  removeContainer: (engine, signal) =>
    engine.removeContainer("1", { force: true, volumes: true }, signal),
  waitContainer: (engine, signal) => engine.waitContainer("1", signal),
  imageId: (engine, signal) => engine.imageId("a", signal),
  imageContent: (engine, signal) => engine.imageContent("a", "", signal),
  imageVolumes: (engine, signal) => engine.imageVolumes("a", signal),
  imageLabels: (engine, signal) => engine.imageLabels("a", signal),
  imageListed: (engine, signal) => engine.imageListed("a", signal),
  imageDefaults: (engine, signal) => engine.imageDefaults("a", signal),
  listImages: (engine, signal) => engine.listImages(signal),
  imagesInUse: (engine, signal) => engine.imagesInUse(signal),
  removeImage: (engine, signal) => engine.removeImage("1", signal),
  tagImage: (engine, signal) => engine.tagImage("1", "a:b", signal),
  everyVolume: (engine, signal) => engine.everyVolume(() => true, signal),
  listVolumes: (engine, signal) => engine.listVolumes({}, signal),
  findVolumes: (engine, signal) => engine.findVolumes(["a"], signal),
  makeVolume: (engine, signal) => engine.makeVolume({ Name: "a" } as never, signal),
  removeVolume: (engine, signal) => engine.removeVolume("a", signal),
  listNetworks: (engine, signal) => engine.listNetworks({}, signal),
  findNetworks: (engine, signal) => engine.findNetworks(["a"], signal),
  makeNetwork: (engine, signal) => engine.makeNetwork({ Name: "a" } as never, signal),
  connectNetwork: (engine, signal) =>
    engine.connectNetwork("a", { container: "1", endpoint: {} as never }, signal),
  disconnectNetwork: (engine, signal) => engine.disconnectNetwork("a", "1", signal),
  removeNetwork: (engine, signal) => engine.removeNetwork("a", signal),
};

/** The same of a manager of a swarm. */
const SWARM_CALLS: Readonly<Record<string, Call>> = {
  services: ({ swarm }, signal) => swarm.services({}, signal),
  everyService: ({ swarm }, signal) => swarm.everyService(({ id }) => id, signal),
  namedServices: ({ swarm }, signal) => swarm.namedServices(["a"], signal),
  namedObjects: ({ swarm }, signal) => swarm.namedObjects("configs", ["a"], signal),
  tasks: ({ swarm }, signal) => swarm.tasks({}, signal),
  service: ({ swarm }, signal) => swarm.service("1", signal),
  tasksOf: ({ swarm }, signal) => swarm.tasksOf("1", signal),
  createService: ({ swarm }, signal) =>
    swarm.createService({ body: {} as never, auth: "" }, signal),
  updateService: ({ swarm }, signal) =>
    swarm.updateService({ id: "1", version: 1 } as never, { body: {}, auth: "" } as never, signal),
  serviceLogs: ({ swarm }, signal) => swarm.serviceLogs("1", 10, signal),
  removeService: ({ swarm }, signal) => swarm.removeService("1", signal),
  objects: ({ swarm }, signal) => swarm.objects("configs", {}, signal),
  createObject: ({ swarm }, signal) => swarm.createObject("configs", {} as never, signal),
  removeObject: ({ swarm }, signal) => swarm.removeObject("configs", "1", signal),
  networks: ({ swarm }, signal) => swarm.networks(signal),
  distribution: ({ swarm }, signal) => swarm.distribution("a", "", signal),
};

describe("an engine that answers hostile things", () => {
  let hostile: HostileEngine;
  before(async () => void (hostile = await startHostileEngine()));
  after(() => hostile.close());

  it("is asked for everything that the client can ask for", () => {
    const engine = createEngine({ host: `unix://${hostile.socketPath}` });
    const asking = (object: object) =>
      Object.entries(object).filter(([, each]) => typeof each === "function")
        .map(([name]) => name).filter((each) => !["close", "programVariables"].includes(each));
    assert.deepEqual(asking(engine).filter((each) => !(each in CALLS)), []);
    assert.deepEqual(asking(engine.swarm).filter((each) => !(each in SWARM_CALLS)), []);
    engine.close();
  });

  for (const [name, answer] of Object.entries(HOSTILE)) {
    it(`neither stops nor fills this process with ${name}`, async () => {
      Object.assign(hostile, { answer, isHostileAtOnce: false });
      const engine = createEngine({ host: `unix://${hostile.socketPath}` });
      const beat = watched();
      const calls = Object.entries({ ...CALLS, ...SWARM_CALLS });
      const ends: string[] = [];
      for (let at = 0; at < calls.length; at += AT_ONCE) {
        const some = calls.slice(at, at + AT_ONCE);
        ends.push(...await Promise.all(some.map(([name, call]) => outcome(name, call, engine))));
      }
      const { blocked, memory } = beat.end();
      engine.close();
      assert.deepEqual(ends.filter((each) => each !== ""), []);
      assert.ok(blocked < MOST_BLOCKED, `it did nothing else for ${blocked} ms`);
      assert.ok(memory < MOST_MEMORY, `it took ${memory >> 20} MiB`);
    });

    it(`ends when it tells its version with ${name}`, async () => {
      Object.assign(hostile, { answer, isHostileAtOnce: true });
      const engine = createEngine({ host: `unix://${hostile.socketPath}` });
      assert.equal(await outcome("info", (each, given) => each.info(given), engine), "");
      engine.close();
    });
  }
});

/** Empty where a call ended as it should; the trouble otherwise. */
async function outcome(called: string, call: Call, engine: EngineClient): Promise<string> {
  const end = new AbortController();
  const reason = new Error("given up");
  const timer = setTimeout(() => end.abort(reason), PATIENCE_MS);
  const late = new Promise<string>((resolve) =>
    setTimeout(() => resolve(`${called} does not end`), 50 * PATIENCE_MS).unref()
  );
  const ended = call(engine, end.signal).then(() => "", (error: unknown) => {
    if (error === reason || error instanceof StackwrightError) return "";
    return `${called} throws ${String(error)}`;
  });
  const said = await Promise.race([ended, late]);
  clearTimeout(timer);
  return said;
}

/** Notes how long this thread does nothing else, in processor time, and the memory of the process. */
function watched(): { end(): { blocked: number; memory: number } } {
  const began = process.memoryUsage().rss;
  let [last, blocked, memory] = [processorMs(), 0, 0];
  const beat = () => {
    const now = processorMs();
    [blocked, last] = [Math.max(blocked, now - last), now];
    memory = Math.max(memory, process.memoryUsage().rss - began);
  };
  const timer = setInterval(beat, 10);
  return {
    end() {
      beat();
      clearInterval(timer);
      return { blocked, memory };
    },
  };
}
