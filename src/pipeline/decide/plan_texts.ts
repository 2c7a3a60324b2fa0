import { canonicalJson } from "../../compose/mod.ts";
import { runningModel } from "../../deploy/mod.ts";
import { LABELS, type ObservedStack, type Plan, type StackKey } from "../../model/mod.ts";
import { shownModel } from "../../prepare/mod.ts";
import type { Decision } from "../decision.ts";
import type { PipelineParts } from "../parts.ts";

/** The model of what is deployed, masked; empty without a release. */
export async function deployedText(parts: PipelineParts, key: StackKey): Promise<string> {
  const recorded = parts.ledger.current(key);
  return recorded === undefined ? "" : await shownModel(parts, parts.ledger.open(recorded));
}

/** What containers run that a deployment adopts, masked as the model of the release; empty without any. */
export async function runningText(
  parts: PipelineParts,
  decision: Decision,
  signal: AbortSignal,
): Promise<string> {
  if (decision.kind !== "deploy" || !decision.adopts) return "";
  const { prepared: { release }, observed } = decision;
  if (release.swarm !== undefined) return "";
  const mask = (text: string) => `*** (${parts.key.shown(release.key, text).slice(0, 8)})`;
  const model = await runningModel(parts.host.engine, release, observed, mask, signal);
  return await shownModel(parts, { ...release, model });
}

/** Digest that identifies a plan. Leaves health out, which flickers. */
export function idOf(
  { key: instance }: PipelineParts,
  key: StackKey,
  { observed: { containers }, ...facts }: {
    readonly plan: Plan;
    readonly observed: ObservedStack;
    readonly release?: string | undefined;
    readonly policy?: Readonly<Record<string, boolean>>;
  },
): string {
  const running = containers.map((each) =>
    `${each.id} ${each.state} ${each.labels[LABELS.digest] ?? ""}`
  ).sort();
  return instance.digest(canonicalJson({ key, ...facts, running }));
}
