import type { Line } from "../../system/mod.ts";
import { discoveryOwner } from "../expand_deployments.ts";
import type { OpenedSource } from "../open_source.ts";

/** The line in which a run of a source waits with others of its configuration. */
export function lineOf(
  { configuration, request, since = 0, origin }: Pick<
    OpenedSource,
    "configuration" | "request" | "since" | "origin"
  >,
): Line {
  const of = JSON.stringify(discoveryOwner(configuration, request));
  return { of, since, isPersons: origin === "manual" };
}
