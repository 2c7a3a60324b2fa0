import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { commandTo, rows } from "./commands.ts";
import { sampleOf } from "../fakes/sample.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { commit, ids, label, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, IMAGE, type RunBody, type World } from "./world.ts";

/** Milliseconds for a request to arrive, and for its end to be noticed. */
const MOMENT_MS = 300;

/** An action on a stack of which release 2 runs, release 1 is there and release 3 is committed. */
interface Action {
  readonly name: string;
  readonly path: (stack: string) => string;
  readonly method?: string;
  readonly body?: (world: World) => unknown;
  /** What the audit log says that was asked for; absent for what it does not tell. */
  readonly verb?: string;
  /** What has to be asked for before. */
  readonly before?: string;
  /** Whether it was done in full. */
  readonly isDone: (world: World, before: Readonly<Record<string, string>>) => Promise<boolean>;
}

const project = (action: string) => (stack: string) => `/v1/api/project/${stack}/${action}`;
const deployment = (action: string) => (stack: string) => `/v1/api/deployment/${stack}/${action}`;
const runs = (number: string) => async (world: World) =>
  await label(world, "web", "number") === number;
const allAre = (state: string) => async (world: World) =>
  Object.entries(await states(world))
    .every(([name, each]) => name.startsWith("job") || each === state);
const areNew = async (world: World, before: Readonly<Record<string, string>>) => {
  const now = Object.entries(await ids(world));
  return await allAre("running")(world) && now.length === Object.keys(before).length &&
    now.every(([name, id]) => name.startsWith("job") || before[name] !== id);
};

const ACTIONS: readonly Action[] = [
  { name: "a stop", path: project("stop"), verb: "stop project", isDone: allAre("exited") },
  {
    name: "a start",
    path: project("start"),
    verb: "start project",
    before: "stop",
    isDone: allAre("running"),
  },
  {
    name: "a restart",
    path: project("restart"),
    verb: "restart project",
    isDone: allAre("running"),
  },
  { name: "a recreate", path: project("recreate"), verb: "recreate project", isDone: areNew },
  {
    name: "a removal",
    path: (stack) => `/v1/api/project/${stack}`,
    method: "DELETE",
    verb: "remove project",
    isDone: async (world) => (await world.containers()).length === 0,
  },
  {
    name: "a removal by a tool",
    path: () => "/mcp",
    body: ({ stack }) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "destroy_project", arguments: { project_name: stack, timeout: 3600 } },
    }),
    verb: "remove project",
    isDone: async (world) => (await world.containers()).length === 0,
  },
  { name: "a rollback", path: deployment("rollback"), verb: "roll back stack", isDone: runs("1") },
  { name: "an apply", path: deployment("apply"), verb: "apply stack", isDone: runs("3") },
  {
    name: "a poll",
    path: () => "/v1/api/poll/run",
    body: ({ repository }) => [{ url: repository.url, reference: "main" }],
    isDone: runs("3"),
  },
  {
    name: "a run of a job",
    path: (stack) => `/v1/api/job/${stack}-job-1/run`,
    verb: "run a job of stack",
    isDone: async (world) => (await lastRun(world)).status === "succeeded",
  },
];

async function lastRun(world: World): Promise<RunBody> {
  const [run] = (await (await world.request("/v1/api/runs?limit=1")).json()).content;
  return run;
}

const shop = (number: string) => {
  const labels: Part = {
    "stackwright.job.enabled": "true",
    "stackwright.job.schedule": "0 0 1 1 *",
    "stackwright.job.execution_mode": "one_off",
  };
  return {
    "compose.yaml": composeFile({
      db: service({ labels: { number } }),
      web: service({ labels: { number } }),
      job: service({ image: IMAGE, labels }),
    }),
  };
};

type Hold = () => Promise<void>;

/** A world of two releases and one more commit; changes of the engine wait for what `hold` is set to. */
async function inShop(
  { before }: Action,
  test: (world: World, hold: (by: Hold | undefined) => void) => Promise<void>,
): Promise<void> {
  let held: Hold | undefined;
  const world = await createWorld({
    engine: "fake",
    env: { MCP_ENABLED: "true" },
    onMutation: () => held?.(),
  });
  try {
    for (const number of ["1", "2"]) {
      await commit(world, shop(number));
      await pollTo(world, "succeeded");
    }
    await commit(world, shop("3"));
    world.fake?.setBehaviour("job", { exit: 0 });
    if (before !== undefined) await post(world, project(before)(world.stack));
    await test(world, (by) => held = by);
  } finally {
    await world.close();
  }
}

async function post(world: World, path: string): Promise<void> {
  const answer = await world.request(path, { method: "POST" });
  assert.equal(answer.status, 200, await answer.text());
}

/** Asks for an action; the client is gone once what is returned was called. */
function ask(world: World, { path, method = "POST", body }: Action): () => Promise<void> {
  const client = new AbortController();
  const asked = world.request(path(world.stack), {
    method,
    signal: client.signal,
    headers: { accept: "application/json, text/event-stream" },
    ...(body === undefined ? {} : { body: JSON.stringify(body(world)) }),
  }).then((answer) => answer.text()).catch(() => {});
  return async () => {
    client.abort();
    await asked;
    await pause(MOMENT_MS);
  };
}

/** What the audit log, or the run, says of an action that has ended. */
async function endOf(world: World, { verb }: Action, from: number): Promise<string> {
  let end: string | undefined;
  await until(async () => {
    if (verb === undefined) {
      const { status } = await lastRun(world);
      end = status === "succeeded" ? "done" : status;
      return ["succeeded", "failed", "skipped"].includes(status);
    }
    const asked = `the API was asked to ${verb} ${world.stack}: `;
    const line = world.lines.slice(from).find(({ message }) => message.startsWith(asked));
    end = line?.message.slice(asked.length);
    return end !== undefined;
  });
  return end ?? "";
}

for (const action of sampleOf(ACTIONS, 3)) {
  describe(`${action.name} whose client goes away`, () => {
    it("is carried out to its end once it has begun, and told as if the client were there", () =>
      inShop(action, async (world, hold) => {
        const [before, from] = [await ids(world), world.lines.length];
        const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        hold(() => {
          begun.resolve();
          return go.promise;
        });
        const leave = ask(world, action);
        await begun.promise;
        await leave();
        go.resolve();
        assert.equal(await endOf(world, action, from), "done");
        assert.ok(await action.isDone(world, before), JSON.stringify(await states(world)));
        assert.deepEqual(rows(world, "SELECT * FROM intents WHERE closed_at IS NULL"), []);
        const { out } = await commandTo(world, 0, ["history", world.stack]);
        assert.doesNotMatch(out, /cancelled|failed/);
      }));

    it("does nothing while another process changes the stack", () =>
      inShop(action, async (world) => {
        const [before, from] = [await states(world), world.lines.length];
        await withOther(world, async (other) => {
          const intent = beginRollback(world, other, 2, false);
          const leave = ask(world, action);
          await pause(MOMENT_MS);
          await leave();
          other.fail(intent, "failed", "it was given up");
        });
        assert.notEqual(await endOf(world, action, from), "done");
        assert.deepEqual(await states(world), before);
        assert.equal(await label(world, "web", "number"), "2");
      }));

    it("does nothing while another action has the stack", () =>
      inShop(action, async (world, hold) => {
        const before = await ids(world);
        const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        hold(() => {
          begun.resolve();
          return go.promise;
        });
        const other = post(world, project("restart")(world.stack));
        await begun.promise;
        const from = world.lines.length;
        const leave = ask(world, action);
        await pause(MOMENT_MS);
        await leave();
        hold(undefined);
        go.resolve();
        await other;
        if (action.name !== "a restart") {
          assert.notEqual(await endOf(world, action, from), "done");
        }
        assert.deepEqual(await ids(world), before);
        assert.ok(await allAre("running")(world));
        assert.equal(await label(world, "web", "number"), "2");
      }));
  });
}
