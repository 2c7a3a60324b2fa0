import type { RunEnd, RunTarget } from "../../src/model/mod.ts";
import { openApiDocuments } from "../../src/app/documents.ts";
import { createSyncWindows } from "../../src/plan/mod.ts";
import {
  createOperations,
  type OperationParts,
  receiveWebhookOperation,
} from "../../src/api/mod.ts";
import { parsePollRequest } from "../../src/config/mod.ts";
import { type LockParts, Projects, Stacks } from "../../src/deploy/mod.ts";
import { createIntake, type Execute, type Intake } from "../../src/intake.ts";
import { reduceTargets } from "../../src/plan/mod.ts";
import { createRuns, type Ledger, type RunStore } from "../../src/record/mod.ts";
import {
  createHandler,
  createServer,
  type Handler,
  type ServerLimits,
} from "../../src/serve/mod.ts";
import { sourceLocation } from "../../src/source/mod.ts";
import {
  createIds,
  createRedactor,
  formatTime,
  type Meter,
  systemClock,
} from "../../src/system/mod.ts";
import { createLocate } from "../../src/trigger/mod.ts";
import { lockParts } from "../fakes/lock_parts.ts";
import { createFakeClock, type FakeClock } from "../fakes/fake_clock.ts";
import { openApiCheck } from "./openapi_check.ts";
import { createMemoryLedger, planned, recordShop } from "../fakes/memory_ledger.ts";
import { createMemoryEngine, type MemoryEngine } from "../fakes/memory_engine.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";

/** Key that the service under test wants. */
export const API_SECRET = "correct-horse-battery";
/** Key that may only read. */
export const READ_SECRET = "battery-of-readers";
/** Secret that webhooks are signed with. */
export const WEBHOOK_SECRET = "canary-of-webhooks";
/** Most bytes the service under test takes. */
export const MAX_PAYLOAD = 2048;
/** A text that must never reach a client. */
export const SECRET = "hunter2-hunter2";

const VERSION = "1.2.3";
const TIME_ZONE = "Europe/Berlin";
/** Checks against the documents, which are the same of every service: to make them takes a while. */
const CHECKS = Object.values(openApiDocuments(VERSION)).map(openApiCheck);

/** The HTTP service on a free port of this host, with a stand-in for the pipeline. */
export interface HttpService {
  readonly url: string;
  readonly port: number;
  readonly clock: FakeClock;
  readonly runs: RunStore;
  /** In which {@link recordShop} has recorded a stack. */
  readonly ledger: Ledger;
  readonly intake: Intake;
  readonly log: ReturnType<typeof createRecordingLog>;
  /** Repositories of the webhooks that proved themselves. */
  readonly authentic: readonly string[];
  /** What answers, without the socket. */
  readonly handler: Handler;
  /** Sends a request; the response is checked against the OpenAPI document. */
  open(path: string, init?: RequestInit): Promise<Response>;
  /** The same with the right key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** What a test decides about the service. */
export interface HttpServiceOptions {
  readonly execute?: Execute;
  readonly apiSecret?: string;
  /** Whether the tool server is served; what it counts goes to this meter. */
  readonly mcp?: Meter;
  /** Whether OpenAPI documents and pages are served. */
  readonly documents?: boolean;
  /** What projects act on; empty by default. */
  readonly engine?: MemoryEngine;
  /** What a stop, start or restart of a project is told of its hold; nothing by default. */
  readonly hold?: () => undefined;
  /** What making containers of a project anew comes to; done by default. */
  readonly recreate?: () => Promise<"done">;
  /** Destroys a project that the ledger knows; none is known unless this is given. */
  readonly destroyRecorded?: () => Promise<undefined>;
  /** {@link WEBHOOK_SECRET} by default; empty for a service without webhooks. */
  readonly webhookSecret?: string;
  /** The scheduled jobs; none by default. */
  readonly jobs?: OperationParts["jobs"];
  /** The mirrors on disk; none by default. */
  readonly mirrors?: Awaited<ReturnType<OperationParts["mirrors"]>>;
  /** What a compaction of them amounts to. */
  readonly compacted?: RunEnd;
  /** The status of every stack; none by default. */
  readonly deployments?: OperationParts["deployments"];
  /** What planning finds; {@link planned} by default. */
  readonly plan?: OperationParts["plan"];
  /** Whether webhooks that come in a burst wait for its end, on the clock that stands still. */
  readonly bursts?: boolean;
  readonly checkEngine?: (signal: AbortSignal) => Promise<unknown>;
  /** Instead of the usual ones. */
  readonly limits?: Partial<ServerLimits>;
  /** See the handler's; the usual one by default. */
  readonly unsignedBytes?: number;
}

/** Starts it; every clock but the server's own is the test's. */
export async function startHttpService(options: HttpServiceOptions = {}): Promise<HttpService> {
  const clock = createFakeClock();
  const log = createRecordingLog();
  const redactor = createRedactor();
  redactor.add(SECRET);
  redactor.add(WEBHOOK_SECRET);
  const ids = createIds(systemClock);
  const runs = createRuns({ clock });
  const ledger = createMemoryLedger(clock);
  recordShop(ledger, clock);
  const execute = options.execute ?? (() => Promise.resolve());
  const intake = createIntake({
    runs,
    performers: {
      sync: execute,
      job: ({ trigger, origin }, reporter, signal) =>
        execute({ kind: "sync", trigger, origin, sources: [] }, reporter, signal),
      compaction: () => Promise.resolve(options.compacted),
      rollback: ({ trigger, origin }, reporter, signal) =>
        execute({ kind: "sync", trigger, origin, sources: [] }, reporter, signal),
    },
    conclude: (targets, facts) =>
      reduceTargets(targets, { ...facts, formatTime: (at) => formatTime(at, TIME_ZONE) }),
    clock,
    ids,
    redactor,
    log,
    ...(options.bursts ? {} : { quietMs: 0 }),
  });
  const engine = options.engine ?? createMemoryEngine();
  const change: LockParts["change"] = (_key, work) => intake.change(work);
  const lock = { ...lockParts(clock), change };
  const stacks = new Stacks({
    engine,
    ...lock,
    isManager: async (signal) => (await engine.info(signal)).swarm === "manager",
    destroyRecorded: () => Promise.resolve(false),
  });
  const operations = createOperations({
    intake,
    runs,
    contexts: () => Promise.resolve(["default"]),
    learned: () => Promise.resolve(),
    hosts: { of: () => Promise.reject(new Error("there is no engine")) },
    hasContext: (context) => Promise.resolve(context === "default"),
    checkEngine: options.checkEngine ?? (() => Promise.resolve()),
    parsePollRequest,
    projects: new Projects({
      requireNotOurs: () => Promise.resolve(),
      isStack: () => false,
      watchMs: 2000,
      engine: () => Promise.resolve(engine),
      ...lock,
      destroyRecorded: options.destroyRecorded ?? (() => Promise.resolve(undefined)),
      hold: options.hold ?? (() => undefined),
      started: () => {},
      recreateRecorded: options.recreate ?? (() => Promise.resolve("done")),
      keptImages: () => Promise.resolve(new Set()),
      keptNames: () => Promise.resolve(() => undefined),
    }),
    stacks: () => Promise.resolve(stacks),
    mirrors: () => Promise.resolve(options.mirrors ?? []),
    deployments: options.deployments ?? (() => Promise.resolve([])),
    ledger,
    shownDigest: ({ name }, digest) => `${name} ${digest}`,
    shownModel: (recorded) => Promise.resolve(JSON.stringify(ledger.open(recorded).model)),
    polls: [],
    windows: createSyncWindows([]),
    jobs: options.jobs ?? (() => Promise.resolve([])),
    plan: options.plan ?? planned,
    clock,
    timeZone: TIME_ZONE,
  });
  const apiSecret = options.apiSecret ?? API_SECRET;
  const secret = options.webhookSecret ?? WEBHOOK_SECRET;
  const locate = createLocate({
    rewrite: () => undefined,
    allowLocal: false,
    nameOf: (url: string) => sourceLocation("git", url).name,
    hasSshKey: () => false,
    agree: () => true,
    configured: () => undefined,
  });
  const operation = receiveWebhookOperation({ intake });
  const authentic: string[] = [];
  const onAuthentic = (repository: string) => void authentic.push(repository);
  const handlerParts = {
    operations,
    apiKeys: { full: apiSecret, read: apiSecret === "" ? "" : READ_SECRET },
    ...(secret === "" ? {} : { webhooks: { secret, sources: { locate }, operation, onAuthentic } }),
    maxPayload: MAX_PAYLOAD,
    ...(options.unsignedBytes === undefined ? {} : { unsignedBytes: options.unsignedBytes }),
    redactor,
    log,
    ids,
    clock,
    ...(options.mcp === undefined ? {} : { mcp: { version: VERSION, meter: options.mcp, runs } }),
    ...(options.documents === true ? { openApi: { version: VERSION } } : {}),
  };
  const handler = createHandler(handlerParts);
  const server = await createServer({
    handler,
    port: 0,
    hostname: "127.0.0.1",
    clock: systemClock,
    log,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const open = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(server.url + path, init);
    const request = { method: init.method ?? "GET", path };
    if (request.method === "HEAD") return response;
    for (const check of CHECKS) await check.response(request, response);
    return response;
  };
  return {
    url: server.url,
    port: server.port,
    clock,
    runs,
    ledger,
    intake,
    log,
    authentic,
    open,
    handler,
    fetch: (path, init = {}) =>
      open(path, {
        ...init,
        headers: { "x-api-key": API_SECRET, ...init.headers as Record<string, string> },
      }),
    stop: () => server.shutdown(1_000),
  };
}

/** Runs `check` against a service of its own. */
export async function withService(
  options: HttpServiceOptions,
  check: (service: HttpService) => Promise<void>,
): Promise<void> {
  const service = await startHttpService(options);
  try {
    await check(service);
  } finally {
    await service.stop();
  }
}

/** Work that ends as told: with these targets. */
export function reports(...targets: RunTarget[]): Execute {
  return (_work, reporter) => {
    for (const target of targets) reporter.target(target);
    return Promise.resolve();
  };
}
