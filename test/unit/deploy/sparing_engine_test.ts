import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sparingEngine } from "../../../src/deploy/mod.ts";
import type { EngineClient, OwnContainer, ServiceChange } from "../../../src/docker/mod.ts";

const never = new AbortController().signal;
const PROJECT = "com.docker.compose.project";
const STACK = "com.docker.stack.namespace";
const TASK = "com.docker.swarm.service.id";
type Labels = Readonly<Record<string, string>>;

/** An engine whose things all have the labels of `theirs`, for a process in a container like `own`. */
function createSparing(
  own: Labels | undefined,
  theirs: Labels,
  asked = false,
  lender?: Labels,
) {
  const calls: string[] = [];
  const note = (call: string) => () => Promise.resolve(void calls.push(call));
  const found = (id: string) => ({ id, name: id, labels: theirs, spec: {} });
  const one = (id: string) => Promise.resolve({ container: found(id) });
  const all = ([id = ""]: readonly string[]) => Promise.resolve([found(id)]);
  const plain = {
    inspectContainer: one,
    findVolumes: all,
    findNetworks: all,
    stopContainer: note("stop"),
    restartContainer: note("restart"),
    renameContainer: note("rename"),
    setRestartPolicy: note("restart policy"),
    killContainer: note("kill"),
    removeContainer: note("remove"),
    removeVolume: note("remove volume"),
    removeNetwork: note("remove network"),
    swarm: {
      service: (id: string) => Promise.resolve(found(id)),
      objects: () => Promise.resolve([found("x")]),
      updateService: note("update"),
      removeService: note("remove service"),
      removeObject: note("remove object"),
    },
  } as unknown as EngineClient;
  const container = { id: "us", name: "ours", labels: own };
  const lenders = lender && [{ container: { id: "vpn", name: "vpn", labels: lender } }];
  const us = own && { container, lenders } as unknown as OwnContainer;
  return { engine: sparingEngine(plain, () => Promise.resolve(us), { asked }), calls };
}

type Act = (engine: EngineClient, id: string) => Promise<unknown>;
const CONTAINERS: Readonly<Record<string, Act>> = {
  stop: (engine, id) => engine.stopContainer(id, undefined, never),
  restart: (engine, id) => engine.restartContainer(id, {}, never),
  rename: (engine, id) => engine.renameContainer(id, "y", never),
  "restart policy": (engine, id) =>
    engine.setRestartPolicy(id, { Name: "no", MaximumRetryCount: 0 }, never),
  kill: (engine, id) => engine.killContainer(id, "SIGHUP", never),
  remove: (engine, id) => engine.removeContainer(id, { force: true, volumes: true }, never),
};
const RESOURCES: Readonly<Record<string, Act>> = {
  "remove volume": (engine, id) => engine.removeVolume(id, never),
  "remove network": (engine, id) => engine.removeNetwork(id, never),
};
const tasks = (replicas: number) =>
  ({
    body: { Mode: { Replicated: { Replicas: replicas } } },
    auth: "",
  }) as unknown as ServiceChange;
const update = (engine: EngineClient, id: string, replicas = 1) =>
  engine.swarm.updateService({ id, version: 1 }, tasks(replicas), never);
const SWARM: Readonly<Record<string, Act>> = {
  update,
  "remove service": (engine, id) => engine.swarm.removeService(id, never),
  "remove object": (engine, id) => engine.swarm.removeObject("secrets", id, never),
};
const refused = {
  code: "conflict",
  message: /belongs to, the project that Stackwright itself runs in \(container ours\)/,
};

describe("sparingEngine()", () => {
  it("changes nothing of the project or the stack that this process runs in", async () => {
    for (const [name, act] of Object.entries({ ...CONTAINERS, ...RESOURCES })) {
      const { engine, calls } = createSparing({ [PROJECT]: "sw" }, { [PROJECT]: "sw" });
      await assert.rejects(act(engine, "x"), refused, name);
      assert.deepEqual(calls, []);
    }
    const task = { [STACK]: "sw", [TASK]: "s1" };
    for (const [name, act] of Object.entries({ ...SWARM, ...RESOURCES })) {
      const { engine, calls } = createSparing(task, { [STACK]: "sw" });
      await assert.rejects(act(engine, "x"), refused, name);
      assert.deepEqual(calls, []);
    }
  });

  it("changes neither the own container nor the own service, whatever their labels are", async () => {
    for (const [name, act] of Object.entries(CONTAINERS)) {
      const { engine } = createSparing({}, { "stackwright.job.run": "r" });
      await assert.rejects(act(engine, "us"), refused, name);
    }
    const { engine } = createSparing({ [TASK]: "s1" }, {});
    await assert.rejects(update(engine, "s1"), refused);
  });

  it("changes neither containers whose namespaces it has, nor anything of their projects", async () => {
    const refused = { code: "conflict", message: /itself uses \(container vpn\)/ };
    for (const [name, act] of Object.entries({ ...CONTAINERS, ...RESOURCES })) {
      const home = createSparing({}, { [PROJECT]: "home" }, false, { [PROJECT]: "home" });
      await assert.rejects(act(home.engine, "x"), refused, name);
      const other = createSparing({}, { [PROJECT]: "shop" }, false, { [PROJECT]: "home" });
      await act(other.engine, "x");
      assert.deepEqual(other.calls, [name]);
    }
    for (const [name, act] of Object.entries(CONTAINERS)) {
      const { engine, calls } = createSparing({}, {}, false, {});
      await assert.rejects(act(engine, "vpn"), refused, name);
      assert.deepEqual(calls, []);
    }
  });

  it("changes what is of others, whatever images say, and all where this process runs on a host", async () => {
    const own: readonly (Labels | undefined)[] = [{ [PROJECT]: "sw" }, {}, undefined];
    for (const labels of own) {
      const all = { ...CONTAINERS, ...RESOURCES, ...SWARM };
      const theirs = { [PROJECT]: "shop", [STACK]: "sw" };
      const { engine, calls } = createSparing(labels, theirs);
      for (const act of Object.values(all)) await act(engine, "x");
      assert.deepEqual(calls, Object.keys(all));
    }
  });

  it("ends and removes runs of the project's jobs, and restarts its jobs", async () => {
    const { engine, calls } = createSparing({ [PROJECT]: "sw" }, {
      [PROJECT]: "sw",
      "stackwright.job.run": "r",
    });
    await CONTAINERS["stop"]?.(engine, "x");
    await CONTAINERS["remove"]?.(engine, "x");
    assert.deepEqual(calls, ["stop", "remove"]);
    const job = { [PROJECT]: "sw", "stackwright.job.enabled": "true" };
    const jobs = createSparing({ [PROJECT]: "sw" }, job);
    await CONTAINERS["restart"]?.(jobs.engine, "x");
    await assert.rejects(Promise.resolve(CONTAINERS["remove"]?.(jobs.engine, "x")), refused);
    assert.deepEqual(jobs.calls, ["restart"]);
  });

  it("restarts it where a person asked, and stops nothing", async () => {
    const { engine, calls } = createSparing({ [PROJECT]: "sw" }, { [PROJECT]: "sw" }, true);
    await CONTAINERS["restart"]?.(engine, "us");
    await assert.rejects(Promise.resolve(CONTAINERS["stop"]?.(engine, "us")), refused);
    assert.deepEqual(calls, ["restart"]);
    const swarm = createSparing({ [STACK]: "sw", [TASK]: "s1" }, { [STACK]: "sw" }, true);
    await update(swarm.engine, "s1");
    await assert.rejects(update(swarm.engine, "s1", 0), refused);
    assert.deepEqual(swarm.calls, ["update"]);
  });
});
