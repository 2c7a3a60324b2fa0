import * as z from "zod";
import { StackwrightError } from "../../model/mod.ts";
import { CHANGES, startedView, type Tool } from "./tool.ts";

const MIRRORS = "Git mirrors cannot be compacted by this version";

/**
 * The tools whose operations there are not yet. They are listed all the same, so that what a client
 * was told to call is there, and every call of them fails with a sentence.
 */
export function absentTools(): Tool[] {
  return [
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
