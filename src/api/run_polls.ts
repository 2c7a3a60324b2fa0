import * as z from "zod";
import { MOST_POLL_REQUESTS, pollEntrySchema } from "../config/mod.ts";
import { CANCELLED_BY_CLIENT, CANCELLED_BY_SHUTDOWN, type Intake } from "../intake.ts";
import {
  isStackwrightError,
  type Run,
  type SourceRequest,
  StackwrightError,
} from "../model/mod.ts";
import { isDeferred, splitFailure } from "../plan/mod.ts";
import { type Call, type Operation, readInput } from "./operation.ts";
import { createRunView, runView } from "./run_view.ts";

/** What a request to poll led to. */
export const pollResult = z.strictObject({
  outcome: z.enum(["started", "complete", "deferred", "failed", "cancelled"]).describe(
    "deferred: every deployment is paused or deferred by a sync window.",
  ),
  message: z.string().describe("One sentence."),
  detail: z.string().optional().describe("What failed, and why."),
  run: runView,
});

/** See {@link pollResult}. */
export type PollResult = z.output<typeof pollResult>;

/** Reads the body of a poll request. Throws `bad_request` with its problems. */
export type ParsePollRequest = (value: unknown) => SourceRequest[];

/** What running polls needs. */
export interface RunPollsParts {
  readonly intake: Intake;
  readonly parsePollRequest: ParsePollRequest;
  /** IANA zone of the timestamps. */
  readonly timeZone: string;
}

const input = z.strictObject({
  configs: z.array(pollEntrySchema).min(1).max(MOST_POLL_REQUESTS),
  wait: z.boolean().default(true).describe("Wait for the end of the run."),
});
/** The entries have a reader of their own, which keeps what their author wrote apart from defaults. */
const envelope = input.extend({ configs: z.unknown() });

/**
 * Polls sources now, all in one run. They count as manual work. With `wait` the
 * work is tied to the caller, whose going away cancels it; without, only shutdown ends it.
 *
 * A call throws `bad_request` before anything was started, and `shutting_down`. Work that failed is
 * a result.
 */
export function runPollsOperation(parts: RunPollsParts): Operation<PollResult> {
  return {
    id: "runPolls",
    summary: "Poll sources now and deploy what changed.",
    tag: "Polling",
    power: "act",
    input,
    output: pollResult,
    errors: ["bad_request", "shutting_down"],
    call: async (value, call) => {
      const { configs, wait } = readInput(envelope, value);
      const sources = readSources(configs, parts.parsePollRequest);
      return await runPolls({ sources, wait }, parts, call);
    },
  };
}

async function runPolls(
  { sources, wait }: { readonly sources: SourceRequest[]; readonly wait: boolean },
  { intake, timeZone }: RunPollsParts,
  { signal }: Call,
): Promise<PollResult> {
  const work = { kind: "sync", trigger: "poll", origin: "manual", sources } as const;
  if (!wait) {
    const { run } = intake.submit(work);
    return { outcome: "started", message: "poll jobs started", run: createRunView(timeZone)(run) };
  }
  const run = await intake.submit(work, { signal }).finished;
  return { ...describeEnd(run), run: createRunView(timeZone)(run) };
}

function describeEnd(run: Run): Omit<PollResult, "run"> {
  const { status, message, targets } = run;
  if (message === CANCELLED_BY_CLIENT || message === CANCELLED_BY_SHUTDOWN) {
    return { outcome: "cancelled", message };
  }
  if (status === "failed") {
    const { headline, detail } = splitFailure(message);
    return { outcome: "failed", message: headline, ...(detail === "" ? {} : { detail }) };
  }
  const deferred = status === "skipped" && isDeferred(targets);
  return { outcome: deferred ? "deferred" : "complete", message };
}

/** Reads the entries; what is wrong with the list as a whole has texts of its own. */
function readSources(configs: unknown, parse: ParsePollRequest): SourceRequest[] {
  if (configs === null || (Array.isArray(configs) && configs.length === 0)) {
    throw new StackwrightError("bad_request", "no poll configuration provided in request body");
  }
  if (Array.isArray(configs) && configs.length > MOST_POLL_REQUESTS) {
    throw new StackwrightError(
      "bad_request",
      `too many poll configurations: maximum is ${MOST_POLL_REQUESTS}`,
    );
  }
  try {
    return parse(configs);
  } catch (error) {
    throw isStackwrightError(error, "bad_request") ? withIndex(error) : error;
  }
}

function withIndex(error: StackwrightError): StackwrightError {
  const { problems } = error;
  const indices = problems.flatMap(({ path }) => /^\[(\d+)\]/.exec(path ?? "")?.[1] ?? []);
  const message = indices.length === 0
    ? "failed to decode json in body"
    : `invalid poll configuration at index ${Math.min(...indices.map(Number))}`;
  return new StackwrightError("bad_request", message, { problems, cause: error });
}
