import { stackKey } from "../model/mod.ts";
import * as z from "zod";
import { createTimeFormat } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { decisionView, viewDecision } from "./release_views.ts";
import { pageInput, type StackParts, unknownStack } from "./stack_parts.ts";

/** Default number of decisions of a page. */
const DEFAULT_DECISION_LIMIT = 20;
/** Most decisions of a page; greater limits count as this one. */
const MOST_DECISIONS = 100;

/** A page of the decisions about a stack. */
const decisionsView = z.strictObject({
  decisions: z.array(decisionView),
  next: z.int().optional().describe("`before` of the next page, when there is one."),
});

type DecisionsView = z.output<typeof decisionsView>;

/** Lists the decisions about a stack, newest first. A call throws `not_found` when there is none. */
export function listDecisionsOperation(
  { ledger, timeZone, shownDigest }: StackParts,
): Operation<DecisionsView> {
  const time = createTimeFormat(timeZone);
  return defineOperation({
    id: "listDecisions",
    summary: "List what was decided about a stack and why, newest first.",
    tag: "Deployments",
    power: "read",
    input: pageInput(DEFAULT_DECISION_LIMIT, MOST_DECISIONS),
    output: decisionsView,
    errors: ["bad_request", "not_found"],
  }, ({ context, name, limit, before }) => {
    const key = stackKey(context, name);
    const shown = { time, digest: (digest: string) => shownDigest(key, digest) };
    const most = Math.min(limit, MOST_DECISIONS);
    const found = ledger.decisions.of(key, most + 1, before);
    if (found.length === 0 && before === undefined) throw unknownStack(key);
    const decisions = found.slice(0, most).map((each) => viewDecision(each, shown));
    const next = found.length > most ? decisions.at(-1)?.number : undefined;
    return { decisions, ...(next === undefined ? {} : { next }) };
  });
}
