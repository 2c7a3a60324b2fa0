import * as z from "zod";
import { type ErrorCode, errors, type Problem } from "../model/mod.ts";
import type { Log } from "../system/mod.ts";

/** Groups of operations, in the order in which documents show them. */
export const TAGS = [
  "Health",
  "Deployments",
  "Runs",
  "Projects",
  "Stacks",
  "Jobs",
  "Polling",
  "Storage",
  "Webhooks",
] as const;

type Tag = (typeof TAGS)[number];

/** What needs a key: `read` to look, `logs` for output of containers, which may be anything, `act` to change. */
const POWERS = ["read", "logs", "act"] as const;

/** One member of {@link POWERS}. */
export type Power = (typeof POWERS)[number];

/** Facts about a call and its caller. */
export interface Call {
  /** Aborts when the caller disconnects: waits end then, but no change that has begun. */
  readonly signal: AbortSignal;
  /** Log with the id of the request. */
  readonly log: Log;
  /** Receives the id of the run that the call starts, as soon as it exists. */
  readonly onRun?: (id: string) => void;
  /** Address of the caller, if any, for the audit log. */
  readonly client?: string;
}

/** The description of an operation, whatever face it is called through. */
export interface OperationFacts<Output> {
  /** Unique and stable; the operation id in documents. */
  readonly id: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly tag: Tag;
  readonly power: Power;
  /** The schema of the input; faces publish it. */
  readonly input: z.ZodType;
  readonly output: z.ZodType<Output>;
  /** Error codes that a call may throw besides `internal`. */
  readonly errors: readonly ErrorCode[];
}

/** One thing that clients can ask for; `call` throws `bad_request` for an input unlike its schema. */
export interface Operation<Output> extends OperationFacts<Output> {
  call(input: unknown, call: Call): Promise<Output>;
}

/** Makes an operation that checks its input with its schema. */
export function defineOperation<Schema extends z.ZodType, Output>(
  facts: OperationFacts<Output> & { readonly input: Schema },
  handler: (input: z.output<Schema>, call: Call) => Promise<Output> | Output,
): Operation<Output> {
  return {
    ...facts,
    call: async (input, call) => await handler(readInput(facts.input, input), call),
  };
}

/** Our texts for a missing member, and for one that is not known, which zod would repeat. */
export const INPUT_WORDS: z.core.ParseContext<z.core.$ZodIssue> = {
  error({ code, input, inst }) {
    if (code === "invalid_type" && input === undefined) return "it is missing";
    if (code !== "unrecognized_keys") return undefined;
    const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
    return `it has a member that is not known; there are ${known.join(", ") || "none"}`;
  },
};

/** Checks a value against a schema. Throws `bad_request`. */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, INPUT_WORDS);
  if (result.success) return result.data;
  const problems: Problem[] = result.error.issues.map((issue) => ({
    file: "input",
    ...(issue.path.length === 0 ? {} : { path: issue.path.map(String).join(".") }),
    message: issue.message,
  }));
  throw errors.bad_request("invalid input", { problems });
}
