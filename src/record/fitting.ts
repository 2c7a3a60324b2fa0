import type { RunTarget, ServicePlan } from "../model/mod.ts";

/** Longest text of an entry that is kept, in characters. */
const MOST_TEXT = 2000;

/** A text as long as it is kept. */
export function fittingText(text: string, most: number = MOST_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most - 3)}...`;
}

/**
 * The first entries of a list that have at most so many characters together as JSON, as `write` makes them;
 * no other one is looked at. The first one is kept in any case.
 */
export function fitting<T>(
  entries: readonly T[],
  most: number,
  write: (entry: T) => T = (entry) => entry,
): readonly T[] {
  const kept: T[] = [];
  let left = most;
  for (const entry of entries) {
    const written = write(entry);
    left -= JSON.stringify(written).length;
    if (left < 0 && kept.length > 0) break;
    kept.push(written);
  }
  return kept;
}

/** Characters of what a run says of the services of one stack, and of all stacks when it is over. */
const MOST_OF_TARGET = 64 * 1024;
const MOST_OF_RUN = 256 * 1024;
/** Reasons that are told of a service at most. */
const REASONS = 20;

/** An entry of a run as it is kept: with the first of its services. */
export function fittingTarget(entry: RunTarget, most = MOST_OF_TARGET): RunTarget {
  const ofReason = Math.min(MOST_TEXT, Math.ceil(most / REASONS));
  const short = (each: string) => fittingText(each, ofReason);
  const fitService = (each: ServicePlan) => ({ ...each, because: each.because.map(short) });
  const { message, services } = entry;
  return {
    ...entry,
    ...(message === undefined ? {} : { message: fittingText(message, Math.min(MOST_TEXT, most)) }),
    ...(services === undefined ? {} : { services: fitting(services, most, fitService) }),
  };
}

/** The entries of a run that is over: where they are many, with fewer words of each. */
export function fittingTargets(targets: readonly RunTarget[]): readonly RunTarget[] {
  let left = MOST_OF_RUN;
  if (targets.every((each) => (left -= JSON.stringify(each).length) >= 0)) return targets;
  const share = Math.ceil(MOST_OF_RUN / targets.length);
  return targets.map((each) => fittingTarget(each, share));
}
