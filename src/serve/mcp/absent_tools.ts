import * as z from "zod";
import { contextInput } from "../../api/mod.ts";
import { StackwrightError } from "../../model/mod.ts";
import { CHANGES, LOOKS, startedView, type Tool } from "./tool.ts";

const SWARM = "stacks of a swarm cannot be listed or changed through the tool server by this " +
  "version; list_deployments tells what is deployed";
const MIRRORS = "Git mirrors cannot be compacted by this version";

const stack = z.strictObject({
  stack_name: z.string().min(1).describe("Name of the stack."),
  context: contextInput,
});

const stackService = z.strictObject({
  id: z.string(),
  name: z.string(),
  image: z.string().optional(),
  mode: z.enum(["replicated", "global", "replicated_job", "global_job", "unknown"]),
  desired_tasks: z.int(),
  running_tasks: z.int(),
});

/**
 * The tools whose operations there are not yet. They are listed all the same, so that what a client
 * was told to call is there, and every call of them fails with a sentence.
 */
export function absentTools(): Tool[] {
  return [
    absent(SWARM, {
      name: "list_stacks",
      description: "List the stacks of a swarm and their services.",
      power: "read",
      hints: LOOKS,
      input: z.strictObject({ context: contextInput }),
      output: z.strictObject({ stacks: z.record(z.string(), z.array(stackService)) }),
    }),
    absent(SWARM, {
      name: "get_stack",
      description: "The services of one stack of a swarm.",
      power: "read",
      hints: LOOKS,
      input: stack,
      output: z.strictObject({ services: z.array(stackService) }),
    }),
    absent(SWARM, {
      name: "control_stack",
      description: "Scale, restart or run services of a stack of a swarm.",
      power: "act",
      hints: CHANGES,
      input: stack.extend({
        action: z.enum(["scale", "restart", "run"]),
        service: z.string().optional().describe("Short name; all that it applies to without one."),
        replicas: z.int().min(0).optional().describe("For scale."),
        wait: z.boolean().default(true).describe("Wait until it is done."),
      }),
      output: z.strictObject({
        stack_name: z.string(),
        action: z.string(),
        results: z.array(z.strictObject({
          service: z.string(),
          status: z.enum(["ok", "skipped"]),
          reason: z.string().optional(),
        })),
      }),
    }),
    absent(SWARM, {
      name: "remove_stack",
      description: "Remove a stack from a swarm.",
      power: "act",
      hints: { ...CHANGES, idempotentHint: true },
      input: stack,
      output: z.strictObject({ stack_name: z.string(), status: z.literal("removed") }),
    }),
    absent(MIRRORS, {
      name: "compact_mirrors",
      description: "Compact Git mirrors.",
      power: "act",
      hints: { ...CHANGES, destructiveHint: false, idempotentHint: true },
      input: z.strictObject({
        repository: z.string().optional().describe("Only the mirror of this repository."),
        mode: z.enum(["repack", "copy"]).default("repack"),
        max_size: z.int().min(0).optional().describe("Bytes of a pack; 0 is unlimited."),
        wait: z.boolean().default(false).describe("Wait until it is done."),
      }),
      output: startedView,
    }),
  ];
}

function absent(why: string, facts: Omit<Tool, "about" | "run">): Tool {
  return {
    ...facts,
    about: () => undefined,
    run: () => Promise.reject(new StackwrightError("unsupported", why)),
  };
}
