import {
  isOurs,
  LABELS,
  type ObservedContainer,
  type ObservedStack,
  type Plan,
  type StackKey,
} from "../model/mod.ts";
import type { Ledger } from "./ledger.ts";

/** A stack as it was observed, and the data directory that the ledger is in. */
interface Seen {
  readonly key: StackKey;
  readonly observed: ObservedStack;
  readonly dataDir: string;
}

/** The parts of the ledger that tell which containers its releases made. */
type Releases = Pick<Ledger, "current" | "madeDigests">;

/** Containers, and idle services, that Stackwright made from a release which the ledger does not know. */
function findOthers(
  ledger: Releases,
  { key, observed: { containers, idle = [] } }: Seen,
): Pick<ObservedContainer, "name" | "service" | "labels">[] {
  const ours = [...containers, ...idle.map((each) => ({ ...each, name: each.service }))]
    .filter((each) => isOurs(each) && each.labels[LABELS.digest] !== undefined);
  if (ours.length === 0) return [];
  const digestOf = ({ labels }: typeof ours[number]) => labels[LABELS.digest] ?? "";
  const made = ledger.madeDigests(key.name, ours.map(digestOf));
  return made === undefined ? [] : ours.filter((each) => !made.has(digestOf(each)));
}

/**
 * Words about a stack whose containers another Stackwright, or one with another data directory, has
 * deployed, as far as the digests on them and the ledger tell; `undefined` where none has. No reason
 * to refuse anything: a ledger may have been lost.
 */
export function othersRelease(ledger: Releases, seen: Seen): string | undefined {
  return wordsOf(ledger, seen, findOthers(ledger, seen));
}

function wordsOf(
  ledger: Pick<Releases, "current">,
  { key, dataDir }: Pick<Seen, "key" | "dataDir">,
  [found]: ReturnType<typeof findOthers>,
): string | undefined {
  if (found === undefined) return undefined;
  const then = ledger.current(key) === undefined
    ? ", unless the ledger that was here is lost"
    : ", and did so after this one. They replace each other's containers as long as both do: " +
      "stop one of the two, or give its stack another name";
  // Tables cut what comes last.
  return `another Stackwright, or one with another DATA_DIR, deploys ${key.name} too: this data directory ` +
    `(${dataDir}) has no record of the release that made container ${found.name}${then}`;
}

/** The plan for a stack, which says where it replaces what another ledger's release made. */
export function withOthersRelease(ledger: Releases, plan: Plan, seen: Seen): Plan {
  if (plan.kind !== "deploy") return plan;
  const found = findOthers(ledger, seen);
  const words = wordsOf(ledger, seen, found);
  if (words === undefined) return plan;
  const theirs = new Set(found.map(({ service }) => service));
  const because = "it was made by another Stackwright, or with another DATA_DIR";
  const services = plan.services.map((each) =>
    each.action === "keep" || !theirs.has(each.name)
      ? each
      : { ...each, because: [...each.because, because] }
  );
  return { ...plan, message: `${plan.message}; ${words}`, services };
}

/** Ending of the message of a release that was deployed after another ledger's, over its containers. */
export const TOOK_PLACE =
  "it took the place of what another Stackwright, or one with another DATA_DIR, had deployed";
