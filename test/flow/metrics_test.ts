import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo } from "./steps.ts";
import { createWorld, type World } from "./world.ts";

/** Values of one metric by their labels, as the text format has them. */
async function read(world: World, name: string): Promise<Record<string, number>> {
  const answer = await fetch(`${world.app.metricsUrl}/metrics`);
  assert.equal(answer.status, 200);
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith(name));
  return Object.fromEntries(lines.map((line) => {
    const [, labels = "", value] = /^[a-z_]+(?:\{(.*)\})? (.*)$/.exec(line) ?? [];
    return [labels, Number(value)];
  }));
}

const sum = (values: Record<string, number>) =>
  Object.values(values).reduce((total, value) => total + value, 0);

describe("metrics", () => {
  it("count what a stranger is refused as the stranger's, whatever it names to deploy from", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        const { url } = world.repository;
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\nrepository_url: ${url}\n`,
        });
        await pollTo(world, "failed", { url: other.repository.url });
        const errors = Object.entries(await read(world, "service_deployment_errors_total"));
        const name = other.repository.path.replace(/^\//, "");
        assert.deepEqual(
          errors.map(([labels, count]) => [labels.includes(name), count]).sort(),
          [[false, 0], [true, 1]],
        );
      } finally {
        await other.close();
      }
    }));

  it("tell runs, deployments, failures and mutating calls, and nothing of a pass without changes", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      const stack = `deployment="${world.stack}",context="default"`;
      const deployments = await read(world, "service_deployments_total");
      assert.equal(Object.keys(deployments).length, 1);
      assert.ok(Object.keys(deployments)[0]?.endsWith(stack));
      assert.equal(sum(deployments), 1);
      const mutations = sum(await read(world, "service_mutations_total"));
      assert.ok(mutations >= 1);
      for (let pass = 0; pass < 3; pass++) await pollTo(world, "skipped");
      assert.equal(sum(await read(world, "service_mutations_total")), mutations);
      assert.equal(sum(await read(world, "service_polls_total")), 4);
      assert.equal(sum(await read(world, "service_deployments_total")), 1);
      // There before the first error, so that an alert sees the step from zero.
      for (const errors of ["deployment_errors_total", "poll_errors_total"]) {
        assert.deepEqual(Object.values(await read(world, `service_${errors}`)), [0], errors);
      }

      const gauges = async () =>
        await Promise.all(
          ["failing", "held"].map(async (name) => sum(await read(world, `service_stack_${name}`))),
        );
      assert.deepEqual(await gauges(), [0, 0]);
      for (const name of ["last_success", "last_look"]) {
        const [at = 0] = Object.values(
          await read(world, `service_stack_${name}_timestamp_seconds`),
        );
        assert.ok(Math.abs(world.clock.now().getTime() / 1000 - at) < 3600, `${name}: ${at}`);
      }

      world.fake?.setBehaviour("web", { exit: 3, afterMs: 0 });
      await commit(world, { "compose.yaml": composeFile({ web: service({ restart: "always" }) }) });
      await pollTo(world, "failed");
      assert.equal(sum(await read(world, "service_deployments_total")), 2);
      assert.equal(sum(await read(world, "service_deployment_errors_total")), 1);
      assert.equal(sum(await read(world, "service_poll_errors_total")), 1);
      assert.deepEqual(await gauges(), [1, 0]);
      for (const gauge of ["deployments_active", "deployments_queued", "pre_deployments_active"]) {
        assert.equal(sum(await read(world, `service_${gauge}`)), 0, gauge);
      }
    }));

  it("tell of a stack whose first deployment fails, until it is deployed", () =>
    inWorld("fake", async (world) => {
      const failing = async () => {
        const found = await read(world, "service_stack_failing");
        return Object.entries(found).filter(([labels]) => labels.includes(`"${world.stack}"`));
      };
      assert.deepEqual(await failing(), []);
      // Neither comes as far as to a release that runs: one cannot be rendered, one cannot be pulled.
      for (const services of ["{web: 1}", "{web: {image: 'registry.test/none:1'}}"]) {
        await commit(world, { "compose.yaml": `services: ${services}\n` });
        await pollTo(world, "failed");
        const [only, ...more] = await failing();
        assert.deepEqual([only?.[1], more], [1, []], services);
      }
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      assert.deepEqual((await failing()).map(([, value]) => value), [0]);
    }));

  it("tell rollbacks and removals, and what failed of them, which explain tells too", () =>
    inWorld("fake", async (world) => {
      const shop = (number: string) => ({
        "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
      });
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      const counts = async () =>
        await Promise.all(
          ["deployments", "deployment_errors"].map(async (name) =>
            sum(await read(world, `service_${name}_total`))
          ),
        );
      assert.deepEqual(await counts(), [2, 0]);
      const rollback = `/v1/api/deployment/${world.stack}/rollback?wait=true`;
      const answer = await world.request(rollback, { method: "POST", body: "{}" });
      assert.equal(answer.status, 200, await answer.text());
      assert.deepEqual(await counts(), [3, 0]);

      await commit(world, {}, { destroy: true });
      world.proxy.reset({ kind: "error", at: 1, among: "mutating", lasts: true });
      await pollTo(world, "failed");
      world.proxy.reset();
      assert.deepEqual(await counts(), [4, 1]);
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(out, /: destroy: destroy web\n.*\n +outcome: failed: engine refused POST/);
      const told = `as the last failure and as the outcome: ${out}`;
      assert.equal(out.split("engine refused").length, 3, told);
      await pollTo(world, "succeeded");
      assert.deepEqual(await counts(), [5, 1]);
    }));

  it("need no key, are only on their own port, and take no name from strangers", () =>
    inWorld("fake", async (world) => {
      const before = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
      const wrong = { "x-api-key": "wrong" };
      const body = JSON.stringify([{ url: "https://stranger.test/a/b.git" }]);
      for (const path of ["/v1/api/poll/run", "/v1/api/runs?status=stranger"]) {
        await (await world.request(path, { method: "POST", headers: wrong, body })).text();
      }
      assert.equal((await world.request("/metrics")).status, 404);
      const after = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
      const names = (text: string) =>
        text.split("\n").filter((line) => line.startsWith("service_")).map((line) =>
          line.replace(/ [^ ]*$/, "")
        );
      assert.deepEqual(names(after), names(before));
    }));
});
