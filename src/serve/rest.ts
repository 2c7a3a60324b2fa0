import type { Call, HealthView, Operations, PollResult } from "../api/mod.ts";
import { RUN_STATUSES, TRIGGERS } from "../model/mod.ts";
import type { Answer } from "./envelope.ts";
import { readBoolean, readChoice, readPositiveInteger } from "./query.ts";

/** One request on its way through a route. */
export interface Exchange {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly call: Call;
  /** Reads the body as JSON; may be called once. Throws `bad_request` and `payload_too_large`. */
  readonly readJson: () => Promise<unknown>;
}

/** One method and path over an operation. */
export interface Route {
  readonly methods: readonly ("GET" | "HEAD" | "POST" | "DELETE")[];
  readonly path: string;
  /** `key` routes exist only with an API secret and want it in every request. */
  readonly access: "public" | "key";
  answer(exchange: Exchange): Promise<Answer>;
}

/** The REST interface as a table over the operations (interface.md §4). */
export function restRoutes(operations: Operations): Route[] {
  const { health, listRuns, getRun, runPolls } = operations;
  return [
    {
      methods: ["GET", "HEAD"],
      path: "/v1/health",
      access: "public",
      answer: async ({ call }) => healthAnswer(await health.call({}, call)),
    },
    {
      methods: ["GET"],
      path: "/v1/api/runs",
      access: "key",
      answer: async ({ query, call }) => content(await listRuns.call(runFilter(query), call)),
    },
    {
      methods: ["GET"],
      path: "/v1/api/run/{jobID}",
      access: "key",
      answer: async ({ params, call }) => {
        const run = await getRun.call({ job_id: params["jobID"] }, call);
        return { ...content(run), jobId: run.job_id };
      },
    },
    {
      methods: ["POST"],
      path: "/v1/api/poll/run",
      access: "key",
      answer: async ({ query, call, readJson }) => {
        const wait = readBoolean(query, "wait", true);
        return pollAnswer(await runPolls.call({ configs: await readJson(), wait }, call));
      },
    },
  ];
}

function runFilter(query: URLSearchParams): Record<string, unknown> {
  return {
    limit: readPositiveInteger(query, "limit"),
    status: readChoice(query, "status", { what: "deployment run status", choices: RUN_STATUSES }),
    trigger: readChoice(query, "trigger", { what: "deployment run trigger", choices: TRIGGERS }),
  };
}

function content(value: unknown): Answer & { readonly kind: "content" } {
  return { kind: "content", status: 200, content: value };
}

function healthAnswer(health: HealthView): Answer {
  return { kind: "plain", status: health.details === "healthy" ? 200 : 503, body: health };
}

const POLL_STATUS: Readonly<Record<PollResult["outcome"], number>> = {
  complete: 200,
  started: 202,
  deferred: 202,
  failed: 500,
  cancelled: 503,
};

function pollAnswer({ outcome, message, detail, run }: PollResult): Answer {
  const status = POLL_STATUS[outcome];
  const jobId = run.job_id;
  if (outcome !== "failed" && outcome !== "cancelled") {
    return { kind: "content", status, content: message, jobId };
  }
  const refusal = { status, error: message, ...(detail === undefined ? {} : { content: detail }) };
  return { kind: "refusal", refusal, jobId };
}
