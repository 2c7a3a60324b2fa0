import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../src/model/mod.ts";
import { automaticPollTo, commandTo, rows } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { withOther } from "./other_process.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { IMAGE, type World } from "./world.ts";

const SECOND = 1000;

/** A stack with a volume that a person's container keeps from going. */
async function withUsedVolume(world: World, files: Record<string, string>): Promise<void> {
  await world.repository.commit(files);
  await pollTo(world, "succeeded");
  const volume = rows(world, "SELECT name FROM releases")[0]?.["name"];
  await docker(world, "create", "--name", "user", "-v", `${volume}_store:/x`, IMAGE);
}

const own = ({ stack }: World) => configFile({ name: stack });

const compose = (extra = {}) =>
  composeFile({ web: service({ volumes: ["store:/store"] }) }, {
    volumes: { store: {} },
    ...extra,
  });

describe("a removal that failed", () => {
  const waits = async (world: World, until: number) => {
    world.proxy.reset();
    const before = rows(world, "SELECT id FROM intents");
    // Real time passes as well.
    world.advance(until / 2 * SECOND);
    const run = await automaticPollTo(world, "skipped");
    const text = JSON.stringify(run);
    assert.match(
      text,
      /its removal failed before \(.*has volume \S+ in use.*is not tried again before /,
    );
    assert.equal(world.proxy.mutations(), 0);
    assert.deepEqual(rows(world, "SELECT id FROM intents"), before);
    world.advance(until / 2 * SECOND);
  };

  it("waits for pauses that grow, but not when a person asks, and is shown as failed", () =>
    inWorld("fake", async (world) => {
      await withUsedVolume(world, { ".stackwright.yaml": own(world), "compose.yaml": compose() });
      await commit(world, {}, { destroy: true });
      await automaticPollTo(world, "failed");
      const plan = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(plan.out, /; its removal failed once \(.*; the first poll or webhook after /);
      await waits(world, 10);
      await automaticPollTo(world, "failed");
      await waits(world, 20);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(out, /failed[\s\S]*remove what has volume \S+ in use/);
      await pollTo(world, "failed");
      await docker(world, "rm", "user");
      await pollTo(world, "succeeded");
      assert.deepEqual(rows(world, "SELECT * FROM failures"), []);
    }));

  it("of a person's says that nobody tries it again, and what a poll does", () =>
    inWorld("fake", async (world) => {
      await withUsedVolume(world, { ".stackwright.yaml": own(world), "compose.yaml": compose() });
      const path = `/v1/api/project/${world.stack}`;
      const { status } = await world.request(path, { method: "DELETE" });
      assert.equal(status, 500);
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      const said =
        "After a removal over the API ask again: polls bring back what is still described";
      assert.match(out, new RegExp(`: destroy: a person asked for it [\\s\\S]*failed: .*${said}`));
      await pollTo(world, "succeeded");
    }));

  it("is no failure of the release that the stack gets when it is wanted again", () =>
    inWorld("fake", async (world) => {
      await withUsedVolume(world, { ".stackwright.yaml": own(world), "compose.yaml": compose() });
      await commit(world, {}, { destroy: true });
      await automaticPollTo(world, "failed");
      await commit(world, {}, { destroy: false });
      await automaticPollTo(world, "succeeded");
      assert.deepEqual(rows(world, "SELECT * FROM failures"), []);
    }));

  const discovered = async (world: World) => {
    const path = `apps/${world.stack}-a/compose.yaml`;
    const discovery = {
      working_dir: "apps",
      auto_discovery: { enabled: true, delete: true, remove_volumes: true },
    };
    const files = { ".stackwright.yaml": configFile(discovery), [path]: compose(), "apps/x": "" };
    await withUsedVolume(world, files);
    await world.repository.remove([path]);
  };

  it("says of a discovered stack how often it failed and what is next; retry tries it again", () =>
    inWorld("fake", async (world) => {
      const name = `${world.stack}-a`;
      await discovered(world);
      await pollTo(world, "failed");
      const plan = await commandTo(world, 2, ["plan", world.repository.url]);
      const often =
        /destroy what is left; .*; its removal failed \w+.*has volume \S+ in use.*tries it again/;
      assert.match(plan.out, often);
      const failed = await commandTo(world, 1, ["retry", name]);
      assert.match(failed.out + failed.err, /has volume \S+ in use/);
      await docker(world, "rm", "user");
      await commandTo(world, 0, ["retry", name]);
      assert.deepEqual(rows(world, "SELECT * FROM failures"), []);
    }));

  it("leaves no word behind where another process removes what a poll has just left to wait", () =>
    inWorld("fake", async (world) => {
      const name = `${world.stack}-a`;
      const key = stackKey("", name);
      await discovered(world);
      await automaticPollTo(world, "failed");
      await withOther(world, async (other) => {
        const about = { trigger: "retry", origin: "manual", revision: "main" } as const;
        const destroy = {
          ...about,
          kind: "destroy",
          message: "",
          changes: [],
          services: [],
        } as const;
        const id = other.decisions.add(key, destroy, new Date());
        // Between a person's decision and the first change nothing tells others that it was made.
        await automaticPollTo(world, "skipped");
        other.destroyed(other.beginDestroy(key, {}), "destroyed");
        other.decisions.end(key, id, { status: "succeeded", message: "removed: by a person" });
      });
      const { err } = await commandTo(world, 1, ["status", name]);
      assert.match(err, /nothing of \S+ is deployed any more: removed: by a person/);
      const { out } = await commandTo(world, 0, ["status"]);
      assert.doesNotMatch(out, /its removal failed/);
    }));

  it("waits also where nothing names the stack any more", () =>
    inWorld("fake", async (world) => {
      await discovered(world);
      await automaticPollTo(world, "failed");
      await waits(world, 10);
      await automaticPollTo(world, "failed");
      await docker(world, "rm", "user");
      await pollTo(world, "succeeded");
      assert.deepEqual(rows(world, "SELECT * FROM failures"), []);
    }));
});
