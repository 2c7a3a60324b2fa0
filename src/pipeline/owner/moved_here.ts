import { servicesOf } from "../../compose/mod.ts";
import { type Former, readMark } from "../../deploy/mod.ts";
import { ownerFrom, type Release, stackKey } from "../../model/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { claimOf, modelOf } from "./claim.ts";
import { whose } from "./whose.ts";

/**
 * A function that tells whether a container of another project is surely what a service of a release was:
 * doco-cd made it from the release's source, and Stackwright does not deploy its project, or without the
 * service. Of what a person started nothing tells where it came from.
 */
export function movedHere(
  { ledger, options: { reachedAs } }: Pick<PipelineParts, "ledger" | "options">,
  release: Release,
): (former: Former) => boolean {
  const { key, configuration, revision } = release;
  const by = ownerFrom(configuration ?? revision);
  return ({ project, service, labels }) => {
    const mark = readMark(labels);
    if (mark.maker !== "doco-cd") return false;
    if (whose(mark, claimOf(ledger, key, { by, reachedAs })).kind !== "taken") return false;
    const there = ledger.current(stackKey(key.context, project));
    return there === undefined || servicesOf(modelOf(ledger, there) ?? {})[service] === undefined;
  };
}
