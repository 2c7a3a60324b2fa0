import * as z from "zod";
import type { Call, Operation, Power, RunResult } from "../../api/mod.ts";
import { aboutWhom, stackIn } from "../route.ts";

/** Hints for clients that decide whether an agent may call a tool; the names are the protocol's. */
interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** Result of a call of a tool. */
export interface ToolResult {
  /** The result as a value; clients get it as text, too. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Reason of a failure; absent for a success. */
  readonly failure?: string;
}

/** The input of a tool, validated by its schema. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** One tool over an operation. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly power: Power;
  readonly hints: ToolHints;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** Stack whose secrets are masked in the result; see `about` of the answers of routes. */
  about(input: ToolInput): string | undefined;
  /** Stack that the input names, whose secrets are masked in what is said of a failure. */
  stack(input: ToolInput): string | undefined;
  /** Throws what the operation throws. */
  run(input: ToolInput, call: Call): Promise<ToolResult>;
}

const LOOKS: ToolHints = { readOnlyHint: true, openWorldHint: false };
/** Hints of tools that may be destructive. */
export const CHANGES: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
};

interface ToolTable<Output> {
  readonly name: string;
  readonly operation: Operation<Output>;
  /** Instead of the operation's summary. */
  readonly description?: string;
  readonly hints?: ToolHints;
  /** What callers may send, where that is not the operation's input. */
  readonly input?: z.ZodType;
  /** Converts the tool's input into the operation's. */
  readonly ask?: (input: ToolInput) => ToolInput;
  /** Schema of the result, where it is not the operation's output; `view` makes it of that output. */
  readonly output?: z.ZodType;
  readonly view?: (output: Output, input: ToolInput) => ToolResult | ToolResult["value"];
}

/** Makes a tool over an operation. */
export function operationTool<Output>(table: ToolTable<Output>): Tool {
  const { name, operation, ask = (input) => input } = table;
  const view = table.view ?? ((output) => output as ToolResult["value"]);
  return {
    name,
    description: table.description ?? operation.summary,
    power: operation.power,
    hints: table.hints ?? LOOKS,
    input: table.input ?? operation.input,
    output: table.output ?? operation.output,
    about: (input) => aboutWhom(operation, input),
    stack: stackIn,
    async run(input, call) {
      const shown = view(await operation.call(ask(input), call), input);
      return isResult(shown) ? shown : { value: shown };
    },
  };
}

function isResult(shown: ToolResult | ToolResult["value"]): shown is ToolResult {
  return typeof shown["value"] === "object" && shown["value"] !== null;
}

/** Result of tools that start work. */
export const startedView = z.strictObject({
  job_id: z.string().describe("For get_deployment_run."),
  status: z.enum(["accepted", "succeeded", "skipped", "failed"]),
  message: z.string().optional().describe("One sentence."),
});

/** The result of a tool that started a run. */
export function viewStarted({ outcome, message, detail, run }: RunResult): ToolResult {
  const job = { job_id: run.job_id };
  switch (outcome) {
    case "started":
      return { value: { ...job, status: "accepted", message } };
    case "complete":
      return { value: { ...job, status: run.status, message } };
    case "deferred":
      return { value: { ...job, status: "skipped", message } };
    case "failed":
    case "cancelled": {
      const failure = detail === undefined ? message : `${message}: ${detail}`;
      return { value: { ...job, status: "failed", message: failure }, failure };
    }
  }
}
