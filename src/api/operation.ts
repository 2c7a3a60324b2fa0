import type * as z from "zod";
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

/**
 * Powers that operations take: `read` is for what only looks, `logs` for what containers print,
 * which may hold anything, `act` for what changes something.
 */
const POWERS = ["read", "logs", "act"] as const;

/** One member of {@link POWERS}. */
export type Power = (typeof POWERS)[number];

/** A call: who it is, and how long they listen. */
export interface Call {
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  /** Carries the id of the request. */
  readonly log: Log;
  /** Is told the id of the run that a call started, as soon as it has one. */
  readonly onRun?: (id: string) => void;
  /** Address of the caller, where there is one: for the log of who did what. */
  readonly client?: string;
}

/** Facts about an operation, apart from the face it is called through. */
export interface OperationFacts<Output> {
  /** Unique and stable: the operation id of documents. */
  readonly id: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly tag: Tag;
  readonly power: Power;
  /** What callers may send; faces publish it. */
  readonly input: z.ZodType;
  readonly output: z.ZodType<Output>;
  /** Codes a call may throw besides `internal`. */
  readonly errors: readonly ErrorCode[];
}

/**
 * One thing that clients can ask for, defined once for all faces. `call` checks `input`, which may
 * be anything, and throws `bad_request` with every problem when it is not what the operation takes.
 */
export interface Operation<Output> extends OperationFacts<Output> {
  call(input: unknown, call: Call): Promise<Output>;
}

/** Makes an operation whose input is exactly what its schema reads. */
export function defineOperation<Schema extends z.ZodType, Output>(
  facts: OperationFacts<Output> & { readonly input: Schema },
  handler: (input: z.output<Schema>, call: Call) => Promise<Output> | Output,
): Operation<Output> {
  return {
    ...facts,
    call: async (input, call) => await handler(readInput(facts.input, input), call),
  };
}

/** What a schema is checked with: zod's words for a member that is not there name JavaScript's value. */
export const INPUT_WORDS: z.core.ParseContext<z.core.$ZodIssue> = {
  error: ({ code, input }) =>
    code === "invalid_type" && input === undefined ? "it is missing" : undefined,
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
