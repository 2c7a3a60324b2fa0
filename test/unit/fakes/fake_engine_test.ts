import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { afterEach, beforeEach, describe, it } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asRecord, asText } from "../../../src/docker/json.ts";
import { createEngine, type EngineClient } from "../../../src/docker/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { createFakeEngine, type FakeEngine } from "../../fakes/fake_engine.ts";

const NO_SIGNAL = new AbortController().signal;

describe("createFakeEngine()", () => {
  let directory: string;
  let fake: FakeEngine;
  let engine: EngineClient;
  beforeEach(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
    fake = await createFakeEngine({ socketPath: join(directory, "fake.sock") });
    engine = createEngine({ host: fake.host });
  });
  afterEach(async () => {
    engine.close();
    await fake.close();
    await fs.rm(directory, { recursive: true });
  });

  async function run(name: string, more: Record<string, unknown> = {}): Promise<void> {
    const answer = await engine.api.json({
      method: "POST",
      path: "/containers/create",
      query: { name },
      json: { Image: "app:1", ...more },
    }, NO_SIGNAL);
    await engine.startContainer(asText(asRecord(answer)["Id"]), NO_SIGNAL);
  }
  const state = (name: string) => {
    const found = fake.containers().find((each) => each.name === name);
    return found === undefined ? undefined : [found.state, found.health, found.exitCode];
  };
  const Healthcheck = { Test: ["CMD", "true"] };
  const always = { HostConfig: { RestartPolicy: { Name: "always" } } };

  it("runs containers, healthy at once where they have a check", async () => {
    fake.addImage("app:1");
    await run("plain");
    await run("checked", { Healthcheck });
    assert.deepEqual(state("plain"), ["running", "none", 0]);
    assert.deepEqual(state("checked"), ["running", "healthy", 0]);
  });

  it("prefers the behaviour of a name to its service's and its image's", async () => {
    fake.addImage("app:1", { onStart: { exit: 1 } });
    const Labels = { "com.docker.compose.service": "web" };
    await run("by-image");
    fake.setBehaviour("web", { exit: 2 });
    await run("by-service", { Labels });
    fake.setBehaviour("by-name", { exit: 3 });
    await run("by-name", { Labels });
    assert.deepEqual(state("by-image"), ["exited", "none", 1]);
    assert.deepEqual(state("by-service"), ["exited", "none", 2]);
    assert.deepEqual(state("by-name"), ["exited", "none", 3]);
  });

  it("refuses a start with the words of the behaviour", async () => {
    fake.addImage("app:1", { onStart: { refuse: "port is already allocated" } });
    await assert.rejects(
      run("a"),
      (error) =>
        isStackwrightError(error, "engine_refused") && /port is already/.test(error.message),
    );
    assert.deepEqual(state("a"), ["created", "none", 0]);
  });

  it("restarts a crashed container as its policy says", async () => {
    fake.addImage("app:1");
    await run("once");
    await run("again", always);
    fake.crash("once", 9);
    fake.crash("again", 9);
    assert.deepEqual(state("once"), ["exited", "none", 9]);
    assert.deepEqual(state("again"), ["restarting", "none", 9]);
    while (state("again")?.[0] !== "running") await new Promise((go) => setTimeout(go, 10));
    assert.throws(() => fake.crash("once"), /exited, not running/);
  });

  it("lets tests make drift that clients see", async () => {
    fake.addImage("app:1");
    await run("sick", { Healthcheck });
    await run("stopped", always);
    await run("gone");
    fake.setHealth("sick", "unhealthy");
    fake.stopContainer("stopped");
    fake.removeContainer("gone");
    const list = await engine.listContainers({}, NO_SIGNAL);
    assert.deepEqual(
      list.map((each) => [each.name, each.state, each.health]).sort(),
      [["sick", "running", "unhealthy"], ["stopped", "exited", "none"]],
    );
  });

  it("pulls what its registry has, and moves the tag", async () => {
    const old = fake.addImage("app:1");
    const query = { fromImage: "docker.io/library/app", tag: "1" };
    const pull = () =>
      engine.api.send({ method: "POST", path: "/images/create", query }, NO_SIGNAL);
    await pull();
    assert.equal(await engine.imageId("app:1", NO_SIGNAL), old);
    const next = fake.addImage("app:1", { content: "2", where: "registry" });
    assert.equal(await engine.imageId("app:1", NO_SIGNAL), old);
    await pull();
    assert.equal(await engine.imageId("app:1", NO_SIGNAL), next);
    assert.notEqual(next, old);
    assert.equal((await engine.listImages(NO_SIGNAL)).length, 2);
    assert.equal(fake.pulls(), 2);
    assert.equal(fake.mutations(), 0);
    query.tag = "none";
    await assert.rejects(pull(), (error) => isStackwrightError(error, "engine_refused"));
  });

  for (
    const [path, query] of [
      ["/plugins", {}],
      ["/containers/json", { filters: { ancestor: ["app:1"] } }],
    ] as const
  ) {
    it(`answers 501, loudly, when ${path} is asked what it does not know`, async () => {
      await assert.rejects(
        engine.api.send({ method: "GET", path, query }, NO_SIGNAL),
        (error) =>
          isStackwrightError(error, "engine_refused") && /: 501 fake engine/i.test(error.message),
      );
    });
  }
});
