import type { Log } from "../system/mod.ts";

/** Limit of warnings about the mounts of one deployment. */
const MOST_WARNINGS = 20;

/** A log for a limited number of warnings. */
export function fewWarnings(log: Log): Pick<Log, "warning"> {
  let left = MOST_WARNINGS;
  return {
    warning(message) {
      if (left-- > 0) log.warning(message);
      else if (left === -1) log.warning("more of its mounts are like that");
    },
  };
}
