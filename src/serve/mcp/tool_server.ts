import type { ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { type Call, INPUT_WORDS, type Power } from "../../api/mod.ts";
import {
  errors,
  isStackwrightError,
  messageOf,
  type Run,
  type StackwrightError,
} from "../../model/mod.ts";
import type { RunStore } from "../../record/mod.ts";
import {
  atEnd,
  type Clock,
  type Log,
  type Meter,
  redactLists,
  type Redactor,
  stackFields,
} from "../../system/mod.ts";
import { refusalOf } from "../problem.ts";
import type { Exchange } from "../route.ts";
import type { RunningCalls } from "./running_calls.ts";
import type { Tool, ToolInput, ToolResult } from "./tool.ts";

/** Ports that only the tool server needs. */
export interface ToolParts {
  /** Version of the program, which the server tells clients. */
  readonly version: string;
  readonly meter: Meter;
  /** Source of progress of the runs that clients wait for. */
  readonly runs: Pick<RunStore, "subscribe">;
}

/** Ports of the tool server. */
export interface ToolServerParts extends ToolParts {
  readonly tools: readonly Tool[];
  readonly running: RunningCalls;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly log: Log;
}

interface ToolMessage {
  /** The HTTP request, whose body is not read. */
  readonly request: Request;
  /** The body, as JSON. */
  readonly body: unknown;
  /** Key of the client's calls, or empty. */
  readonly session: string;
  readonly call: Call;
  readonly powers: ReadonlySet<Power>;
  /** Turn to wait for before each call: one message may hold a hundred calls. */
  readonly turn: Exchange["turn"];
}

const INSTRUCTIONS =
  "Stackwright deploys Docker Compose projects from Git. list_deployments, explain_deployment and " +
  "plan_deployment say what there is, why, and what would change; they change nothing. Tools that " +
  "start work wait for its end unless wait is false.";

/** Makes the function that answers messages; the first one loads the protocol's library. */
export function createToolServer(
  parts: ToolServerParts,
): (message: ToolMessage) => Promise<Response> {
  const log = parts.log.with({ component: "mcp" });
  const tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  const listed = parts.tools.map((tool) => ({ tool, shown: describeTool(tool) }));
  return async (message) => {
    const { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } = await import(
      "@modelcontextprotocol/server"
    );
    const serve = () => {
      const server = new Server(
        { name: "stackwright", version: parts.version },
        { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
      );
      server.setRequestHandler("tools/list", () => ({
        // A read-only key sees only the tools that it may call.
        tools: listed.filter(({ tool }) => message.powers.has(tool.power)).map(({ shown }) =>
          shown
        ),
      }));
      server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
        const tool = tools.get(params.name);
        if (tool === undefined) {
          const message = "unknown tool; tools/list says which there are";
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
        }
        const caller = AbortSignal.any([mcpReq.signal, message.call.signal]);
        const turn = parts.running.begin(message.session, mcpReq.id, caller);
        const tell = tellerFor(mcpReq);
        using _ = atEnd(() => turn.end());
        const { client } = message.call;
        const call = { log, signal: turn.signal, ...(client !== undefined && { client }) };
        const { powers } = message;
        await message.turn();
        return await callTool({ tool, input: params.arguments ?? {}, call, powers, tell }, parts);
      });
      return server;
    };
    const handler = createMcpHandler(serve, {
      // There is nothing to subscribe to: the tools never change.
      maxSubscriptions: 0,
      // Proxies cut silent connections, which cancels the call; an event stream is kept alive.
      responseMode: "sse",
      onerror: (error) => log.debug(`a message was refused: ${messageOf(error)}`),
    });
    return await handler.fetch(message.request, { parsedBody: message.body });
  };
}

/** Sends progress to a client; `undefined` when the client did not ask for it. */
function tellerFor(asked: ServerContext["mcpReq"]): ToolCall["tell"] {
  const progressToken = asked._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) =>
    asked.notify({
      method: "notifications/progress",
      params: { progressToken, progress, message },
    });
}

function describeTool({ name, description, hints, input, output }: Tool) {
  const shown = (schema: z.ZodType, io: "input" | "output"): { readonly type: "object" } => {
    const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
    return { ...json, type: "object" };
  };
  return {
    name,
    description,
    inputSchema: shown(input, "input"),
    outputSchema: shown(output, "output"),
    annotations: { ...hints },
  };
}

interface ToolCall {
  readonly tool: Tool;
  readonly input: ToolInput;
  readonly call: Call;
  readonly powers: ReadonlySet<Power>;
  /** Sends progress to the client; `undefined` when it did not ask for it. */
  readonly tell: ((progress: number, text: string) => Promise<void>) | undefined;
}

/** The answer to a call: the value with its text form, or a failure. */
async function callTool(asked: ToolCall, parts: ToolServerParts) {
  const { tool, input, powers } = asked;
  const problem = powers.has(tool.power) ? problemOf(tool, input) : undefined;
  if (problem !== undefined) return answerOf({ value: {}, failure: problem }, (text) => text);
  const { clock, meter, redactor } = parts;
  const labels = { tool: tool.name };
  const began = clock.now().getTime();
  const result = await runTool(asked, parts);
  meter.count("mcp_requests_total", labels);
  meter.count("mcp_errors_total", labels, result.failure === undefined ? 0 : 1);
  meter.observe("mcp_request_duration_seconds", labels, (clock.now().getTime() - began) / 1000);
  // What a failure says was not stored, whatever the tool shows else.
  const stack = result.failure === undefined ? tool.about(input) : tool.stack(input);
  const about = stack === undefined ? [] : [stack];
  return await answerOf(result, (text) => redactor.redact(text, ...about));
}

/** The fault of the arguments, or nothing; names of unknown ones are not repeated. */
function problemOf(tool: Tool, input: ToolInput): string | undefined {
  const checked = tool.input.safeParse(input, INPUT_WORDS);
  if (checked.success) return undefined;
  const problems = checked.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`
  );
  return `invalid arguments for ${tool.name}: ${problems.join("; ")}`;
}

/** Runs a tool. Never rejects: an error becomes a result with a failure. */
async function runTool(asked: ToolCall, parts: ToolServerParts): Promise<ToolResult> {
  const { tool, input, call, powers, tell } = asked;
  const progress = tell === undefined ? undefined : followRun(parts, tell);
  const onRun = (id: string) => progress?.follow(id);
  try {
    if (!powers.has(tool.power)) throw tooLittlePower(tool);
    call.log.debug("a tool was called", { tool: tool.name });
    return await tool.run(input, { ...call, onRun });
  } catch (error) {
    logFailure(error, asked);
    const { error: what, content } = refusalOf(error);
    return { value: {}, failure: content === undefined ? what : `${what}: ${content}` };
  } finally {
    progress?.end();
  }
}

function tooLittlePower({ name, power }: Tool): StackwrightError {
  return errors.forbidden(
    `${name} needs a key with the power to ${power}: API_READ_SECRET may only read, API_SECRET may ` +
      "do all",
  );
}

function logFailure(error: unknown, { tool, input, call }: ToolCall): void {
  const { signal } = call;
  const log = call.log.with({ tool: tool.name, ...stackFields(tool.stack(input)) });
  if (signal.aborted) return log.debug("the client of a tool went away");
  const isOurs = isStackwrightError(error) && error.code !== "internal";
  if (isOurs) return log.debug(`a tool failed: ${error.message}`);
  const trace = error instanceof Error ? error.stack : undefined;
  log.error(`a tool failed: ${messageOf(error)}`, { error, trace });
}

async function answerOf({ value, failure }: ToolResult, redact: (text: string) => string) {
  const structured = await redactLists(value, redact);
  const isEmpty = Object.keys(structured).length === 0;
  const text = failure === undefined ? JSON.stringify(structured) : redact(failure);
  return {
    content: [{ type: "text" as const, text }],
    ...(isEmpty ? {} : { structuredContent: structured }),
    ...(failure === undefined ? {} : { isError: true }),
  };
}

/** Sends every change of one run, from `follow` until `end`. */
function followRun(
  { runs, redactor }: ToolServerParts,
  tell: (progress: number, text: string) => Promise<void>,
): { readonly follow: (id: string) => void; readonly end: () => void } {
  let followed: string | undefined;
  let steps = 0;
  let last = "";
  const end = runs.subscribe((run) => {
    if (run.id !== followed) return;
    const text = stepOf(run);
    if (text === last) return;
    last = text;
    // A failure means that the client went away, which aborts the call by itself.
    tell(++steps, redactor.redact(text)).catch(() => {});
  });
  return { follow: (id) => void (followed = id), end };
}

/** The step that is under way, in a few words. */
function stepOf({ status, message, targets }: Run): string {
  const steps = targets
    .filter((each) => each.status === "running")
    .map((each) => each.message === undefined ? each.stack : `${each.stack}: ${each.message}`);
  return steps.length > 0 ? steps.join("; ") : message === "" ? status : message;
}
