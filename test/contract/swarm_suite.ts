import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EngineClient, SwarmService, SwarmTask } from "../../src/docker/mod.ts";
import type { ServiceBody, UpdateBody } from "../../src/docker/mod.ts";
import { isStackwrightError } from "../../src/model/mod.ts";

/** A manager of a swarm under test. */
export interface SwarmFixture {
  readonly engine: EngineClient;
  /** Reference of an image that every node has, and no registry. */
  readonly image: string;
  close(): Promise<void>;
}

const LABEL = "stackwright.test";
const NO_SIGNAL = new AbortController().signal;
const BASE64 = btoa("hello\n");

/** What must hold for every manager of a swarm, however it is implemented. */
export function swarmSuite(title: string, open: () => Promise<SwarmFixture>): void {
  describe(`Swarm contract: ${title}`, () => {
    const label = `suite-${crypto.randomUUID().slice(0, 8)}`;
    let fixture: SwarmFixture;
    let engine: EngineClient;
    before(async () => {
      fixture = await open();
      engine = fixture.engine;
    });
    after(async () => {
      for (const each of await engine.swarm.services({ [LABEL]: label }, NO_SIGNAL)) {
        await engine.swarm.removeService(each.id, NO_SIGNAL);
      }
      await fixture.close();
    });

    function body(name: string, options: Wish = {}): ServiceBody {
      const { replicas = 1, command = ["sleep", "1000"], job, env = [], ...rest } = options;
      const { configs, UpdateConfig, RollbackConfig } = rest;
      return {
        Name: `${label}-${name}`,
        Labels: { [LABEL]: label, case: name },
        TaskTemplate: {
          ContainerSpec: {
            Image: fixture.image,
            Args: command,
            Env: env,
            Init: true,
            StopGracePeriod: 1e9,
            ...(configs === undefined ? {} : { Configs: configs }),
          },
          RestartPolicy: { Condition: job === true ? "none" : "any", Delay: 1e8 },
        },
        Mode: job === true
          ? { ReplicatedJob: { MaxConcurrent: replicas, TotalCompletions: replicas } }
          : { Replicated: { Replicas: replicas } },
        ...(UpdateConfig === undefined ? {} : { UpdateConfig }),
        ...(RollbackConfig === undefined ? {} : { RollbackConfig }),
      };
    }
    const create = (name: string, options: Wish = {}) =>
      engine.swarm.createService({ body: body(name, options), auth: "" }, NO_SIGNAL);
    async function service(name: string): Promise<SwarmService> {
      const [found, ...more] = await engine.swarm.services({ case: name }, NO_SIGNAL);
      assert.ok(found !== undefined && more.length === 0, `exactly one service of case ${name}`);
      return found;
    }
    const tasks = (name: string) => engine.swarm.tasks({ case: name }, NO_SIGNAL);
    async function until(name: string, holds: (seen: SwarmTask[]) => boolean) {
      for (;;) {
        const seen = await tasks(name);
        if (holds(seen)) return seen;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const running = (count: number) => (seen: readonly SwarmTask[]) =>
      seen.filter((each) => each.state === "running" && each.desired === "running").length ===
        count;
    async function post(name: string, options: Wish) {
      const now = await service(name);
      await engine.swarm.updateService(now, { body: body(name, options), auth: "" }, NO_SIGNAL);
    }

    it("runs as many tasks as a service wants, and tells them by its labels", async () => {
      const id = await create("replicas", { replicas: 2 });
      const seen = await until("replicas", running(2));
      assert.deepEqual(seen.map(({ slot }) => slot).sort(), [1, 2]);
      assert.deepEqual([...new Set(seen.map(({ serviceId }) => serviceId))], [id]);
      const found = await service("replicas");
      assert.equal(found.name, `${label}-replicas`);
      assert.deepEqual(found.mode, { kind: "replicated", replicas: 2 });
      assert.equal(found.update, undefined);
    });

    it("makes only the difference when replicas change", async () => {
      await create("scale");
      const [first] = await until("scale", running(1));
      await post("scale", { replicas: 3 });
      const seen = await until("scale", running(3));
      assert.ok(seen.some(({ id, state }) => id === first?.id && state === "running"));
      assert.equal(seen.length, 3);
    });

    it("replaces tasks when their template changes, and refuses a version of before", async () => {
      await create("update");
      const before = await service("update");
      const [first] = await until("update", running(1));
      await post("update", { env: ["A=1"] });
      const change = { body: body("update", { env: ["A=2"] }), auth: "" };
      await assert.rejects(
        engine.swarm.updateService(before, change, NO_SIGNAL),
        (error) =>
          isStackwrightError(error, "engine_refused") && /out of sequence/.test(String(error)),
      );
      await until(
        "update",
        (seen) =>
          running(1)(seen) &&
          seen.every((each) => each.id !== first?.id || each.state !== "running"),
      );
    });

    it("refuses a name that is taken", async () => {
      await create("taken");
      await assert.rejects(
        create("taken"),
        (error) => isStackwrightError(error, "engine_refused") && String(error).includes(": 409"),
      );
    });

    it("keeps a config that a service uses", async () => {
      const name = `${label}-config`;
      const labels = { [LABEL]: label };
      const wish = { Name: name, Labels: labels, Data: BASE64 };
      const id = await engine.swarm.createObject("configs", wish, NO_SIGNAL);
      await assert.rejects(engine.swarm.createObject("configs", wish, NO_SIGNAL), /409/);
      const [found] = await engine.swarm.objects("configs", labels, NO_SIGNAL);
      const { version: _version, ...told } = found ?? {};
      assert.deepEqual(told, { id, name, labels, data: BASE64 });
      const File = { Name: "/greeting", UID: "0", GID: "0", Mode: 0o444 };
      await create("config", { configs: [{ ConfigID: id, ConfigName: name, File }] });
      const stays = async () => (await engine.swarm.objects("configs", labels, NO_SIGNAL)).length;
      await engine.swarm.removeObject("configs", id, NO_SIGNAL);
      assert.equal(await stays(), 1);
      await engine.swarm.removeService((await service("config")).id, NO_SIGNAL);
      await engine.swarm.removeObject("configs", id, NO_SIGNAL);
      assert.equal(await stays(), 0);
      await engine.swarm.removeObject("configs", id, NO_SIGNAL);
    });

    it("lists secrets apart from configs", async () => {
      const wish = { Name: `${label}-secret`, Labels: { [LABEL]: label }, Data: BASE64 };
      const id = await engine.swarm.createObject("secrets", wish, NO_SIGNAL);
      const found = await engine.swarm.objects("secrets", { [LABEL]: label }, NO_SIGNAL);
      assert.deepEqual(found.map((each) => [each.id, each.data]), [[id, undefined]]);
      await engine.swarm.removeObject("secrets", id, NO_SIGNAL);
    });

    it("runs a job to its end, and again when it is posted", async () => {
      await create("job", { job: true, replicas: 2, command: ["true"] });
      const done = (iteration: number) => (seen: readonly SwarmTask[]) =>
        seen.filter((each) => each.state === "complete" && each.iteration === iteration).length ===
          2;
      await until("job", done((await service("job")).iteration));
      const first = (await service("job")).iteration;
      await post("job", { job: true, replicas: 2, command: ["true"] });
      const again = await service("job");
      assert.notEqual(again.iteration, first);
      assert.deepEqual(again.mode, { kind: "replicated-job", completions: 2 });
      await until("job", done(again.iteration));
    });

    it("pauses an update whose task fails, and says so", async () => {
      await create("bad");
      await until("bad", running(1));
      const UpdateConfig = { Parallelism: 1, Monitor: 1e9, FailureAction: "pause" };
      await post("bad", { UpdateConfig, command: ["sh", "-c", "exit 3"] });
      for (let state; state !== "paused"; state = (await service("bad")).update?.state) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const failed = (await tasks("bad")).find((each) => each.state === "failed");
      assert.equal(failed?.exitCode, 3);
      assert.match(failed?.error ?? "", /non-zero exit \(3\)/);
    });

    it("takes an update back whose task fails, says so in an event, and when the update began", async () => {
      await create("back");
      await until("back", running(1));
      const before = await service("back");
      const stop = new AbortController();
      const events = engine.containerEvents(
        { labels: {}, withServices: true, since: 0n },
        stop.signal,
      );
      // However long a task takes to start, it is watched; one that is back need not be.
      const UpdateConfig = { Parallelism: 1, Monitor: 3600e9, FailureAction: "rollback" };
      const RollbackConfig = { Parallelism: 1, Monitor: 1e8, FailureAction: "pause" };
      await post("back", { UpdateConfig, RollbackConfig, command: ["sh", "-c", "exit 3"] });
      for await (const { type, containerId, attributes } of events) {
        if (type !== "service" || containerId !== before.id) continue;
        if (attributes["updatestate.new"] === "rollback_completed") break;
      }
      stop.abort();
      const { update, spec } = await service("back");
      assert.equal(update?.state, "rollback_completed");
      assert.deepEqual(spec["TaskTemplate"], before.spec["TaskTemplate"]);
      const failed = (await tasks("back")).find((each) => each.state === "failed");
      assert.match(failed?.error ?? "", /non-zero exit \(3\)/);
      const began = new Date(update?.startedAt ?? 0);
      assert.ok(began > before.updatedAt, `${began} ${before.updatedAt}`);
      assert.ok(failed !== undefined && failed.createdAt >= began);
    });

    it("keeps what the tasks of a service printed", async () => {
      const command = ["sh", "-c", "echo out of ink; exit 7"];
      await create("printed", { job: true, command });
      await until("printed", (seen) => seen.some(({ state }) => state === "failed"));
      const { id } = await service("printed");
      for (let lines: string[] = []; lines[0] !== "out of ink";) {
        lines = await engine.swarm.serviceLogs(id, 10, NO_SIGNAL);
      }
    });

    it("takes a job without a task, and runs it when it wants one", async () => {
      await create("idle", { job: true, replicas: 0, command: ["true"] });
      assert.deepEqual((await service("idle")).mode, { kind: "replicated-job", completions: 0 });
      assert.deepEqual(await tasks("idle"), []);
      await post("idle", { job: true, replicas: 1, command: ["true"] });
      await until("idle", (seen) => seen.some(({ state }) => state === "complete"));
    });

    it("tells of services that come, change and go", async () => {
      const stop = new AbortController();
      const actions = ["create", "update", "remove"];
      const events = engine.containerEvents(
        { labels: {}, withServices: true, actions, since: 0n },
        stop.signal,
      );
      await create("told");
      const { id } = await service("told");
      await post("told", { replicas: 2 });
      await engine.swarm.removeService(id, NO_SIGNAL);
      const heard: string[] = [];
      for await (const { type, action, containerId, attributes } of events) {
        if (type !== "service" || containerId !== id) continue;
        assert.equal(attributes["name"], `${label}-told`);
        if (heard.at(-1) !== action) heard.push(action);
        if (action === "remove") break;
      }
      stop.abort();
      assert.deepEqual(heard, actions);
    });

    it("tells of one service, its tasks and no others, and nothing of one that is gone", async () => {
      await create("one");
      await create("two");
      await until("one", running(1));
      const { id, name } = await service("one");
      assert.equal((await engine.swarm.service(id, NO_SIGNAL))?.name, name);
      const own = await engine.swarm.tasksOf(id, NO_SIGNAL);
      assert.deepEqual(own.map(({ serviceId }) => serviceId), [id]);
      await engine.swarm.removeService(id, NO_SIGNAL);
      assert.equal(await engine.swarm.service(id, NO_SIGNAL), undefined);
      assert.deepEqual(await engine.swarm.tasksOf(id, NO_SIGNAL), []);
    });

    it("does not mind removing what is gone", async () => {
      await create("gone");
      const { id } = await service("gone");
      await engine.swarm.removeService(id, NO_SIGNAL);
      await engine.swarm.removeService(id, NO_SIGNAL);
      assert.deepEqual(await engine.swarm.services({ case: "gone" }, NO_SIGNAL), []);
    });

    it("lists networks of the swarm and no others", async () => {
      const Labels = { [LABEL]: label };
      const network = { Internal: false, Attachable: true, Labels };
      await engine.makeNetwork({ ...network, Name: `${label}-over`, Driver: "overlay" }, NO_SIGNAL);
      await engine.makeNetwork({ ...network, Name: `${label}-here` }, NO_SIGNAL);
      const found = (await engine.swarm.networks(NO_SIGNAL)).map(({ name }) => name);
      for (const each of await engine.listNetworks(Labels, NO_SIGNAL)) {
        await engine.removeNetwork(each.id, NO_SIGNAL);
      }
      assert.ok(found.includes(`${label}-over`));
      assert.ok(!found.includes(`${label}-here`));
    });
  });
}

interface Wish {
  readonly replicas?: number;
  readonly command?: readonly string[];
  readonly env?: readonly string[];
  readonly job?: boolean;
  readonly configs?: NonNullable<ServiceBody["TaskTemplate"]["ContainerSpec"]["Configs"]>;
  readonly UpdateConfig?: UpdateBody | undefined;
  readonly RollbackConfig?: UpdateBody | undefined;
}
