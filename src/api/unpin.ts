import * as z from "zod";
import type { Operation } from "./operation.ts";
import { stackAction } from "./stack_action.ts";
import { formatPersonHold } from "../model/mod.ts";
import { noteOn, noteView } from "./hold.ts";
import { requireKnown, stackInput, type StackParts } from "./stack_parts.ts";

/** The answer to unpinning: whether the stack was pinned. */
const unpinView = z.strictObject({
  unpinned: z.boolean().describe("False when nothing held it at an earlier release."),
  note: noteView,
});

/** Ends the pin of a rollback. A call throws `not_found` when nothing is recorded about the stack. */
export function unpinOperation(
  { ledger }: Pick<StackParts, "ledger">,
): Operation<z.output<typeof unpinView>> {
  return stackAction({
    action: "unpin",
    id: "unpinDeployment",
    summary: "Let automatic updates of a stack happen again after a rollback.",
    input: stackInput,
    output: unpinView,
    errors: ["bad_request", "not_found"],
  }, (key) => {
    const unpinned = ledger.pins.remove(key);
    if (!unpinned) requireKnown({ ledger }, key);
    const hold = ledger.holds.get(key);
    const held = hold && { note: `it is still ${formatPersonHold(hold, key)}` };
    return { unpinned, ...held ?? noteOn({ ledger }, key) };
  });
}
