/** The tool server, as the official client sees it. */
import assert from "node:assert/strict";
import process from "node:process";
import { afterEach, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Ajv2020 } from "ajv/dist/2020.js";
import { StackwrightError } from "../../src/model/mod.ts";
import type { HttpRequest } from "../../src/serve/http_request.ts";
import { heapAfterCollection } from "../fakes/heap.ts";
import { malformedMessages } from "../fakes/malformed_messages.ts";
import { CANCELLED_BY_SHUTDOWN } from "../../src/intake.ts";
import { createMemoryEngine, runningContainer } from "../fakes/memory_engine.ts";
import { createMemorySwarm } from "../fakes/memory_swarm.ts";
import {
  API_SECRET,
  type HttpService,
  type HttpServiceOptions,
  MAX_PAYLOAD,
  READ_SECRET,
  SECRET,
  startHttpService,
} from "./http_service.ts";

/** The tools that doco-cd has, and three more that look. */
const TOOLS = [
  "compact_mirrors",
  "control_project",
  "control_stack",
  "destroy_project",
  "explain_deployment",
  "get_deployment_run",
  "get_health",
  "get_project",
  "get_stack",
  "list_deployment_runs",
  "list_deployments",
  "list_projects",
  "list_scheduled_jobs",
  "list_stacks",
  "list_sync_windows",
  "plan_deployment",
  "remove_stack",
  "trigger_poll",
  "trigger_scheduled_job",
];
/** `MALFORMED_MESSAGES` says another number. */
const MALFORMED = Number(process.env["MALFORMED_MESSAGES"] ?? 600);
const POLL = { configs: [{ url: "https://git.example/shop.git", reference: "main" }] };
const INTRODUCTION = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

describe("the tool server", () => {
  let service: HttpService;
  let counted: string[] = [];
  const clients: Client[] = [];

  async function start(options: HttpServiceOptions = {}): Promise<void> {
    counted = [];
    service = await startHttpService({
      mcp: {
        count: (name, labels, by = 1) => void counted.push(`${name} ${toolOf(labels)} ${by}`),
        observe: (name, labels) => void counted.push(`${name} ${toolOf(labels)}`),
        move() {},
      },
      ...options,
    });
  }

  async function connect(key = API_SECRET): Promise<Client> {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
      requestInit: { headers: { "x-api-key": key } },
    });
    await client.connect(transport);
    clients.push(client);
    return client;
  }

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await service.stop();
  });

  it("lists every tool with strict schemas and hints", async () => {
    await start();
    const { tools } = await (await connect()).listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), TOOLS);
    for (const { name, inputSchema, outputSchema, annotations, description } of tools) {
      assert.equal(inputSchema["additionalProperties"], false, name);
      assert.equal(outputSchema?.type, "object", name);
      assert.equal(typeof annotations?.readOnlyHint, "boolean", name);
      assert.match(description ?? "", /\.$/, name);
    }
    const changing = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
    assert.deepEqual(changing.map(({ name }) => name).sort(), [
      "compact_mirrors",
      "control_project",
      "control_stack",
      "destroy_project",
      "remove_stack",
      "trigger_poll",
      "trigger_scheduled_job",
    ]);
  });

  it("refuses an argument that no tool has, and says which there are", async () => {
    const engine = createMemoryEngine([runningContainer("shop", "web")]);
    await start({ engine });
    const client = await connect();
    for (const { name } of (await client.listTools()).tools) {
      const { isError } = await client.callTool({ name, arguments: { nonsense: 1 } });
      assert.equal(isError, true, name);
    }
    const given = { project_name: "shop", contxt: "nas" };
    const { content } = await client.callTool({ name: "destroy_project", arguments: given });
    assert.match(
      JSON.stringify(content),
      /not known; there are project_name, .*context/,
    );
    assert.deepEqual(engine.calls, []);
  });

  it("answers every tool that only looks with a value of its schema", async () => {
    const web = runningContainer("shop", "web");
    await start({ engine: createMemoryEngine([web]) });
    const client = await connect();
    // The client checks each value against the schema that the list has.
    await client.listTools();
    const run = await client.callTool({ name: "trigger_poll", arguments: POLL });
    const { job_id } = run.structuredContent as { job_id: string };
    const calls: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ["get_health", {}, "status"],
      ["list_deployment_runs", { limit: 5 }, "runs"],
      ["get_deployment_run", { job_id }, "run"],
      ["list_scheduled_jobs", {}, "jobs"],
      ["list_sync_windows", { deployment: "shop", manual: true }, "windows"],
      ["list_projects", { all: true }, "projects"],
      ["get_project", { project_name: "shop" }, "containers"],
      ["list_deployments", {}, "deployments"],
      ["plan_deployment", { name: "shop" }, "services"],
      ["explain_deployment", { name: "shop" }, "decisions"],
    ];
    for (const [name, input, field] of calls) {
      const { structuredContent, isError, content } = await client.callTool({
        name,
        arguments: input,
      });
      assert.notEqual(isError, true, `${name}: ${JSON.stringify(content)}`);
      assert.ok(field in (structuredContent as Record<string, unknown>), name);
      assert.deepEqual(JSON.parse(textOf(content)), structuredContent, name);
    }
  });

  it("says that the engine is away with a value of its schema, which clients check", async () => {
    const checkEngine = () => Promise.reject(new StackwrightError("engine_unreachable", "away"));
    await start({ checkEngine });
    const client = await connect();
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === "get_health");
    const schema = JSON.parse(JSON.stringify(tool?.outputSchema));
    const { structuredContent } = await client.callTool({ name: "get_health", arguments: {} });
    assert.deepEqual(structuredContent, { status: "unhealthy", error: "away" });
    assert.ok(new Ajv2020().validate(schema, structuredContent), JSON.stringify(schema));
  });

  it("shows containers without labels", async () => {
    const web = runningContainer("shop", "web", {
      labels: { password: "in-a-label" },
    });
    await start({ engine: createMemoryEngine([web]) });
    const shown = await (await connect()).callTool({
      name: "get_project",
      arguments: { project_name: "shop" },
    });
    assert.deepEqual(shown.structuredContent, {
      containers: [{
        id: "web-id",
        name: "shop-web-1",
        service: "web",
        image: "app:1",
        state: "running",
        status: "running",
      }],
    });
  });

  it("acts on projects", async () => {
    const engine = createMemoryEngine([runningContainer("shop", "web")]);
    await start({ engine });
    const client = await connect();
    const stopped = await client.callTool({
      name: "control_project",
      arguments: { project_name: "shop", action: "stop" },
    });
    const { project_name, action, status } = stopped.structuredContent as Record<string, unknown>;
    assert.deepEqual({ project_name, action, status }, {
      project_name: "shop",
      action: "stop",
      status: "completed",
    });
    assert.ok(engine.calls.some((call) => call.startsWith("stop ")));
    const removed = await client.callTool({
      name: "destroy_project",
      arguments: { project_name: "shop", images: false },
    });
    const destroyed = removed.structuredContent as Record<string, unknown>;
    assert.deepEqual({ ...destroyed, message: undefined }, {
      project_name: "shop",
      status: "destroyed",
      volumes: true,
      images: false,
      message: undefined,
    });
  });

  it("tells what work led to, and names the run also when it failed", async () => {
    await start({
      execute: () =>
        Promise.reject(new StackwrightError("deploy_failed", `web broke with ${SECRET}`)),
    });
    const client = await connect();
    const failed = await client.callTool({ name: "trigger_poll", arguments: POLL });
    assert.equal(failed.isError, true);
    const { job_id, status } = failed.structuredContent as Record<string, string>;
    assert.equal(status, "failed");
    assert.equal(service.runs.get(job_id ?? "")?.status, "failed");
    assert.match(textOf(failed.content), /web broke/);
    assert.doesNotMatch(JSON.stringify(failed), new RegExp(SECRET));
    const started = await client.callTool({
      name: "trigger_poll",
      arguments: { ...POLL, wait: false },
    });
    assert.notEqual(started.isError, true);
    assert.equal((started.structuredContent as Record<string, string>)["status"], "accepted");
  });

  it("refuses arguments that no tool has, and counts calls whose arguments are right", async () => {
    await start();
    const client = await connect();
    const wrong: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
      ["get_health", { more: 1 }, /not known; there are none$/],
      ["list_deployment_runs", { limit: 0 }, /limit/],
      ["get_deployment_run", {}, /job_id: it is missing$/],
      ["control_project", { project_name: "shop", action: "recreate" }, /action/],
      ["control_stack", { stack_name: "shop", action: "scale", replicas: -1 }, /replicas/],
      ["trigger_poll", { configs: [] }, /configs/],
      [
        "trigger_poll",
        { configs: [{ ...POLL.configs[0], run_once: true }] },
        /^[^;]*configs\.0: .* not known; there are url, .*target/,
      ],
      [
        "trigger_poll",
        { configs: [{ ...POLL.configs[0], interval: "1m" }] },
        /configs\.0: it has a member that is not known/,
      ],
    ];
    for (const [name, input, problem] of wrong) {
      const { isError, content } = await client.callTool({ name, arguments: input });
      assert.equal(isError, true, name);
      assert.match(textOf(content), problem);
    }
    assert.deepEqual(counted, []);
    const missing = await client.callTool({
      name: "get_project",
      arguments: { project_name: "x" },
    });
    assert.equal(missing.isError, true);
    assert.match(textOf(missing.content), /^project not found: no project .* has this name/);
    assert.deepEqual(counted, [
      "mcp_requests_total get_project 1",
      "mcp_errors_total get_project 1",
      "mcp_request_duration_seconds get_project",
    ]);
    await assert.rejects(client.callTool({ name: "drop_database", arguments: {} }), /unknown tool/);
    const lines = service.log.lines.filter(({ fields }) => fields["component"] === "mcp");
    assert.ok(lines.some(({ fields }) => fields["tool"] === "get_project"));
    assert.ok(lines.every(({ level }) => level === "debug"));
  });

  it("compacts mirrors, one compaction at a time", async () => {
    await start({
      mirrors: [{ repository: "example.org/acme/shop", path: "/m" }],
      compacted: { status: "skipped", message: "copy of 1 mirror: 1 skipped_single_pack" },
    });
    const client = await connect();
    const call = async (input: Record<string, unknown>) => {
      const answer = await client.callTool({ name: "compact_mirrors", arguments: input });
      return [
        answer.isError === true,
        answer.structuredContent as Record<string, unknown>,
      ] as const;
    };
    const [isError, value] = await call({ mode: "copy", wait: true });
    assert.equal(isError, false);
    assert.equal(value["status"], "skipped");
    assert.equal(value["message"], "copy of 1 mirror: 1 skipped_single_pack");
    assert.equal((await call({}))[1]["status"], "accepted");
    const { id } = service.runs.accept({ id: "busy", trigger: "mirror_compaction" });
    const message = "mirror compaction busy is already running";
    assert.deepEqual(await call({}), [true, { job_id: id, status: "accepted", message }]);
    const unknown = await client.callTool({
      name: "compact_mirrors",
      arguments: { repository: "x" },
    });
    assert.equal(textOf(unknown.content), "no git mirrors found");
  });

  it("shows and changes the stacks of a swarm, without what REST shows beside that", async () => {
    const engine = createMemorySwarm([
      { stack: "shop", service: "web", labels: { secret: "a-word" } },
      { stack: "shop", service: "backup", mode: { GlobalJob: {} } },
    ]);
    await start({ engine });
    const client = await connect();
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const { isError, structuredContent } = await client.callTool({ name, arguments: input });
      assert.notEqual(isError, true, name);
      return structuredContent as Record<string, unknown>;
    };
    const shop = { stack_name: "shop" };
    const { services } = await call("get_stack", shop);
    assert.deepEqual(await call("list_stacks"), { stacks: { shop: services } });
    const [, web] = services as unknown[];
    assert.deepEqual(web, {
      id: "shop_web-id",
      name: "shop_web",
      image: "busybox:1@sha256:1",
      mode: "replicated",
      desired_tasks: 1,
      running_tasks: 1,
      published_ports: [{
        target_port: 80,
        published_port: 8080,
        protocol: "tcp",
        mode: "ingress",
      }],
    });
    const scale = { ...shop, action: "scale", replicas: 3, wait: false };
    assert.deepEqual(await call("control_stack", scale), {
      stack_name: "shop",
      action: "scale",
      results: [{
        service: "shop_backup",
        status: "skipped",
        reason: "it runs once on every node, which no number changes",
      }, { service: "shop_web", status: "ok" }],
      message: "stack scaled: shop to 3 replicas",
    });
    assert.deepEqual(await call("remove_stack", shop), { stack_name: "shop", status: "removed" });
    const again = await client.callTool({ name: "get_stack", arguments: shop });
    assert.equal(again.isError, true);
    assert.match(textOf(again.content), /^stack not found: no stack .* has this name/);
    assert.deepEqual(await call("list_stacks"), { stacks: {} });
  });

  it("says of stacks that there is no swarm, where there is none", async () => {
    await start();
    const client = await connect();
    const { isError, content } = await client.callTool({ name: "list_stacks", arguments: {} });
    assert.equal(isError, true);
    assert.match(textOf(content), /not an active swarm manager/);
  });

  it("lets a key that may read call what only looks, and shows it nothing else", async () => {
    const engine = createMemoryEngine([runningContainer("shop", "web")]);
    await start({ engine });
    const client = await connect(READ_SECRET);
    const { tools } = await client.listTools();
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.equal((await client.callTool({ name: "get_health", arguments: {} })).isError, undefined);
    const { isError, content } = await client.callTool({
      name: "destroy_project",
      arguments: { project_name: "shop" },
    });
    assert.equal(isError, true);
    assert.match(textOf(content), /API_READ_SECRET may only read/);
    assert.deepEqual(engine.calls, []);
  });

  it("lets others have their turn between the calls of one message of a reader", async () => {
    let begun = 0;
    const others: number[] = [];
    const deployments = () => {
      begun++;
      setImmediate(() => others.push(begun));
      return Promise.resolve([]);
    };
    await start({ deployments });
    const call = { method: "tools/call", params: { name: "list_deployments" } };
    const message = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: "2.0", id, ...call }));
    const response = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: {
        "x-api-key": READ_SECRET,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-03-26",
      },
      body: JSON.stringify(message),
    });
    const text = await response.text();
    assert.equal(text.match(/"structuredContent"/g)?.length, 20, text.slice(0, 500));
    assert.equal(begun, 20);
    assert.ok(new Set(others).size >= 10, `${others}`);
  });

  it("ends the work of a call that its client cancels, and not work in the background", async () => {
    const begun: AbortSignal[] = [];
    const waiting: (() => void)[] = [];
    await start({
      execute: (_work, _reporter, signal) => {
        begun.push(signal);
        waiting.shift()?.();
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true })
        );
      },
    });
    const client = await connect();
    const next = () => new Promise<void>((resolve) => void waiting.push(resolve));

    const background = next();
    await client.callTool({ name: "trigger_poll", arguments: { ...POLL, wait: false } });
    await background;

    const cancelling = new AbortController();
    const started = next();
    const call = client.callTool({ name: "trigger_poll", arguments: POLL }, {
      signal: cancelling.signal,
    });
    const cancelled = assert.rejects(call);
    await started;
    cancelling.abort();
    await cancelled;
    await ended(begun[1]);

    const again = next();
    const left = new AbortController();
    const gone = assert.rejects(
      fetch(`${service.url}/mcp`, {
        ...post({
          jsonrpc: "2.0",
          id: 9,
          method: "tools/call",
          params: { name: "trigger_poll", arguments: POLL },
        }),
        signal: left.signal,
      }).then((response) => response.text()),
    );
    await again;
    left.abort();
    await gone;
    await ended(begun[2]);
    assert.equal(begun[0]?.aborted, false);
  });

  it("cancels a call for its own client and key alone", async () => {
    let begin = (_signal: AbortSignal) => {};
    const begun = new Promise<AbortSignal>((resolve) => begin = resolve);
    await start({
      execute: (_work, _reporter, signal) => {
        begin(signal);
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true })
        );
      },
    });
    const send = (message: object, headers: Record<string, string>) =>
      fetch(`${service.url}/mcp`, post({ jsonrpc: "2.0", ...message }, headers));
    const introduce = async () => {
      const response = await send({ id: 0, method: "initialize", params: INTRODUCTION }, {});
      await response.text();
      return response.headers.get("mcp-session-id") ?? "";
    };
    const own = { "mcp-session-id": await introduce() };
    const other = { "mcp-session-id": await introduce() };
    const params = { name: "trigger_poll", arguments: POLL };
    const answer = send({ id: 7, method: "tools/call", params }, own);
    const signal = await begun;
    const cancel = async (requestId: unknown, headers: Record<string, string>) => {
      const method = "notifications/cancelled";
      const response = await send({ method, params: { requestId } }, headers);
      assert.equal(response.status, 202);
      await response.text();
    };
    await cancel(7, other);
    await cancel(7, {});
    await cancel(8, own);
    await cancel("7", own);
    for (const more of ["", " act logs", ",act,logs"]) {
      const id = `${own["mcp-session-id"]}${more}`;
      await cancel(7, { "mcp-session-id": id, "x-api-key": READ_SECRET });
    }
    assert.equal(signal.aborted, false);
    await cancel(7, own);
    await ended(signal);
    assert.match(await (await answer).text(), /"isError":true/);
  });

  it("answers calls of both eras with a stream, which is kept alive", async () => {
    await start();
    const eras = [
      { meta: {}, headers: {} },
      {
        meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": INTRODUCTION.clientInfo,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
        headers: {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "get_health",
        },
      },
    ];
    for (const { meta, headers } of eras) {
      const params = { name: "get_health", arguments: {}, _meta: meta };
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      const response = await fetch(`${service.url}/mcp`, post(message, headers));
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      assert.equal(messageIn(await response.text())["id"], 1);
    }
  });

  it("gives what clients wait for ten seconds at a shutdown, and ends it then", async () => {
    const begun: AbortSignal[] = [];
    let both = () => {};
    const started = new Promise<void>((resolve) => both = resolve);
    await start({
      execute: (_work, _reporter, signal) => {
        begun.push(signal);
        if (begun.length === 2) both();
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true })
        );
      },
    });
    const client = await connect();
    const background = await client.callTool({
      name: "trigger_poll",
      arguments: { ...POLL, wait: false },
    });
    const waiting = client.callTool({ name: "trigger_poll", arguments: POLL });
    await started;
    const closing = service.intake.close();
    const refused = await client.callTool({ name: "trigger_poll", arguments: POLL });
    assert.equal(refused.isError, true);
    assert.match(textOf(refused.content), /shutting down/);
    await service.clock.advance(9_999);
    assert.deepEqual(begun.map(({ aborted }) => aborted), [false, false]);
    await service.clock.advance(1);
    const ended = await waiting;
    assert.equal(ended.isError, true);
    const { job_id: id, status } = ended.structuredContent as Record<string, string>;
    assert.equal(status, "failed");
    await closing;
    for (const each of [id, (background.structuredContent as Record<string, string>)["job_id"]]) {
      const run = service.runs.get(each ?? "");
      assert.deepEqual([run?.status, run?.message], ["failed", CANCELLED_BY_SHUTDOWN]);
    }
  });

  it("tells a client that asks how far a run is", async () => {
    await start({
      execute: async (_work, reporter) => {
        reporter.describe({ message: "looking" });
        await Promise.resolve();
        const shop = { context: "default", stack: "shop" } as const;
        reporter.target({ ...shop, status: "running", message: `pulling ${SECRET}` });
        await Promise.resolve();
        reporter.target({ ...shop, status: "succeeded" });
      },
    });
    const told: (string | undefined)[] = [];
    await (await connect()).callTool({ name: "trigger_poll", arguments: POLL }, {
      onprogress: ({ message }) => void told.push(message),
    });
    assert.ok(told.includes("looking"), JSON.stringify(told));
    assert.ok(told.some((each) => each?.startsWith("shop: pulling ")), JSON.stringify(told));
    assert.ok(told.every((each) => !each?.includes(SECRET)));
  });

  it("refuses who has no key, pages of other hosts, what is too large, and other methods", async () => {
    await start();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const answer = async (init: RequestInit) => {
      const response = await fetch(`${service.url}/mcp`, init);
      return [response.status, await response.text()] as const;
    };
    assert.equal((await answer(post(ping)))[0], 200);
    assert.equal((await answer(post(ping, { "x-api-key": "" })))[0], 401);
    assert.equal((await answer(post(ping, { "x-api-key": "wrong" })))[0], 401);
    for (
      const origin of ["https://evil.example", "null", `https://127.0.0.1:${service.port + 1}`]
    ) {
      assert.equal((await answer(post(ping, { origin })))[0], 403, origin);
    }
    assert.equal((await answer(post(ping, { origin: service.url })))[0], 200);
    const { handler } = service;
    const rebound = { host: "evil.example", origin: "http://evil.example" };
    const request = new Request("http://evil.example/mcp", post(ping, rebound));
    assert.equal((await handler(asHttp(request, rebound), { remote: "127.0.0.1" })).status, 403);
    const large = { ...ping, params: { _meta: { more: "x".repeat(MAX_PAYLOAD) } } };
    assert.equal((await answer(post(large)))[0], 413);
    const [status, text] = await answer({ ...post(ping), body: "{" });
    assert.equal(status, 400);
    assert.equal(JSON.parse(text).error.code, -32700);
    for (const method of ["GET", "DELETE", "PUT"]) {
      const { headers } = post(ping);
      assert.equal((await answer({ method, headers: headers ?? {} }))[0], 405, method);
    }
  });

  it("answers 200 calls at once", async () => {
    await start();
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "list_deployment_runs", arguments: {} },
    });
    const answers = await Promise.all(Array.from({ length: 200 }, async (_, id) => {
      const response = await fetch(`${service.url}/mcp`, post(call(id)));
      return [response.status, messageIn(await response.text())["id"]];
    }));
    assert.deepEqual(answers, Array.from({ length: 200 }, (_, id) => [200, id]));
  });

  it(`survives ${MALFORMED} malformed messages, and keeps nothing of them`, async () => {
    await start();
    const round = async (seed: number) => {
      for (const body of malformedMessages(seed, MALFORMED / 2)) {
        const response = await fetch(`${service.url}/mcp`, { ...post({}), body });
        await response.text();
        assert.ok([200, 202, 400].includes(response.status), `${response.status}: ${body}`);
      }
      assert.deepEqual(service.log.lines.filter(({ level }) => level === "error"), []);
      service.log.clear();
      return await heapAfterCollection();
    };
    const first = await round(1);
    const second = await round(2);
    assert.ok(second - first < 5_000_000, `${first} bytes, then ${second}`);
    assert.equal((await (await connect()).listTools()).tools.length, TOOLS.length);
  });

  it("is not there unless it is switched on", async () => {
    service = await startHttpService();
    const { status } = await fetch(`${service.url}/mcp`, post({}));
    assert.equal(status, 404);
  });
});

/** Runtimes keep some headers to themselves; by the wire they come all the same. */
function asHttp(request: Request, more: Readonly<Record<string, string>>): HttpRequest {
  const { method, url, signal } = request;
  const get = (name: string) => more[name.toLowerCase()] ?? request.headers.get(name);
  const bytes = async () => new Uint8Array(await request.arrayBuffer());
  return { method, url, signal, headers: { get }, bytes };
}

function toolOf(labels: Readonly<Record<string, string>>): string {
  return labels["tool"] ?? "";
}

function textOf(content: unknown): string {
  const [first] = content as readonly { readonly text?: string }[];
  return first?.text ?? "";
}

function post(message: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: {
      "x-api-key": API_SECRET,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(message),
  };
}

async function ended(signal: AbortSignal | undefined): Promise<void> {
  assert.ok(signal);
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** The message in an answer, which is a stream of one or the message itself. */
function messageIn(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
