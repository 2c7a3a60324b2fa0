import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { ids, inWorld, label, pollTo } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

const CONFIG = ".stackwright.yaml";

/** A compose file of one service. */
const app = (text = "x") => composeFile({ web: service({ labels: { "test.v": text } }) });

/** Directories called after the world's stack, so that their names are unique on the engine. */
const directory = (world: World, name: string) => `apps/${world.stack}-${name}`;

/** Files of one stack each, below `apps`. */
function stacks(world: World, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [`${directory(world, name)}/compose.yaml`, app()]),
  );
}

/** Commits files with a configuration that discovers `apps`. */
async function commit(
  world: World,
  files: Readonly<Record<string, string>>,
  discovery: Part = { enabled: true, delete: true },
  more: Part = {},
): Promise<string> {
  return await world.repository.commit({
    [CONFIG]: configFile({ working_dir: "apps", auto_discovery: discovery, ...more }),
    ...files,
  });
}

/** What became of each stack of a run, by the part of its name after the world's. */
function outcome(world: World, run: RunBody): Record<string, string> {
  const entries =
    run.deployments?.map((each) =>
      [each.stack.replace(`${world.stack}-`, ""), each.status] as const
    ) ?? [];
  return Object.fromEntries([...entries].sort(([a], [b]) => a < b ? -1 : 1));
}

async function running(world: World, ...names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    if ((await world.containers(`${world.stack}-${name}`)).length > 0) found.push(name);
  }
  return found;
}

/** What the metrics say about the deployments of a stack. */
async function deployments(world: World, stack: string) {
  const text = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
  const count = (name: string) => {
    const line = text.split("\n").find((each) =>
      each.startsWith(`service_${name}{`) && each.includes(`deployment="${stack}"`)
    );
    return Number(line?.split(" ").at(-1));
  };
  return { total: count("deployments_total"), errors: count("deployment_errors_total") };
}

/** A discovery that is switched off, and would remove everything. */
const OFF = { enabled: false, delete: true, remove_volumes: true };

// What is found in a repository, and what vanished, no engine decides.
describe("auto-discovery", () => {
  const engine = "fake";
  it("deploys every directory with a compose file, does nothing again, and removes what vanished", () =>
    inWorld(engine, async (world) => {
      await commit(world, { ...stacks(world, "a", "b"), "apps/misc/readme": "no stack" });
      assert.deepEqual(outcome(world, await pollTo(world, "succeeded")), {
        a: "succeeded",
        b: "succeeded",
      });
      assert.equal(
        await label(world, "web", "stackwright.auto_discovery", `${world.stack}-a`),
        "true",
      );
      world.proxy.reset();
      await pollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);

      const before = await ids(world, `${world.stack}-b`);
      await world.repository.remove([directory(world, "a")]);
      const run = await pollTo(world, "succeeded");
      assert.deepEqual(outcome(world, run), { a: "succeeded", b: "skipped" });
      assert.match(JSON.stringify(run), /nothing names it any more: it was discovered in apps/);
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
      assert.deepEqual(await ids(world, `${world.stack}-b`), before);
    }));
});

describe("auto-discovery", () => {
  it("an override wins key by key, protected keys are ignored and the log says so", () =>
    inWorld("fake", async (world) => {
      const file = composeFile({ web: service({ labels: { "test.v": "$A $B" } }) });
      const place = directory(world, "a");
      await commit(
        world,
        {
          [`${place}/compose.yaml`]: file,
          [`${place}/${CONFIG}`]: "environment: {B: two}\nreference: nowhere\n",
        },
        { enabled: true },
        { environment: { A: "one", B: "one" } },
      );
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v", `${world.stack}-a`), "one two");
      const warned = world.lines.filter((line) => /ignored: a discovered stack/.test(line.message));
      assert.equal(warned.length, 1);
    }));

  it("a changed policy replaces no container, and counts at the next removal", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"), { enabled: true });
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await pollTo(world, "skipped");
      assert.deepEqual(await running(world, "a", "b"), ["a", "b"]);
      world.proxy.reset();
      await commit(world, stacks(world, "a"), { enabled: true, delete: true });
      await pollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);
      await world.repository.remove([directory(world, "a")]);
      await pollTo(world, "succeeded");
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
    }));

  it("one that another process is changing is removed when that is done", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"));
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await withOther(world, async (other) => {
        const intent = beginRollback({ ...world, stack: `${world.stack}-a` }, other, 1, false);
        const run = pollTo(world, "succeeded");
        // One that does not wait is over by then.
        await Promise.race([pause(500), run]);
        other.fail(intent, "failed", "given up");
        await run;
      });
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
    }));

  it("one that comes back while its removal waits stays, and the run goes on with the newer commit", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"));
      await pollTo(world, "succeeded");
      const before = await ids(world, `${world.stack}-a`);
      await world.repository.remove([directory(world, "a")]);
      await withOther(world, async (other) => {
        const intent = beginRollback({ ...world, stack: `${world.stack}-a` }, other, 1, false);
        const run = world.poll();
        await pause(500);
        const changed = composeFile({ web: service({ labels: { number: "2" } }) });
        const place = `${directory(world, "b")}/compose.yaml`;
        await commit(world, { ...stacks(world, "a"), [place]: changed });
        other.fail(intent, "failed", "given up");
        const ended = await run;
        // No other run is to come.
        assert.equal(await label(world, "web", "number", `${world.stack}-b`), "2");
        const left = ended.run.deployments?.find(({ stack }) => stack === `${world.stack}-a`);
        assert.deepEqual([left?.status, left?.reason], ["skipped", "no_changes"]);
        // Nothing was tried, and nothing has succeeded.
        const { out } = await commandTo(world, 0, ["explain", `${world.stack}-a`]);
        assert.match(out, /skip \(superseded\): refs.* came meanwhile, by which it is decided/);
        assert.match(out, /: destroy: [\s\S]*?outcome: skipped: refs.* came meanwhile/);
      });
      assert.deepEqual(await ids(world, `${world.stack}-a`), before);
    }));

  it("volumes stay unless remove_volumes is set", () =>
    inWorld("fake", async (world) => {
      const file = composeFile({ web: service({ volumes: ["data:/data"] }) }, {
        volumes: { data: {} },
      });
      const files = Object.fromEntries(
        ["a", "b"].map((name) => [`${directory(world, name)}/compose.yaml`, file]),
      );
      await commit(world, { ...files, ...stacks(world, "c") });
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await pollTo(world, "succeeded");
      await commit(world, {}, { enabled: true, delete: true, remove_volumes: true });
      await world.repository.remove([directory(world, "b")]);
      await pollTo(world, "succeeded");
      const never = new AbortController().signal;
      const volumes = await world.engine.listVolumes({}, never);
      assert.deepEqual(volumes.map((each) => each.name), [`${world.stack}-a_data`]);
      assert.deepEqual(await running(world, "a", "b"), []);
    }));

  it("a renamed one goes on with the volume that has a name of its own", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true, remove_volumes: true };
      const never = new AbortController().signal;
      const volumes = { data: { name: `${world.stack}-data` } };
      const file = composeFile({ web: service({ volumes: ["data:/data"] }) }, { volumes });
      await commit(world, { [`${directory(world, "a")}/compose.yaml`]: file }, policy);
      await pollTo(world, "succeeded");
      const [before] = await world.engine.findVolumes([volumes.data.name], never);
      await world.repository.remove([directory(world, "a")]);
      await commit(world, { [`${directory(world, "b")}/compose.yaml`]: file }, policy);
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      const why =
        `its volumes and the data in its relative mounts: ${world.stack}-b is named and not`;
      assert.ok(out.includes(`; keeps ${why}`), out);
      const run = JSON.stringify(await pollTo(world, "succeeded"));
      const named = new RegExp(`; kept ${why} [^;]*; [^;]* uses; kept volume ${volumes.data.name}`);
      assert.match(run, named);
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
      assert.deepEqual(await world.engine.findVolumes([volumes.data.name], never), [before]);
    }));

  it("a merged one's volume goes with the stack that goes on with it, and only what nothing uses is deleted", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true, remove_volumes: true };
      const never = new AbortController().signal;
      const named = (...names: string[]) =>
        Object.fromEntries(names.map((each) => [each, { name: `${world.stack}-${each}` }]));
      const withVolumes = (...names: string[]) =>
        composeFile(
          { web: service({ volumes: names.map((each) => `${each}:/${each}`) }) },
          { volumes: named(...names) },
        );
      const names = ["shared", "alone"].map((each) => `${world.stack}-${each}`);
      const found = async () =>
        (await world.engine.findVolumes(names, never)).map(({ name }) => name);
      const first = {
        [`${directory(world, "a")}/compose.yaml`]: withVolumes("shared", "alone"),
        [`${directory(world, "b")}/compose.yaml`]: withVolumes(),
      };
      await commit(world, first, policy);
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await commit(world, {
        [`${directory(world, "b")}/compose.yaml`]: withVolumes("shared"),
      }, policy);
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /its data goes last, where no other stack goes on with it/);
      assert.ok(out.includes(`; keeps volume ${world.stack}-shared: stack ${world.stack}-b`), out);
      const run = JSON.stringify(await pollTo(world, "succeeded"));
      assert.ok(run.includes(`; deleted volume ${world.stack}-alone`), run);
      assert.ok(run.includes(`; kept volume ${world.stack}-shared: stack ${world.stack}-b`), run);
      assert.deepEqual(await found(), [`${world.stack}-shared`]);
    }));

  it("a renamed one's plan shows that its port goes on with it", () =>
    inWorld("fake", async (world) => {
      const file = composeFile({ web: service({ ports: ["127.0.0.1:18391:80"] }) });
      await commit(world, { [`${directory(world, "a")}/compose.yaml`]: file });
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await commit(world, { [`${directory(world, "b")}/compose.yaml`]: file });
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /deploy: create web/);
      await pollTo(world, "succeeded");
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
    }));

  it("a renamed one's data stays also where the removal comes in a later run, as of a mass of them or after a hold", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true, remove_volumes: true };
      const volumes = { data: {} };
      const file = composeFile({ web: service({ volumes: ["data:/data"] }) }, { volumes });
      const of = (...names: string[]) =>
        Object.fromEntries(names.map((each) => [`${directory(world, each)}/compose.yaml`, file]));
      await commit(world, of("a", "b"), policy);
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["hold", `${world.stack}-a`]);
      await world.repository.remove([directory(world, "a")]);
      await commit(world, of("c"), policy);
      await world.poll();
      assert.deepEqual(await running(world, "a", "b", "c"), ["a", "b", "c"]);
      await commandTo(world, 0, ["resume", `${world.stack}-a`]);
      const run = JSON.stringify(await pollTo(world, "succeeded"));
      assert.ok(run.includes(`kept its volumes and the data in its relative mounts`), run);
      assert.deepEqual(await running(world, "a", "b", "c"), ["b", "c"]);
      const kept = await world.engine.findVolumes(
        [`${world.stack}-a_data`],
        new AbortController().signal,
      );
      assert.equal(kept.length, 1);
    }));

  it("what the end of a hold removes is said by plan and status before, and by resume", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true, remove_volumes: true };
      const volumes = { data: {} };
      const file = composeFile({ web: service({ volumes: ["data:/data"] }) }, { volumes });
      const of = (name: string) => ({ [`${directory(world, name)}/compose.yaml`]: file });
      await commit(world, { ...of("a"), ...of("b") }, policy);
      await pollTo(world, "succeeded");
      const name = `${world.stack}-a`;
      await commandTo(world, 0, ["hold", name, "--reason", "merge, wait"]);
      await world.repository.remove([directory(world, "a")]);
      const waits = "held by a person since .* until stackwright resume \\S+: merge, wait; " +
        "waiting: removal, which deletes its volumes and what it wrote to relative mounts";
      const { out: plan } = await commandTo(world, 0, ["plan", world.repository.url]);
      assert.match(plan, new RegExp(`nothing names it any more, and it is kept .*${waits}`));
      await world.poll();
      const { out } = await commandTo(world, 0, ["status", name]);
      assert.match(
        out.replaceAll(/\s+/g, " "),
        new RegExp(`nothing names it any more, .*${waits}`),
      );
      const { out: resumed } = await commandTo(world, 0, ["resume", name]);
      assert.match(resumed, new RegExp(`follows its source again; .*${waits}`));
      await pollTo(world, "succeeded");
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
    }));

  it("the data of one with destroy: true waits, too, for another one that goes on with it", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true };
      const volumes = { data: { name: `${world.stack}-data` }, own: {} };
      const web = service({ volumes: ["data:/data", "own:/own"] });
      const first = {
        [`${directory(world, "a")}/compose.yaml`]: composeFile({ web }, { volumes }),
        [`${directory(world, "b")}/compose.yaml`]: app(),
      };
      await commit(world, first, policy);
      await pollTo(world, "succeeded");
      const external = { data: { ...volumes.data, external: true } };
      const next = composeFile({ web: service({ volumes: ["data:/data"] }) }, {
        volumes: external,
      });
      await commit(world, {
        [`${directory(world, "a")}/${CONFIG}`]: "destroy: true\n",
        [`${directory(world, "b")}/compose.yaml`]: next,
      }, policy);
      const kept = `kept volume ${volumes.data.name}: stack ${world.stack}-b calls it external`;
      const plan = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.ok(plan.out.includes(kept.replace("kept", "keeps")), plan.out);
      const run = JSON.stringify(await pollTo(world, "succeeded"));
      assert.ok(run.includes(`destroyed; deleted volume ${world.stack}-a_own; ${kept}`), run);
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
    }));

  it("the data of one with destroy: true that has to wait for another one is deleted once it is deployed", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true };
      const file = composeFile({ web: service({ volumes: ["own:/own"] }) }, {
        volumes: { own: {} },
      });
      const first = {
        [`${directory(world, "a")}/compose.yaml`]: file,
        [`${directory(world, "b")}/compose.yaml`]: app(),
      };
      await commit(world, first, policy);
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["hold", `${world.stack}-b`]);
      await commit(world, {
        [`${directory(world, "a")}/${CONFIG}`]: "destroy: true\n",
        [`${directory(world, "b")}/compose.yaml`]: app("2"),
      }, policy);
      const run = JSON.stringify(await pollTo(world, "failed"));
      const waits =
        "kept its data and images for now: not deployed as this commit has it, and may go " +
        `on with them: ${world.stack}-b`;
      assert.ok(run.includes(waits), run);
      const volume = `${world.stack}-a_own`;
      const isThere = async () =>
        (await world.engine.findVolumes([volume], new AbortController().signal)).length > 0;
      assert.ok(await isThere());
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
      const { out } = await commandTo(world, 0, ["status", `${world.stack}-a`]);
      assert.match(out.replaceAll(/\s+/g, " "), /failed .*its data and images for now/);
      await commandTo(world, 0, ["resume", `${world.stack}-b`]);
      await commandTo(world, 0, ["apply", world.repository.url]);
      assert.ok(!await isThere());
      const { out: plan } = await commandTo(world, 0, ["plan", world.repository.url]);
      assert.match(plan, /there is nothing to destroy/);
    }));

  it("the data of one with destroy: true stays while not all of its configuration can be read", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true };
      const file = composeFile({ web: service({ volumes: ["own:/own"] }) }, {
        volumes: { own: {} },
      });
      const [a, b] = [directory(world, "a"), directory(world, "b")];
      await commit(world, { [`${a}/compose.yaml`]: file, [`${b}/compose.yaml`]: app() }, policy);
      await pollTo(world, "succeeded");
      const broken = { [`${a}/${CONFIG}`]: "destroy: true\n", [`${b}/${CONFIG}`]: "timeout: [\n" };
      await commit(world, broken, policy);
      const run = JSON.stringify(await pollTo(world, "failed"));
      assert.ok(run.includes("not all that its configuration names could be read"), run);
      const volume = `${world.stack}-a_own`;
      const isThere = async () =>
        (await world.engine.findVolumes([volume], new AbortController().signal)).length > 0;
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
      assert.ok(await isThere());
      await commit(world, { [`${b}/${CONFIG}`]: "timeout: 5m\n" }, policy);
      await commandTo(world, 0, ["apply", world.repository.url]);
      assert.ok(!await isThere());
    }));

  it("the data of a removed one stays where another one is not deployed as the commit has it", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true, remove_volumes: true };
      const volumes = { data: { name: `${world.stack}-data` } };
      const file = composeFile({ web: service({ volumes: ["data:/data"] }) }, { volumes });
      const first = {
        [`${directory(world, "a")}/compose.yaml`]: file,
        [`${directory(world, "b")}/compose.yaml`]: app(),
      };
      await commit(world, first, policy);
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["hold", `${world.stack}-b`]);
      await world.repository.remove([directory(world, "a")]);
      await commit(world, { [`${directory(world, "b")}/compose.yaml`]: file }, policy);
      const { run } = await world.poll();
      const why = `${world.stack}-b is named and not deployed as this commit has it`;
      assert.ok(JSON.stringify(run).includes(why), JSON.stringify(run));
      const [there] = await world.engine.findVolumes(
        [volumes.data.name],
        new AbortController().signal,
      );
      assert.notEqual(there, undefined);
      assert.deepEqual(await running(world, "a", "b"), ["b"]);
    }));

  for (
    const [what, end] of [
      ["ended", (world: World) => ({ name: `${world.stack}-root`, auto_discovery: OFF })],
      [
        "led elsewhere",
        () => ({ working_dir: "other", auto_discovery: { ...OFF, enabled: true } }),
      ],
    ] as const
  ) {
    it(`a discovery that is ${what} removes nothing, and its stacks go on as orphaned`, () =>
      inWorld("fake", async (world) => {
        await commit(world, stacks(world, "a"), { ...OFF, enabled: true });
        await pollTo(world, "succeeded");
        const before = await ids(world, `${world.stack}-a`);
        await world.repository.commit({ [CONFIG]: configFile(end(world)), "other/readme": "" });
        await world.poll();
        assert.deepEqual(await ids(world, `${world.stack}-a`), before);
        const { out } = await commandTo(world, 0, ["status"]);
        const why = `orphaned +${world.stack}-a .*no auto_discovery looks into ${
          directory(world, "a")
        }`;
        assert.match(out, new RegExp(why));
      }));
  }

  it("an invalid override fails its own stack, deploys the others and removes nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b", "c"));
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "c")]);
      await commit(world, {
        [`${directory(world, "a")}/${CONFIG}`]: "timeoot: 3m\n",
        [`${directory(world, "b")}/compose.yaml`]: app("new"),
      });
      const run = await pollTo(world, "failed");
      assert.deepEqual(outcome(world, run), { a: "failed", b: "succeeded" });
      assert.match(JSON.stringify(run), /\.stackwright\.yaml:1:1: timeoot: unknown key/);
      assert.deepEqual(await running(world, "a", "b", "c"), ["a", "b", "c"]);

      await world.repository.remove([`${directory(world, "a")}/${CONFIG}`]);
      await pollTo(world, "succeeded");
      assert.deepEqual(await running(world, "a", "b", "c"), ["a", "b"]);
    }));

  it("a directory that cannot be a project name fails alone", () =>
    inWorld("fake", async (world) => {
      await commit(world, { ...stacks(world, "a"), "apps/My_App/compose.yaml": app() });
      const run = await pollTo(world, "failed");
      assert.deepEqual(outcome(world, run), { My_App: "failed", a: "succeeded" });
      assert.match(JSON.stringify(run), /write \\"my_app\\"/);
    }));

  it("two directories with one name fail alone, and neither is deployed", () =>
    inWorld("fake", async (world) => {
      const name = `${world.stack}-a`;
      await commit(world, {
        [`apps/x/${name}/compose.yaml`]: app(),
        [`apps/y/${name}/compose.yaml`]: app(),
        ...stacks(world, "b"),
      });
      const run = await pollTo(world, "failed");
      assert.deepEqual(outcome(world, run), { a: "failed", b: "succeeded" });
      assert.match(JSON.stringify(run), /configured 2 times \(in apps\/x\/.*apps\/y\//);
    }));

  it("a working_dir that moved away removes nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a"));
      await pollTo(world, "succeeded");
      await world.repository.remove(["apps"]);
      const run = await pollTo(world, "failed");
      assert.match(JSON.stringify(run), /working_dir apps does not exist/);
      assert.deepEqual(await running(world, "a"), ["a"]);
    }));

  it("a stack that a document names now is no longer discovered, and not removed", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"));
      await pollTo(world, "succeeded");
      const before = await ids(world, `${world.stack}-a`);
      await world.repository.commit({
        [CONFIG]: configFile(
          { name: `${world.stack}-a`, working_dir: "own" },
          { working_dir: "apps", auto_discovery: { enabled: true, delete: true } },
        ),
        "own/compose.yaml": app(),
      });
      await world.repository.remove([directory(world, "a")]);
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world, `${world.stack}-a`), before);
      // Its directory is gone for good, and the discovery has no say in it any more.
      await commit(world, {});
      await pollTo(world, "skipped");
      assert.deepEqual(await running(world, "a", "b"), ["a", "b"]);
    }));

  it("a paused discovery removes nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"));
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await commit(world, {}, { enabled: true, delete: true }, { pause: true });
      await pollTo(world, "skipped");
      assert.deepEqual(await running(world, "a", "b"), ["a", "b"]);
    }));

  it("another reference of the same repository does not make its stacks obsolete", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"));
      await world.repository.branch("old");
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      await world.repository.branch("dev");
      await pollTo(world, "skipped", { reference: "dev" });
      assert.deepEqual(await running(world, "a", "b"), ["a", "b"]);
    }));

  it("many removals at once wait for a person", () =>
    inWorld("fake", async (world) => {
      const many = ["a", "b", "c", "d", "e", "f"];
      await commit(world, stacks(world, ...many, "z"));
      await pollTo(world, "succeeded");
      await world.repository.remove(many.map((name) => directory(world, name)));
      await pollTo(world, "succeeded");
      assert.deepEqual(await running(world, ...many, "z"), ["z"]);
    }));

  it("many removals at once wait for the same result of another run, also through a restart", () =>
    inWorld("fake", async (world) => {
      const many = ["a", "b", "c", "d", "e", "f"];
      await commit(world, stacks(world, ...many, "z"));
      await pollTo(world, "succeeded");
      await world.repository.remove(many.map((name) => directory(world, name)));
      // A poll at the start, and none after it: the process ends in between.
      const POLL_CONFIG = `[{url: "${world.repository.url}", reference: main, run_once: true}]`;
      await world.restart({ POLL_CONFIG });
      await world.app.polled;
      await world.app.close();
      assert.deepEqual(await running(world, ...many), many);
      const held = world.lines.find((line) => /6 of 7 discovered stacks/.test(line.message));
      assert.match(held?.message ?? "", /manual trigger, or the same result in the next run/);
      await world.restart({ POLL_CONFIG });
      await world.app.polled;
      await world.app.close();
      assert.deepEqual(await running(world, ...many, "z"), ["z"]);
    }));

  it("a removal that fails is in explain and in the metrics, and so is the one that works", () =>
    inWorld("fake", async (world) => {
      await commit(world, stacks(world, "a", "b"));
      await pollTo(world, "succeeded");
      await world.repository.remove([directory(world, "a")]);
      world.proxy.reset({ kind: "error", at: 1, among: "mutating", lasts: true });
      await pollTo(world, "failed");
      world.proxy.reset();
      const name = `${world.stack}-a`;
      const { out } = await commandTo(world, 0, ["explain", "--json", name]);
      const { decisions: [error, removal] } = JSON.parse(out);
      assert.equal(error.kind, "error");
      assert.equal(removal.kind, "destroy");
      assert.match(removal.message, /^nothing names it any more/);
      assert.equal(removal.outcome.status, "failed");
      assert.equal(removal.outcome.message, error.message);
      assert.deepEqual(await deployments(world, name), { total: 2, errors: 1 });
      await pollTo(world, "succeeded");
      assert.deepEqual(await deployments(world, name), { total: 3, errors: 1 });
    }));

  it("an older commit of the reference removes nothing", () =>
    inWorld("fake", async (world) => {
      const first = await commit(world, stacks(world, "a"));
      await commit(world, stacks(world, "b"));
      await pollTo(world, "succeeded");
      await world.repository.reset(first);
      await pollTo(world, "skipped");
      assert.deepEqual(await running(world, "a", "b"), ["a", "b"]);
    }));
});
