import {
  isSameOwner,
  type Revision,
  type SourceRequest,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import type { Ledger } from "../../record/ledger.ts";
import type { RecordedOwner } from "../../record/owners.ts";
import { fullReference } from "../../source/mod.ts";

/** A branch that a webhook is about: the name of its source, and the request for it. */
interface Pushed {
  readonly source: string;
  readonly request: SourceRequest;
}

const isBranch = (reference: string) => reference.startsWith("refs/heads/");

/**
 * The stacks that are deployed from the pushed branch while the file of another branch of its source names them,
 * by that branch: whoever pushes asks for a look at these in the name of that file, which has them.
 */
export function stacksLed(
  ledger: Pick<Ledger, "deployedStacks">,
  { source, request: { kind, reference, target } }: Pushed,
): ReadonlyMap<string, readonly StackKey[]> {
  if (kind !== "git" || !isBranch(reference)) return new Map();
  const led = ledger.deployedStacks().filter((each) =>
    each.repository === source && each.reference === reference &&
    each.place.repository === source && each.place.target === target &&
    each.place.reference !== reference && isBranch(each.place.reference)
  );
  const byBranch = Map.groupBy(led, ({ place }) => place.reference);
  return new Map([...byBranch].map(([branch, each]) => [branch, each.map(({ key }) => key)]));
}

/** The other branch of the source that asks for a stack, where that branch has it by the ledger. */
export function otherBranch(
  recorded: Pick<RecordedOwner, "source" | "reference"> | undefined,
  asks: StackOwner,
): string | undefined {
  const isOther = recorded?.source === asks.source && !isSameOwner(recorded, asks);
  return isOther ? recorded.reference : undefined;
}

/** The requests by which another branch of a pushed source is read: as it is polled, and its file. */
export function requestsOf(
  branch: string,
  polled: readonly SourceRequest[],
  { request: pushed }: Pick<Pushed, "request">,
): SourceRequest[] {
  const own = polled.filter(({ kind, reference, target }) =>
    target === pushed.target && fullReference(kind, reference) === branch
  );
  const hasFile = own.some((each) => each.withFiles ?? each.deployments.length === 0);
  return hasFile ? own : [...own, { ...pushed, reference: branch, deployments: [] }];
}

/**
 * The requests by which the files of a configuration's other targets are read, of which the ledger has stacks: those
 * that only webhooks or persons bring. Without the targets of the requests that are `known`.
 */
export function otherTargets(
  ledger: Pick<Ledger, "deployedStacks">,
  { source, reference }: Revision,
  known: readonly [SourceRequest, ...SourceRequest[]],
): SourceRequest[] {
  const { withFiles: _withFiles, ...file } = { ...known[0], deployments: [] };
  const places = ledger.deployedStacks().map(({ place }) => place);
  const targets = new Set(
    places.filter((each) => each.repository === source.name && each.reference === reference)
      .map(({ target }) => target),
  );
  for (const { target } of known) targets.delete(target);
  return [...targets].map((target) => ({ ...file, target }));
}
