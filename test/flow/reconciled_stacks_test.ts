import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo, states } from "./steps.ts";
import type { World } from "./world.ts";
import { until } from "./until.ts";

const remove = (world: World, stack: string) => world.fake?.removeContainer(`${stack}-web-1`);
const isThere = (world: World, stack: string) => async () => "web-1" in await ids(world, stack);

/** What reconciliation did about a stack, the latest first. */
async function mended(world: World, stack: string): Promise<readonly string[]> {
  const answer = await world.request(`/v1/api/deployment/${stack}`);
  const { decisions } = (await answer.json()).content;
  return decisions.flatMap((each: Record<string, unknown>) =>
    each["trigger"] === "reconciliation" && each["outcome"] !== undefined
      ? [`${each["times"]} ${each["message"]}`]
      : []
  );
}

/** How often reconciliation began to listen to the engine; deployments listen on their own. */
const streams = (world: World) =>
  world.proxy.calls.map(({ path }) => decodeURIComponent(path))
    .filter((path) => path.startsWith("/events") && /"service"/.test(path) && /"oom"/.test(path))
    .length;

const DESTROY = { reconciliation: { events: ["destroy"] } };

describe("stacks that are looked after", () => {
  it("are each known by themselves, whatever target of a repository was polled last", () =>
    inWorld("fake", async (world) => {
      const stacks = ["nas", "vps"].map((target) => `${world.stack}-${target}`);
      await world.repository.commit({
        "compose.yaml": composeFile({ web: service() }),
        ".stackwright.nas.yaml": configFile({ name: stacks[0], ...DESTROY }),
        ".stackwright.vps.yaml": configFile({ name: stacks[1], ...DESTROY }),
      });
      await pollTo(world, "succeeded", { target: "nas" });
      await pollTo(world, "succeeded", { target: "vps" });
      for (const stack of stacks) {
        remove(world, stack);
        await until(isThere(world, stack));
      }
    }));

  it("are left alone as soon as their configuration says so, also where nothing else changed", () =>
    inWorld("fake", async (world) => {
      const other = `${world.stack}-other`;
      const configure = (...parts: readonly Part[]) => ({
        "compose.yaml": composeFile({ web: service() }),
        ".stackwright.yaml": configFile(
          ...[world.stack, other].map((name, index) => ({ name, ...parts[index] })),
        ),
      });
      await world.repository.commit(configure(DESTROY, DESTROY));
      await pollTo(world, "succeeded");
      await world.repository.commit(configure({ reconciliation: false }, DESTROY));
      await world.poll();
      remove(world, world.stack);
      remove(world, other);
      await until(isThere(world, other));
      assert.deepEqual(await states(world), {});
      await world.repository.commit(
        configure({ reconciliation: false }, { reconciliation: false }),
      );
      // A run, as everywhere, brings back what is missing.
      await pollTo(world, "succeeded");
      [world.stack, other].forEach((stack) => remove(world, stack));
      await world.clock.sleep(5_000, new AbortController().signal);
      assert.deepEqual([await states(world), await states(world, other)], [{}, {}]);
    }));

  it("are listened to without a pause, whatever is polled, and how often they were restarted is not forgotten", () =>
    inWorld("fake", async (world) => {
      const healthcheck = { test: ["CMD", "true"], interval: "500ms", retries: 1 };
      const reconciliation = { restart_limit: 2, restart_window: "1h", restart_timeout: 0 };
      const files = (v: string) => ({
        "compose.yaml": composeFile({ web: service({ healthcheck }) }),
        "README.md": v,
      });
      await commit(world, files("1"), { reconciliation });
      await pollTo(world, "succeeded");
      const restarts = () =>
        world.proxy.calls.filter(({ path }) => /\/restart(\?|$)/.test(path)).length;
      const told = (pattern: RegExp) =>
        world.lines.filter(({ message }) => pattern.test(message)).length;
      const sicken = () => world.fake?.setHealth(`${world.stack}-web-1`, "unhealthy");
      const done = /^restarted: container \S+ is unhealthy$/;
      await until(() => Promise.resolve(streams(world) > 0));
      const before = streams(world);
      for (let count = 1; count <= 2; count++) {
        sicken();
        await until(() => Promise.resolve(told(done) >= count));
        await commit(world, files(`${count + 1}`), { reconciliation });
        await pollTo(world, "skipped");
      }
      assert.equal(streams(world), before);
      sicken();
      await until(() =>
        Promise.resolve(told(/^container \S+ is unhealthy and was restarted 2/) > 0)
      );
      await world.restart();
      await pollTo(world, "skipped");
      sicken();
      await world.clock.sleep(5_000, new AbortController().signal);
      assert.equal(restarts(), 2);
    }));

  it("are one each, whether a webhook or a poll deployed them", () =>
    inWorld("fake", async (world) => {
      const cloneUrl = "https://git.example.test/acme/shop.git";
      const secret = "canary-of-the-webhooks";
      await world.restart({
        WEBHOOK_SECRET: secret,
        SOURCE_URL_REWRITES: `"${cloneUrl}": "${world.repository.url}"`,
        ALLOW_LOCAL_REPOSITORY_URL: "false",
      });
      await commit(world, { "compose.yaml": composeFile({ web: service() }) }, DESTROY);
      await pollTo(world, "succeeded", { url: cloneUrl });
      const repository = { full_name: "acme/shop", clone_url: cloneUrl };
      const { headers, body } = signed("github", {
        event: "push",
        payload: githubPush({ repository }),
        secret,
      });
      const answer = await world.request("/v1/webhook?wait=true", {
        method: "POST",
        headers,
        body,
      });
      assert.equal(answer.ok, true, await answer.text());
      remove(world, world.stack);
      await until(isThere(world, world.stack));
      await until(async () => (await mended(world, world.stack)).length > 0);
      await world.clock.sleep(5_000, new AbortController().signal);
      const decisions = await mended(world, world.stack);
      assert.equal(decisions.length, 1, JSON.stringify(decisions));
      assert.match(decisions[0] ?? "", /^1 release 1 comes back/);
    }));

  it("that have done their work stay as they are, at polls and when the service starts", () =>
    inWorld("fake", async (world) => {
      const other = `${world.stack}-other`;
      world.fake?.setBehaviour("migrate", { exit: 0 });
      const all = { reconciliation: { events: ["die", "destroy", "stop", "kill"] } };
      await world.repository.commit({
        "compose.yaml": composeFile({ migrate: service({ command: ["true"] }) }),
        "other.yaml": composeFile({ web: service() }),
        ".stackwright.yaml": configFile(
          { name: world.stack, ...all },
          { name: other, compose_files: ["other.yaml"], ...all },
        ),
      });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      assert.deepEqual(await states(world), { "migrate-1": "exited" });
      await pollTo(world, "skipped");
      await world.stop();
      remove(world, other);
      world.proxy.reset();
      await world.restart();
      // What was missed is mended, so everything was looked at.
      await until(async () => (await mended(world, other)).length > 0);
      await pollTo(world, "skipped");
      await world.clock.sleep(5_000, new AbortController().signal);
      assert.deepEqual(await ids(world), before);
      assert.deepEqual(await states(world), { "migrate-1": "exited" });
      assert.deepEqual(await mended(world, world.stack), []);
    }));
});
