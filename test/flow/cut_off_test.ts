import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { commandTo, rows } from "./commands.ts";
import { COMPOSE_LABELS } from "../../src/model/mod.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { beginRollback, KEY, withOther } from "./other_process.ts";
import { commit, docker, inWorld, label, pollTo, states } from "./steps.ts";
import { createWorld, IMAGE, type World } from "./world.ts";
import { until } from "./until.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({ db: service(), web: service({ labels: { number } }) }),
});

/** Deploys two releases; a person's command that goes back to the first is killed before it does anything. */
async function withKilledRollback(world: World, reconciliation: object | boolean = false) {
  for (const number of ["1", "2"]) {
    await commit(world, shop(number), { reconciliation });
    await pollTo(world, "succeeded");
  }
  await withOther(world, (other) => Promise.resolve(void beginRollback(world, other, 1)));
}

/** Makes a container that is to replace that of `web`, as a rollout that is cut off leaves it; returns its id. */
async function withHalfReplaced(world: World): Promise<string> {
  const web = (await world.containers()).find((each) => each.service === "web");
  assert.ok(web);
  const labels = { ...web.labels, [COMPOSE_LABELS.replaces]: web.id };
  const told = Object.entries(labels).flatMap((each) => ["--label", each.join("=")]);
  const name = `${web.id.slice(0, 12)}_${web.name}`;
  return (await docker(world, "create", "--name", name, ...told, IMAGE)).trim();
}

const open = (world: World) => rows(world, "SELECT id FROM intents WHERE closed_at IS NULL").length;

/** Requires that the rollback was finished and holds: nothing is open, and the first release is pinned. */
async function requireBack(world: World): Promise<void> {
  assert.equal(open(world), 0);
  assert.equal(await label(world, "web", "number"), "1");
  assert.equal(rows(world, "SELECT name FROM pins").length, 1);
}

describe("a stop over the API", () => {
  it("waits for what another process is changing, and holds what comes of that", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const stop = () => world.request(`/v1/api/project/${world.stack}/stop`, { method: "POST" });
      await withOther(world, async (other) => {
        const intent = beginRollback(world, other, 1);
        let isDone = false;
        const stopped = stop().then((answer) => {
          isDone = true;
          return answer.status;
        });
        await pause(500);
        assert.equal(isDone, false);
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
        other.succeed(intent, {}, "release 1 again");
        assert.equal(await stopped, 200);
      });
      assert.deepEqual(await states(world), { "db-1": "exited", "web-1": "exited" });
    }));
});

describe("what a killed rollback had begun", () => {
  it("is not taken up by another repository that names the stack, whose wait would cut it off", async () => {
    const other = await createWorld({ engine: "fake" });
    try {
      await inWorld("fake", async (world) => {
        await withKilledRollback(world);
        const { repository } = other;
        await repository.commit({
          ".stackwright.yaml": configFile({ name: world.stack }),
          ...shop("theirs"),
        });
        const refused = await pollTo(world, "failed", { url: repository.url });
        assert.match(JSON.stringify(refused), /already belongs to/);
        assert.equal(open(world), 1);
        await pollTo(world, "skipped");
        await requireBack(world);
      });
    } finally {
      await other.close();
    }
  });

  it("is finished by the look after an event of a container, which repairs what it comes to", () =>
    inWorld("fake", async (world) => {
      await withKilledRollback(world, { events: ["die"] });
      await docker(world, "kill", `${world.stack}-web-1`);
      await until(() => Promise.resolve(open(world) === 0));
      await pollTo(world, "skipped");
      await requireBack(world);
    }));

  for (const at of [1, 2, 3]) {
    it(`is not undone by a poll in which the engine fails at call ${at}, and is finished by the next`, () =>
      inWorld("fake", async (world) => {
        await withKilledRollback(world);
        world.proxy.reset({ kind: "error", at, among: "all" });
        const { run } = await world.poll();
        world.proxy.reset();
        const [told] = run.deployments ?? [];
        if (open(world) === 1) assert.match(told?.message ?? "", /its last change was interrupted/);
        await pollTo(world, "skipped");
        await requireBack(world);
      }));
  }

  it("is over where it is of a first release that a person removes", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const ledger = new DatabaseSync(join(world.dataDir, "state.db"));
      ledger.exec("DELETE FROM stacks");
      ledger.close();
      await withOther(world, (other) => {
        const [release] = other.history(KEY(world), 1);
        const mark = other.mark(KEY(world));
        assert.ok(release && other.beginDecided(other.open(release), mark));
        return Promise.resolve();
      });
      const url = `/v1/api/project/${world.stack}`;
      assert.equal((await world.request(url, { method: "DELETE" })).status, 200);
      assert.deepEqual([open(world), await world.containers()], [0, []]);
    }));

  it("is a release that runs, whose process ended while it removed what that has replaced", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await withOther(world, (other) => {
        other.deployed(beginRollback(world, other, 1, false), {}, "deployed");
        return Promise.resolve();
      });
      assert.equal(open(world), 1);
      world.proxy.reset();
      await pollTo(world, "skipped");
      assert.deepEqual([open(world), world.proxy.mutations()], [0, 0]);
    }));

  it("waits while a person has the stack stopped, who starts it, and then goes on", () =>
    inWorld("fake", async (world) => {
      await withKilledRollback(world);
      const project = `/v1/api/project/${world.stack}`;
      const post = async (path: string) =>
        (await world.request(`${project}${path}`, { method: "POST" })).status;
      assert.equal(await post("/stop"), 200);
      await world.restart();
      await pollTo(world, "skipped");
      assert.deepEqual(await states(world), { "db-1": "exited", "web-1": "exited" });
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(
        out,
        /^held .* was stopped over the API at [^;]+; it stays so until POST \S+start$/m,
      );
      assert.equal(await post("/start"), 200);
      await pollTo(world, "skipped");
      await requireBack(world);
    }));

  for (const action of ["recreate", "start", "restart"]) {
    it(`is neither closed nor acted on by a person who asks for a ${action}`, () =>
      inWorld("fake", async (world) => {
        await withKilledRollback(world);
        const half = await withHalfReplaced(world);
        const url = `/v1/api/project/${world.stack}/${action}`;
        const refused = await world.request(url, { method: "POST" });
        assert.equal(refused.status, 409);
        assert.match(
          JSON.stringify(await refused.json()),
          new RegExp(`nothing of ${world.stack} was ${action}e?d: its last change was interrupted`),
        );
        assert.equal((await world.containers()).find(({ id }) => id === half)?.state, "created");
        await pollTo(world, "skipped");
        await requireBack(world);
      }));
  }

  it("leaves nothing beside its old container that a person starts in a stack that was stopped since", () =>
    inWorld("fake", async (world) => {
      await withKilledRollback(world);
      await withHalfReplaced(world);
      const post = async (action: string) =>
        (await world.request(`/v1/api/project/${world.stack}/${action}`, { method: "POST" }))
          .status;
      assert.equal(await post("stop"), 200);
      assert.equal(await post("start"), 200);
      assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
      assert.equal(await label(world, "web", "number"), "2");
      await pollTo(world, "skipped");
      await requireBack(world);
    }));
});
