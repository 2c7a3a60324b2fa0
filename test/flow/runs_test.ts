import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createWorld, IMAGE, type RunBody, type World } from "./world.ts";

const CONFIG = ".stackwright.yaml";

/** A compose file of one service that is checked. */
function compose(revision: string): string {
  return `
services:
  web:
    image: ${IMAGE}
    command: [sleep, "1000"]
    labels: {rev: "${revision}"}
    healthcheck: {test: ["CMD", "true"], interval: 1s}
`;
}

async function commit(world: World, revision: string, more = ""): Promise<void> {
  await world.repository.commit({
    [CONFIG]: `name: ${world.stack}\n${more}`,
    "compose.yaml": compose(revision),
  });
}

interface Listed extends RunBody {
  readonly trigger: string;
}

async function listRuns(world: World, query = ""): Promise<Listed[]> {
  const answer = await world.request(`/v1/api/runs${query}`);
  assert.equal(answer.status, 200);
  return (await answer.json()).content;
}

async function revisionOf(world: World): Promise<(string | undefined)[]> {
  return (await world.containers()).map((each) => each.labels["rev"]);
}

function pollConfig(world: World, more: Record<string, unknown>): Record<string, string> {
  return {
    POLL_CONFIG: JSON.stringify([{ url: world.repository.url, reference: "main", ...more }]),
  };
}

describe("polling by POLL_CONFIG", () => {
  it("an interval deploys a commit by itself, and then every later one", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      await commit(world, "one");
      await world.restart(pollConfig(world, { interval: 10 }));
      await until(async () => (await revisionOf(world))[0] === "one");
      await commit(world, "two");
      await until(async () => (await revisionOf(world))[0] === "two");
      await until(async () => (await listRuns(world, "?status=succeeded")).length === 2);
      assert.deepEqual(
        new Set((await listRuns(world)).map((each) => each.trigger)),
        new Set(["poll"]),
      );
    } finally {
      await world.close();
    }
  });

  it("run_once polls once and no more", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      await commit(world, "one");
      await world.restart(pollConfig(world, { interval: 10, run_once: true }));
      await world.app.polled;
      assert.deepEqual(await revisionOf(world), ["one"]);
      await commit(world, "two");
      // Twice the interval of the hurried clock: a second poll would have come.
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.equal((await listRuns(world)).length, 1);
      assert.deepEqual(await revisionOf(world), ["one"]);
    } finally {
      await world.close();
    }
  });

  it("a restart finds nothing to do: no change on the engine, the same containers", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      await commit(world, "one");
      await world.restart(pollConfig(world, { run_once: true }));
      await world.app.polled;
      const ids = (await world.containers()).map((each) => each.id);
      for (let count = 0; count < 3; count++) {
        world.proxy.reset();
        await world.restart(pollConfig(world, { run_once: true }));
        await world.app.polled;
        const [run] = await listRuns(world);
        assert.equal(run?.status, "skipped", JSON.stringify(run));
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual((await world.containers()).map((each) => each.id), ids);
      }
    } finally {
      await world.close();
    }
  });
});

describe("the API of runs", () => {
  let world: World;
  before(async () => {
    world = await createWorld({ engine: "fake" });
    await commit(world, "one");
  });
  after(() => world.close());

  it("wait=false answers 202 at once with the id of a run that ends by itself", async () => {
    const answer = await world.request("/v1/api/poll/run?wait=false", {
      method: "POST",
      body: JSON.stringify([{ url: world.repository.url, reference: "main" }]),
    });
    assert.equal(answer.status, 202);
    const body = await answer.json();
    assert.equal(body.content, "poll jobs started");
    await until(async () => {
      const run = await world.request(`/v1/api/run/${body.job_id}`);
      return (await run.json()).content.status === "succeeded";
    });
    assert.deepEqual(await revisionOf(world), ["one"]);
  });

  it("wait=true answers when the run has ended, also where nothing was to do", async () => {
    const { status, body, run } = await world.poll();
    assert.equal(status, 200);
    assert.equal(run.status, "skipped");
    assert.equal(run.deployments?.[0]?.reason, "no_changes");
    assert.equal(run.job_id, body["job_id"]);
  });

  it("lists the newest first, filtered and limited", async () => {
    await world.poll({ reference: "no-such" });
    const all = await listRuns(world);
    assert.equal(all[0]?.status, "failed");
    assert.deepEqual(all.map((each) => each.status), ["failed", "skipped", "succeeded"]);
    const failed = await listRuns(world, "?status=failed");
    assert.deepEqual(failed.map((each) => each.job_id), [all[0]?.job_id]);
    assert.deepEqual((await listRuns(world, "?limit=1")).map((each) => each.job_id), [
      all[0]?.job_id,
    ]);
    assert.equal((await listRuns(world, "?trigger=webhook")).length, 0);
    assert.equal((await world.request("/v1/api/runs?status=odd")).status, 400);
    assert.equal((await world.request("/v1/api/run/none-such")).status, 404);
  });

  it("refuses without the key and with a wrong one, but answers the health check", async () => {
    for (const key of ["", "wrong", "world-api-key-471"]) {
      const headers = { "x-api-key": key };
      assert.equal((await world.request("/v1/api/runs", { headers })).status, 401);
      const post = { method: "POST", body: "[]", headers };
      assert.equal((await world.request("/v1/api/poll/run", post)).status, 401);
      assert.equal((await world.request("/v1/health", { headers })).status, 200);
    }
    assert.equal((await listRuns(world)).length, 3, "no run was made");
  });

  it("a poll request that is wrong starts nothing and says which entry is wrong", async () => {
    const runs = (await listRuns(world)).length;
    const bodies: readonly (readonly [string, RegExp])[] = [
      ["{", /json/i],
      ["[]", /no poll configuration/],
      ["[{}]", /index 0/],
      [JSON.stringify([{ url: world.repository.url }, { url: "x y" }]), /index 1/],
      [JSON.stringify([{ url: world.repository.url, deployments: [{ nam: "x" }] }]), /index 0/],
    ];
    for (const [body, says] of bodies) {
      const answer = await world.request("/v1/api/poll/run", { method: "POST", body });
      assert.equal(answer.status, 400, body);
      assert.match((await answer.json()).error, says, body);
    }
    assert.equal((await listRuns(world)).length, runs);
  });
});

describe("inline deployments", () => {
  it("take the place of the repository's configuration, explicit false values included", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}-unused\n`,
        "app/compose.yaml": compose("${WHO}"),
        "app/two.yaml": "services:\n  extra:\n    image: " + IMAGE + "\n",
      });
      const inline = (more: Record<string, unknown>) => ({
        deployments: [{
          name: world.stack,
          working_dir: "app",
          environment: { WHO: "inline" },
          ...more,
        }],
      });
      const both = inline({ compose_files: ["compose.yaml", "two.yaml"] });
      const first = await world.poll(both);
      assert.equal(first.run.status, "succeeded", JSON.stringify(first.run));
      assert.deepEqual(await revisionOf(world), [undefined, "inline"]);
      assert.equal((await world.poll(both)).run.status, "skipped");

      const kept = await world.poll(inline({ remove_orphans: false }));
      assert.notEqual(kept.run.status, "failed", JSON.stringify(kept.run));
      assert.deepEqual((await world.containers()).map((each) => each.service), ["extra", "web"]);
      const removed = await world.poll(inline({}));
      assert.equal(removed.run.status, "succeeded", JSON.stringify(removed.run));
      assert.deepEqual((await world.containers()).map((each) => each.service), ["web"]);
      assert.equal((await world.containers(`${world.stack}-unused`)).length, 0);
    } finally {
      await world.close();
    }
  });
});

describe("shutting down in the middle of a deployment", () => {
  it("lets it end when it does so in time", async () => {
    // A grace period of two and a half seconds, for machines that are busy.
    const world = await createWorld({ engine: "fake", speed: 4 });
    try {
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 150 });
      await commit(world, "one");
      const answer = world.request("/v1/api/poll/run", {
        method: "POST",
        body: JSON.stringify([{ url: world.repository.url, reference: "main" }]),
      });
      await until(async () => (await world.containers())[0]?.state === "running");
      await world.stop();
      assert.equal((await answer).status, 200);
      assert.ok(world.lines.some((line) => line.message === "deployed: create web"));
      assert.deepEqual(openIntents(world), []);
    } finally {
      await world.close();
    }
  });

  it("gives up what hangs, and the next start brings it to its end", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 100_000 });
      await commit(world, "one");
      const answer = world.request("/v1/api/poll/run", {
        method: "POST",
        body: JSON.stringify([{ url: world.repository.url, reference: "main" }]),
      });
      await until(async () => (await world.containers())[0]?.state === "running");
      await world.stop();
      const { status } = await answer;
      assert.equal(status, 503);
      assert.equal(openIntents(world).length, 1);
      const [container] = await world.containers();
      assert.equal(container?.health, "starting");

      world.fake?.setHealth(container?.id ?? "", "healthy");
      await world.restart(pollConfig(world, { run_once: true }));
      await world.app.polled;
      assert.equal((await listRuns(world))[0]?.status, "skipped");
      assert.deepEqual((await world.containers()).map((each) => each.id), [container?.id]);
      await world.stop();
      assert.deepEqual(openIntents(world), []);
    } finally {
      await world.close();
    }
  });

  it("a release that was cut off before it proved healthy is not taken for a good one", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      await commit(world, "one");
      assert.equal((await world.poll()).run.status, "succeeded");
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 100_000 });
      await commit(world, "two");
      const answer = world.request("/v1/api/poll/run", {
        method: "POST",
        body: JSON.stringify([{ url: world.repository.url, reference: "main" }]),
      });
      await until(async () => {
        const [only, second] = await world.containers();
        return only?.labels["rev"] === "two" && only.state === "running" && second === undefined;
      });
      await world.stop();
      await answer;
      const [bad] = await world.containers();
      world.fake?.setHealth(bad?.id ?? "", "unhealthy");
      world.fake?.setBehaviour("web", "run");
      await world.restart();
      await until(() => Promise.resolve(openIntents(world).length === 0));
      assert.deepEqual(await revisionOf(world), ["one"]);
      assert.deepEqual(statuses(world), ["deployed", "rolled_back"]);
    } finally {
      await world.close();
    }
  });
});

describe("work at the same time", () => {
  it("20 stacks of one repository deploy side by side, never more than the setting allows", async () => {
    const world = await createWorld({
      engine: "fake",
      env: { MAX_CONCURRENT_DEPLOYMENTS: "3" },
    });
    try {
      const names = Array.from({ length: 20 }, (_, index) => `${world.stack}-${index}`);
      await world.repository.commit({
        [CONFIG]: names.map((name) => `name: ${name}\n`).join("---\n"),
        "compose.yaml": compose("one"),
      });
      const { run } = await world.poll();
      assert.equal(run.status, "succeeded", JSON.stringify(run));
      assert.deepEqual(
        run.deployments?.map((each) => [each.stack, each.status]).sort(),
        names.map((name) => [name, "succeeded"]).sort(),
      );
      for (const name of names) assert.equal((await world.containers(name)).length, 1, name);
      const most = mostAtOnce(world);
      assert.ok(most <= 3, `${most} at once`);
      assert.ok(most >= 2, `only ${most} at once`);
      world.proxy.reset();
      assert.equal((await world.poll()).run.status, "skipped");
      assert.equal(world.proxy.mutations(), 0);
    } finally {
      await world.close();
    }
  });

  it("one failing stack does not keep the others of its repository from deploying", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      await world.repository.commit({
        [CONFIG]:
          `name: ${world.stack}-a\n---\nname: ${world.stack}-b\ncompose_files: [gone.yaml]\n---\nname: ${world.stack}-c\n`,
        "compose.yaml": compose("one"),
      });
      const { run } = await world.poll();
      assert.equal(run.status, "failed");
      assert.deepEqual(
        run.deployments?.map((each) => each.status),
        ["succeeded", "failed", "succeeded"],
      );
      assert.match(run.message ?? "", /gone\.yaml/);
      const errors = world.lines.filter(({ level }) => level === "error");
      assert.deepEqual(errors.map(({ fields }) => fields["stack"]), [`${world.stack}-b`]);
      assert.equal(world.lines.filter((each) => /gone/.test(each.message)).length, 1, "said once");
    } finally {
      await world.close();
    }
  });

  it("polls of one stack never overlap: one deploys, the others find it done", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 100 });
      await commit(world, "one");
      const polls = await Promise.all(Array.from({ length: 5 }, () => world.poll()));
      assert.deepEqual(polls.map(({ run }) => run.status).sort(), [
        "skipped",
        "skipped",
        "skipped",
        "skipped",
        "succeeded",
      ]);
      assert.equal(mostAtOnce(world), 1);
      assert.equal((await world.containers()).length, 1);
      assert.deepEqual(statuses(world), ["deployed"]);
    } finally {
      await world.close();
    }
  });
});

/** Most deployments that were under way at one moment, by what was logged. */
function mostAtOnce(world: World): number {
  let now = 0;
  let most = 0;
  for (const { message } of world.lines) {
    if (message.startsWith("deploying: ")) most = Math.max(most, ++now);
    if (message.startsWith("deployed: ") || message.startsWith("deployment failed: ")) now--;
  }
  return most;
}

function openIntents(world: World): unknown[] {
  return rows(world, "SELECT * FROM intents WHERE closed_at IS NULL");
}

function statuses(world: World): unknown[] {
  return rows(world, "SELECT status FROM releases ORDER BY number").map((each) => each["status"]);
}

function rows(world: World, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(join(world.dataDir, "state.db"), { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 1500; turn++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("it never happened");
}
