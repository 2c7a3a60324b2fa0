import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { signed } from "../fakes/webhook_requests.ts";
import { composeFile, service } from "./compose_text.ts";
import { automaticPollTo, commandTo } from "./commands.ts";
import { commit, ids, inWorld, label, pollTo } from "./steps.ts";
import type { RunBody, World } from "./world.ts";
import { until } from "./until.ts";

const SECRET = "webhook-secret";

const app = (text: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { "test.v": text } }) }),
});

/** Waits until the newest run, an automatic one, ended for `reason`. */
async function runEndedFor(world: World, reason: string): Promise<void> {
  await until(async () => {
    const answer = await world.request("/v1/api/runs?limit=1");
    const { content } = await answer.json() as { content: readonly RunBody[] };
    return content[0]?.deployments?.[0]?.reason === reason;
  });
}

/** Waits until the container that runs has the value. */
const deployed = (world: World, value: string) =>
  until(async () => await label(world, "web", "test.v") === value);

/** Lets the service poll by itself. */
async function pollByItself(world: World): Promise<void> {
  const entry = { url: world.repository.url, reference: "main", interval: "10s" };
  await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
}

describe("a branch that was moved back", () => {
  it("ends no pin: the release that a person went back from stays away", () =>
    inWorld("fake", async (world) => {
      const first = await commit(world, app("1"));
      await pollTo(world, "succeeded");
      await commit(world, app("2"));
      await pollTo(world, "succeeded");
      const bad = await commit(world, app("3"));
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["rollback", world.stack]);
      for (const [at, why] of [[first, "superseded"], [bad, "paused"]] as const) {
        await world.repository.reset(at);
        const { deployments } = await automaticPollTo(world, "skipped");
        assert.match(deployments?.[0]?.reason ?? "", new RegExp(`^${why}`));
      }
      assert.equal(await label(world, "web", "test.v"), "2");
    }));

  it("is left alone by automatic polls and deployed by a manual one", () =>
    inWorld("fake", async (world) => {
      const first = await commit(world, app("1"));
      await pollByItself(world);
      await deployed(world, "1");
      await world.repository.commit(app("2"));
      await deployed(world, "2");
      await runEndedFor(world, "no_changes");
      const second = await ids(world);

      await world.repository.reset(first);
      await runEndedFor(world, "superseded");
      assert.deepEqual(await ids(world), second);

      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "1");
      const third = await ids(world);
      await runEndedFor(world, "no_changes");
      assert.deepEqual(await ids(world), third);
    }));

  it("is deployed by automatic polls when it holds a commit that was never deployed", () =>
    inWorld("fake", async (world) => {
      const first = await commit(world, app("1"));
      await commit(world, app("2"));
      await pollTo(world, "succeeded");
      await world.repository.reset(first);
      await world.repository.commit(app("another 2"));
      await pollByItself(world);
      await deployed(world, "another 2");
      await runEndedFor(world, "no_changes");
    }));

  it("is left alone as well where so little history is fetched that it does not show", () =>
    inWorld("fake", async (world) => {
      const earlier = await commit(world, app("1"));
      await world.repository.commit(app("2"));
      const pushed = async () => (await announce(world)).deployments?.[0];
      assert.equal((await pushed())?.status, "succeeded");
      await world.repository.commit(app("3"));
      assert.equal((await pushed())?.status, "succeeded");
      const third = await ids(world);
      await world.repository.reset(earlier);
      assert.equal((await pushed())?.reason, "superseded");
      assert.deepEqual(await ids(world), third);
      await world.repository.commit(app("another 2"));
      assert.equal((await pushed())?.status, "succeeded");
    }, { GIT_CLONE_DEPTH: "1", WEBHOOK_SECRET: SECRET, ALLOW_LOCAL_REPOSITORY_URL: "true" }));
});

/** Sends a webhook about the branch and waits for what comes of it. */
async function announce(world: World): Promise<RunBody> {
  const payload = {
    ref: "refs/heads/main",
    repository: { full_name: "acme/shop", clone_url: world.repository.url },
  };
  const { headers, body } = signed("github", { event: "push", payload, secret: SECRET });
  const answer = await world.request("/v1/webhook?wait=true", { method: "POST", headers, body });
  const { job_id: id } = await answer.json() as { job_id: string };
  const run = await world.request(`/v1/api/run/${id}`);
  return (await run.json() as { content: RunBody }).content;
}
