import * as z from "zod";
import type { Call, Operation, Power, RunResult } from "../../api/mod.ts";
import { aboutWhom } from "../route.ts";

/** Hints for whoever lets an agent call a tool; the names are the protocol's. */
interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** Result of a call of a tool. */
export interface ToolResult {
  /** The result as a value; the same is told as text. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Why it is a failure; without one it is none. */
  readonly failure?: string;
}

/** The input of a tool, after its schema let it pass. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** One tool over an operation. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly power: Power;
  readonly hints: ToolHints;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** Owner of the words that are masked in the result; see the answers of routes. */
  about(input: ToolInput): string | undefined;
  /** Throws what the operation throws. */
  run(input: ToolInput, call: Call): Promise<ToolResult>;
}

/** Hints of tools that only look. */
const LOOKS: ToolHints = { readOnlyHint: true, openWorldHint: false };
/** Hints of tools that may take something away. */
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
  /** Makes the operation's input of the tool's. */
  readonly ask?: (input: ToolInput) => ToolInput;
  /** What is shown, where that is not the operation's output, and how it is made of that. */
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

/** Shows what work led to. */
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
