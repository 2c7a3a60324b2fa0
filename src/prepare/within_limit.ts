import { errors, fewOf } from "../model/mod.ts";
import { type Log, withDeadline } from "../system/mod.ts";
import type { WantedImages } from "./wanted_images.ts";
import { type Measured, operation } from "./measure.ts";

/** Ports for work with a limit. */
export interface LimitedParts extends Measured {
  readonly log: Log;
}

/** Shortest limit for pulls and builds: slow ones are fine, but a hung one must not hold a slot. */
const SHORTEST_LIMIT_SECONDS = 15 * 60;

/** Fetching or building images. */
interface Doing {
  readonly stage: "pull" | "build";
  readonly doing: string;
  readonly wanted: Pick<WantedImages, "key" | "services" | "timeoutSeconds" | "progress">;
  /** What it waits for, to append to the error, where that is known. */
  readonly waitsFor?: () => string;
}

/** Runs work with a limit: a quarter of an hour, or the deployment's timeout if that is longer. Throws `timeout`. */
export async function withinLimit<T>(
  parts: LimitedParts,
  { stage, doing, wanted: { key, services, timeoutSeconds, progress }, waitsFor = () => "" }: Doing,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const what = `${doing} ${fewOf(services.map((each) => each.name))}`;
  progress(what);
  parts.log.info(what, { stack: key.name, context: key.context, stage });
  const seconds = Math.max(timeoutSeconds, SHORTEST_LIMIT_SECONDS);
  const late = () =>
    errors.timeout(
      `${what} of ${key.name} was not done within ${seconds} s and was given up; nothing that runs was touched${waitsFor()}`,
    );
  const limit = { clock: parts.clock, milliseconds: seconds * 1000, late };
  return await operation(parts, stage, () => withDeadline(limit, work, signal));
}
