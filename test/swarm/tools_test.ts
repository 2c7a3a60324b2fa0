/** The official client of the tool server calls the tools about stacks, on a real swarm. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { DENO_PROGRAM, executables } from "../e2e/service_process.ts";
import { connectTools, withToolService } from "../e2e/tool_service.ts";
import { BUSYBOX_IMAGE } from "../fakes/busybox_image.ts";
import { findSwarm } from "../fakes/real_swarm.ts";

const READ_KEY = "key-of-the-stack-watcher";
const swarm = await findSwarm();
/** The executable, where there is one: it is what people run. */
const PROGRAM = executables()[0] ?? DENO_PROGRAM;

type Value = Readonly<Record<string, unknown>>;

if (swarm.unavailable !== undefined) {
  describe("the tools about stacks on the real swarm", () => {
    it(swarm.unavailable, { skip: true }, () => {});
  });
} else if (process.env["STACKS"] !== "sample") {
  describe("the tools about stacks on the real swarm", () => {
    it(`answers every call by the schema of the tool: ${PROGRAM.title}`, async () => {
      const environment = { DOCKER_HOST: swarm.host, API_READ_SECRET: READ_KEY };
      await withToolService(PROGRAM, environment, async ({ address, stack, ...site }) => {
        const repository = await site.repository();
        await repository.commit(filesOf(stack));
        await callStackTools({ address, stack, url: repository.url });
      });
    });
  });
}

function filesOf(stack: string): Record<string, string> {
  const task = [
    `    image: ${BUSYBOX_IMAGE}`,
    "    stop_grace_period: 0s",
    "    environment: {PASSWORD: hunter2-of-the-stacks}",
    "    labels: {note: hunter2-of-the-stacks}",
  ];
  return {
    ".stackwright.yaml": `name: ${stack}\n`,
    "compose.yaml": [
      "services:",
      "  web:",
      ...task,
      `    command: ["sleep", "infinity"]`,
      "    deploy: {replicas: 1, endpoint_mode: dnsrr, labels: {note: hunter2-of-the-stacks}}",
      "  migrate:",
      ...task,
      `    command: ["true"]`,
      "    deploy: {mode: replicated-job}",
    ].join("\n"),
  };
}

async function connect(address: string, key?: string): Promise<Client> {
  const client = await connectTools(address, key);
  // From then on the client checks each value by the schema that the list has.
  await client.listTools();
  return client;
}

async function callStackTools(
  { address, stack, url }: { address: string; stack: string; url: string },
): Promise<void> {
  const client = await connect(address);
  const watcher = await connect(address, READ_KEY);
  const said: string[] = [];
  const ask = async (name: string, input: Value = {}, by = client) => {
    const answer = await by.callTool({ name, arguments: { ...input } }, { timeout: 120_000 });
    said.push(JSON.stringify(answer));
    return answer;
  };
  const call = async (name: string, input: Value = {}, by = client): Promise<Value> => {
    const { isError, structuredContent, content } = await ask(name, input, by);
    assert.notEqual(isError, true, `${name}: ${JSON.stringify(content)}`);
    assert.deepEqual(JSON.parse(textOf(content)), structuredContent, name);
    return structuredContent as Value;
  };
  const refused = async (name: string, input: Value, why: RegExp, by = client) => {
    const { isError, content } = await ask(name, input, by);
    assert.equal(isError, true, name);
    assert.match(textOf(content), why);
  };
  const named = { stack_name: stack };
  const poll = { configs: [{ url, reference: "main" }] };
  try {
    assert.equal((await call("trigger_poll", poll))["status"], "succeeded");
    const { stacks } = await call("list_stacks", {}, watcher) as { stacks: Value };
    assert.ok(stacks[stack] !== undefined, JSON.stringify(stacks));
    const { services } = await call("get_stack", named, watcher) as { services: Value[] };
    assert.deepEqual(
      services.map(({ name, mode }) => [name, mode]).sort(),
      [[`${stack}_migrate`, "replicated_job"], [`${stack}_web`, "replicated"]],
    );
    const scale = { ...named, action: "scale", service: "web", replicas: 2 };
    await refused("control_stack", scale, /API_READ_SECRET may only read/, watcher);
    await refused("remove_stack", named, /API_READ_SECRET may only read/, watcher);
    assert.match(String((await call("control_stack", scale))["message"]), /scaled/);
    const after = await call("get_stack", named) as { services: Value[] };
    const web = after.services.find(({ name }) => name === `${stack}_web`);
    assert.deepEqual([web?.["desired_tasks"], web?.["running_tasks"]], [2, 2]);
    const { results } = await call("control_stack", { ...named, action: "run" }) as {
      results: Value[];
    };
    assert.deepEqual(
      results.filter(({ status }) => status === "ok").map((each) => each["service"]),
      [`${stack}_migrate`],
    );
    await call("control_stack", { ...named, action: "restart", service: "web" });
    await refused("control_stack", { ...named, action: "scale" }, /replicas/);
    await refused(
      "control_stack",
      { ...named, action: "restart", service: "none" },
      /service not found/,
    );
    await refused("get_stack", { stack_name: `${stack}-none` }, /not found/);
    assert.equal((await call("explain_deployment", { name: stack }, watcher))["name"], stack);
    assert.equal(
      typeof (await call("plan_deployment", { name: stack }, watcher))["kind"],
      "string",
    );
    const { deployments } = await call("list_deployments") as { deployments: Value[] };
    assert.deepEqual(deployments.map(({ name }) => name), [stack]);
  } finally {
    assert.deepEqual(await call("remove_stack", named), { ...named, status: "removed" });
    await refused("remove_stack", named, /not found/);
    await client.close();
    await watcher.close();
  }
  assert.ok(said.every((each) => !each.includes("hunter2-of-the-stacks")), said.join("\n"));
}

function textOf(content: unknown): string {
  const [first] = content as readonly { readonly text?: string }[];
  return first?.text ?? "";
}
