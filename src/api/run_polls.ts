import * as z from "zod";
import { MOST_POLL_REQUESTS, pollEntrySchema } from "../config/mod.ts";
import {
  DEFAULT_CONTEXT,
  errors,
  isStackwrightError,
  type Problem,
  type SourceRequest,
  stackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { parseReference, sourceLocation } from "../source/mod.ts";
import { type Operation, readInput } from "./operation.ts";
import { type RunResult, runResult, runWork, type RunWorkParts, waitInput } from "./run_work.ts";

/** Parses the entries of a poll request. Throws `bad_request` with all problems. */
type ParsePollRequest = (value: unknown) => SourceRequest[];

/** Parts for running polls. */
export interface RunPollsParts extends RunWorkParts {
  readonly parsePollRequest: ParsePollRequest;
  /** Whether a context exists, even if it cannot be used. */
  readonly hasContext: (context: string) => Promise<boolean>;
  /** Names of the existing contexts. */
  readonly contexts: () => Promise<readonly string[]>;
}

const input = z.strictObject({
  configs: z.array(pollEntrySchema).min(1).max(MOST_POLL_REQUESTS),
  wait: waitInput,
});
/** Leaves the entries to {@link ParsePollRequest}, which tells explicit values from defaults. */
const envelope = input.extend({ configs: z.unknown() });

/**
 * Polls sources now, in one run, as manual work. With `wait` the caller's disconnect cancels the
 * work while it has changed nothing; without, only a shutdown does.
 *
 * A call throws `bad_request` before anything starts, and `shutting_down`; failed work is a result.
 */
export function runPollsOperation(parts: RunPollsParts): Operation<RunResult> {
  return {
    id: "runPolls",
    summary: "Poll sources now and deploy what changed.",
    tag: "Polling",
    power: "act",
    input,
    output: runResult,
    errors: ["bad_request", "shutting_down"],
    call: async (value, call) => {
      const { configs, wait } = readInput(envelope, value);
      const sources = readSources(configs, parts.parsePollRequest);
      await requireContexts(sources, parts);
      const work = { kind: "sync", trigger: "poll", origin: "manual", sources } as const;
      return await runWork({ work, wait, started: "poll jobs started" }, parts, call);
    },
  };
}

/** Parses the entries; faults of the list as a whole have messages of their own. */
function readSources(configs: unknown, parse: ParsePollRequest): SourceRequest[] {
  if (configs === null || (Array.isArray(configs) && configs.length === 0)) {
    throw errors.bad_request("no poll configuration provided in request body");
  }
  if (Array.isArray(configs) && configs.length > MOST_POLL_REQUESTS) {
    throw errors.bad_request(`too many poll configurations: maximum is ${MOST_POLL_REQUESTS}`);
  }
  try {
    const sources = parse(configs);
    const problems = sources.flatMap(problemsOf);
    if (problems.length > 0) throw errors.bad_request("", { problems });
    return sources;
  } catch (error) {
    throw isStackwrightError(error, "bad_request") ? withIndex(error) : error;
  }
}

/** Faults of a request that could never be fetched, which are the caller's mistake. */
function problemsOf({ kind, url, reference }: SourceRequest, index: number): Problem[] {
  const tries = {
    url: () => sourceLocation(kind, url),
    reference: () => kind === "git" && parseReference(reference),
  };
  return Object.entries(tries).flatMap(([key, attempt]) => {
    try {
      attempt();
      return [];
    } catch (error) {
      if (!isStackwrightError(error, "bad_request")) throw error;
      return [{ file: "request body", path: `[${index}].${key}`, message: error.told }];
    }
  });
}

/** Refuses unknown contexts in inline deployments; each context is looked up once. */
async function requireContexts(
  sources: readonly SourceRequest[],
  { hasContext, contexts }: RunPollsParts,
): Promise<void> {
  const named = sources.flatMap(({ deployments }, source) =>
    deployments.map(({ deployment }, index) => ({
      context: stackKey(deployment.context, "").context,
      path: `[${source}].deployments[${index}].context`,
    }))
  );
  const unknown = new Set<string>();
  for (const context of new Set(named.map((each) => each.context))) {
    if (context !== DEFAULT_CONTEXT && !await hasContext(context)) unknown.add(context);
  }
  if (unknown.size === 0) return;
  const names = [...new Set(await contexts())].join(", ");
  const problems = named.filter(({ context }) => unknown.has(context)).map(({ path }) => ({
    file: "request body",
    path,
    message: `unknown context; expected one of ${names}`,
  }));
  throw withIndex(errors.bad_request("", { problems }));
}

function withIndex(error: StackwrightError): StackwrightError {
  const { problems } = error;
  const indices = problems.flatMap(({ path }) => /^\[(\d+)\]/.exec(path ?? "")?.[1] ?? []);
  const message = indices.length === 0
    ? "failed to decode json in body"
    : `invalid poll configuration at index ${Math.min(...indices.map(Number))}`;
  return errors.bad_request(message, { problems, cause: error });
}
