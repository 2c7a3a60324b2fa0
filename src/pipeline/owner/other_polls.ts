import { isDeepStrictEqual } from "node:util";
import {
  errors,
  type Origin,
  type Release,
  type SourceRequest,
  type StackKey,
  type StackwrightError,
} from "../../model/mod.ts";
import { fullReference } from "../../source/mod.ts";

/** The source of a run: what is asked for, and by whom. */
interface Asking {
  readonly request: SourceRequest;
  readonly origin: Origin;
  /** Name of the source. */
  readonly source: string;
}

/**
 * Finder of the polls, among those `polled` of a run's source, that may have a stack which the run
 * names, too: the two would replace each other for ever. Of the polls of one reference and target (files,
 * or deployments of their own) the first has what several name. Of two targets the one that deployed
 * it has it; persons may deploy any.
 */
export function otherPollsOf(
  polled: readonly SourceRequest[],
  { request, origin, source }: Asking,
): (
  current: () => Pick<Release, "configuration" | "revision" | "target"> | undefined,
) => readonly SourceRequest[] {
  const others = polled.filter(({ target }) => origin !== "manual" && target !== request.target);
  const same = polled.filter((each) =>
    each.target === request.target && isOfReference(each, request)
  );
  const own = request.withFiles === true
    ? -1
    : same.findIndex((each) => isDeepStrictEqual(each.deployments, request.deployments));
  const first = same.slice(0, Math.max(own, 0));
  return (current) => {
    if (others.length === 0) return first;
    const deployed = current();
    const { source: from } = deployed?.configuration ?? deployed?.revision ?? {};
    return from?.name === source
      ? [...first, ...others.filter(({ target }) => target === deployed?.target)]
      : first;
  };
}

/** The other polls, among those `polled` of a source, of the reference of a request for one, of any target. */
export function besidePolls(
  polled: readonly SourceRequest[],
  request: SourceRequest,
): SourceRequest[] {
  const { withFiles, deployments } = request;
  const isOwn = (each: SourceRequest) =>
    each.target === request.target &&
    (withFiles === true || isDeepStrictEqual(each.deployments, deployments));
  return polled.filter((each) => isOfReference(each, request) && !isOwn(each));
}

function isOfReference(one: SourceRequest, other: SourceRequest): boolean {
  return fullReference(one.kind, one.reference) === fullReference(other.kind, other.reference);
}

/** The error for a stack that another poll of the source has and names. */
export function heldByPoll(
  other: SourceRequest,
  { name }: StackKey,
  { request, source }: Pick<Asking, "request" | "source">,
): StackwrightError {
  const [theirs, own] = [other, request].map(({ target, deployments }) => {
    if (deployments.length > 0) return "the deployments in POLL_CONFIG";
    return target === "" ? "the default file" : `target ${target}`;
  });
  return errors.conflict(
    `conflict: ${name} is deployed from ${theirs} of ${source}, which is polled and names it, so it was ` +
      `not deployed from ${own}, which names it as well; choose another name in one of the two, or ` +
      "poll only one",
  );
}

/** End of the place of a deployment that an entry of POLL_CONFIG has of its own. */
export const OF_POLL = " of POLL_CONFIG";

/** The refusal of a name that several deployments have, which are written down in `places`. */
export function configuredTwice(
  name: string | undefined,
  places: readonly string[],
): StackwrightError {
  // Only plan and apply take all entries of POLL_CONFIG together.
  const polls = new Set(places.map((each) => each.endsWith(OF_POLL))).size < 2
    ? ""
    : ". Two entries of POLL_CONFIG name it: the service deploys one and refuses the other; one has to go";
  const where = `${places.length} times (in ${places.join(", ")})`;
  return errors.config_invalid(
    `deployment ${name} is configured ${where}; names must be unique in a context${polls}`,
  );
}
