import { beginning, fitting, type RunTarget, type ServicePlan } from "../model/mod.ts";

/** Longest text that entries keep, in characters. */
const MOST_TEXT = 2000;

/** A text, cut to the length that is kept. */
export function fittingText(text: string, most: number = MOST_TEXT): string {
  return text.length <= most ? text : `${beginning(text, most - 3)}...`;
}

/** Characters of services in one target of a run, and of all targets of a finished run. */
const MOST_OF_TARGET = 64 * 1024;
const MOST_OF_RUN = 256 * 1024;
/** Most reasons of a service. */
const REASONS = 20;

/** A target of a run, cut to the length that is kept. */
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

/** The targets of a finished run; when they are many, each is cut to an equal share. */
export function fittingTargets(targets: readonly RunTarget[]): readonly RunTarget[] {
  let left = MOST_OF_RUN;
  if (targets.every((each) => (left -= JSON.stringify(each).length) >= 0)) return targets;
  const share = Math.ceil(MOST_OF_RUN / targets.length);
  return targets.map((each) => fittingTarget(each, share));
}
