import type { Drift, DriftPolicy, FoundDrift } from "../model/mod.ts";

/** Entries of what inspecting shows that are looked at; what is beyond is when those are mended. */
const MOST_FIELDS = 1000;
/** Characters of what an engine says that there is. */
const LONGEST_FOUND = 300;

/** Judgement on drift that was found. */
interface JudgedDrift {
  /** What is to be mended: what a new container did not change is not replaced time and again. */
  readonly mended: readonly Drift[];
  /** What was not there before and only inspecting shows. */
  readonly news: readonly Drift[];
  /** What is remembered of it. */
  readonly found: FoundDrift;
}

/**
 * Judges what a list of containers (`listed`) and inspecting them (`fields`) show, after what was
 * found `before`.
 */
export function judgeDrift(
  { listed, fields: looked, before, policy }: {
    readonly listed: readonly Drift[];
    readonly fields: readonly Drift[];
    readonly before: FoundDrift | undefined;
    readonly policy: DriftPolicy;
  },
): JudgedDrift {
  const fields = looked.slice(0, MOST_FIELDS)
    .map((each) => ({ ...each, found: each.found.slice(0, LONGEST_FOUND) }));
  const all = [...listed, ...fields];
  const tried = before?.tried.filter(isIn(fields)) ?? [];
  const [isTried, isKnown] = [isIn(tried), isIn(before?.fields)];
  return {
    mended: policy === "repair" ? all.filter((each) => !isTried(each)) : [],
    news: fields.filter((each) => !isKnown(each)),
    found: { count: all.length, fields, tried },
  };
}

function isIn(list: readonly Drift[] | undefined): (each: Drift) => boolean {
  const known = new Set(list?.map(sameDrift));
  return (each) => known.has(sameDrift(each));
}

/** The same of a container and of the one that took its place. */
function sameDrift({ service, field, wanted, found }: Drift): string {
  return JSON.stringify([service, field, wanted, found]);
}
