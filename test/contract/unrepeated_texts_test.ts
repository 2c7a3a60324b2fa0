/**
 * What clients send does not come back to them: masked in an answer, it would say that they guessed
 * a secret.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describedOperations } from "../../src/api/mod.ts";
import { StackwrightError } from "../../src/model/mod.ts";
import { createTools } from "../../src/serve/mcp/tools.ts";
import { restRoutes } from "../../src/serve/rest.ts";
import type { OperationRoute } from "../../src/serve/route.ts";
import { createMemoryEngine, runningContainer } from "../fakes/memory_engine.ts";
import { createMemorySwarm } from "../fakes/memory_swarm.ts";
import { API_SECRET, type HttpService, READ_SECRET, withService } from "./http_service.ts";

/** Texts to look for: a name that every parameter for texts takes, and a number. */
const CANARIES = ["canary-x7q", "481516234215"];
/**
 * May repeat texts to the key that may do all: a poll says which words of its configurations are
 * wrong, and where.
 */
const POLLS = ["POST /v1/api/poll/run", "trigger_poll"];
/** Header that names the context, by contract; it is never masked, so it tells nothing. */
const CONTEXT = "x-service-context";

const KNOWN: Readonly<Record<string, string>> = {
  jobID: "x",
  jobName: "shop-backup-1",
  projectName: "shop",
  stackName: "shop",
  action: "stop",
  name: "shop",
};

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Requests to a route that have a canary in each place, one after the other. */
function* asking({ methods, params, query, bodyFields, ...route }: OperationRoute) {
  const [method = ""] = methods;
  const pathWith = (values: Readonly<Record<string, string>>) =>
    route.path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "x");
  const path = pathWith(KNOWN);
  for (const canary of CANARIES) {
    const values = [canary, { [canary]: canary }, [canary]];
    for (const name of Object.keys(params)) {
      yield { method, path: pathWith({ ...KNOWN, [name]: canary }) };
    }
    for (const name of [...Object.keys(query), "timeout", "nonsense"]) {
      yield { method, path: `${path}?${name}=${canary}` };
    }
    yield { method, path: `${path}?context=default&context=${canary}` };
    yield { method, path: `${path}?${canary}=1` };
    yield { method, path: `${path}/${canary}` };
    for (const member of bodyFields ?? []) {
      for (const value of values) yield { method, path, body: { [member]: value } };
    }
    if (route.body === undefined && bodyFields === undefined) continue;
    for (const body of values) yield { method, path, body };
  }
}

/** Messages to the tool server that have a canary in each place. */
function* telling() {
  for (const canary of CANARIES) {
    yield { method: canary, params: {} };
    yield { method: "initialize", params: { protocolVersion: canary, clientInfo: canary } };
    yield { method: "tools/list", params: { cursor: canary, [canary]: canary } };
    yield calling(canary, {});
    for (const { name, input } of createTools(describedOperations())) {
      const fields = "shape" in input ? Object.keys(input.shape as object) : [];
      yield calling(name, canary);
      yield calling(name, { [canary]: canary });
      for (const field of fields) {
        yield calling(name, { [field]: canary });
        yield calling(name, { [field]: { [canary]: canary } });
        yield calling(name, { [field]: [{ [canary]: canary }] });
        yield calling(name, { ...needed(fields), [field]: canary });
      }
    }
  }
}

function calling(name: string, input: unknown) {
  return { method: "tools/call", params: { name, arguments: input } };
}

/** The arguments that tools need. */
function needed(fields: readonly string[]): Readonly<Record<string, string>> {
  const all = { project_name: "shop", stack_name: "shop", name: "shop", action: "stop" };
  return Object.fromEntries(Object.entries(all).filter(([each]) => fields.includes(each)));
}

/** The answer to a request, where it repeats a canary. */
async function repeated(service: HttpService, { method, path, body }: Asked, key: string) {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: {
      "x-api-key": key,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await service.handler(request, { remote: "" });
  const others = [...response.headers].filter(([name]) => name !== CONTEXT);
  const text = `${others.join("\n")}\n${await response.text()}`;
  // A key that may do all is told by name what was done.
  const mayRepeat = key === API_SECRET && response.ok && path !== "/mcp";
  const isRepeated = CANARIES.some((each) => text.includes(each));
  return isRepeated && !mayRepeat ? [`${method} ${path} ${JSON.stringify(body)}: ${text}`] : [];
}

/** What is there: containers, services of a swarm, or an engine and a ledger that fail. */
const WORLDS = {
  containers: () => ({ engine: createMemoryEngine([runningContainer("shop", "web")]) }),
  swarm: () => ({ engine: createMemorySwarm([{ stack: "shop", service: "web" }]) }),
  failing: () => {
    const engine = createMemorySwarm();
    const fail = () => {
      throw new StackwrightError("engine_unreachable", "nobody answers");
    };
    Object.assign(engine, { onList: fail, onCall: fail });
    Object.assign(engine.swarm, { services: fail });
    return { engine, jobs: fail, deployments: fail, plan: fail };
  },
};
const mcp = { count() {}, observe() {}, move() {} };

describe("what a client sends", () => {
  for (const [world, options] of Object.entries(WORLDS)) {
    const prepare = ({ ledger }: HttpService) => world === "failing" && ledger.close();

    it(`is not repeated by the API, ${world}`, () =>
      withService(options(), async (service) => {
        prepare(service);
        for (const route of restRoutes(describedOperations())) {
          const isPoll = POLLS.includes(`${route.methods[0]} ${route.path}`);
          for (const asked of asking(route)) {
            for (const key of isPoll ? [READ_SECRET] : [READ_SECRET, API_SECRET]) {
              assert.deepEqual(await repeated(service, asked, key), []);
            }
          }
        }
      }));

    it(`is not repeated by the tool server, ${world}`, () =>
      withService({ ...options(), mcp }, async (service) => {
        prepare(service);
        for (const message of telling()) {
          const isPoll = "name" in message.params && POLLS.includes(message.params.name);
          for (const key of isPoll ? [READ_SECRET] : [READ_SECRET, API_SECRET]) {
            const body = { jsonrpc: "2.0", id: 1, ...message };
            const asked = { method: "POST", path: "/mcp", body };
            assert.deepEqual(await repeated(service, asked, key), []);
          }
        }
      }));
  }

  it("is not repeated on paths that are not there, nor without a key or secret", () =>
    withService({ mcp, documents: true }, async (service) => {
      for (const canary of CANARIES) {
        const below = ["", "v1/", "v1/api/run/", "v1/webhook/", "docs/", "openapi/"];
        const paths = [...below.map((each) => `/${each}${canary}`), `/v1/health?${canary}=1`];
        for (const path of paths) {
          for (const method of ["GET", "POST", "DELETE"]) {
            for (const key of ["", READ_SECRET, canary]) {
              assert.deepEqual(await repeated(service, { method, path }, key), []);
            }
          }
        }
      }
    }));
});
