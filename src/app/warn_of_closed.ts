import { stackOfOwner } from "../system/mod.ts";
import type { System } from "./system.ts";

/** Has the log tell of each stack or source that has more secrets than there is room for. */
export function warnOfClosed({ redactor, log }: Pick<System, "redactor" | "log">): void {
  redactor.onClosed((owner) => {
    const until = stackOfOwner(owner) === undefined
      ? "it is removed, or the service restarts"
      : "it has other releases with fewer, is removed, or the service restarts";
    // Without fields that say what it is about: the line would be masked.
    log.warning(
      `${owner} has more secrets than there is room for: texts about it are shown as *** until ${until}`,
    );
  });
}
