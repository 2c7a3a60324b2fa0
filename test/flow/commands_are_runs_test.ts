import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { command, commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, label, pollTo } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
});

/** The newest run that the service shows. */
async function newestRun(world: World): Promise<RunBody> {
  const answer = await world.request("/v1/api/runs?limit=1");
  const [run] = (await answer.json()).content as RunBody[];
  assert.ok(run);
  return run;
}

/** Calls an action of the stack over the API. */
async function act(world: World, action: string, body: unknown = {}) {
  const path = `/v1/api/deployment/${world.stack}/${action}`;
  const answer = await world.request(path, { method: "POST", body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
}

describe("what a person does", () => {
  it("beside the service is a run that the service shows", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await commandTo(world, 0, ["apply", world.repository.path]);
      const applied = await newestRun(world);
      assert.deepEqual([applied.status, applied.deployments?.[0]?.stack], [
        "succeeded",
        world.stack,
      ]);
      await commit(world, shop("2"));
      await pollTo(world, "succeeded");
      const { out } = await commandTo(world, 0, [
        ...["rollback", world.stack, "--reason", "CPU bug"],
      ]);
      assert.match(out, /is back at release 1 \(recreate web\)/);
      const back = await newestRun(world);
      assert.match(back.message ?? "", /^\S+: release 1 again: recreate web$/);
      assert.equal(back.status, "succeeded");
      await world.restart();
      assert.equal((await newestRun(world)).job_id, back.job_id);
      const gone = await command(world, ["rollback", world.stack, "9"]);
      assert.match(gone.err, /has no release 9/);
      assert.equal((await newestRun(world)).job_id, back.job_id, "nothing was begun");
    }));

  it("retry tries what failed again, once it was put right outside, and nothing else", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const idle = await commandTo(world, 1, ["retry", world.stack]);
      assert.match(idle.err, /nothing of \S+ has failed/);
      await commit(world, { "compose.yaml": composeFile({ web: badService(world) }) });
      await pollTo(world, "failed");
      const again = await commandTo(world, 1, ["retry", world.stack]);
      assert.match(again.err, /web/);
      assert.equal((await newestRun(world)).status, "failed");
      await commit(world, shop("2"));
      const { out } = await commandTo(world, 0, ["retry", world.stack]);
      assert.match(out, /: recreate web$/m);
      assert.equal((await newestRun(world)).status, "succeeded");
      assert.equal(await label(world, "web", "number"), "2");
      const explained = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(explained.out, /: deploy: recreate web\n {2}by manual retry, at /);
    }));

  it("over the API is a run too: a rollback, with its reason, until it is resumed", () =>
    inWorld("fake", async (world) => {
      assert.equal((await act(world, "rollback")).status, 404);
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      assert.equal((await act(world, "rollback")).status, 404, "there is none before it");
      await commit(world, shop("2"));
      await pollTo(world, "succeeded");
      const { status, body } = await act(world, "rollback", { release: 1, reason: "CPU bug" });
      assert.equal(status, 200, JSON.stringify(body));
      assert.match(body.content, /release 1 again: recreate web$/);
      assert.equal((await newestRun(world)).job_id, body.job_id);
      assert.equal(await label(world, "web", "number"), "1");
      for (let poll = 0; poll < 3; poll++) {
        const run = await pollTo(world, "skipped");
        assert.match(JSON.stringify(run), /rolled back to release 1 \(CPU bug\)/);
      }
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(out, /: back to release 1 \(CPU bug\): recreate web$/m);
      assert.match(out, /^held back at release 1 since .*: CPU bug$/m);
      const stateOf = async () => {
        const answer = await world.request(`/v1/api/deployments`);
        const { deployments } = (await answer.json()).content;
        return deployments.map((each: { state: string }) => each.state);
      };
      assert.deepEqual(await stateOf(), ["held"]);
      assert.equal((await act(world, "resume")).body.content.resumed, true);
      assert.deepEqual(await stateOf(), ["waiting"]);
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "number"), "2");
    }));
});

describe("one stack of several", () => {
  const WEB = { "compose.yaml": composeFile({ web: service() }) };
  const named = (world: World, names: readonly string[]) =>
    world.repository.commit({
      ".stackwright.yaml": names.map((name) => `name: ${world.stack}-${name}\n`).join("---\n"),
      ...WEB,
    });
  const ask = async (world: World, action: string, body: unknown = {}) => {
    const path = `/v1/api/deployment/${world.stack}-a/${action}`;
    const answer = await world.request(path, { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };

  it("is planned and deployed over the API, and the others are left alone", () =>
    inWorld("fake", async (world) => {
      await named(world, ["a", "b"]);
      await pollTo(world, "succeeded");
      assert.equal((await ask(world, "retry")).status, 409, "nothing failed");
      await world.repository.commit({
        "compose.yaml": composeFile({ web: service({ labels: { number: "2" } }) }),
      });
      world.proxy.reset();
      const { status, body: { content: plan } } = await ask(world, "plan");
      assert.deepEqual([status, plan.kind, plan.message], [200, "deploy", "recreate web"]);
      assert.match(plan.diff, /^\+.*number/m);
      assert.equal(world.proxy.mutations(), 0);
      const stale = await ask(world, "apply", { plan_id: "0" });
      assert.deepEqual([stale.status, world.proxy.mutations()], [409, 0]);
      const applied = await ask(world, "apply", { plan_id: plan.plan_id });
      assert.equal(applied.status, 200, JSON.stringify(applied.body));
      const run = await newestRun(world);
      assert.equal(run.job_id, applied.body.job_id);
      assert.deepEqual(run.deployments?.map(({ stack }) => stack), [`${world.stack}-a`]);
      const number = (name: string) => label(world, "web", "number", name);
      assert.equal(await number(`${world.stack}-a`), "2");
      assert.equal(await number(`${world.stack}-b`), undefined);

      await named(world, ["b"]);
      const gone = await ask(world, "apply");
      assert.equal(gone.status, 500);
      assert.match(gone.body.content, /does not name \S+-a any more/);
    }));
});
