import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createRepository } from "../fakes/git_repository.ts";
import { commandTo, rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, label, pollTo, states } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

const HOUR_MS = 60 * 60 * 1000;

const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
});

/** One window that opens so many hours after the world's time, for two hours, each day. */
function opensIn(world: World, hours: number, more: Record<string, unknown> = {}): string {
  const start = new Date(world.clock.now().getTime() + hours * HOUR_MS);
  const schedule = `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`;
  return JSON.stringify([{ name: "night", kind: "allow", schedule, duration: "2h", ...more }]);
}

async function detail(world: World): Promise<Record<string, unknown>> {
  const answer = await world.request(`/v1/api/deployment/${world.stack}`);
  return (await answer.json()).content;
}

/** The first run that ends after a restart; by default of a service that polls nothing. */
async function restartTo(world: World, env: Record<string, string>): Promise<RunBody> {
  const list = async () => {
    const answer = await world.request("/v1/api/runs?limit=200");
    return (await answer.json()).content as RunBody[];
  };
  const before = new Set((await list()).map((run) => run.job_id));
  await world.restart({ POLL_CONFIG: "", ...env });
  while (true) {
    const run = (await list()).find((each) =>
      !before.has(each.job_id) && each.status !== "accepted" && each.status !== "running"
    );
    if (run !== undefined) return run;
    await setTimeout(20);
  }
}

/** One poll that nobody asked for, under these windows. */
async function automaticPollTo(world: World, status: string, windows = ""): Promise<RunBody> {
  const { url } = world.repository;
  const entry = { url, reference: "main", run_once: true };
  const polls = JSON.stringify([entry]);
  const run = await restartTo(world, { SYNC_WINDOWS: windows, POLL_CONFIG: polls });
  assert.equal(run.status, status, JSON.stringify(run));
  return run;
}

describe("sync windows", () => {
  it("defer changes only, say until when, and let through what comes when they are open", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const windows = opensIn(world, 12);
      await world.restart({ SYNC_WINDOWS: windows });
      assert.match((await pollTo(world, "skipped")).message ?? "", /no changes/);

      await commit(world, shop("2"));
      const { status, body, run } = await world.poll();
      assert.deepEqual([status, run.status], [202, "skipped"]);
      const until = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:00\+00:00`;
      const sentence =
        `^deployment of ${world.stack} deferred by sync window night until ${until}$`;
      assert.match(String(body["content"]), new RegExp(sentence));
      assert.equal(run.deployments?.[0]?.reason, "sync_window");
      const deferred = await automaticPollTo(world, "skipped", windows);
      assert.equal(deferred.deployments?.[0]?.reason, "sync_window");
      assert.equal((await detail(world))["state"], "waiting");
      const { out } = await commandTo(world, 2, ["plan", world.repository.path]);
      const opens = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:00`;
      const said = `: deferred by sync window night until ${opens}\n  web: recreate: `;
      assert.match(out, new RegExp(`^default/\\S+${said}`));
      for (const asked of [["status"], ["explain", world.stack]]) {
        const shown = await commandTo(world, 0, asked);
        assert.match(shown.out, new RegExp(`deferred by sync window night until ${opens}$`, "m"));
      }
      assert.match(out, /^plan: 1 stack, 1 with changes \(services: 1 to recreate\), 0 without$/m);
      // Who has no windows keeps to those of the service, who says so has none.
      const apply = ["apply", world.repository.path];
      const held = await commandTo(world, 2, apply);
      assert.match(
        held.out,
        new RegExp(`: skipped: deferred by sync window night until ${opens}\n`),
      );
      const { stacks } = JSON.parse((await commandTo(world, 2, [...apply, "--json"])).out);
      assert.deepEqual([stacks[0].status, stacks[0].reason], ["skipped", "sync_window"]);
      assert.match(stacks[0].retry_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000\+00:00$/);
      const none = { env: { SYNC_WINDOWS: "[]" } };
      assert.match(
        (await commandTo(world, 2, ["plan", world.repository.path], none)).out,
        /: deploy: /,
      );

      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await pollTo(world, "skipped");
      assert.deepEqual(await states(world), { "web-1": "running" });
      assert.equal(await label(world, "web", "number"), "1");
      assert.deepEqual(rows(world, "SELECT * FROM deferred"), []);

      world.advance(12.5 * HOUR_MS);
      await automaticPollTo(world, "succeeded", windows);
      assert.equal(await label(world, "web", "number"), "2");
    }));

  it("let a person through where every one of them says so, and are about what they name", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      const windows = opensIn(world, 12, { manual_sync: true, deployments: [`${world.stack}*`] });
      await automaticPollTo(world, "skipped", windows);
      await pollTo(world, "succeeded");
      const ask = async (query: string) => {
        const answer = await world.request(`/v1/api/sync-windows${query}`);
        return { status: answer.status, ...await answer.json() };
      };
      const { content: all } = await ask("");
      assert.deepEqual([all.windows[0].name, all.windows[0].active], ["night", false]);
      assert.deepEqual([all.windows[0].duration, all.decision], ["2h0m0s", undefined]);
      const { content: automatic } = await ask(`?deployment=${world.stack}`);
      const { allowed, windows: names, next_open: opens } = automatic.decision;
      assert.deepEqual([allowed, names], [false, ["night"]]);
      assert.equal(opens, all.windows[0].next_start);
      const { content: manual } = await ask(`?deployment=${world.stack}&origin=MANUAL`);
      assert.deepEqual(manual.decision, {
        allowed: true,
        manual_override: true,
        windows: ["night"],
      });
      const { content: other } = await ask("?repository=example.com/acme/shop");
      assert.equal(other.decision.allowed, true);
      const { status, error, content } = await ask("?origin=reconciliation");
      const refusal = [400, "invalid origin", "origin must be automatic or manual"];
      assert.deepEqual([status, error, content], refusal);
    }));

  it("keep what they defer with SYNC_WINDOW_QUEUE, over restarts, and the latest wins", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const env = { SYNC_WINDOWS: opensIn(world, 12), SYNC_WINDOW_QUEUE: "true" };
      await world.restart(env);
      await commit(world, shop("2"));
      await pollTo(world, "skipped");
      await commit(world, shop("3"));
      const shown = await detail(world);
      assert.match(String(shown["why"]), /deferred by sync window night until \S+Z; it is kept/);
      assert.ok(shown["retry_at"], JSON.stringify(shown));
      const { out } = await commandTo(world, 0, ["status"]);
      assert.match(out, /waiting/);

      const still = await restartTo(world, env);
      assert.equal(still.deployments?.[0]?.reason, "sync_window");
      world.advance(12.5 * HOUR_MS);
      assert.equal((await restartTo(world, env)).status, "succeeded");
      assert.equal(await label(world, "web", "number"), "3");
      assert.deepEqual(rows(world, "SELECT * FROM deferred"), []);
    }));

  it("keep what they defer while another repository pauses a stack of that name", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await world.restart({ SYNC_WINDOWS: opensIn(world, 12), SYNC_WINDOW_QUEUE: "true" });
      await commit(world, shop("2"));
      await pollTo(world, "skipped");
      const other = await createRepository(join(dirname(world.repository.path), "other"));
      await other.commit({ ".stackwright.yaml": `name: ${world.stack}\npause: true\n` });
      await pollTo(world, "skipped", { url: other.url });
      const waiting = rows(world, "SELECT name FROM deferred").map((each) => each["name"]);
      assert.deepEqual(waiting, [world.stack]);
    }));

  it("keep what they defer of a stack that nobody has yet, whatever another repository says of it", () =>
    inWorld("fake", async (world) => {
      const env = { SYNC_WINDOWS: opensIn(world, 12), SYNC_WINDOW_QUEUE: "true" };
      await world.restart(env);
      await commit(world, shop("1"));
      await pollTo(world, "skipped");
      const whose = () => rows(world, "SELECT repository FROM deferred").flatMap(Object.values);
      const [own] = whose();
      const other = await createRepository(join(dirname(world.repository.path), "other"));
      const says = { ...shop("2"), ".stackwright.yaml": `name: ${world.stack}\n` };
      await other.commit(says);
      await pollTo(world, "skipped", { url: other.url });
      assert.equal(whose().length, 2);
      const text = `name: ${world.stack}\npause: true\n`;
      await other.commit({ ".stackwright.yaml": text });
      await pollTo(world, "skipped", { url: other.url });
      assert.deepEqual(whose(), [own]);

      world.advance(12.5 * HOUR_MS);
      assert.equal((await restartTo(world, env)).status, "succeeded");
      assert.equal(await label(world, "web", "number"), "1");
      assert.deepEqual(whose(), []);
    }));

  it("keep what they defer for one branch, whatever another one says of a stack that nobody has", () =>
    inWorld("fake", async (world) => {
      const env = { SYNC_WINDOWS: opensIn(world, 12), SYNC_WINDOW_QUEUE: "true" };
      await world.restart(env);
      await commit(world, shop("1"));
      await pollTo(world, "skipped");
      const branches = () => rows(world, "SELECT reference FROM deferred").flatMap(Object.values);
      assert.deepEqual(branches(), ["refs/heads/main"]);
      const first = await world.repository.git("rev-parse", "HEAD");
      const text = `name: ${world.stack}\npause: true\n`;
      await world.repository.branch(
        "dev",
        await world.repository.commit({ ".stackwright.yaml": text }),
      );
      await world.repository.reset(first);
      await pollTo(world, "skipped", { reference: "dev" });
      assert.deepEqual(branches(), ["refs/heads/main"]);
      world.advance(12.5 * HOUR_MS);
      assert.equal((await restartTo(world, env)).status, "succeeded");
      assert.equal(await label(world, "web", "number"), "1");
      assert.deepEqual(branches(), []);
    }));

  it("count what they defer as that of whoever configures it, whatever is deployed", () =>
    inWorld("fake", async (world) => {
      await world.restart({ SYNC_WINDOWS: opensIn(world, 12), SYNC_WINDOW_QUEUE: "true" });
      const victim = await createRepository(join(dirname(world.repository.path), "victim"));
      await victim.commit(shop("1"));
      const more = { repository_url: victim.url };
      await commit(world, shop("1"), more);
      await pollTo(world, "skipped");
      const whose = () => rows(world, "SELECT repository FROM deferred").map(Object.values);
      const own = [[`local${world.repository.path}`]];
      assert.deepEqual(whose(), own);
    }));

  it("forget what they defer of a stack that nothing names any more", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const env = { SYNC_WINDOWS: opensIn(world, 12), SYNC_WINDOW_QUEUE: "true" };
      await world.restart(env);
      await commit(world, shop("2"));
      await pollTo(world, "skipped");
      const waiting = () => rows(world, "SELECT name FROM deferred").map((each) => each["name"]);
      assert.deepEqual(waiting(), [world.stack]);
      await commit(world, shop("2"), { name: `${world.stack}-b` });
      assert.equal((await restartTo(world, env)).status, "skipped");
      assert.deepEqual(waiting(), [`${world.stack}-b`]);
    }));

  it("defer the removal of a stack, too", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await world.restart({ SYNC_WINDOWS: opensIn(world, 12) });
      await commit(world, {}, { destroy: true });
      await pollTo(world, "skipped");
      assert.deepEqual(await states(world), { "web-1": "running" });
      world.advance(12.5 * HOUR_MS);
      await pollTo(world, "succeeded");
      assert.deepEqual(await states(world), {});
    }));
});
