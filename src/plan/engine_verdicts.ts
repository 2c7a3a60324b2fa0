import type { EngineVerdict, ReleaseService } from "../model/mod.ts";

interface NumberedRelease {
  readonly number: number;
  readonly services: readonly ReleaseService[];
}

interface VerdictInput {
  readonly verdict: EngineVerdict;
  /** The deployed release. */
  readonly current: NumberedRelease;
  /** Recorded releases, newest first, including the deployed one; read only as far as needed. */
  readonly history: Iterable<NumberedRelease>;
  /** Whether another release failed and its containers stayed. */
  readonly isMixed: boolean;
}

/** A verdict in words, and whether it makes the deployed release a failure. */
interface ToldVerdict {
  readonly message: string;
  readonly fails: boolean;
}

/**
 * Says what a swarm did to a service by itself, and which release the service runs now. The
 * deployed release failed where the swarm rolled its service back because of failed tasks. A
 * rollback by a person, or of an update that somebody else began, is no failure of the release.
 */
export function judgeVerdict({ verdict, current, history, isMixed }: VerdictInput): ToldVerdict {
  const { service, state, digest, why, tasksFailed } = verdict;
  const because = why === "" ? "" : ` (${why})`;
  if (state !== "rollback_completed") {
    const what = state === "paused" ? "stopped an update of" : "could not take back";
    return { message: `the swarm ${what} service ${service} by itself${because}`, fails: false };
  }
  const isOf = (services: readonly ReleaseService[]) =>
    services.some((each) => each.name === service && each.digest === digest);
  const runs = isOf(current.services) ? current : firstOf(history, (each) => isOf(each.services));
  const now = runs === undefined
    ? "what no known release says"
    : `what release ${runs.number} says`;
  const what = tasksFailed
    ? `the swarm took service ${service} back by itself`
    : `somebody had the swarm take service ${service} back`;
  return {
    message: `${what}${because}: it runs ${now}`,
    fails: !isMixed && tasksFailed && runs !== current,
  };
}

function firstOf<T>(values: Iterable<T>, isWanted: (value: T) => boolean): T | undefined {
  for (const value of values) if (isWanted(value)) return value;
  return undefined;
}
