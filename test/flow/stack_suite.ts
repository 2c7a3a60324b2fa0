import assert from "node:assert/strict";
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { SwarmService, SwarmTask } from "../../src/docker/mod.ts";
import { isWanted } from "../../src/deploy/swarm/observed_services.ts";
import { LABELS } from "../../src/model/mod.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { removeStack } from "../fakes/real_swarm.ts";
import { commandTo } from "./commands.ts";
import { composeFile, type Part } from "./compose_text.ts";
import { actions, commit, docker, pollTo, reasons } from "./steps.ts";
import { createWorld, IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;
const NAMESPACE = "com.docker.stack.namespace";

/** How much of the suite is run. */
export interface StackSuiteOptions {
  /** How many times what did not change is deployed again. */
  readonly identical: number;
  /** False runs a sample. */
  readonly all: boolean;
}

/** A service that runs for ever, is replaced at once, and whose failed update is noticed soon. */
function service(more: Part = {}): Part {
  return {
    image: IMAGE,
    command: ["sleep", "100000"],
    init: true,
    stop_grace_period: "1s",
    ...more,
    deploy: {
      restart_policy: { condition: "any", delay: "200ms" },
      update_config: { monitor: "300ms", parallelism: 0 },
      rollback_config: { monitor: "300ms", parallelism: 0 },
      endpoint_mode: "dnsrr",
      ...more["deploy"] as Part,
    },
  };
}

/** Two services, one with a config and a secret, and others. */
function shop(
  options: {
    greeting?: string;
    replicas?: number;
    web?: Part;
    others?: Readonly<Record<string, Part>>;
  } = {},
) {
  const { greeting = "hello", replicas = 2, web = {}, others = {} } = options;
  return {
    "compose.yaml": composeFile({
      web: service({
        configs: [{ source: "greeting", target: "/greeting" }],
        secrets: ["key"],
        ...web,
        deploy: { replicas, ...web["deploy"] as Part },
      }),
      worker: service(),
      ...others,
    }, {
      configs: { greeting: { file: "greeting.txt" } },
      secrets: { key: { file: "key.txt" } },
    }),
    "greeting.txt": `${greeting}\n`,
    "key.txt": "a key of this shop\n",
  };
}

/** What a swarm must do with a stack, whoever plays it. */
export function stackSuite(engine: "fake" | "real", { identical, all }: StackSuiteOptions): void {
  const inSwarm =
    (test: (world: World) => Promise<void>, env: Record<string, string> = {}) => async () => {
      const world = await createWorld({ engine, env });
      world.fake?.becomeManager();
      try {
        await test(world);
      } finally {
        await removeStack(world.engine, world.stack);
        await world.close();
      }
    };
  const services = async (world: World): Promise<SwarmService[]> => {
    const found = await world.engine.swarm.services({ [NAMESPACE]: world.stack }, never);
    return found.sort((a, b) => a.name < b.name ? -1 : 1);
  };
  const running = async (world: World): Promise<SwarmTask[]> =>
    (await world.engine.swarm.tasks({ [NAMESPACE]: world.stack }, never))
      .filter((each) => isWanted(each) && each.state === "running");
  const ids = async (world: World, name: string): Promise<string[]> => {
    const found = (await services(world)).find((each) => each.name === `${world.stack}_${name}`);
    return (await running(world)).filter(({ serviceId }) => serviceId === found?.id)
      .map(({ id }) => id).sort();
  };
  const objects = async (world: World, kind: "configs" | "secrets") =>
    (await world.engine.swarm.objects(kind, { [NAMESPACE]: world.stack }, never))
      .map(({ name }) => name.slice(world.stack.length)).sort();

  const more = (title: string, test: () => Promise<void>) => {
    if (all) it(title, test);
  };
  describe(`stacks on the ${engine} swarm`, () => {
    it(
      "is deployed with its configs, secrets and networks, and not touched again",
      inSwarm(async (world) => {
        const five = { api: service(), cache: service(), db: service() };
        await commit(world, shop({ others: five }));
        const finished = await pollTo(world, "succeeded");
        const names = ["api", "cache", "db", "web", "worker"];
        assert.deepEqual(
          actions(finished),
          Object.fromEntries(names.map((each) => [each, "create"])),
        );
        const [, , , web, worker] = await services(world);
        assert.equal(web?.name, `${world.stack}_web`);
        assert.equal(web?.labels[LABELS.manager], "stackwright");
        assert.deepEqual(web?.mode, { kind: "replicated", replicas: 2 });
        assert.equal(worker?.name, `${world.stack}_worker`);
        assert.equal((await running(world)).length, 6);
        assert.deepEqual(await objects(world, "configs"), ["_greeting_5891b5b5"]);
        const [secret] = await objects(world, "secrets");
        assert.match(secret ?? "", /^_key_[0-9a-f]{8}$/);
        assert.deepEqual(await world.containers(), []);
        const all = async () =>
          (await world.engine.swarm.tasks({ [NAMESPACE]: world.stack }, never)).map(({ id }) => id)
            .sort();
        const before = await all();
        world.proxy.reset();
        for (let times = 0; times < identical; times++) {
          await commit(world, { "README.md": `${times}` });
          await pollTo(world, "skipped");
        }
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await all(), before);
        assert.deepEqual(await objects(world, "configs"), ["_greeting_5891b5b5"]);
        assert.deepEqual(await objects(world, "secrets"), [secret]);
      }),
    );

    more(
      "replaces only what a changed config concerns, and keeps the one that a rollback needs",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        const worker = await ids(world, "worker");
        const [hello = ""] = await objects(world, "configs");
        await commit(world, shop({ greeting: "good day" }));
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { web: "recreate", worker: "keep" });
        assert.match(reasons(finished, "web"), /mounted greeting\.txt changed/);
        assert.deepEqual(await ids(world, "worker"), worker);
        assert.equal((await objects(world, "configs")).length, 2);
        assert.ok((await objects(world, "configs")).includes(hello));
        await commit(world, shop({ greeting: "bye" }));
        await pollTo(world, "succeeded");
        // With a retention of 0 two are left: the one in use, and that of the release before.
        const left = await objects(world, "configs");
        assert.equal(left.length, 2);
        assert.ok(!left.includes(hello));
      }, { CONTAINER_SWARM_CONFIG_RETENTION: "0" }),
    );

    more(
      "fails, and changes nothing, where its network is to be another one: no swarm can change it",
      inSwarm(async (world) => {
        const files = (internal: boolean) => ({
          "compose.yaml": composeFile({ web: service({ networks: ["back"] }) }, {
            networks: { back: { internal } },
          }),
        });
        await commit(world, files(false));
        await pollTo(world, "succeeded");
        await commit(world, files(true));
        world.proxy.reset();
        const [target] = (await pollTo(world, "failed")).deployments ?? [];
        assert.match(
          target?.message ?? "",
          /^networks\.back: .* another internal, .* a swarm's, so/,
        );
        assert.equal(world.proxy.mutations(), 0);
        const { out, err } = await commandTo(world, 1, ["plan", world.repository.url]);
        assert.match(out + err, /networks\.back: network \S+_back exists with another internal/);
        await commit(world, files(false));
        await pollTo(world, "skipped");
      }),
    );

    more(
      "keeps as many old configs as the deployment says, whatever the instance says",
      inSwarm(async (world) => {
        for (const greeting of ["a", "b", "c", "d"]) {
          await commit(world, shop({ greeting }), { swarm: { config_retention: -1 } });
          await pollTo(world, "succeeded");
        }
        assert.equal((await objects(world, "configs")).length, 4);
      }, { CONTAINER_SWARM_CONFIG_RETENTION: "0" }),
    );

    it(
      "changes the number of tasks without replacing those that run, and puts it back",
      inSwarm(async (world) => {
        await commit(world, shop({ replicas: 1 }));
        await pollTo(world, "succeeded");
        const [first] = await ids(world, "web");
        await commit(world, shop({ replicas: 3 }));
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          web: "scale",
          worker: "keep",
        });
        assert.ok((await ids(world, "web")).includes(first ?? ""));
        assert.equal((await ids(world, "web")).length, 3);
        const [web] = await services(world);
        assert.ok(web);
        const body = { ...web.spec, Mode: { Replicated: { Replicas: 1 } } };
        await world.engine.swarm.updateService(web, { body, auth: "" }, never);
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /1 of 3 containers exist/);
        assert.equal((await ids(world, "web")).length, 3);
      }),
    );

    it(
      "puts the whole release before back when an update fails, and explains it",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        const web = { command: ["sh", "-c", "exit 3"] };
        await commit(world, shop({ greeting: "broken", web }));
        const finished = await pollTo(world, "failed");
        const [target] = finished.deployments ?? [];
        assert.match(target?.message ?? "", /service web: .*non-zero exit \(3\)/);
        assert.match(target?.message ?? "", /previous release was put back: restored web/);
        const [now] = await services(world);
        assert.doesNotMatch(JSON.stringify(now?.spec), /exit 3/);
        assert.equal((await ids(world, "web")).length, 2);
        const explained = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(explained.out, /non-zero exit \(3\)/);
      }),
    );

    more(
      "is the release before also where the swarm takes a failed update back by itself",
      inSwarm(async (world) => {
        const files = (word: string) => ({
          "compose.yaml": composeFile({
            web: service({
              command: ["sh", "-c", word],
              deploy: { update_config: { monitor: "1h", failure_action: "rollback" } },
            }),
            worker: service({ environment: { WORD: word } }),
          }),
        });
        await commit(world, files("exec sleep 100000"));
        await pollTo(world, "succeeded");
        const before = (await services(world)).map(({ labels }) => labels[LABELS.digest]);
        await commit(world, files("sleep 1; exit 3"));
        const [target] = (await pollTo(world, "failed")).deployments ?? [];
        assert.match(target?.message ?? "", /service web: .*\(3\)/);
        assert.match(target?.message ?? "", /previous release was put back: restored worker/);
        const now = await services(world);
        assert.deepEqual(now.map(({ labels }) => labels[LABELS.digest]), before);
        assert.equal((await ids(world, "web")).length, 1);
      }),
    );

    more(
      "has a service that wants no task, keeps it as its file says, and starts it when that wants one",
      inSwarm(async (world) => {
        await commit(world, shop({ replicas: 0 }));
        assert.equal(actions(await pollTo(world, "succeeded"))["web"], "create");
        const web = async () => (await services(world))[0];
        assert.deepEqual((await web())?.mode, { kind: "replicated", replicas: 0 });
        await pollTo(world, "skipped");
        await commit(world, shop({ replicas: 0, greeting: "good day" }));
        const changed = await pollTo(world, "succeeded");
        assert.deepEqual(actions(changed), { web: "recreate", worker: "keep" });
        assert.match(reasons(changed, "web"), /mounted greeting\.txt changed/);
        await world.engine.swarm.removeService((await web())?.id ?? "", never);
        assert.equal(actions(await pollTo(world, "succeeded"))["web"], "create");
        await commit(world, shop({ replicas: 1, greeting: "good day" }));
        await pollTo(world, "succeeded");
        assert.equal((await ids(world, "web")).length, 1);
      }),
    );

    more(
      "says what the swarm takes back after a deployment gave up on it, once, and which release runs",
      inSwarm(async (world) => {
        const files = (word: string, more: Part = {}) => ({
          "compose.yaml": composeFile({
            web: service({
              command: ["sh", "-c", word],
              ...more,
              deploy: { update_config: { monitor: "1h", failure_action: "rollback" } },
            }),
          }),
        });
        await commit(world, files("exec sleep 100000"));
        await pollTo(world, "succeeded");
        // The fake engine runs no command: what it does is said of the service.
        world.fake?.setBehaviour("web", { health: "starting" });
        const end = world.fake === undefined ? "until [ -e /end ]; do sleep 0.1; done; exit 9" : "";
        await commit(world, files(end), { timeout: "1s" });
        const [target] = (await pollTo(world, "failed")).deployments ?? [];
        assert.match(target?.message ?? "", /within the deployment's timeout/);
        world.fake?.setBehaviour("web", "run");
        world.fake?.takeBack(`${world.stack}_web`, "task: non-zero exit (9)");
        const told =
          "the swarm took service web back by itself (rollback completed: task: non-zero " +
          "exit (9)): it runs what release 1 says";
        const lines = () => world.lines.filter(({ message }) => message === told).length;
        await until(async () => {
          if (world.kind === "real") await endTasks(world);
          return lines() > 0;
        });
        const answer = await world.request(`/v1/api/deployments?query=${world.stack}`);
        const { state, why } = (await answer.json()).content.deployments[0];
        assert.equal(state, "failed");
        assert.ok(why.endsWith(told), why);
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        assert.ok(out.includes(`: ${told}`), out);
        const text = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
        assert.match(text, /^service_engine_rollbacks_total\{.*\} 1$/m);
        assert.equal(lines(), 1);
      }, { DEPLOY_ROLLBACK: "false" }),
    );

    more(
      "tells of a rollback by hand, and does what its file says with the next look",
      inSwarm(async (world) => {
        for (const greeting of ["one", "two"]) {
          await commit(world, shop({ greeting }));
          await pollTo(world, "succeeded");
        }
        await docker(world, "service", "rollback", "--detach", `${world.stack}_web`);
        const told =
          /^somebody had the swarm take service web back \(.*\): it runs what release 1 says$/;
        await until(() => Promise.resolve(world.lines.some(({ message }) => told.test(message))));
        const answer = await world.request(`/v1/api/deployments?query=${world.stack}`);
        const { state, why } = (await answer.json()).content.deployments[0];
        assert.deepEqual([state, why], ["drifted", "release 2 needs: recreate web"]);
        assert.equal(actions(await pollTo(world, "succeeded"))["web"], "recreate");
        assert.equal((await ids(world, "web")).length, 2);
      }),
    );

    more(
      "removes a service that is no longer wanted after the others are good, and makes a missing one",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        const only = composeFile({ worker: service({ environment: { A: "1" } }) });
        await commit(world, { "compose.yaml": only });
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          web: "remove",
          worker: "recreate",
        });
        const [worker, ...others] = await services(world);
        assert.deepEqual(others, []);
        await world.engine.swarm.removeService(worker?.id ?? "", never);
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "worker"), /its container is missing/);
        assert.equal((await ids(world, "worker")).length, 1);
        // Also one that wants no task, and of which no container tells.
        for (const replicas of [1, 0]) {
          await commit(world, shop({ replicas }));
          await pollTo(world, "succeeded");
        }
        await commit(world, { "compose.yaml": only });
        assert.equal(actions(await pollTo(world, "succeeded"))["web"], "remove");
        assert.equal((await services(world)).length, 1);
      }),
    );

    it(
      "refuses what a swarm cannot do before anything is made, naming service and key",
      inSwarm(async (world) => {
        await commit(world, shop({ web: { privileged: true, pid: "host" } }));
        const finished = await pollTo(world, "failed");
        const text = JSON.stringify(finished);
        assert.match(text, /services\.web\.privileged|services\.web\.pid/);
        assert.match(text, /Nothing was changed/);
        assert.deepEqual(await services(world), []);
        assert.deepEqual(await objects(world, "configs"), []);
      }),
    );

    it(
      "goes with everything that belongs to it when it is destroyed",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        await commit(world, {}, { destroy: true });
        await pollTo(world, "succeeded");
        assert.deepEqual(await services(world), []);
        assert.deepEqual(await objects(world, "configs"), []);
        assert.deepEqual(await objects(world, "secrets"), []);
        assert.deepEqual(
          await world.engine.listNetworks({ [NAMESPACE]: world.stack }, never),
          [],
        );
        await pollTo(world, "skipped");
      }),
    );

    it(
      "runs a job once for each change of it",
      inSwarm(async (world) => {
        const job = (word: string) => ({
          "compose.yaml": composeFile({
            job: { image: IMAGE, command: ["echo", word], deploy: { mode: "replicated-job" } },
          }),
        });
        await commit(world, job("a"));
        await pollTo(world, "succeeded");
        const [first] = await services(world);
        assert.deepEqual(first?.mode, { kind: "replicated-job", completions: 1 });
        await pollTo(world, "skipped");
        assert.equal((await services(world))[0]?.version, first?.version);
        await commit(world, job("b"));
        await pollTo(world, "succeeded");
        assert.notEqual((await services(world))[0]?.iteration, first?.iteration);
      }),
    );

    it(
      "is scaled, restarted, run and removed over REST, until something deploys it",
      inSwarm(async (world) => {
        const files = {
          "compose.yaml": composeFile({
            web: service(),
            job: { image: IMAGE, command: ["true"], deploy: { mode: "replicated-job" } },
          }),
        };
        await commit(world, files);
        await pollTo(world, "succeeded");
        const ask = async (method: string, path = "") => {
          const response = await world.request(`/v1/api/stack/${world.stack}${path}`, { method });
          const { content, error } = await response.json();
          return [response.status, content ?? error];
        };
        const [status, shown] = await ask("GET");
        assert.equal(status, 200);
        assert.deepEqual(shown.map(({ Spec }: { Spec: { Name: string } }) => Spec.Name), [
          `${world.stack}_job`,
          `${world.stack}_web`,
        ]);
        assert.deepEqual(shown[1].ServiceStatus, {
          RunningTasks: 1,
          DesiredTasks: 1,
          CompletedTasks: 0,
        });
        const [first] = await ids(world, "web");
        assert.deepEqual(await ask("POST", "/scale?replicas=3&service=web"), [
          200,
          "service scaled: web to 3 replicas",
        ]);
        assert.equal((await ids(world, "web")).length, 3);
        assert.ok((await ids(world, "web")).includes(first ?? ""));
        assert.match(reasons(await pollTo(world, "succeeded"), "web"), /3 of 1 containers exist/);
        assert.equal((await ids(world, "web")).length, 1);
        const [job] = await services(world);
        assert.deepEqual(await ask("POST", "/run"), [
          200,
          `1 job(s) retriggered in stack: ${world.stack}`,
        ]);
        assert.ok(((await services(world))[0]?.iteration ?? 0) > (job?.iteration ?? 0));
        assert.deepEqual(await ask("POST", "/restart"), [200, `stack restarted: ${world.stack}`]);
        const { ForceUpdate } = (await services(world))[1]?.spec["TaskTemplate"] as {
          ForceUpdate?: number;
        };
        assert.equal(ForceUpdate, 1);
        const projects = await world.request(`/v1/api/project/${world.stack}`, {
          method: "DELETE",
        });
        assert.equal(projects.status, 404);
        await projects.body?.cancel();
        assert.deepEqual(await ask("DELETE", "?timeout=120"), [
          200,
          `stack removed: ${world.stack}`,
        ]);
        assert.deepEqual(await services(world), []);
        const explained = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(explained.out, /a person asked for it over the API/);
        assert.equal((await ask("GET"))[0], 404);
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          web: "create",
          job: "create",
        });
      }),
    );

    it(
      "runs scheduled jobs when they are due or asked for, and never because they are deployed",
      inSwarm(async (world) => {
        const job = (command: readonly string[], mode: string): Part => ({
          image: IMAGE,
          command,
          labels: {
            "stackwright.job.enabled": "true",
            "stackwright.job.schedule": "@yearly",
            "stackwright.job.execution_mode": mode,
          },
        });
        const failing = job(["sh", "-c", "echo out of ink; exit 7"], "one_off");
        const files = (marker: string) => ({
          "compose.yaml": composeFile({
            good: job(["true"], "one_off"),
            bad: {
              ...failing,
              labels: { ...failing["labels"] as Part, "stackwright.job.stop_services": "web" },
            },
            again: job(["true"], "restart"),
            web: service({ environment: { MARKER: marker } }),
          }),
        });
        await commit(world, files("one"));
        await pollTo(world, "succeeded");
        const tasks = await world.engine.swarm.tasks({ [NAMESPACE]: world.stack }, never);
        assert.equal(tasks.length, 1, "a job ran when it was deployed");
        const jobs = async () => {
          const response = await world.request(`/v1/api/jobs?stack=${world.stack}`);
          const { content } = await response.json();
          return content.map((each: Record<string, unknown>) => [
            each["name"],
            each["mode"],
            each["status"],
          ]);
        };
        const name = (service: string) => `${world.stack}_${service}`;
        assert.deepEqual(await jobs(), [
          [name("again"), "swarm", "created"],
          [name("bad"), "swarm", "created"],
          [name("good"), "swarm", "created"],
        ]);
        const run = async (service: string) => {
          const path = `/v1/api/job/${name(service)}/run?stack=${world.stack}`;
          const response = await world.request(path, { method: "POST" });
          const { content, error } = await response.json();
          return [response.status, content, error];
        };
        assert.deepEqual(await run("good"), [200, "scheduled job triggered", undefined]);
        const [status, why, error] = await run("bad");
        assert.deepEqual([status, error], [500, "failed to trigger scheduled job run"]);
        assert.match(why, /exited with status 7: out of ink/);
        assert.deepEqual(await run("again"), [200, "scheduled job triggered", undefined]);
        const again = async () =>
          (await services(world)).find((each) => each.name === name("again"));
        assert.deepEqual((await again())?.mode, { kind: "replicated-job", completions: 1 });
        await until(async () => String((await jobs())[0]?.[2]) === "exited (0)");
        assert.deepEqual(await jobs(), [
          [name("again"), "swarm", "exited (0)"],
          [name("bad"), "swarm", "exited (7)"],
          [name("good"), "swarm", "exited (0)"],
        ]);
        const names = (await services(world)).map((each) => each.name);
        assert.deepEqual(names, ["again", "bad", "good", "web"].map(name));
        const [, , , web] = await services(world);
        assert.deepEqual(web?.mode, { kind: "replicated", replicas: 1 });
        world.proxy.reset();
        await until(async () => (await ids(world, "web")).length === 1);
        await commit(world, { "README.md": "more" });
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        const iteration = (await again())?.iteration;
        await commit(world, files("two"));
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          again: "keep",
          bad: "keep",
          good: "keep",
          web: "recreate",
        });
        assert.equal((await again())?.iteration, iteration);
      }),
    );

    more(
      "comes back by itself when somebody removes a service or changes how many tasks it has",
      inSwarm(async (world) => {
        const until = async (holds: () => Promise<boolean>) => {
          while (!await holds()) await pause(50);
        };
        await commit(world, shop(), { reconciliation: { events: ["destroy", "update"] } });
        await pollTo(world, "succeeded");
        const kept = await ids(world, "worker");
        await commit(world, shop({ greeting: "not deployed yet" }));
        const [web] = await services(world);
        assert.ok(web);
        const body = { ...web.spec, Mode: { Replicated: { Replicas: 3 } } };
        await world.engine.swarm.updateService(web, { body, auth: "" }, never);
        const told = /^repaired release 1: scale web$/;
        await until(() => Promise.resolve(world.lines.some((line) => told.test(line.message))));
        assert.deepEqual((await services(world))[0]?.mode, web.mode);
        await world.engine.swarm.removeService(web.id, never);
        await until(async () => (await ids(world, "web")).length === 2);
        const [again] = await services(world);
        assert.notEqual(again?.id, web.id);
        assert.match(JSON.stringify(again?.spec), /_greeting_5891b5b5/);
        assert.deepEqual(await ids(world, "worker"), kept);
      }),
    );

    more(
      "says which fields of a service somebody changed by hand, and is as it was when they changed back",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        const drift = async () => {
          const answer = await world.request(`/v1/api/deployments?query=${world.stack}`);
          const { state, why, drift = [] } = (await answer.json()).content.deployments[0];
          const lines = drift.map(({ service, field, found }: Record<string, string>) =>
            `${service} ${field}: ${found}`
          );
          return { state, why, lines };
        };
        const before = await services(world);
        const change = async (...how: readonly string[]) => {
          const name = `${world.stack}_worker`;
          await docker(world, "service", "update", "--quiet", "--detach", ...how, name);
        };
        await change("--env-add", "KEY=hush", "--limit-memory", "64M");
        const seen = ["deploy.resources.limits.memory: 64 MiB", "environment KEY: set"];
        await until(async () => (await drift()).lines.length > 0);
        const { state, why, lines } = await drift();
        assert.deepEqual(lines, seen.map((each) => `worker ${each}`));
        assert.equal(state, "drifted");
        assert.match(why, /^changed by hand: service worker: .*\(and 1 more\)$/);
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(out, /drift: service worker: environment KEY: set instead of none/);
        assert.doesNotMatch(out + JSON.stringify(world.lines), /hush/);
        await pollTo(world, "skipped");
        await change("--env-rm", "KEY", "--limit-memory", "0");
        await until(async () => (await drift()).lines.length === 0);
        // Nobody but who changed it did anything.
        assert.equal((await services(world))[0]?.version, before[0]?.version);
      }),
    );

    more(
      "is mended where drift is repaired, field by field and also the number of tasks",
      inSwarm(async (world) => {
        await commit(world, shop(), { reconciliation: { drift: "repair" } });
        await pollTo(world, "succeeded");
        const kept = await ids(world, "web");
        const worker = async () => (await services(world))[1];
        const before = await worker();
        const change = async (...how: readonly string[]) =>
          await docker(world, "service", ...how.slice(0, 1), "--detach", ...how.slice(1));
        await change("update", "--env-add", "X=1", `${world.stack}_worker`);
        const repaired = /^repaired release 1: recreate worker$/;
        await until(() =>
          Promise.resolve(world.lines.some(({ message }) => repaired.test(message)))
        );
        const template = (each: SwarmService | undefined) => {
          const { ForceUpdate: _force, ...rest } = each?.spec["TaskTemplate"] as Part;
          return rest;
        };
        assert.deepEqual(template(await worker()), template(before));
        assert.deepEqual(await ids(world, "web"), kept);
        await change("scale", `${world.stack}_web=3`);
        const scaled = /^repaired release 2: scale web$/;
        await until(() => Promise.resolve(world.lines.some(({ message }) => scaled.test(message))));
        assert.deepEqual((await services(world))[0]?.mode, { kind: "replicated", replicas: 2 });
        await pollTo(world, "skipped");
      }),
    );

    more(
      "mends a service beside those of the file, and more tasks than it says, with the next look",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        const [web] = await services(world);
        assert.ok(web);
        const body = { ...web.spec, Mode: { Replicated: { Replicas: 4 } } };
        await world.engine.swarm.updateService(web, { body, auth: "" }, never);
        const other = { ...web.spec, Name: `${world.stack}_other` };
        await world.engine.swarm.createService({ body: other, auth: "" }, never);
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { web: "scale", worker: "keep", other: "remove" });
        assert.match(reasons(finished, "web"), /4 of 2 containers exist/);
        assert.equal((await services(world)).length, 2);
        assert.equal((await ids(world, "web")).length, 2);
      }),
    );

    more(
      "becomes containers, and a stack again, with its data, and goes with it",
      inSwarm(async (world) => {
        const keeps = (command: string) => ({
          "compose.yaml": composeFile({
            web: service({
              command: ["sh", "-c", `${command}; exec sleep 100000`],
              volumes: ["data:/data"],
            }),
          }, { volumes: { data: {} } }),
        });
        const volumes = async () =>
          (await world.engine.findVolumes([`${world.stack}_data`], never)).map(({ name }) => name);
        await commit(world, keeps("echo one > /data/mark"), { swarm: { enabled: false } });
        await pollTo(world, "succeeded");
        assert.deepEqual(await services(world), []);
        assert.equal((await world.containers()).length, 1);
        await commit(world, keeps("grep one /data/mark || exit 1; echo two > /data/mark"));
        const changed = await pollTo(world, "succeeded");
        assert.match(reasons(changed, "web"), /^containers become services of a swarm$/);
        assert.deepEqual(await world.containers(), []);
        assert.equal((await ids(world, "web")).length, 1);
        await pollTo(world, "skipped");
        const again = keeps("grep two /data/mark || exit 1");
        await commit(world, again, { swarm: { enabled: false } });
        await pollTo(world, "succeeded");
        assert.deepEqual(await services(world), []);
        assert.equal((await world.containers()).length, 1);
        const left = await world.engine.listNetworks({ [NAMESPACE]: world.stack }, never);
        assert.deepEqual(left, []);
        assert.deepEqual(await volumes(), [`${world.stack}_data`]);
        await commit(world, again, { destroy: true });
        await pollTo(world, "succeeded");
        assert.deepEqual(await volumes(), []);
      }),
    );

    more(
      "becomes containers where the features of swarms are switched off, and its services go",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        await world.restart({ CONTAINER_SWARM_FEATURES: "false" });
        await pollTo(world, "succeeded");
        assert.deepEqual(await services(world), []);
        assert.equal((await world.containers()).length, 3);
        await world.restart();
        await pollTo(world, "succeeded");
        assert.equal((await services(world)).length, 2);
        await commit(world, shop(), { destroy: true });
        await world.restart({ CONTAINER_SWARM_FEATURES: "false" });
        await pollTo(world, "succeeded");
        assert.deepEqual(await services(world), []);
      }),
    );

    more(
      "is not run beside by containers where its release and the features of swarms are gone",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        const DATA_DIR = `${world.dataDir}-new`;
        await world.restart({ CONTAINER_SWARM_FEATURES: "false", DATA_DIR });
        const refused = JSON.stringify(await pollTo(world, "failed"));
        assert.match(refused, /_web of that name runs.*CONTAINER_SWARM_FEATURES not false/);
        assert.deepEqual(await world.containers(), []);
        await world.restart({ DATA_DIR });
        await pollTo(world, "succeeded");
        await world.restart({ CONTAINER_SWARM_FEATURES: "false", DATA_DIR });
        await pollTo(world, "succeeded");
        assert.deepEqual(await services(world), []);
        assert.equal((await world.containers()).length, 3);
      }),
    );

    more(
      "leaves its volumes to nobody else, also when no release of it is known any more",
      inSwarm(async (world) => {
        const files = {
          "compose.yaml": composeFile({ web: service({ volumes: ["data:/data"] }) }, {
            volumes: { data: {} },
          }),
        };
        await commit(world, files);
        await pollTo(world, "succeeded");
        const [web] = await services(world);
        const [, Labels] = /"VolumeOptions":\{"Labels":(\{[^}]*\})/.exec(JSON.stringify(web)) ?? [];
        // The engine of tests makes none for its tasks.
        const volume = { Name: `${world.stack}_data`, Labels: JSON.parse(Labels ?? "") };
        await world.engine.makeVolume(volume, never);
        await world.engine.swarm.removeService(web?.id ?? "", never);
        await world.restart({ DATA_DIR: `${world.dataDir}-new` });
        const other = await createRepository(`${world.dataDir}-other`);
        await other.commit({ ".stackwright.yaml": `name: ${world.stack}\n`, ...files });
        const refused = await pollTo(world, "failed", { url: other.url });
        assert.match(JSON.stringify(refused), /already has data of .*_data/);
        assert.deepEqual(await services(world), []);
      }),
    );

    more(
      "is not removed with what somebody else runs by its name, nor its data with theirs",
      inSwarm(async (world) => {
        const files = { "compose.yaml": composeFile({ web: service() }) };
        const remove = async (what: string) => {
          const init = { method: "DELETE" };
          const answer = await world.request(`/v1/api/${what}/${world.stack}?timeout=3000`, init);
          return `${answer.status} ${await answer.text()}`;
        };
        await commit(world, files, { swarm: { enabled: false } });
        await pollTo(world, "succeeded");
        const foreign = {
          Name: `${world.stack}_other`,
          Labels: { [NAMESPACE]: world.stack },
          TaskTemplate: { ContainerSpec: { Image: IMAGE, Command: ["sleep", "100000"] } },
          Mode: { Replicated: { Replicas: 0 } },
        };
        await world.engine.swarm.createService({ body: foreign, auth: "" }, never);
        assert.match(await remove("project"), /^409 .*_other has its name as services of a swarm/);
        assert.equal((await world.containers()).length, 1);
        assert.equal((await services(world)).length, 1);
        assert.match(await remove("stack"), /^200 /);
        assert.match(await remove("project"), /^200 /);

        await commit(world, files);
        await pollTo(world, "succeeded");
        const project = { "com.docker.compose.project": world.stack };
        const place = {
          "com.docker.compose.service": "old",
          "com.docker.compose.container-number": "1",
        };
        const labels = { ...project, ...place };
        const given = Object.entries(labels).flatMap((each) => ["--label", each.join("=")]);
        await docker(world, "create", "--name", `${world.stack}-old-1`, ...given, IMAGE);
        await world.engine.makeVolume({ Name: `${world.stack}_data`, Labels: project }, never);
        assert.match(await remove("stack"), /^409 .*-old-1 has its name as containers/);
        assert.equal((await services(world)).length, 1);
        assert.match(await remove("project"), /^200 /);
        assert.deepEqual(await world.containers(), []);
        assert.equal((await world.engine.findVolumes([`${world.stack}_data`], never)).length, 1);
        assert.match(await remove("stack"), /^200 /);
        await world.engine.removeVolume(`${world.stack}_data`, never);
      }),
    );

    more(
      "is the containers it was when it does not work as a stack",
      inSwarm(async (world) => {
        const files = (word: string) => ({
          "compose.yaml": composeFile({
            web: service({ command: ["sh", "-c", word] }),
            worker: service(),
          }),
        });
        await commit(world, files("sleep 100000"), { swarm: { enabled: false } });
        await pollTo(world, "succeeded");
        await commit(world, files("exit 3"));
        const [target] = (await pollTo(world, "failed")).deployments ?? [];
        assert.match(target?.message ?? "", /non-zero exit \(3\)/);
        assert.match(target?.message ?? "", /put back: restored web, worker/);
        assert.deepEqual(await services(world), []);
        const states = (await world.containers()).map((each) => [each.service, each.state]);
        assert.deepEqual(states, [["web", "running"], ["worker", "running"]]);
      }),
    );

    more(
      "does not change between the two where something is another's, or has data without a name",
      inSwarm(async (world) => {
        const files = (volumes: readonly string[]) => ({
          "compose.yaml": composeFile({ web: service({ volumes }) }),
        });
        const foreign = {
          Name: `${world.stack}_other`,
          Labels: { [NAMESPACE]: world.stack },
          TaskTemplate: { ContainerSpec: { Image: IMAGE, Command: ["sleep", "100000"] } },
          Mode: { Replicated: { Replicas: 0 } },
        };
        const makeForeign = () =>
          world.engine.swarm.createService({ body: foreign, auth: "" }, never);
        const id = await makeForeign();
        await commit(world, files(["/data"]), { swarm: { enabled: false } });
        const unknown = await pollTo(world, "failed");
        assert.match(
          JSON.stringify(unknown),
          /_other of that name runs, and no release of it is known/,
        );
        await world.engine.swarm.removeService(id, never);
        await pollTo(world, "succeeded");
        const before = await world.containers();
        await commit(world, files(["/data"]));
        const unnamed = await pollTo(world, "failed");
        assert.match(JSON.stringify(unnamed), /web has data at \/data in a volume without a name/);
        await makeForeign();
        const refused = await pollTo(world, "failed");
        assert.match(JSON.stringify(refused), /_other belongs to nobody Stackwright knows/);
        assert.deepEqual(await world.containers(), before);
      }),
    );

    it(
      "gets no task that would follow a link of a container's where a template leads",
      inSwarm(async (world) => {
        const volumes = ["./data/{{.Service.Name}}:/sub"];
        const labels = {
          "stackwright.job.enabled": "true",
          "stackwright.job.schedule": "@yearly",
        };
        const job = (mode: string): Part => ({
          image: IMAGE,
          command: ["true"],
          labels: { ...labels, "stackwright.job.execution_mode": mode },
          volumes,
        });
        await commit(world, {
          "compose.yaml": composeFile({
            writer: service({ volumes: ["./data:/data"] }),
            web: service({ volumes }),
            once: job("one_off"),
            again: job("restart"),
          }),
          [`data/${world.stack}_web/.keep`]: "",
        });
        await pollTo(world, "succeeded");
        const live = join(world.dataDir, "releases/default", world.stack, "live");
        const sub = join(live, `data/${world.stack}_web`);
        await rm(sub, { recursive: true });
        await symlink(world.dataDir, sub);
        const before = (await services(world)).map(({ version }) => version);
        for (
          const path of [
            `stack/${world.stack}/scale?replicas=2&service=web`,
            `stack/${world.stack}/restart?service=web`,
            `job/${world.stack}_once/run`,
            `job/${world.stack}_again/run`,
          ]
        ) {
          const answer = await world.request(`/v1/api/${path}`, { method: "POST" });
          assert.match(`${answer.status} ${await answer.text()}`, /^500 .*leads out of/, path);
        }
        assert.deepEqual((await services(world)).map(({ version }) => version), before);
      }),
    );

    more(
      "comes back to an earlier release by command",
      inSwarm(async (world) => {
        await commit(world, shop());
        await pollTo(world, "succeeded");
        await commit(world, shop({ greeting: "second" }));
        await pollTo(world, "succeeded");
        await commandTo(world, 0, ["rollback", world.stack]);
        const [web] = await services(world);
        assert.match(JSON.stringify(web?.spec), /_greeting_5891b5b5/);
        assert.equal((await ids(world, "web")).length, 2);
      }),
    );
  });
}

/** Waits for something that the engine does by itself. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; !await isSo(); looks++) {
    assert.ok(looks < 600, "it never came");
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Has what runs of the service `web` find that it is to end; an engine takes its time to start it. */
async function endTasks(world: World): Promise<void> {
  const ofWeb = `label=com.docker.swarm.service.name=${world.stack}_web`;
  const ids = await docker(world, "ps", "--quiet", "--filter", ofWeb);
  for (const id of ids.split("\n").filter((each) => each !== "")) {
    await docker(world, "exec", id, "touch", "/end").catch(() => {});
  }
}
