import type { Origin, Revision, SourceRequest } from "../../model/mod.ts";
import type { Line } from "../../system/mod.ts";
import { discoveryOwner } from "../expand_deployments.ts";

/** The line in which a run of a source waits with others of its configuration. */
export function lineOf(
  { configuration, request, since = 0, origin }: {
    readonly configuration: Revision;
    readonly request: SourceRequest;
    readonly origin: Origin;
    /** When the run began, as uptime. */
    readonly since?: number;
  },
  taken?: Line["taken"],
): Line {
  const { deployments, withFiles } = request;
  // Entries of POLL_CONFIG with deployments of their own are told apart: the first has what several name.
  const of = JSON.stringify([discoveryOwner(configuration, request), deployments, withFiles]);
  return { of, since, isPersons: origin === "manual", taken };
}
