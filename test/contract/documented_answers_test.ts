import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StackStatus } from "../../src/api/mod.ts";
import { openApiDocuments } from "../../src/app/documents.ts";
import { type RunTarget, StackwrightError } from "../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../fakes/memory_engine.ts";
import { recordShop } from "../fakes/memory_ledger.ts";
import { createMemorySwarm } from "../fakes/memory_swarm.ts";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import {
  API_SECRET,
  type HttpService,
  type HttpServiceOptions,
  MAX_PAYLOAD,
  READ_SECRET,
  startHttpService,
  WEBHOOK_SECRET,
} from "./http_service.ts";
import { openApiCheck } from "./openapi_check.ts";

/** What makes the service give one documented answer. */
interface Case {
  readonly options?: HttpServiceOptions;
  readonly prepare?: (service: HttpService) => unknown;
  /** Instead of the route's own. */
  readonly path?: string;
  /** Query, with its question mark. */
  readonly query?: string;
  readonly init?: RequestInit;
}

const key = { "x-api-key": API_SECRET };
const shop: RunTarget = { context: "default", stack: "shop", status: "succeeded" };
const failing: HttpServiceOptions = {
  execute: () => Promise.reject(new StackwrightError("deploy_failed", "no")),
};
const succeeding: HttpServiceOptions = {
  execute: (_work, reporter) => {
    reporter.target(shop);
    return Promise.resolve();
  },
};
const closing = ({ intake }: HttpService) => intake.close();
const containers = (broken = false): HttpServiceOptions => {
  const engine = createMemoryEngine([runningContainer("shop", "web")]);
  const fail = () => {
    throw new StackwrightError("engine_unreachable", "nobody answers");
  };
  if (broken) Object.assign(engine, { onList: fail, onCall: fail });
  return { engine };
};
const conflict = () => Promise.reject(new StackwrightError("conflict", "not from here"));
const notFromHere: HttpServiceOptions = {
  ...containers(),
  hold() {
    throw new StackwrightError("conflict", "its last change was interrupted");
  },
  recreate: conflict,
  destroyRecorded: conflict,
};
const services = (broken = false): HttpServiceOptions => {
  const engine = createMemorySwarm([{ stack: "shop", service: "web" }]);
  const fail = () => {
    throw new StackwrightError("engine_unreachable", "nobody answers");
  };
  if (broken) {
    Object.assign(engine, { onCall: fail });
    Object.assign(engine.swarm, { services: fail });
  }
  return { engine };
};
const mirrors = (status: "succeeded" | "failed"): HttpServiceOptions => ({
  mirrors: [{ repository: "example.org/acme/shop", path: "/m" }],
  compacted: { status, message: "1/1 mirror compactions failed: repack of 1 mirror: 1 failed" },
});
const breaking = (method: "list" | "get") => ({ runs }: HttpService) => {
  runs[method] = () => {
    throw new TypeError("not a function");
  };
};

const jobs = (more: { readonly enabled?: boolean } = {}): HttpServiceOptions => ({
  jobs: () =>
    Promise.resolve([{
      key: { context: "default", name: "shop" },
      service: "backup",
      name: "shop-backup-1",
      mode: "container",
      status: "created",
      container: { state: "created", exitCode: undefined },
      repository: "acme/shop",
      spec: {
        enabled: true,
        schedule: "@daily",
        mode: "one_off",
        skipRunning: false,
        notifyOn: "all",
        stopServices: [{ project: "shop", service: "web" }],
        maxSeconds: 60,
        ...more,
      },
      nextRunAt: new Date(0),
    }]),
});
const noJobs = () => Promise.reject(new StackwrightError("engine_unreachable", "nobody answers"));

/** Refusals of everything under /v1/api. */
const guarded = (init: RequestInit = {}): Record<number, Case> => ({
  401: { init: { ...init, headers: { "x-api-key": "wrong" } } },
  404: { init, options: { apiSecret: "" } },
});
/** The same, and what the key that may only read is told. */
const guardedAct = (init: RequestInit = {}): Record<number, Case> => ({
  ...guarded(init),
  403: { init: { ...init, headers: { "x-api-key": READ_SECRET } } },
});
const unknown = (init: RequestInit = {}): Case => ({ init, path: "/v1/api/project/none" });

const poll = (body: unknown = [{ url: "https://example.org/acme/shop.git" }]): RequestInit => ({
  method: "POST",
  headers: key,
  body: JSON.stringify(body),
});

const push = (payload: unknown = githubPush(), secret = WEBHOOK_SECRET): RequestInit => ({
  method: "POST",
  ...signed("github", { event: "push", payload, secret }),
});
const webhook = (): Record<number, Case> => ({
  201: { init: push(), query: "?wait=true", options: succeeding },
  202: { init: push() },
  400: { init: { method: "POST", body: "{}" } },
  401: { init: push(githubPush(), "another") },
  403: { init: push(githubPush({ repository: { full_name: "a/b", clone_url: "/etc" } })) },
  404: { init: push(), options: { webhookSecret: "" } },
  413: { init: push(githubPush({ pad: "x".repeat(MAX_PAYLOAD) })) },
  500: { init: push(), query: "?wait=true", options: failing },
  503: { init: push(), prepare: closing },
});

const at = new Date("2026-03-10T11:00:00Z");
const DEPLOYMENTS: readonly StackStatus[] = [{
  key: { context: "default", name: "shop" },
  state: "failed",
  why: "web is unhealthy",
  health: "unhealthy",
  running: 1,
  finished: 0,
  wanted: 2,
  drift: [{ service: "web", field: "containers", wanted: "2", found: "1" }],
  current: undefined,
  decision: {
    id: 1,
    trigger: "poll",
    origin: "automatic",
    revision: "main (c3d4)",
    kind: "deploy",
    message: "recreate web",
    firstAt: at,
    lastAt: at,
    times: 1,
  },
  sourceFailure: {
    ...{ repository: "git.test/me/shop", reference: "main", target: "" },
    ...{ since: at, lastAt: at, retryAt: at, message: "no such branch" },
  },
  retryAt: at,
  rolledBack: 2,
  jobs: [{
    ...{ service: "backup", schedule: "@daily", nextRunAt: at },
    lastRun: { id: "1", status: "failed", endedAt: at, message: "disk full" },
  }],
}];

// Looking is what the lesser key may do.
const get: RequestInit = { headers: { "x-api-key": READ_SECRET } };
const post: RequestInit = { headers: key, method: "POST" };
const remove: RequestInit = { headers: key, method: "DELETE" };

const broken = ({ ledger }: HttpService) => ledger.close();
/** A stack of a context that is not there any more. */
const recordGone = ({ ledger, clock }: HttpService) =>
  recordShop(ledger, clock, { context: "gone", name: "shop" });
const unplanned: HttpServiceOptions = {
  plan: () => Promise.reject(new StackwrightError("conflict", "another's")),
};
/** Answers of everything that looks at one stack. */
const looking = (query = ""): Record<number, Case> => ({
  ...guarded(get),
  200: { init: get, query },
  400: { init: get, query: "?context=edge" },
  500: { init: get, query, prepare: broken },
});
/** Answers of everything that is done to one stack, with a body that is right. */
const acting = (body: unknown, wrong: unknown = { nonsense: 1 }): Record<number, Case> => ({
  ...guardedAct(post),
  200: { init: { ...post, body: JSON.stringify(body) } },
  400: { init: { ...post, body: JSON.stringify(wrong) } },
  413: { init: { ...post, body: JSON.stringify("x".repeat(MAX_PAYLOAD)) } },
  500: { init: { ...post, body: JSON.stringify(body) }, prepare: broken },
});
const refused = ({ ledger }: HttpService) => {
  for (const source of ["host/a", "host/b"]) {
    ledger.owners.refuse({ context: "default", name: "shop" }, { source, reference: "" });
  }
};

const handedOver = ({ ledger }: HttpService) => {
  const key = { context: "default", name: "shop" };
  ledger.handOver(key, { source: "host/other", reference: "refs/heads/main" }, { releasesOf: "" });
};

/** A stack that another context of its engine deployed last. */
const deployedBeside = ({ ledger, clock }: HttpService) => {
  for (const context of ["default", "same"]) {
    ledger.owners.noteEngine(context, { id: "engine", cluster: "" });
  }
  recordShop(ledger, clock, { context: "same", name: "shop" });
};

/** One case for each pair of route and status of the documents. */
const CASES: Readonly<Record<string, Readonly<Record<number, Case>>>> = {
  "GET /v1/health": {
    200: {},
    503: { prepare: closing },
  },
  "GET /v1/api/deployments": {
    ...guarded(get),
    200: { init: get, options: { deployments: () => Promise.resolve(DEPLOYMENTS) } },
    400: { init: get, query: "?state=fine" },
    500: {
      init: get,
      options: { deployments: () => Promise.reject(new TypeError("not a function")) },
    },
  },
  "GET /v1/api/deployment/{name}": looking(),
  "GET /v1/api/deployment/{name}/releases": looking("?limit=2"),
  "GET /v1/api/deployment/{name}/decisions": looking("?before=3"),
  "GET /v1/api/deployment/{name}/diff": looking("?from=1&to=2&limit=2"),
  "POST /v1/api/deployment/{name}/adopt": {
    ...acting({ source: "github.com/acme/shop", reference: "main", releases_of: "", also: [] }),
    409: { init: post, prepare: refused },
  },
  "POST /v1/api/deployment/{name}/forget": {
    ...guardedAct(post),
    200: { init: post, query: "?context=gone", prepare: recordGone },
    400: { init: post, query: "?contxt=gone", prepare: recordGone },
    409: { init: post },
    500: { init: post, query: "?context=gone", prepare: broken },
  },
  "POST /v1/api/deployment/{name}/plan": {
    ...guarded({ ...get, method: "POST" }),
    200: { init: { ...get, method: "POST" } },
    400: { init: post, query: "?context=edge" },
    409: { init: post, options: unplanned },
    500: { init: post, prepare: broken },
  },
  "POST /v1/api/deployment/{name}/apply": {
    ...acting({ plan_id: "p1" }),
    202: { init: post, query: "?wait=false" },
    409: { init: { ...post, body: JSON.stringify({ plan_id: "p0" }) } },
    500: { init: post, options: failing },
    503: { init: post, prepare: closing },
  },
  "POST /v1/api/deployment/{name}/retry": {
    ...guardedAct(post),
    200: { init: post },
    202: { init: post, query: "?wait=false" },
    400: { init: post, query: "?context=edge" },
    409: {
      init: post,
      prepare: ({ ledger }) => ledger.failures.clear({ context: "default", name: "shop" }),
    },
    500: { init: post, options: failing },
    503: { init: post, prepare: closing },
  },
  "POST /v1/api/deployment/{name}/rollback": {
    ...acting({ release: 1, reason: "CPU bug" }),
    202: { init: { ...post, body: "{}" }, query: "?wait=false" },
    409: { init: { ...post, body: JSON.stringify({ release: 1 }) }, prepare: handedOver },
    500: { init: post, options: failing },
    503: { init: post, prepare: closing },
  },
  "POST /v1/api/deployment/{name}/hold": {
    ...acting({ reason: "CPU bug", until: "36h" }, { until: "soon" }),
    409: { init: { ...post, body: "{}" }, prepare: deployedBeside },
  },
  "POST /v1/api/deployment/{name}/resume": {
    ...guardedAct(post),
    200: { init: post },
    400: { init: post, query: "?context=edge" },
    500: { init: post, prepare: broken },
  },
  "POST /v1/api/deployment/{name}/unpin": {
    ...guardedAct(post),
    200: { init: post },
    400: { init: post, query: "?context=edge" },
    500: { init: post, prepare: broken },
  },
  "GET /v1/api/runs": {
    ...guarded(get),
    200: { init: get },
    400: { init: get, query: "?limit=0" },
    500: { init: get, prepare: breaking("list") },
  },
  "GET /v1/api/sync-windows": {
    ...guarded(get),
    200: { init: get, query: "?deployment=shop" },
    400: { init: get, query: "?origin=reconciliation" },
    500: { init: get, prepare: ({ clock }) => Object.assign(clock, { now: () => new Date(NaN) }) },
  },
  "GET /v1/api/run/{jobID}": {
    ...guarded(get),
    200: {
      init: get,
      prepare: ({ runs }) => runs.accept({ id: "x", trigger: "poll", repository: "acme/shop" }),
    },
    400: { init: get, path: "/v1/api/run/%20" },
    500: { init: get, prepare: breaking("get") },
  },
  "GET /v1/api/projects": {
    ...guarded(get),
    200: { init: get, options: containers() },
    400: { init: get, query: "?context=edge" },
    500: { init: get, options: containers(true) },
  },
  "GET /v1/api/project/{projectName}": {
    ...guarded(get),
    200: { init: get, options: containers() },
    400: { init: get, query: "?context=edge" },
    404: unknown(get),
    500: { init: get, options: containers(true) },
  },
  "DELETE /v1/api/project/{projectName}": {
    ...guardedAct(remove),
    200: { init: remove, options: containers() },
    400: { init: remove, query: "?timeout=0" },
    404: unknown(remove),
    409: { init: remove, options: notFromHere },
    500: { init: remove, options: containers(true) },
    503: { init: remove, options: containers(), prepare: closing },
  },
  "POST /v1/api/project/{projectName}/recreate": {
    ...guardedAct(post),
    200: { init: post, options: containers() },
    400: { init: post, query: "?timeout=0" },
    404: { init: post, path: "/v1/api/project/none/recreate" },
    409: { init: post, options: notFromHere },
    500: { init: post, options: containers(true) },
    503: { init: post, options: containers(), prepare: closing },
  },
  "POST /v1/api/project/{projectName}/{action}": {
    ...guardedAct(post),
    200: { init: post, options: containers() },
    400: { init: post, path: "/v1/api/project/shop/explode" },
    404: { init: post, path: "/v1/api/project/none/stop" },
    409: { init: post, options: notFromHere },
    500: { init: post, options: containers(true) },
    503: { init: post, options: containers(), prepare: closing },
  },
  "GET /v1/api/stacks": {
    ...guarded(get),
    200: { init: get, options: services() },
    400: { init: get, query: "?context=edge" },
    409: { init: get },
    500: { init: get, options: services(true) },
  },
  "GET /v1/api/stack/{stackName}": {
    ...guarded(get),
    200: { init: get, options: services() },
    400: { init: get, query: "?context=edge" },
    404: { init: get, path: "/v1/api/stack/none", options: services() },
    409: { init: get },
    500: { init: get, options: services(true) },
  },
  "DELETE /v1/api/stack/{stackName}": {
    ...guardedAct(remove),
    200: { init: remove, options: services() },
    400: { init: remove, query: "?timeout=0" },
    404: { init: remove, path: "/v1/api/stack/none", options: services() },
    409: { init: remove },
    500: { init: remove, options: services(true) },
    503: { init: remove, options: services(), prepare: closing },
  },
  "POST /v1/api/stack/{stackName}/{action}": {
    ...guardedAct({ ...post }),
    200: { init: post, path: "/v1/api/stack/shop/restart", options: services() },
    400: { init: post, path: "/v1/api/stack/shop/scale", options: services() },
    404: { init: post, path: "/v1/api/stack/none/restart", options: services() },
    409: { init: post, path: "/v1/api/stack/shop/restart" },
    500: { init: post, path: "/v1/api/stack/shop/restart", options: services(true) },
    503: {
      init: post,
      path: "/v1/api/stack/shop/restart",
      options: services(),
      prepare: closing,
    },
  },
  "POST /v1/api/storage/compact": {
    ...guardedAct(post),
    200: { init: post, query: "?wait=true", options: mirrors("succeeded") },
    202: { init: post, options: mirrors("succeeded") },
    400: { init: post, query: "?mode=squeeze", options: mirrors("succeeded") },
    404: { init: post },
    409: {
      init: post,
      options: mirrors("succeeded"),
      prepare: ({ runs }) => runs.accept({ id: "busy", trigger: "mirror_compaction" }),
    },
    500: { init: post, query: "?wait=true", options: mirrors("failed") },
    503: { init: post, options: mirrors("succeeded"), prepare: closing },
  },
  "GET /v1/api/jobs": {
    ...guarded(get),
    200: { init: get, options: jobs() },
    400: { init: get, query: "?context=edge" },
    500: { init: get, options: { jobs: noJobs } },
  },
  "POST /v1/api/job/{jobName}/run": {
    ...guardedAct(post),
    200: { init: post, options: { ...jobs(), ...succeeding } },
    202: { init: post, query: "?wait=false", options: jobs() },
    400: { init: post, query: "?context=edge" },
    404: { init: post },
    409: { init: post, options: jobs({ enabled: false }) },
    500: { init: post, options: { ...jobs(), ...failing } },
    503: { init: post, options: jobs(), prepare: closing },
  },
  "POST /v1/api/poll/run": {
    ...guardedAct(poll()),
    200: { init: poll(), options: succeeding },
    202: { init: poll(), query: "?wait=false" },
    400: { init: poll([]) },
    413: { init: poll(["x".repeat(MAX_PAYLOAD)]) },
    500: { init: poll(), options: failing },
    503: { init: poll(), prepare: closing },
  },
  "POST /v1/webhook": webhook(),
  "POST /v1/webhook/{target}": webhook(),
};

const VARIABLES: Readonly<Record<string, string>> = {
  "{jobID}": "x",
  "{jobName}": "shop-backup-1",
  "{projectName}": "shop",
  "{stackName}": "shop",
  "{action}": "stop",
  "{name}": "shop",
  "{target}": "edge",
};

const documents = Object.values(openApiDocuments("1.2.3"));

describe("the OpenAPI documents", () => {
  const checks = documents.map(openApiCheck);

  it("tell of the answers below and of no other", () => {
    const told = documents.flatMap(pairsOf).sort();
    const given = Object.entries(CASES)
      .flatMap(([route, cases]) => Object.keys(cases).map((status) => `${route} ${status}`));
    assert.deepEqual(given.sort(), told);
  });

  for (const [route, cases] of Object.entries(CASES)) {
    for (const [status, each] of Object.entries(cases)) {
      it(`${route} answers ${status} as told`, async () => {
        const service = await startHttpService(each.options ?? {});
        try {
          await each.prepare?.(service);
          const [method = "", template = ""] = route.split(" ");
          const path = (each.path ?? template.replaceAll(/\{\w+\}/g, (name) =>
            VARIABLES[name] ?? "")) +
            (each.query ?? "");
          const response = await service.open(path, { method, ...each.init });
          assert.equal(response.status, Number(status));
          const seen = await Promise.all(
            checks.map((check) => check.response({ method, path }, response)),
          );
          assert.equal(seen.filter((found) => found).length, 1, "one document has it");
          await response.body?.cancel();
        } finally {
          await service.stop();
        }
      });
    }
  }
});

type Paths = Readonly<
  Record<string, Record<string, { readonly responses: Record<string, unknown> }>>
>;

/** Such as `GET /v1/health 200`. */
function pairsOf(document: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(document["paths"] as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`)
    )
  );
}
