import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { automaticPollTo, command, commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, label, pollTo, states } from "./steps.ts";
import type { World } from "./world.ts";

const HOUR_MS = 60 * 60 * 1000;

const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
});

async function detail(world: World) {
  const answer = await world.request(`/v1/api/deployment/${world.stack}`);
  assert.equal(answer.status, 200);
  return (await answer.json()).content as Record<string, unknown> & {
    readonly hold?: Record<string, string>;
  };
}

/** Calls an action of the stack over the API. */
async function act(world: World, action: string, body: unknown = {}) {
  const path = `/v1/api/deployment/${world.stack}/${action}`;
  const answer = await world.request(path, { method: "POST", body: JSON.stringify(body) });
  return { status: answer.status, content: (await answer.json()).content };
}

describe("a stack that a person holds", () => {
  it("is not updated until its time has come, over restarts, and says why", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const { out: held } = await commandTo(world, 0, [
        ...["hold", world.stack, "--reason", "CPU bug", "--until", "36h"],
      ]);
      assert.match(held, /is held until \d{4}-\d\d-\d\d /);
      const id = await commit(world, shop("2"));
      const run = await automaticPollTo(world, "skipped");
      const why = /^\S+ is held by a person since \S+:\d\dZ until \S+:\d\dZ: CPU bug$/;
      assert.match(run.deployments?.[0]?.message ?? "", why);
      assert.match(run.deployments?.[0]?.reason ?? "", /^paused: \S+ is held .*: CPU bug$/);
      await pollTo(world, "skipped");
      assert.equal(await label(world, "web", "number"), "1");

      const apply = ["apply", world.repository.path];
      const { out: applied } = await commandTo(world, 2, apply);
      const end = /held until (.*)\n$/.exec(held)?.[1] ?? "";
      assert.ok(applied.includes(`until ${end}: CPU bug\n`), applied);
      const { stacks: [waiting] } = JSON.parse(
        (await commandTo(world, 2, [...apply, "--json"])).out,
      );
      const { hold } = await detail(world);
      assert.deepEqual([waiting.status, waiting.retry_at], ["skipped", hold?.["until"]]);

      // What the hold keeps back is to be seen before it ends.
      const { out: planned } = await commandTo(world, 2, ["plan", world.repository.path]);
      assert.match(
        planned,
        /: \S+ is held by a person .*: CPU bug; waiting: recreate web\n {2}web: recreate: /,
      );
      assert.match(planned, /^-.*number: "1"\n\+.*number: "2"$/m);
      assert.match(planned, /^plan: 1 stack, 1 with changes/m);
      assert.notEqual((await detail(world)).hold, undefined);
      const { out: explained } = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(explained, /^held by a person since .* until .*: CPU bug$/m);
      const shown = await detail(world);
      assert.deepEqual([shown["state"], shown.hold?.["reason"]], ["held", "CPU bug"]);
      assert.match(String(shown["why"]), /^held by a person since .*: CPU bug$/);

      world.advance(37 * HOUR_MS);
      assert.equal((await detail(world)).hold, undefined);
      await automaticPollTo(world, "succeeded");
      assert.equal(await label(world, "web", "number"), "2");
      assert.equal((await detail(world))["state"], "synced", id);
    }));

  it("is neither removed nor forgotten before that is ended", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      assert.equal((await act(world, "hold", { reason: "on holiday" })).status, 200);
      const path = `/v1/api/project/${world.stack}`;
      const refused = await world.request(path, { method: "DELETE" });
      assert.equal(refused.status, 409);
      assert.match(await refused.text(), /is not removed: it is held by a person .*: on holiday;/);
      assert.deepEqual(await states(world), { "web-1": "running" });
      assert.equal((await act(world, "resume")).status, 200);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.doesNotMatch(out, /failed|is not removed/);
      assert.equal((await world.request(path, { method: "DELETE" })).status, 200);
      const gone = await commandTo(world, 1, ["status", world.stack]);
      assert.match(gone.err, /nothing of \S+ is deployed any more: .*; stackwright explain/);
      const again = await commandTo(world, 1, ["forget", world.stack]);
      assert.match(again.err, /there is nothing to forget of \S+: it was removed or forgotten/);
      const { out: past } = await commandTo(world, 0, ["history", world.stack]);
      assert.match(past, /^none of them is deployed now$/m);

      // Of what was held back meanwhile nothing is left, either.
      assert.equal((await act(world, "hold", { until: "2h" })).status, 200);
      await pollTo(world, "skipped");
      assert.equal((await act(world, "resume")).status, 200);
      for (const name of ["status", "explain"]) {
        const { out } = await commandTo(world, 0, [name, world.stack]);
        assert.doesNotMatch(out, /next try/);
        assert.match(out, /^unknown.* nothing is deployed; .* comes back at its next poll/m);
      }

      await commit(world, {
        "compose.yaml": composeFile({ web: service({ image: "no/such:1" }) }),
      });
      await pollTo(world, "failed");
      assert.equal((await act(world, "hold")).status, 200);
      const { err } = await commandTo(world, 1, ["forget", world.stack]);
      assert.match(err, /is not forgotten: it is held by a person/);
    }));

  it("gets back what is missing, and is not destroyed, until it is resumed", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      assert.equal((await act(world, "hold", { reason: "looking at it" })).status, 200);
      await commit(world, shop("2"));
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await automaticPollTo(world, "skipped");
      assert.deepEqual(await states(world), { "web-1": "running" });
      assert.equal(await label(world, "web", "number"), "1");
      await commit(world, {}, { destroy: true });
      await pollTo(world, "skipped");
      assert.deepEqual(await states(world), { "web-1": "running" });
      await commit(world, {}, {});

      assert.deepEqual((await act(world, "resume")).content, { resumed: true });
      assert.deepEqual((await act(world, "resume")).content, { resumed: false });
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "number"), "2");
    }));

  it("is one that is known, held for a time that is one", () =>
    inWorld("fake", async (world) => {
      const unknown = await command(world, ["hold", world.stack]);
      assert.deepEqual([unknown.code, unknown.out], [1, ""]);
      assert.match(unknown.err, /nothing is recorded about/);
      for (const until of ["yesterday", "2020-01-01T00:00:00Z", "-3h"]) {
        assert.equal((await act(world, "hold", { until })).status, 400, until);
      }
    }));
});
