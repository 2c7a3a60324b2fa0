/** The official client of the tool server, against every program and the real engine. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { BUN_PROGRAM, DENO_PROGRAM, executables } from "./service_process.ts";
import { connectTools, withToolService } from "./tool_service.ts";

const REAL = await findRealEngine();
const EVERY = [DENO_PROGRAM, BUN_PROGRAM, ...executables()];
/** `TOOL_SERVERS=one` takes the executable alone, where there is one. */
const PROGRAMS = process.env["TOOL_SERVERS"] === "one" ? EVERY.slice(-1) : EVERY;

type Value = Readonly<Record<string, unknown>>;

if (REAL.unavailable === undefined) {
  describe("the tool server on the real engine", () => {
    for (const program of PROGRAMS) {
      it(`lists every tool and answers every call: ${program.title}`, async () => {
        await ensureBusyboxImage();
        const environment = { DOCKER_HOST: `unix://${REAL.socketPath}` };
        await withToolService(program, environment, async ({ address, stack, ...site }) => {
          const repository = await site.repository();
          const commit = (word: string) => repository.commit(filesOf(stack, word));
          await commit("one");
          await callEveryTool({ address, stack, url: repository.url, commit });
        });
      });
    }
  });
}

function filesOf(stack: string, word: string): Record<string, string> {
  return {
    ".stackwright.yaml": `name: ${stack}\n`,
    "compose.yaml": [
      "services:",
      "  web:",
      `    image: ${BUSYBOX_IMAGE}`,
      `    command: ["sleep", "infinity"]`,
      "    stop_grace_period: 0s",
      `    environment: {PASSWORD: hunter2-of-the-tools, WORD: ${word}}`,
    ].join("\n"),
  };
}

/** What is called: the address of the server, and the stack whose repository is at `url`. */
interface Site {
  readonly address: string;
  readonly stack: string;
  readonly url: string;
  /** Commits another release. */
  readonly commit: (word: string) => Promise<unknown>;
}

async function callEveryTool({ address, stack, url, commit }: Site): Promise<void> {
  const client = await connectTools(address);
  const uncalled = new Set((await client.listTools()).tools.map(({ name }) => name));
  const said: string[] = [];
  const ask = async (name: string, input: Value = {}) => {
    uncalled.delete(name);
    const answer = await client.callTool({ name, arguments: { ...input } }, { timeout: 120_000 });
    said.push(JSON.stringify(answer));
    return answer;
  };
  const call = async (name: string, input: Value = {}): Promise<Value> => {
    const { isError, structuredContent, content } = await ask(name, input);
    assert.notEqual(isError, true, `${name}: ${JSON.stringify(content)}`);
    return structuredContent as Value;
  };
  const polls = { configs: [{ url, reference: "main" }] };
  const project = { project_name: stack };
  try {
    assert.deepEqual(await call("get_health"), { status: "healthy" });
    const { status, job_id } = await call("trigger_poll", polls);
    assert.equal(status, "succeeded");
    const again = await call("trigger_poll", { ...polls, wait: false });
    assert.equal(again["status"], "accepted");
    await ended(String(again["job_id"]), call);
    const { run } = await call("get_deployment_run", { job_id }) as { run: Value };
    assert.equal(run["status"], "succeeded");
    assert.ok((await call("list_deployment_runs", { trigger: "poll" }))["runs"]);
    const { deployments } = await call("list_deployments") as { deployments: Value[] };
    assert.deepEqual(deployments.map(({ name }) => name), [stack]);
    assert.equal((await call("explain_deployment", { name: stack }))["name"], stack);
    assert.equal((await call("plan_deployment", { name: stack }))["kind"], "skip");
    assert.ok((await call("list_sync_windows", { deployment: stack }))["decision"]);
    const { projects } = await call("list_projects") as { projects: Value[] };
    assert.ok(projects.some(({ name }) => name === stack));
    const { containers } = await call("get_project", project) as { containers: Value[] };
    assert.deepEqual(containers.map(({ service, state }) => [service, state]), [[
      "web",
      "running",
    ]]);
    assert.deepEqual((await call("list_scheduled_jobs", { stack }))["jobs"], []);
    const job = await ask("trigger_scheduled_job", { job_name: `${stack}-none` });
    assert.equal(job.isError, true);
    await call("control_project", { ...project, action: "restart" });
    await commit("two");
    const leaving = new AbortController();
    const left = client.callTool({ name: "trigger_poll", arguments: polls }, {
      signal: leaving.signal,
      // It is being replaced: between its two releases, that is.
      onprogress: ({ message }) => message?.startsWith(stack) && leaving.abort(),
    });
    await assert.rejects(left);
    const { runs } = await call("list_deployment_runs", { limit: 1 }) as { runs: Value[] };
    await ended(String(runs[0]?.["job_id"]), call);
    const after = await call("get_project", project) as { containers: Value[] };
    assert.deepEqual(after.containers.map(({ service, state }) => [service, state]), [
      ["web", "running"],
    ]);
    for (const name of ["list_stacks", "get_stack", "control_stack", "remove_stack"]) {
      const input = name === "list_stacks" ? {} : { stack_name: stack };
      const answer = await ask(name, {
        ...input,
        ...(name === "control_stack" ? { action: "restart" } : {}),
      });
      assert.match(JSON.stringify(answer.content), /not an active swarm manager/);
    }
    const compacted = await call("compact_mirrors", { mode: "copy", wait: true });
    assert.match(String(compacted["status"]), /^(?:succeeded|skipped)$/);
  } finally {
    const removed = await call("destroy_project", { ...project, images: false });
    assert.equal(removed["status"], "destroyed");
    await client.close();
  }
  assert.deepEqual([...uncalled], [], "tools that nobody called");
  assert.ok(said.every((each) => !each.includes("hunter2-of-the-tools")));
}

/** Asks for a run in the background until it has ended. */
async function ended(
  job_id: string,
  call: (name: string, input: Value) => Promise<Value>,
): Promise<void> {
  for (;;) {
    const { run } = await call("get_deployment_run", { job_id }) as { run: Value };
    if (!["accepted", "running"].includes(String(run["status"]))) return;
    await setTimeout(50);
  }
}
