import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { signed } from "../fakes/webhook_requests.ts";
import { badService } from "./bad_service.ts";
import { automaticPollTo, commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, ids, inWorld, label, pollTo, reasons, replaced } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

const SECRET = "webhook-secret";
const HOUR = 3_600_000;
const FORCED: Part = { force_recreate: true };
const CHANGED = /^force_recreate is set, and the stack's inputs changed$/;

/** A stack of which `worker` is the same in all commits. */
const shop = (text: string, web: Part = service({ labels: { "test.v": text } })) => ({
  "compose.yaml": composeFile({ web, worker: service() }),
});

/** Requires that a run replaces nothing and makes no release. */
async function leavesAlone(world: World, run: () => Promise<RunBody>): Promise<void> {
  const [before, releases] = [await ids(world), releasesOf(world)];
  assert.equal((await run()).status, "skipped");
  assert.deepEqual(await ids(world), before);
  assert.equal(releasesOf(world), releases);
}

/** Requires that a run replaces both containers. */
async function replacesAll(world: World, run: () => Promise<RunBody>): Promise<RunBody> {
  const before = await ids(world);
  const finished = await run();
  assert.equal(finished.status, "succeeded", JSON.stringify(finished));
  assert.deepEqual(replaced(before, await ids(world)), ["web-1", "worker-1"]);
  return finished;
}

const releasesOf = (world: World) => rows(world, "SELECT id FROM releases").length;
const poll = (world: World) => () => automaticPollTo(world, "skipped");
const pollAndDeploy = (world: World) => () => automaticPollTo(world, "succeeded");

/** A webhook for the branch as it is now. */
const push = (world: World) => async (): Promise<RunBody> => {
  const repository = { full_name: "acme/shop", clone_url: world.repository.url };
  const payload = { ref: "refs/heads/main", repository };
  const { headers, body } = signed("github", { event: "push", payload, secret: SECRET });
  const answer = await world.request("/v1/webhook?wait=true", { method: "POST", headers, body });
  const { job_id: id } = await answer.json() as { job_id: string };
  const run = await world.request(`/v1/api/run/${id}`);
  return (await run.json() as { content: RunBody }).content;
};

/** Deploys a stack that is to be made anew by force. */
async function deploy(world: World): Promise<void> {
  await commit(world, shop("1"), FORCED);
  await pollTo(world, "succeeded");
}

// How often it counts is decided by us; that containers are replaced test/flow/fields_test.ts says on both engines.
describe("force_recreate", () => {
  const engine = "fake";
  it("polls replace all containers once for each change of the stack, also after restarts", () =>
    inWorld(engine, async (world) => {
      await deploy(world);
      await leavesAlone(world, poll(world));
      await leavesAlone(world, poll(world));

      await world.repository.commit({ "notes.txt": "nothing that the stack reads" });
      await leavesAlone(world, poll(world));

      await world.repository.commit(shop("2"));
      const finished = await replacesAll(world, pollAndDeploy(world));
      assert.match(reasons(finished, "web"), /its definition changed/);
      assert.match(reasons(finished, "worker"), CHANGED);
      const explained = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(
        explained.out,
        /worker.*force_recreate is set, and the stack's inputs changed/s,
      );
      await leavesAlone(world, poll(world));
    }));

  it("webhooks replace all containers once for each change of the stack", () =>
    inWorld(engine, async (world) => {
      await deploy(world);
      await leavesAlone(world, push(world));
      await world.repository.commit({ "notes.txt": "nothing that the stack reads" });
      await leavesAlone(world, push(world));
      await world.repository.commit(shop("2"));
      const finished = await replacesAll(world, push(world));
      assert.match(reasons(finished, "worker"), CHANGED);
      await leavesAlone(world, push(world));
      await leavesAlone(world, poll(world));
    }, { WEBHOOK_SECRET: SECRET, ALLOW_LOCAL_REPOSITORY_URL: "true" }));
});

describe("force_recreate", () => {
  it("replaces all containers whenever a person asks, and the plan says so; the next poll does not", () =>
    inWorld("fake", async (world) => {
      await deploy(world);
      const told = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(told.out, /worker.*force_recreate is set, and a person asked for this run/s);
      await replacesAll(world, () => pollTo(world, "succeeded"));
      await leavesAlone(world, poll(world));
    }));

  it("replaces once when it is set, and when a build is to be made in another way; not when it goes", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      for (const changed of [FORCED, { ...FORCED, build: { no_cache: true } }]) {
        await commit(world, {}, changed);
        await replacesAll(world, pollAndDeploy(world));
        await leavesAlone(world, poll(world));
      }
      await commit(world, {}, { ...FORCED, timeout: 99, build: { no_cache: true, quiet: true } });
      await leavesAlone(world, poll(world));
      await commit(world, {}, { build: { no_cache: true } });
      await leavesAlone(world, poll(world));
      await commit(world, {}, { build: { no_cache: false } });
      await leavesAlone(world, poll(world));
    }));

  it("with force_image_pull a poll replaces what uses a tag that moved, and nothing else", () =>
    inWorld("fake", async (world) => {
      const image = `registry.test/${world.stack}:1`;
      world.fake?.addImage(image, { where: "registry", content: "one" });
      const both = { ...FORCED, force_image_pull: true };
      await commit(world, shop("1", service({ image })), both);
      await pollTo(world, "succeeded");
      await leavesAlone(world, poll(world));
      const before = await ids(world);
      world.fake?.addImage(image, { where: "registry", content: "two" });
      const finished = await automaticPollTo(world, "succeeded");
      assert.deepEqual(actions(finished), { web: "recreate", worker: "keep" });
      assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
      await leavesAlone(world, poll(world));
    }));

  it("a failed attempt is tried again as its retries say, and ends with one replacement", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), { ...FORCED, retry: { delay: "1h" } });
      await pollTo(world, "succeeded");
      const bad = badService(world, { labels: { "test.v": "bad" } });
      await world.repository.commit(shop("bad", bad));
      await automaticPollTo(world, "failed");
      assert.equal(await label(world, "web", "test.v"), "1");
      // Until the delay is over, polls leave alone what was put back.
      await leavesAlone(world, poll(world));
      world.fake?.setBehaviour("web", "run");
      world.advance(HOUR);
      const finished = await replacesAll(world, pollAndDeploy(world));
      assert.match(reasons(finished, "worker"), CHANGED);
      assert.equal(await label(world, "web", "test.v"), "bad");
      await leavesAlone(world, poll(world));
    }));
});
