import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  githubPush,
  gitlabPush,
  ociPush,
  type Sender,
  signed,
  ZEROS,
} from "../fakes/webhook_requests.ts";
import { badService } from "./bad_service.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { commit, ids, inWorld, label, pollTo } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

const SECRET = "canary-of-the-webhooks";
const CLONE_URL = "https://git.example.test/acme/shop.git";

const app = (text: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { "test.v": text } }) }),
});

/** A world whose repository is what the payloads' URL is rewritten to. */
function withWebhooks(
  engine: "fake" | "real",
  test: (world: World) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  return inWorld(engine, async (world) => {
    await world.restart({
      WEBHOOK_SECRET: SECRET,
      SOURCE_URL_REWRITES: `"${CLONE_URL}": "${world.repository.url}"`,
      ALLOW_LOCAL_REPOSITORY_URL: "false",
      ...env,
    });
    await test(world);
    const shown = world.lines.filter(({ level }) => level !== "debug");
    assert.doesNotMatch(JSON.stringify(shown), /canary/);
  });
}

interface Sent {
  readonly sender?: Sender;
  readonly event?: string;
  readonly payload?: unknown;
  readonly secret?: string;
  readonly query?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly run: RunBody;
}

/** A push to the branch main, as far as `rest` does not say otherwise. */
function push(rest: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const repository = { full_name: "acme/shop", clone_url: CLONE_URL };
  return githubPush({ repository, ...rest });
}

/** Sends a webhook, waits for its run unless told otherwise, and looks the run up. */
async function deliver(world: World, sent: Sent = {}): Promise<Answer> {
  const { sender = "github", event = "push", payload = push(), secret = SECRET } = sent;
  const { headers, body: text } = signed(sender, { event, payload, secret });
  const url = `${world.app.url}/v1/webhook${sent.query ?? "?wait=true"}`;
  const response = await fetch(url, { method: "POST", headers, body: text });
  const shown = await response.text();
  assert.doesNotMatch(shown, /canary/);
  const body = JSON.parse(shown) as Record<string, unknown>;
  const id = body["job_id"];
  if (id === undefined) return { status: response.status, body, run: { job_id: "", status: "" } };
  const run = await world.request(`/v1/api/run/${id}`);
  return { status: response.status, body, run: (await run.json()).content as RunBody };
}

/** Finished runs, newest first. */
async function ended(world: World): Promise<RunBody[]> {
  const answer = await world.request("/v1/api/runs?trigger=webhook");
  const { content } = await answer.json() as { content: RunBody[] };
  return content.filter(({ status }) => status !== "accepted" && status !== "running");
}

const value = (world: World) => label(world, "web", "test.v");

// What a push asks for no engine decides.
describe("webhooks", () => {
  const engine = "fake";
  it("deploy what was pushed, and nothing when it is deployed already", () =>
    withWebhooks(engine, async (world) => {
      await commit(world, app("1"));
      const first = await deliver(world);
      assert.deepEqual(
        [first.status, first.run.status],
        [201, "succeeded"],
        JSON.stringify(first),
      );
      assert.equal(first.body["content"], "job completed successfully");
      assert.equal(await value(world), "1");
      const before = await ids(world);
      world.proxy.reset();
      const again = await deliver(world, { query: "?wait=1" });
      assert.deepEqual([again.status, again.run.status, again.body["content"]], [
        201,
        "skipped",
        "no changes",
      ]);
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(await ids(world), before);
    }));
});

describe("a webhook", () => {
  it("whose release failed is tried again when that is due, without another webhook or a poll", () =>
    withWebhooks("fake", async (world) => {
      const image = `${world.stack}-app:1`;
      world.fake?.addImage(image, { where: "both", onStart: { exit: 3 } });
      const web = service({ image, labels: { "test.v": "1" } });
      await commit(world, { "compose.yaml": composeFile({ web }) });
      const { run } = await deliver(world);
      assert.equal(run.status, "failed", JSON.stringify(run));
      assert.ok(run.deployments?.[0]?.retry_at !== undefined, JSON.stringify(run));
      world.fake?.setBehaviour(image, "run");
      const never = new AbortController().signal;
      // On a slow machine it may have been tried, in vain, before it was mended.
      while ((await ended(world))[0]?.status !== "succeeded") {
        world.advance(60_000);
        await world.clock.sleep(5000, never);
      }
      assert.ok((await ended(world)).length >= 2);
      assert.equal(await value(world), "1");
    }));

  it("whose removal could not ask its source is tried again, too", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      await deliver(world);
      await commit(world, {}, { destroy: true });
      const { path } = world.repository;
      await withOther(world, async (other) => {
        const intent = beginRollback(world, other, 1, false);
        const asked = deliver(world);
        await pause(1000);
        await rename(path, `${path}-away`);
        other.fail(intent, "failed", "given up");
        const { run } = await asked;
        assert.equal(run.status, "failed", JSON.stringify(run));
        assert.match(JSON.stringify(run), /it is changed when its source tells/);
        assert.ok(run.deployments?.[0]?.retry_at !== undefined, JSON.stringify(run));
      });
      assert.equal(await value(world), "1");
      await rename(`${path}-away`, path);
      while ((await ended(world))[0]?.status !== "succeeded") {
        world.advance(60_000);
        await world.clock.sleep(5000, new AbortController().signal);
      }
      assert.deepEqual(await ids(world), {});
    }));

  it("whose release may not be tried again is not", () =>
    withWebhooks("fake", async (world) => {
      const web = badService(world, { labels: { "test.v": "1" } });
      await commit(world, { "compose.yaml": composeFile({ web }) }, { retry: { limit: 0 } });
      const { run } = await deliver(world);
      assert.equal(run.status, "failed", JSON.stringify(run));
      assert.equal(run.deployments?.[0]?.retry_at, undefined);
    }));

  it("with another secret is refused: nothing is recorded, fetched, or logged above debug", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      const before = world.lines.length;
      world.proxy.reset();
      for (
        const sender of [
          "github",
          "gitea",
          "gitlab",
          "gogs",
          "forgejo",
          "bitbucket",
          "azure",
          "oci",
        ] as const
      ) {
        const { status } = await deliver(world, { sender, secret: "another secret" });
        assert.equal(status, 401, sender);
      }
      const runs = await (await world.request("/v1/api/runs")).json();
      assert.deepEqual(runs.content, []);
      // Looks at the engine may be those of the start, which nothing waits for.
      assert.equal(world.proxy.mutations(), 0);
      const lines = world.lines.slice(before).filter(({ level }) => level !== "debug");
      assert.deepEqual(lines, []);
    }));

  it("of GitLab without waiting is answered at once and deploys in the background", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      const payload = gitlabPush({
        project: { path_with_namespace: "acme/shop", git_http_url: CLONE_URL },
      });
      const { status, body } = await deliver(world, {
        sender: "gitlab",
        event: "Push Hook",
        payload,
        query: "",
      });
      assert.deepEqual([status, body["content"]], [202, "job accepted"]);
      // The run that waits behind it is over when it is.
      assert.equal((await deliver(world)).status, 201);
      const run = await (await world.request(`/v1/api/run/${body["job_id"]}`)).json();
      assert.equal(run.content.status, "succeeded");
      assert.equal(await value(world), "1");
    }));

  it("that is late deploys what the branch is at, and never an older commit", () =>
    withWebhooks("fake", async (world) => {
      const first = await commit(world, app("1"));
      await commit(world, app("2"));
      await deliver(world, { payload: push({ after: first }) });
      assert.equal(await value(world), "2");
      await world.repository.reset(first);
      const late = await deliver(world, { payload: push({ after: first }) });
      assert.deepEqual([late.status, late.run.deployments?.[0]?.reason], [201, "superseded"]);
      assert.equal(await value(world), "2");
    }));

  it("of a pushed tag deploys the tag, and of a deleted branch nothing", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      await world.repository.tag("v1");
      await commit(world, app("2"));
      await deliver(world, { event: "create", payload: push({ ref: "v1", ref_type: "tag" }) });
      assert.equal(await value(world), "1");
      const gone = await deliver(world, { payload: push({ after: ZEROS, deleted: true }) });
      assert.deepEqual([gone.status, gone.run.status], [202, "skipped"]);
      assert.equal(await value(world), "1");
    }));

  it("of a branch that is gone is no source that cannot be read; of one that is broken, it is", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      const said = async () => (await commandTo(world, 0, ["status"])).out;
      const gone = await deliver(world, { payload: push({ ref: "refs/heads/gone" }) });
      assert.equal(gone.run.status, "failed", JSON.stringify(gone));
      assert.doesNotMatch(await said(), /cannot be read/);
      await world.repository.commit({ ".stackwright.yaml": "name: x\nnamee: x\n" });
      assert.equal((await deliver(world)).run.status, "failed");
      assert.match(await said(), /cannot be read since .*; not tried again until a webhook or /);
    }));

  it("whose reference no filter lets pass leaves the stack alone, and the next one is let through", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"), { webhook_filter: "^(main|refs/tags/v\\d+)$" });
      await world.repository.branch("next");
      world.proxy.reset();
      const refused = await deliver(world, { payload: push({ ref: "refs/heads/next" }) });
      assert.equal(refused.status, 202);
      assert.equal(refused.body["content"], "deployment skipped, webhook filter did not match");
      assert.equal(refused.run.deployments?.[0]?.reason, "filter_mismatch");
      assert.equal(world.proxy.mutations(), 0);
      assert.equal((await deliver(world)).status, 201);
      assert.equal(await value(world), "1");
    }));

  it("about a branch leaves deployments that follow another one alone", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"), { reference: "main" });
      await world.repository.branch("next");
      const other = await deliver(world, { payload: push({ ref: "refs/heads/next" }) });
      assert.deepEqual([other.status, other.run.deployments?.[0]?.reason], [
        202,
        "filter_mismatch",
      ]);
      const expected =
        `deployment skipped, ${world.stack} follows main and the webhook is about next`;
      assert.equal(other.body["content"], expected);
      assert.equal((await deliver(world)).run.status, "succeeded");
    }));

  it("about a branch that another branch's file names deploys it in the name of that file", () =>
    withWebhooks("fake", async (world) => {
      const led = `${world.stack}-b`;
      const named = `name: ${world.stack}\n---\nname: ${led}\nreference: dev\n`;
      const main = await world.repository.commit({ ...app("1"), ".stackwright.yaml": named });
      await world.repository.branch("dev");
      await pollTo(world, "succeeded", { url: CLONE_URL });
      const before = await ids(world);
      const pushOfDev = push({ ref: "refs/heads/dev" });
      const pushed = async (files: Record<string, string>, configuration?: string) => {
        await world.repository.commit(files);
        if (configuration === undefined) await world.repository.remove([".stackwright.yaml"]);
        else await world.repository.commit({ ".stackwright.yaml": configuration });
        await world.repository.branch("dev");
        await world.repository.reset(main);
        return await deliver(world, { payload: pushOfDev });
      };
      const second = await pushed(app("2"), named);
      assert.deepEqual(
        [second.status, second.run.status],
        [201, "succeeded"],
        JSON.stringify(second),
      );
      const told = second.run.deployments?.map((each) => [each.stack, each.status, each.reason]);
      assert.deepEqual(
        new Set(told),
        new Set([
          [world.stack, "skipped", "filter_mismatch"],
          [led, "succeeded", undefined],
        ]),
      );
      assert.equal(await label(world, "web", "test.v", led), "2");
      assert.deepEqual(await ids(world), before);
      // Neither needs a file there, nor that it names the stack.
      const third = await pushed(app("3"));
      assert.deepEqual([third.status, third.run.status], [201, "succeeded"], JSON.stringify(third));
      assert.equal(await label(world, "web", "test.v", led), "3");
      const other = await pushed(app("3"), `name: ${world.stack}\n`);
      assert.equal(other.run.status, "skipped", JSON.stringify(other));
      assert.equal(await label(world, "web", "test.v", led), "3");
      await pollTo(world, "skipped", { url: CLONE_URL });
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      assert.doesNotMatch(out, /refused/);
      // What the owner's file gave up is refused as ever, and can be handed over.
      await world.repository.commit({ ".stackwright.yaml": `name: ${world.stack}\n` });
      const left = await deliver(world, { payload: pushOfDev });
      assert.equal(left.run.status, "skipped", JSON.stringify(left));
      await world.repository.commit({ ".stackwright.yaml": `name: ${world.stack}-c\n` });
      const free = await deliver(world, { payload: pushOfDev });
      assert.equal(free.run.status, "failed", JSON.stringify(free));
      assert.match(String(free.body["content"]), /belongs to .*refs\/heads\/main.* adopt /);
    }));

  it("whose repository cannot be read fails with its reason", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      const { status, body } = await deliver(world, { payload: push({ ref: "refs/heads/none" }) });
      assert.deepEqual([status, body["error"]], [500, "deployment failed"]);
      assert.match(String(body["content"]), /none/);
    }));

  it("that names a repository of this machine is refused unless that is allowed", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      const repository = { full_name: "acme/shop", clone_url: world.repository.url };
      const refused = await deliver(world, { payload: push({ repository }) });
      assert.deepEqual([refused.status, refused.body["error"]], [
        403,
        "webhook clone URL is not allowed",
      ]);
      await world.restart({ WEBHOOK_SECRET: SECRET, ALLOW_LOCAL_REPOSITORY_URL: "true" });
      assert.equal((await deliver(world, { payload: push({ repository }) })).status, 201);
      assert.equal(await value(world), "1");
    }));

  it("and a poll of the same repository own the same stack", () =>
    withWebhooks("fake", async (world) => {
      await commit(world, app("1"));
      assert.equal((await world.poll({ url: CLONE_URL })).run.status, "succeeded");
      await commit(world, app("2"));
      assert.equal((await deliver(world)).run.status, "succeeded");
      assert.equal(await value(world), "2");
    }));

  it("about an artifact is understood, and says that this version does not deploy it", () =>
    withWebhooks("fake", async (world) => {
      const { status, body } = await deliver(world, { sender: "oci", payload: ociPush() });
      assert.deepEqual([status, body["error"]], [500, "deployment failed"]);
      assert.match(
        String(body["content"]),
        /^registry\.example\.org\/acme\/shop is an OCI artifact/,
      );
    }));

  it("finds no route without a secret", () =>
    withWebhooks("fake", async (world) => {
      assert.equal((await deliver(world)).status, 404);
    }, { WEBHOOK_SECRET: "" }));
});
