import type { PollEntry } from "../config/mod.ts";
import type { DeclaredDeployment } from "../model/mod.ts";
import { ofRepository, sourceLocation } from "./source_name.ts";

/**
 * The inline deployments that the operator's polls have for a source: those of every entry with the
 * same repository, reference and target, in the order of the entries; never merged. When there are any,
 * a webhook deploys them and does not read the repository's file. Empty when no such entry matches.
 *
 * `repository` is a URL or a name (`host/owner/repo`; of an artifact without its tag); scheme,
 * credentials and `.git` do not count, and letter case as for {@link ofRepository}. A short reference is the branch of that name.
 * The deployment, not this function, refuses a name that occurs twice in the union.
 */
export function inlineDeploymentsFor(
  entries: readonly Pick<PollEntry, "request">[],
  repository: string,
  reference: string,
  target: string,
): readonly DeclaredDeployment[] {
  return requestsFor(entries, repository, { reference, target }).flatMap((each) =>
    each.deployments
  );
}

/** The requests of the operator's polls for a repository and a target; of one reference, if that is named. */
export function requestsFor(
  entries: readonly Pick<PollEntry, "request">[],
  repository: string,
  { reference, target }: { readonly reference?: string; readonly target: string },
): PollEntry["request"][] {
  const requests = entries.map(({ request }) => request);
  return ofRepository(requests, names, [repository]).filter((request) =>
    request.target === target && (reference === undefined ||
      fullReference(request.kind, request.reference) === fullReference(request.kind, reference))
  );
}

function names({ kind, url, identity }: PollEntry["request"]): string[] {
  const own = sourceLocation(kind, url).name;
  return identity === undefined ? [own] : [own, identity];
}

/** The reference of a request as git calls it, by which two forms of one are told to be the same. */
export function fullReference(kind: string, reference: string): string {
  const isWhole = kind !== "git" || reference.startsWith("refs/") || reference === "HEAD" ||
    /^[0-9a-f]{40}$/i.test(reference);
  return isWhole ? reference : `refs/heads/${reference}`;
}
