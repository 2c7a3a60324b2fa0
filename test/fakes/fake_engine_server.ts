import * as fs from "node:fs/promises";
import http, { type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import { asRecord, type JsonRecord } from "../../src/docker/json.ts";
import { compareVersions } from "../../src/docker/api_version.ts";
import { describeCall, type EngineCall } from "./engine_calls.ts";
import { containerRoutes } from "./fake_engine_containers.ts";
import { imageRoutes } from "./fake_engine_images.ts";
import { resourceRoutes } from "./fake_engine_resources.ts";
import type { RouteAnswer } from "./fake_engine_routes.ts";
import { type EngineState, Refusal } from "./fake_engine_state.ts";
import { swarmRoutes } from "./fake_engine_swarm.ts";
import { systemRoutes } from "./fake_engine_system.ts";

const ROUTES = [
  ...swarmRoutes,
  ...systemRoutes,
  ...containerRoutes,
  ...imageRoutes,
  ...resourceRoutes,
];

/** Serves the state over HTTP on a unix socket. */
export async function serveEngine(
  state: EngineState,
  socketPath: string,
  record: (call: EngineCall) => void,
): Promise<{ close(): Promise<void> }> {
  await fs.rm(socketPath, { force: true });
  const server = http.createServer((request, response) => {
    void respond(state, request, response, record);
  });
  // The client decides how long a connection is kept; a race would look like a fault of the client.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  return { close: () => closeServer(server, socketPath) };
}

async function closeServer(server: Server, socketPath: string): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  await fs.rm(socketPath, { force: true });
}

async function respond(
  state: EngineState,
  request: IncomingMessage,
  response: ServerResponse,
  record: (call: EngineCall) => void,
): Promise<void> {
  response.on("error", () => {});
  const call = describeCall(request.method ?? "", request.url ?? "");
  record(call);
  try {
    const body = await readJson(request);
    send(request, response, answer(state, call, request.url ?? "", body));
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 500;
    const message = error instanceof Error ? error.message : String(error);
    send(request, response, { status, json: { message } });
  }
}

function answer(
  state: EngineState,
  call: EngineCall,
  target: string,
  body: JsonRecord,
): RouteAnswer {
  const version = /^\/v(\d+\.\d+)\//.exec(target)?.[1];
  if (version !== undefined && compareVersions(version, state.apiVersion) > 0) {
    throw new Refusal(
      400,
      `client version ${version} is too new. Maximum supported API version is ${state.apiVersion}`,
    );
  }
  const [path = "", query = ""] = call.path.split("?");
  for (const route of ROUTES) {
    const match = route.method === call.method ? route.path.exec(path) : null;
    if (match === null) continue;
    const params = match.slice(1).map(decodeURIComponent);
    return route.handle({ state, params, query: new URLSearchParams(query), body });
  }
  throw new Refusal(501, `FAKE ENGINE HAS NO ROUTE FOR ${call.method} ${call.path}`);
}

function send(request: IncomingMessage, response: ServerResponse, reply: RouteAnswer): void {
  if ("stream" in reply) return reply.stream(response, request);
  const hasBody = reply.json !== undefined && request.method !== "HEAD";
  const body = hasBody ? Buffer.from(JSON.stringify(reply.json) + "\n") : undefined;
  const headers: Record<string, string> = { ...reply.headers };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (reply.status !== 204 && reply.status !== 304) {
    headers["Content-Length"] = String(body?.length ?? 0);
  }
  response.writeHead(reply.status, headers);
  response.end(body);
}

/** Bodies that are no JSON (archives) are read and forgotten. */
async function readJson(request: IncomingMessage): Promise<JsonRecord> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const isJson = request.headers["content-type"]?.includes("json") ?? false;
  const text = Buffer.concat(chunks).toString("utf8");
  return isJson && text.trim() !== "" ? asRecord(JSON.parse(text)) : {};
}
