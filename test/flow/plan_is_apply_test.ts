import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { command, commandTo, type Ended, ledgerText } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { directoryText } from "./directory_text.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { firstState, JOB, step } from "./walk_model.ts";
import { WalkRepository } from "./walk_repository.ts";
import type { World } from "./world.ts";
import { fractionsFrom } from "../fakes/random.ts";

/** Below those that the kernel gives to connections; the fake engine only compares it. */
const PORT = 18080;

/** `WALK_SEED` and `PLAN_STEPS` make other and longer walks. */
const SEED = Number(process.env["WALK_SEED"] ?? "20261122");
const STEPS = Number(process.env["PLAN_STEPS"] ?? "10");

interface Services {
  readonly services?: readonly {
    readonly name: string;
    readonly action: string;
    readonly because: readonly string[];
  }[];
}

interface Planned {
  readonly name: string;
  readonly plan: Services & {
    readonly kind: string;
    readonly reason?: string;
    readonly message: string;
  };
}

interface Applied extends Services {
  readonly stack: string;
  readonly status: string;
  readonly reason?: string;
  readonly message: string;
}

/** What is done to the services of each stack and why, without what is kept. */
function done(stacks: readonly (readonly [string, Services])[]): Record<string, string[]> {
  const lines = ({ services = [] }: Services) =>
    services.filter((each) => each.action !== "keep").map((each) =>
      `${each.name}: ${each.action}: ${each.because.join("; ")}`
    ).sort();
  return Object.fromEntries(stacks.map(([name, each]) => [name, lines(each)]).sort());
}

/** Whether a plan shows what waits until a hold ends, of which `apply` does nothing. */
function isHeld({ kind, reason = "" }: Pick<Planned["plan"], "kind" | "reason">): boolean {
  return kind === "skip" && reason.startsWith("paused");
}

/**
 * Plans and then applies; requires that planning changed nothing, and that `apply` did to every service
 * what `plan` said, for the reasons it said.
 */
async function planThenApply(world: World) {
  const look = async () => [
    ledgerText(world),
    await directoryText(world.dataDir, /^state\.db-(wal|shm)$/),
    JSON.stringify(await world.containers()),
  ];
  const before = await look();
  world.proxy.reset();
  const commands = createFakeBuilder();
  const plan = await command(world, ["plan", "--json", world.repository.url], { commands });
  assert.deepEqual(await look(), before, "a plan changes nothing");
  assert.equal(world.proxy.mutations(), 0, "a plan changes nothing on the engine");
  const apply = await command(world, ["apply", "--json", world.repository.url], { commands });
  const planned = JSON.parse(plan.out) as { readonly stacks: readonly Planned[] };
  const applied = JSON.parse(apply.out) as { readonly stacks: readonly Applied[] };
  assert.deepEqual(
    done(applied.stacks.map((each) => [each.stack, each])),
    done(planned.stacks.map(({ name, plan }) => [name, isHeld(plan) ? {} : plan])),
    `${plan.out}\n${apply.out}`,
  );
  const changes = planned.stacks.some((each) => each.plan.kind !== "skip");
  const waiting = planned.stacks.some(({ plan: { services = [], ...plan } }) =>
    isHeld(plan) && services.some(({ action }) => action !== "keep")
  );
  assert.equal(plan.code, changes || waiting ? 2 : 0, plan.out);
  // Held back: by a person, a rollback, its configuration or a sync window.
  const waits = applied.stacks.some(({ reason = "" }) => /^(?:paused|sync_window)/.test(reason));
  assert.equal(apply.code, waits ? 2 : 0, apply.out);
  if (!changes) assert.ok(applied.stacks.every((each) => each.status === "skipped"), apply.out);
  return { plan, apply, planned: planned.stacks, applied: applied.stacks };
}

/** Has, at times, a release fail or a person hold the stack back; returns what was done. */
async function somebodyActs(world: World, names: readonly string[], random: () => number) {
  const chosen = random();
  if (chosen < 0.25) {
    for (const name of names) world.fake?.setBehaviour(name, { exit: 3, afterMs: 0 });
    await command(world, ["apply", world.repository.url], { commands: createFakeBuilder() });
    for (const name of names) world.fake?.setBehaviour(name, "run");
    world.fake?.setBehaviour(JOB, { exit: 0, afterMs: 0 });
    return "a release failed";
  }
  const commands: readonly string[] = ["rollback", "hold", "resume", "unpin"];
  const asked = commands[Math.floor((chosen - 0.25) / 0.15)];
  if (asked === undefined) return "";
  await command(world, [asked, world.stack]);
  return asked;
}

/** The only stack's plan. */
async function planOf(world: World): Promise<Planned["plan"]> {
  const { planned } = await planThenApply(world);
  const [only] = planned;
  assert.ok(only && planned.length === 1);
  return only.plan;
}

function shop(web: Part = {}): Record<string, string> {
  return {
    "compose.yaml": composeFile({ db: service(), web: service(web) }),
    "page.html": "page",
  };
}

const PAUSED = { pause: true };

/** Both commands fail with the same words, and nothing is touched. */
async function bothRefuse(world: World, words: RegExp): Promise<void> {
  const before = await ids(world);
  world.proxy.reset();
  const planned = await commandTo(world, 1, ["plan", world.repository.url]);
  const applied = await commandTo(world, 1, ["apply", world.repository.url]);
  const text = ({ out, err }: Ended) => `${out}${err}`;
  assert.match(text(planned), words);
  assert.match(text(applied), words);
  assert.equal(world.proxy.mutations(), 0);
  assert.deepEqual(await ids(world), before);
}

describe("stackwright plan says what stackwright apply does", () => {
  it("about a paused stack of which something is missing: it is repaired", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop());
      await pollTo(world, "succeeded");
      await commit(world, shop({ environment: { NEW: "1" } }), PAUSED);
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      const { kind, message } = await planOf(world);
      assert.deepEqual([kind, message], [
        "deploy",
        `deployment ${world.stack} is paused; release 1 is repaired: create web`,
      ]);
      assert.equal((await planOf(world)).kind, "skip");
    }));

  it("about a paused stack that uses what is not supported: nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop());
      await pollTo(world, "succeeded");
      await commit(world, {}, { ...PAUSED, swarm: { enabled: true } });
      const { kind, message } = await planOf(world);
      assert.equal(kind, "skip");
      assert.match(
        message,
        /^deployment \S+ is paused; waiting: what cannot be deployed as it is: .*swarm\.enabled is /,
      );
      await commit(world, {}, { swarm: { enabled: true } });
      await bothRefuse(world, /swarm\.enabled/);
    }));

  it("about a port and a name that others hold: it is refused", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop({ ports: [`127.0.0.1:${PORT}:80`], container_name: "taken" }));
      await world.repository.commit({
        "other.yaml": composeFile({
          first: service({ ports: [`127.0.0.1:${PORT}:80`], container_name: "taken" }),
        }),
        ".stackwright.yaml": `name: ${world.stack}-other\ncompose_files: [other.yaml]\n`,
      });
      await pollTo(world, "succeeded");
      await commit(world, {});
      await bothRefuse(world, new RegExp(`conflict|${PORT}`));
    }));

  it("about files on disk that are stale: they are brought up to date", () =>
    inWorld("fake", async (world) => {
      const volumes = ["./page.html:/page.html:ro"];
      await commit(world, shop({ volumes }));
      await pollTo(world, "succeeded");
      await commit(world, shop({ volumes, scale: 0 }));
      await pollTo(world, "succeeded");
      await commit(world, { "page.html": "another" });
      const { kind, message } = await planOf(world);
      assert.deepEqual([kind, message], [
        "deploy",
        "bring the files of its containers up to date",
      ]);
      assert.equal((await planOf(world)).kind, "skip");
    }));

  it("about a repair from a commit that its branch has forgotten: its tree is on disk", () =>
    inWorld("fake", async (world) => {
      const first = await commit(world, shop());
      await pollTo(world, "succeeded");
      // Another history: the deployed commit cannot be fetched any more.
      const { git } = world.repository;
      await git("checkout", "--quiet", "--orphan", "fresh");
      await git("branch", "--quiet", "-D", "main");
      await git("branch", "--quiet", "-m", "main");
      await commit(world, shop({ environment: { NEW: "1" } }), PAUSED);
      const bare = ["--git-dir", world.repository.path];
      await git(...bare, "reflog", "expire", "--expire=now", "--all");
      await git(...bare, "gc", "--quiet", "--prune=now");
      await assert.rejects(git(...bare, "cat-file", "-e", first));
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      assert.match((await planOf(world)).message, /; release 1 is repaired: create web$/);
    }));

  it("about a stack that is another's: neither removes it", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop());
      await pollTo(world, "succeeded");
      await docker(
        world,
        "create",
        "--name",
        `${world.stack}-stranger`,
        "--label",
        `com.docker.compose.project=${world.stack}`,
        "--label",
        "com.docker.compose.service=web",
        "--label",
        "com.docker.compose.container-number=2",
        "stackwright-test/busybox:1",
      );
      await commit(world, {}, { destroy: true });
      await bothRefuse(world, /is not destroyed: its container \S+-stranger belongs to/);
    }));

  it("in every state of a random walk, with drift, pauses, failures and rollbacks in between", () =>
    inWorld("fake", async (world) => {
      world.fake?.setBehaviour(JOB, { exit: 0, afterMs: 0 });
      const random = fractionsFrom(SEED);
      let state = firstState();
      const repository = new WalkRepository(world, PORT);
      for (let at = 0; at < STEPS; at++) {
        for (let edits = 0; edits < 3; edits++) state = step(state, random);
        const paused = at > 0 && random() < 0.25;
        await repository.commit(state, `step ${at}`, (files) => ({
          ...files,
          ".stackwright.yaml": `${files[".stackwright.yaml"]}${paused ? "pause: true\n" : ""}`,
        }));
        for (const { name } of await world.containers()) {
          if (random() < 0.2) world.fake?.removeContainer(name);
        }
        const did = at > 0 ? await somebodyActs(world, Object.keys(state.services), random) : "";
        try {
          await planThenApply(world);
        } catch (cause) {
          throw new Error(`seed ${SEED}, step ${at}: ${JSON.stringify({ paused, did, state })}`, {
            cause,
          });
        }
      }
    }));
});
