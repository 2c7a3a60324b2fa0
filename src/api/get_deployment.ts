import * as z from "zod";
import {
  type FailureRecord,
  filled,
  formatStackKey,
  formerOwner,
  REMOVAL,
  type StackKey,
  stackKey,
} from "../model/mod.ts";
import { NOTHING_DEPLOYED } from "../plan/mod.ts";
import { type Pin, recordedOwner, type RecordedRelease } from "../record/mod.ts";
import { createTimeFormat, type TimeFormat } from "../system/mod.ts";
import { type DeploymentParts, deploymentView, viewDeployment } from "./deployments.ts";
import { holdView, viewHold } from "./hold.ts";
import { defineOperation, type Operation } from "./operation.ts";
import {
  currentView,
  decisionView,
  ownerView,
  type Shown,
  viewCurrent,
  viewDecision,
} from "./release_views.ts";
import { requireKnown, stackInput, type StackParts, timestamp } from "./stack_parts.ts";
import type { StackStatus } from "./stack_statuses.ts";

const SHOWN_DECISIONS = 10;

/** One stack with everything that explains its state; absent fields do not apply. */
export const deploymentDetail = deploymentView.omit({ release: true }).extend({
  current: currentView.optional().describe("The release that is deployed."),
  failure: z.strictObject({
    release: z.string().describe("Digest of the release that failed."),
    failures: z.int().describe("How often it failed, without further attempts by persons."),
    failures_by_hand: z.int().describe("How often it failed again when a person asked for it."),
    automatic_attempts: z.int(),
    last_failed_at: timestamp.describe("However it was started."),
    message: z.string(),
    removal: z.literal(true).optional().describe(
      "Present where its removal failed, which no release is: nothing brings back what is gone.",
    ),
  }).optional().describe("The failure that no success has followed yet."),
  pin: z.strictObject({
    release: z.int().optional().describe("Number of the release it is held at, while it is known."),
    revision: z.string().describe("Commit that is held back."),
    pinned_at: timestamp,
    reason: z.string().optional().describe("Why, in the words of whoever put it back."),
  }).optional().describe("Present after a rollback, until new inputs or unpin."),
  stopped_at: timestamp.optional().describe("Present while a person has it stopped, over the API."),
  hold: holdView.optional().describe("Present while a person holds it."),
  owner: ownerView.extend({
    handed_over: z.boolean().describe("Whether a person handed it over to that one."),
    former: ownerView.optional().describe("Whose the deployed release is, where that is another."),
    refused: z.array(ownerView).describe("Others that name it, and were refused."),
  }).optional().describe("Whose it is: only that repository, and branch, deploys it."),
  decisions: z.array(decisionView).describe(`The last ${SHOWN_DECISIONS}, newest first.`),
});

/** See {@link deploymentDetail}. */
export type DeploymentDetail = z.output<typeof deploymentDetail>;

/** Shows a stack's state and the reasons. A call throws `not_found` for an unrecorded stack. */
export function getDeploymentOperation(
  { deployments, ledger, timeZone, shownDigest }: DeploymentParts & StackParts,
): Operation<DeploymentDetail> {
  const time = createTimeFormat(timeZone);
  return defineOperation({
    id: "getDeployment",
    summary: "Say why a stack is as it is: state, release, failure, what holds it, last decisions.",
    tag: "Deployments",
    power: "read",
    input: stackInput,
    output: deploymentDetail,
    errors: ["bad_request", "not_found"],
  }, async ({ context, name }, { signal }) => {
    const key = stackKey(context, name);
    requireKnown({ ledger }, key);
    const found = statusOf(key, await deployments(signal, key));
    const { release: _release, ...status } = viewDeployment(found, time);
    return {
      ...status,
      ...viewRecorded(ledger, key, { time, digest: (text) => shownDigest(key, text) }),
    };
  });
}

function viewRecorded(
  ledger: StackParts["ledger"],
  key: StackKey,
  shown: Shown,
): Pick<
  DeploymentDetail,
  "current" | "failure" | "pin" | "stopped_at" | "hold" | "owner" | "decisions"
> {
  const { time } = shown;
  const current = ledger.current(key);
  const failure = ledger.failures.get(key);
  const [hold, stopped] = [ledger.holds.get(key), ledger.stops.get(key)];
  const pin = ledger.pins.get(key);
  const pinned = ledger.release(pin?.releaseId);
  return {
    ...filled({
      current: current && viewCurrent(current, ledger.services(current), shown),
      failure: failure && viewFailure(failure, shown),
      pin: pin && viewPin(pin, pinned?.number, time),
      stopped_at: stopped && time(stopped),
      hold: hold && viewHold(hold, time),
      owner: viewOwner(ledger, key, current),
    }),
    decisions: ledger.decisions.of(key, SHOWN_DECISIONS).map((each) => viewDecision(each, shown)),
  };
}

/** The status of a stack, also of one that was removed or forgotten. */
function statusOf(key: StackKey, all: readonly StackStatus[]): StackStatus {
  return all.find((each) => formatStackKey(each.key) === formatStackKey(key)) ?? {
    key,
    state: "unknown",
    why: NOTHING_DEPLOYED,
    health: "unknown",
    running: 0,
    finished: 0,
    wanted: 0,
    drift: [],
    current: undefined,
    decision: undefined,
    retryAt: undefined,
    sourceFailure: undefined,
    rolledBack: undefined,
    jobs: [],
  };
}

function viewFailure(
  { release, failures, automaticAttempts, lastFailedAt, byHand, byHandAt, message }: FailureRecord,
  { time, digest }: Shown,
): NonNullable<DeploymentDetail["failure"]> {
  return {
    release: digest(release),
    failures,
    failures_by_hand: byHand,
    automatic_attempts: automaticAttempts,
    last_failed_at: time(byHandAt ?? lastFailedAt),
    message,
    ...(release === REMOVAL ? { removal: true as const } : {}),
  };
}

function viewOwner(
  ledger: StackParts["ledger"],
  key: StackKey,
  current: RecordedRelease | undefined,
): DeploymentDetail["owner"] {
  const owner = recordedOwner(ledger, key);
  if (owner === undefined) return undefined;
  const { source, reference, adopted } = owner;
  const former = current && formerOwner(current, owner);
  const refused = ledger.owners.refused(key);
  return { source, reference, handed_over: adopted, ...filled({ former }), refused };
}

function viewPin(
  { revision, pinnedAt, reason }: Pin,
  release: number | undefined,
  time: TimeFormat,
): NonNullable<DeploymentDetail["pin"]> {
  return {
    ...(release === undefined ? {} : { release }),
    revision,
    pinned_at: time(pinnedAt),
    ...(reason === undefined ? {} : { reason }),
  };
}
