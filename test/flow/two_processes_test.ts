import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Commands, systemCommands } from "../../src/system/mod.ts";
import { BUN_PROGRAM, DENO_PROGRAM, ServiceProcess } from "../e2e/service_process.ts";
import { automaticPollTo, commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { beginRollback, KEY, withOther } from "./other_process.ts";
import { commit, docker, ids, inWorld, label, pollTo } from "./steps.ts";
import { createWorld, type RunBody, type World } from "./world.ts";

/** Starts a program where process ids are others, as in a container. */
const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] as const;
const CANNOT = spawnSync(UNSHARE[0], [...UNSHARE.slice(1), "true"]).status !== 0 &&
  "no namespaces can be made here";

function shop(number: string, more: Part = {}): Record<string, string> {
  const web = service({ labels: { number }, ...more });
  return { "compose.yaml": composeFile({ db: service(), web }) };
}

/** Waits until a target of `run` says that it waits for another process, or until the run is over. */
async function untilItWaits(world: World, run: Promise<RunBody>): Promise<void> {
  let isOver = false;
  const over = () => void (isOver = true);
  run.then(over, over);
  while (!isOver) {
    const answer = await world.request("/v1/api/runs");
    const { content } = await answer.json() as { content: RunBody[] };
    const said = content.flatMap((run) => run.deployments ?? []).map((each) => each.message ?? "");
    if (said.some((text) => /^waiting for process \d+@[^ ]+, which is changing /.test(text))) {
      return;
    }
    await pause(10);
  }
}

describe("a command beside the service", () => {
  it("a poll during a rollback waits for its end, and is no failed run", () =>
    inWorld("fake", async (world) => {
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      const before = await ids(world);
      await withOther(world, async (other) => {
        const intent = beginRollback(world, other, 1);
        await commit(world, { "README.md": "nothing that the stack reads" });
        const poll = pollTo(world, "skipped");
        await untilItWaits(world, poll);
        other.fail(intent, "rolled_back", "it did not become healthy");
        const { deployments } = await poll;
        assert.equal(deployments?.[0]?.reason, "no_changes");
      });
      assert.deepEqual(await ids(world), before);
    }));

  it("a poll that waited for a person's attempt does not repeat it when that failed", () =>
    inWorld("fake", async (world) => {
      const retry = { delay: 1 };
      await commit(world, shop("1"), { retry });
      await pollTo(world, "succeeded");
      const image = `${world.stack}-bad:1`;
      world.fake?.addImage(image, { where: "both", onStart: { exit: 3 } });
      await commit(world, shop("2", { image }), { retry });
      await automaticPollTo(world, "failed");
      world.advance(2000);
      const before = await ids(world);
      await withOther(world, async (other) => {
        const intent = beginRollback(world, other, 1);
        const entry = { url: world.repository.url, reference: "main", run_once: true };
        await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
        const newest = async () => {
          await world.app.polled;
          const { content } = await (await world.request("/v1/api/runs")).json();
          return content[0] as RunBody;
        };
        const poll = newest();
        await untilItWaits(world, poll);
        const [row = {}] = rows(world, "SELECT release, source FROM failures");
        const [release, source] = [String(row["release"]), String(row["source"])];
        const failure = { release, source, message: "no", at: world.clock.now() };
        other.failures.fail(KEY(world), { ...failure, automatic: false });
        other.fail(intent, "rolled_back", "it did not become healthy");
        const run = await poll;
        assert.equal(run.deployments?.[0]?.reason, "delay", JSON.stringify(run));
      });
      assert.deepEqual(await ids(world), before);
      await automaticPollTo(world, "failed");
    }));

  it("status tells a change under way from one whose process was killed", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const status = async () => (await commandTo(world, 0, ["status", world.stack])).out;
      await withOther(world, async (other) => {
        beginRollback(world, other, 1);
        assert.match(await status(), /^deploying .* a change is under way$/m);
      });
      assert.match(await status(), /^failed .* a deployment was interrupted: its process ended /m);
    }));

  it("what a killed command had begun is finished by the service's next poll, not written over what ran", () =>
    inWorld("fake", async (world) => {
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      await withOther(world, (other) => {
        beginRollback(world, other, 1, false);
        return Promise.resolve();
      });
      await pollTo(world, "succeeded");
      assert.deepEqual(rows(world, "SELECT number FROM releases WHERE status = 'applying'"), []);
      const told = (await commandTo(world, 0, ["history", world.stack])).out;
      assert.match(told, /3 .* deployed/);
    }));

  it("a rollback waits for a stack that is being changed", () =>
    inWorld("fake", async (world) => {
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      await withOther(world, async (other) => {
        const intent = beginRollback(world, other, 2);
        const waits = Promise.withResolvers<void>();
        const clock = {
          now: world.clock.now,
          uptime: world.clock.uptime,
          sleep(milliseconds: number, signal: AbortSignal) {
            waits.resolve();
            return world.clock.sleep(milliseconds, signal);
          },
        };
        const rollback = commandTo({ ...world, clock }, 0, ["rollback", world.stack]);
        // One that fails at once never sleeps.
        await Promise.race([waits.promise, rollback]);
        other.fail(intent, "failed", "given up");
        assert.match((await rollback).out, /is back at release 1 /);
      });
      assert.equal(await label(world, "web", "number"), "1");
    }));

  it("what was decided before a rollback is decided again after it", () =>
    inPullingWorld(async (world, onPull) => {
      const image = "registry.test/app:3";
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      world.fake?.addImage(image, { where: "registry" });
      const revision = await commit(world, shop("3", { image }));
      // While the service prepares the third release, a person puts the first one back.
      onPull(() =>
        withOther(world, (other) => {
          const intent = beginRollback(world, other, 1);
          const pinnedAt = new Date();
          other.pins.set(KEY(world), { releaseId: intent.releaseId ?? "", revision, pinnedAt });
          other.succeed(intent, {}, "release 1 again");
          return Promise.resolve();
        })
      );
      const { deployments } = await pollTo(world, "skipped");
      assert.match(deployments?.[0]?.reason ?? "", /^paused: rolled back to release/);
      assert.equal(await label(world, "web", "number"), "1");
    }));

  it("a stack that is handed over while its release is prepared stays handed over", () =>
    inPullingWorld(async (world, onPull) => {
      const image = "registry.test/app:2";
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const before = await ids(world);
      world.fake?.addImage(image, { where: "registry" });
      await commit(world, shop("2", { image }));
      const source = "git.example.com/them/shop";
      onPull(() => commandTo(world, 0, ["adopt", world.stack, "--source", source]).then(() => {}));
      const { deployments } = await pollTo(world, "failed");
      assert.match(
        deployments?.[0]?.message ?? "",
        /(?:already belongs|was handed over) to git.example.com\/them\/shop/,
      );
      assert.deepEqual(await ids(world), before);
    }));

  it("another attempt that is decided twice counts once", () =>
    inPullingWorld(async (world, onPull) => {
      const image = "registry.test/bad:1";
      await commit(world, shop("1"), { retry: { delay: 1 } });
      await pollTo(world, "succeeded");
      world.fake?.addImage(image, { where: "registry", onStart: { exit: 3 } });
      await commit(world, shop("2", { image }), { retry: { delay: 1 } });
      await automaticPollTo(world, "failed");
      await docker(world, "rmi", image);
      onPull(() =>
        withOther(world, (other) => {
          other.fail(beginRollback(world, other, 1), "failed", "given up");
          return Promise.resolve();
        })
      );
      world.advance(2000);
      await automaticPollTo(world, "failed");
      assert.ok(world.lines.some(({ message }) => /deciding again/.test(message)));
      const counts = rows(world, "SELECT failures, automatic_attempts AS attempts FROM failures");
      assert.deepEqual(counts.map(({ failures, attempts }) => [failures, attempts]), [[2, 1]]);
    }));
});

describe("a command in another PID namespace", () => {
  for (const program of [DENO_PROGRAM, BUN_PROGRAM]) {
    it(
      `has the service wait for its deployment: ${program.title}`,
      { skip: CANNOT },
      () =>
        inWorld("fake", async (world) => {
          const healthcheck = { test: ["CMD", "true"] };
          world.fake?.addImage("slow:1", { where: "engine", onStart: { health: "starting" } });
          await commit(world, shop("1", { image: "slow:1", healthcheck }));
          const argv = [...UNSHARE, ...program.argv] as const;
          const args = ["apply", "--ref", "main", world.repository.url];
          const apply = new ServiceProcess({ ...program, argv }, args, world.env);
          const web = async () =>
            (await world.containers()).find(({ service }) => service === "web");
          await apply.until(async () => (await web())?.health === "starting");
          const id = (await web())?.id;
          const poll = pollTo(world, "skipped");
          await untilItWaits(world, poll);
          world.fake?.setHealth(id ?? "", "healthy");
          const { code, stderr } = await apply.ended;
          assert.equal(code, 0, stderr);
          assert.equal((await poll).deployments?.[0]?.reason, "no_changes");
          const statuses = rows(world, "SELECT status FROM releases").map(({ status }) => status);
          assert.deepEqual(statuses, ["deployed"]);
          assert.equal((await web())?.id, id);
        }),
    );
  }
});

/** A world on the fake engine in which something can happen, once, before an image is pulled. */
async function inPullingWorld(
  test: (world: World, onPull: (act: () => Promise<void>) => void) => Promise<void>,
): Promise<void> {
  let atPull: (() => Promise<void>) | undefined;
  const commands: Commands = {
    ...systemCommands,
    async run(command, signal) {
      if (command.argv.includes("pull")) {
        const act = atPull;
        atPull = undefined;
        await act?.();
      }
      return await systemCommands.run(command, signal);
    },
  };
  const world = await createWorld({ engine: "fake", commands });
  try {
    await test(world, (act) => void (atPull = act));
  } finally {
    await world.close();
  }
}
