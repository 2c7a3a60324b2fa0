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

/** Reads the body of a poll request. Throws `bad_request` with its problems. */
type ParsePollRequest = (value: unknown) => SourceRequest[];

/** Parts for running polls. */
export interface RunPollsParts extends RunWorkParts {
  readonly parsePollRequest: ParsePollRequest;
  /** Whether a context is there, also one that cannot be used. */
  readonly hasContext: (context: string) => Promise<boolean>;
  /** Names of the contexts there are. */
  readonly contexts: () => Promise<readonly string[]>;
}

const input = z.strictObject({
  configs: z.array(pollEntrySchema).min(1).max(MOST_POLL_REQUESTS),
  wait: waitInput,
});
/**
 * The entries have a reader of their own, which keeps what their author wrote apart from defaults.
 */
const envelope = input.extend({ configs: z.unknown() });

/**
 * Polls sources now, all in one run. They count as manual work. With `wait` the
 * work is tied to the caller, whose going away cancels it; without, only shutdown ends it.
 *
 * A call throws `bad_request` before anything was started, and `shutting_down`. Work that failed is
 * a result.
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

/** Reads the entries; what is wrong with the list as a whole has texts of its own. */
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

/** What could never be fetched, whatever the world is like: that is a mistake of who asks. */
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
      return [{ file: "request body", path: `[${index}].${key}`, message: error.message }];
    }
  });
}

/**
 * Contexts of inline deployments; those of a repository are looked for when it was fetched. Each is
 * asked for once, however many deployments name it.
 */
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
  const problems = named.filter(({ context }) => unknown.has(context)).map(({ context, path }) => ({
    file: "request body",
    path,
    message: `unknown context: ${context}; expected one of ${names}`,
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
