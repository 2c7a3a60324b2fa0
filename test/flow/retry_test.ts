import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Commands } from "../../src/system/mod.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { badService } from "./bad_service.ts";
import { automaticPollTo, commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, label, pollTo } from "./steps.ts";
import { createWorld, type RunBody, type World } from "./world.ts";

const SECOND = 1000;
const HOUR = 3_600_000;

function shop(number: string): Record<string, string> {
  return {
    "compose.yaml": composeFile({ db: service(), web: service({ labels: { number } }) }),
  };
}

function badShop(world: World, number = "bad"): Record<string, string> {
  const web = badService(world, { labels: { number } });
  return { "compose.yaml": composeFile({ db: service(), web }) };
}

/** Deploys a good release, then commits a bad one with this configuration. */
async function commitBad(world: World, configuration: Part): Promise<void> {
  await commit(world, shop("good"), configuration);
  await pollTo(world, "succeeded");
  await commit(world, badShop(world), configuration);
}

/** The only target of a run. */
function target(run: RunBody) {
  const [only] = run.deployments ?? [];
  assert.ok(only, JSON.stringify(run));
  return only;
}

const failures = (world: World) =>
  rows(world, "SELECT failures, automatic_attempts FROM failures").map((each) => [
    each["failures"],
    each["automatic_attempts"],
  ]);

/** Polls automatically and requires that nothing was attempted, and why. */
async function suppressed(world: World, reason: string) {
  const before = await ids(world);
  world.proxy.reset();
  const run = await automaticPollTo(world, "skipped");
  assert.equal(target(run).reason, reason, JSON.stringify(run));
  assert.equal(world.proxy.mutations(), 0);
  assert.deepEqual(await ids(world), before);
  return run;
}

// When something is tried again no engine decides.
describe("a bad release", () => {
  const engine = "fake";
  it("retry.limit 0: never again by itself, also after a restart; by hand once each time", () =>
    inWorld(engine, async (world) => {
      await commitBad(world, { retry: { limit: 0 } });
      await automaticPollTo(world, "failed");
      assert.equal(await label(world, "web", "number"), "good");
      world.advance(HOUR);
      const run = await suppressed(world, "budget_exhausted");
      assert.match(run.message ?? "", new RegExp(`retries of ${world.stack} are exhausted`));
      assert.match(target(run).message ?? "", /this release failed before \(.*exit code 3/s);
      assert.deepEqual(target(run).services?.map((each) => [each.name, each.action]), [
        ["db", "keep"],
        ["web", "recreate"],
      ]);
      await pollTo(world, "failed");
      await suppressed(world, "budget_exhausted");
      assert.deepEqual(failures(world), [[1, 0]]);

      await commit(world, shop("better"));
      await automaticPollTo(world, "succeeded");
      assert.deepEqual(failures(world), []);
      assert.equal(await label(world, "web", "number"), "better");
    }));
});

describe("a bad release", () => {
  it("retry.limit 1: one more attempt by itself; a manual one neither counts nor refills", () =>
    inWorld("fake", async (world) => {
      await commitBad(world, { retry: { limit: 1, delay: 0 } });
      await automaticPollTo(world, "failed");
      assert.deepEqual(failures(world), [[1, 0]]);
      await pollTo(world, "failed");
      assert.deepEqual(failures(world), [[1, 0]]);
      await automaticPollTo(world, "failed");
      assert.deepEqual(failures(world), [[2, 1]]);
      await suppressed(world, "budget_exhausted");
      await pollTo(world, "failed");
      await suppressed(world, "budget_exhausted");
      assert.deepEqual(failures(world), [[2, 1]]);
    }));

  it("retry.delay: not before the delay is over; retry_at says when, in the run and in words", () =>
    inWorld("fake", async (world) => {
      await commitBad(world, { retry: { delay: "1h" } });
      await automaticPollTo(world, "failed");
      const failedAt = Number(
        rows(world, "SELECT last_failed_at FROM failures")[0]?.["last_failed_at"],
      );
      const run = await suppressed(world, "delay");
      const retryAt = target(run).retry_at ?? "";
      assert.equal(Date.parse(retryAt), failedAt + HOUR);
      const seconds = retryAt.replace(/\.\d+/, "");
      assert.ok(
        run.message?.includes(`retry of ${world.stack} is delayed until ${seconds}`),
        run.message,
      );
      world.advance(HOUR / 2);
      await suppressed(world, "delay");
      // By hand at any time, and the delay is still counted from the automatic failure.
      await pollTo(world, "failed");
      const later = await suppressed(world, "delay");
      assert.equal(target(later).retry_at, retryAt);
      world.advance(HOUR / 2);
      await automaticPollTo(world, "failed");
      assert.deepEqual(failures(world), [[2, 1]]);
      const again = await suppressed(world, "delay");
      assert.ok(Date.parse(target(again).retry_at ?? "") >= failedAt + 2 * HOUR);
    }));

  it("without retry: attempts back off, doubling from ten seconds to a quarter of an hour", () =>
    inWorld("fake", async (world) => {
      await commitBad(world, {});
      await automaticPollTo(world, "failed");
      const waits: number[] = [];
      for (let attempt = 0; attempt < 9; attempt++) {
        const failedAt = Number(
          rows(world, "SELECT last_failed_at FROM failures")[0]?.["last_failed_at"],
        );
        const run = await suppressed(world, "delay");
        const wait = Date.parse(target(run).retry_at ?? "") - failedAt;
        waits.push(wait / SECOND);
        world.advance(wait);
        await automaticPollTo(world, "failed");
      }
      assert.deepEqual(waits, [10, 20, 40, 80, 160, 320, 640, 900, 900]);
    }));

  it("another bad release starts fresh; going back to the good one clears everything", () =>
    inWorld("fake", async (world) => {
      await commitBad(world, { retry: { limit: 0 } });
      await automaticPollTo(world, "failed");
      await suppressed(world, "budget_exhausted");
      await commit(world, badShop(world, "also bad"), { retry: { limit: 0 } });
      await automaticPollTo(world, "failed");
      assert.deepEqual(failures(world), [[1, 0]]);
      await suppressed(world, "budget_exhausted");
      await commit(world, shop("good"), { retry: { limit: 0 } });
      world.proxy.reset();
      await automaticPollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);
      assert.equal(await label(world, "web", "number"), "good");
    }));

  it("a manual attempt that works clears the failure", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("good"), { retry: { limit: 0 } });
      await pollTo(world, "succeeded");
      const image = `${world.stack}-app:1`;
      world.fake?.addImage(image, { where: "both", onStart: { exit: 3 } });
      const web = service({ image });
      await commit(world, { "compose.yaml": composeFile({ db: service(), web }) }, {
        retry: { limit: 0 },
      });
      await automaticPollTo(world, "failed");
      world.fake?.setBehaviour(image, "run");
      await suppressed(world, "budget_exhausted");
      await pollTo(world, "succeeded");
      assert.deepEqual(failures(world), []);
      await automaticPollTo(world, "skipped");
    }));

  for (const policy of ["missing", "always"]) {
    it(`an image that cannot be fetched is remembered too, and touches nothing: ${policy}`, () =>
      inWorld("fake", async (world) => {
        await commit(world, shop("good"), { retry: { limit: 0 } });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const web = service({ image: "registry.test/no-such:1", pull_policy: policy });
        await commit(world, { "compose.yaml": composeFile({ db: service(), web }) }, {
          retry: { limit: 0 },
        });
        await automaticPollTo(world, "failed");
        assert.deepEqual(await ids(world), before);
        world.proxy.reset();
        await suppressed(world, "budget_exhausted");
        assert.equal(world.proxy.pulls(), 0);
        assert.deepEqual(failures(world), [[1, 0]]);
      }));
  }

  it("a build that fails is remembered too, and not begun again before its delay is over", async () => {
    let builds = 0;
    const inner = createFakeBuilder();
    const commands: Commands = {
      start: (command) => inner.start(command),
      run: (command, signal) => {
        if (command.argv.includes("build") && !command.argv.includes("config")) builds++;
        return inner.run(command, signal);
      },
    };
    const world = await createWorld({ engine: "fake", commands });
    try {
      // The fake builder finds no Dockerfile.
      const web = service({ build: "./app", image: `${world.stack}-web` });
      await commit(world, { "compose.yaml": composeFile({ web }), "app/page.txt": "a" });
      for (const seconds of [10, 20, 40]) {
        await automaticPollTo(world, "failed");
        const before = builds;
        await suppressed(world, "delay");
        assert.equal(builds, before);
        world.advance(seconds * SECOND);
      }
      assert.equal(builds, 3);
    } finally {
      await world.close();
    }
  });

  it("what fails before the release is known is not its fault", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("good"), { retry: { limit: 0 } });
      await pollTo(world, "succeeded");
      await commit(world, shop("next"), { retry: { limit: 0 } });
      // The start asks the engine, too.
      world.proxy.reset({ kind: "error", at: 1, among: "all", lasts: true });
      await automaticPollTo(world, "failed");
      world.proxy.reset();
      assert.deepEqual(failures(world), []);
      await automaticPollTo(world, "succeeded");
    }));

  it("while it is held back, what is missing of the good release comes back", () =>
    inWorld("fake", async (world) => {
      await commitBad(world, { retry: { limit: 0 } });
      await automaticPollTo(world, "failed");
      const before = await ids(world);
      await docker(world, "rm", "--force", `${world.stack}-web-1`, `${world.stack}-db-1`);
      const run = await automaticPollTo(world, "skipped");
      assert.equal(target(run).reason, "budget_exhausted");
      assert.match(target(run).message ?? "", /; repaired release 1: create db, web$/);
      assert.equal(await label(world, "web", "number"), "good");
      assert.notDeepEqual(await ids(world), before);
      assert.deepEqual(failures(world), [[1, 0]], "the bad one is still remembered");
      await suppressed(world, "budget_exhausted");
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(
        out,
        /: repair \(budget_exhausted\): .*; release 1 is repaired: create db, web$/m,
      );
      assert.match(out, /^ {2}web: create: its container is missing$/m);
    }));

  it("with DEPLOY_ROLLBACK=false the mixed state is left alone while it is held back", () =>
    inWorld("fake", async (world) => {
      await commitBad(world, { retry: { limit: 0 } });
      await automaticPollTo(world, "failed");
      await docker(world, "rm", "--force", `${world.stack}-db-1`);
      await suppressed(world, "budget_exhausted");
    }, { DEPLOY_ROLLBACK: "false" }));
});
