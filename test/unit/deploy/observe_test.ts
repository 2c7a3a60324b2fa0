import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPartOfStack, observeAll } from "../../../src/deploy/mod.ts";
import { observedContainer } from "../../../src/docker/observed_container.ts";
import { StackwrightError } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
import { createMemorySwarm } from "../../fakes/memory_swarm.ts";

const PROJECT = "com.docker.compose.project";

describe("isPartOfStack()", () => {
  const labelled = (labels: Record<string, string>) =>
    observedContainer({
      Id: "c1",
      Labels: { [PROJECT]: "shop", "com.docker.compose.container-number": "1", ...labels },
      State: "running",
    });

  it("has the containers of a project, but those of single runs", () => {
    assert.equal(isPartOfStack(labelled({ "com.docker.compose.oneoff": "False" })), true);
    assert.equal(isPartOfStack(labelled({})), true);
    assert.equal(isPartOfStack(labelled({ "com.docker.compose.oneoff": "True" })), false);
  });

  it("has no task of a swarm, whose image says of which project it were", () => {
    const task = { "com.docker.swarm.service.id": "s1", "stackwright.manager": "stackwright" };
    assert.equal(isPartOfStack(labelled(task)), false);
  });

  it("has what was made with no service of a swarm, whatever its image was made from", () => {
    assert.equal(isPartOfStack(labelled({ "com.docker.swarm.service.id": "" })), true);
  });
});

describe("observeAll()", () => {
  it("takes no project that somebody runs by hand for a part of the stack of its name", async () => {
    const engine = createMemorySwarm([{ stack: "shop", service: "web" }]);
    const byHand = { ...runningContainer("shop", "web"), labels: { [PROJECT]: "shop" } };
    const listContainers = () => Promise.resolve([byHand]);
    const { signal } = new AbortController();
    const all = await observeAll({ ...engine, listContainers }, signal, { withServices: true });
    assert.equal(all.get("shop")?.containers.length, 1);
  });

  it("asks for the services of each stack where those of all are more than can be read", async () => {
    const stacks = ["one", "two", "large"];
    const engine = createMemorySwarm(stacks.map((stack) => ({ stack, service: "web" })));
    const { swarm } = engine;
    const tooLong = new StackwrightError("engine_refused", "the engine's answer is longer than 1");
    const services: typeof swarm.services = (labels, within) =>
      Object.values(labels).some((value) => value === undefined || value === "large")
        ? Promise.reject(tooLong)
        : swarm.services(labels, within);
    const { signal } = new AbortController();
    const all = await observeAll({ ...engine, swarm: { ...swarm, services } }, signal, {
      withServices: true,
    });
    assert.deepEqual([...all.keys()], ["one", "two"]);
  });

  it("asks for the tasks of each stack where those of all are more than can be read", async () => {
    const engine = createMemorySwarm([
      { stack: "one", service: "web" },
      { stack: "two", service: "web" },
    ]);
    const { swarm } = engine;
    const tooLong = new StackwrightError("engine_refused", "the engine's answer is longer than 1");
    const tasks: typeof swarm.tasks = (labels, within) =>
      Object.values(labels).includes(undefined)
        ? Promise.reject(tooLong)
        : swarm.tasks(labels, within);
    const { signal } = new AbortController();
    const all = await observeAll({ ...engine, swarm: { ...swarm, tasks } }, signal, {
      withServices: true,
    });
    const names = [...all].map(([stack, { containers }]) => [stack, containers[0]?.state]);
    assert.deepEqual(names, [["one", "running"], ["two", "running"]]);
  });
});
