import { shortReference } from "../config/mod.ts";
import type { DeclaredDeployment, Plan, Revision, SourceRequest } from "../model/mod.ts";

/** A webhook's request, and one deployment of its configuration. */
interface WebhookTarget {
  readonly request: SourceRequest;
  /** Revision that the webhook's reference resolves to now. */
  readonly revision: Revision;
  readonly declared: DeclaredDeployment;
  /** Tells whether the webhook's reference passes a filter. */
  readonly passes: (filter: string) => Promise<boolean>;
}

/**
 * The refusal of a deployment that a webhook does not concern; `undefined` for one to deploy. The
 * filter has to match the reference, in full or short form. A deployment that follows another
 * reference is not deployed from this one's configuration: two branches would take turns.
 *
 * A deployment pinned to a tag or commit reacts to pushes of branches, because a push is how a pin
 * moves, and not to those of other tags, whose configuration may be old. Calls `resolve` for a
 * short name only when the text alone does not tell.
 */
export async function webhookRefusal(
  target: WebhookTarget,
  resolve: (reference: string) => Promise<Revision>,
): Promise<(Plan & { readonly kind: "skip" }) | undefined> {
  const { request, revision, declared: { deployment } } = target;
  if (!await target.passes(deployment.webhookFilter)) {
    return refusal("deployment skipped, webhook filter did not match");
  }
  const { reference, repositoryUrl } = deployment;
  const names = [request.reference, revision.reference];
  if (request.kind !== "git" || reference === "" || repositoryUrl !== "") return undefined;
  if (names.some((name) => name === reference || shortReference(name) === reference)) {
    return undefined;
  }
  const followed = await followedReference(reference, resolve);
  if (followed === revision.reference) return undefined;
  const isPin = followed === undefined || !followed.startsWith("refs/heads/");
  if (isPin && !revision.reference.startsWith("refs/tags/")) return undefined;
  return refusal(
    `deployment skipped, ${deployment.name} follows ${reference} and the webhook is about ` +
      shortReference(revision.reference),
  );
}

/** The refusal of a stack that another branch's file has and names: one line for all of them. */
export function ofOtherBranch(branch: string, pushed: string): Plan & { readonly kind: "skip" } {
  const [theirs, own] = [branch, pushed].map(shortReference);
  return refusal(
    `deployment skipped, the file of ${theirs} has it and the webhook is about ${own}`,
  );
}

/** The full name of a reference; `undefined` for a commit id. */
async function followedReference(
  reference: string,
  resolve: (reference: string) => Promise<Revision>,
): Promise<string | undefined> {
  if (/^[0-9a-f]{40}$/i.test(reference)) return undefined;
  if (reference.startsWith("refs/")) return reference;
  return (await resolve(reference)).reference;
}

function refusal(message: string): Plan & { readonly kind: "skip" } {
  return { kind: "skip", reason: "filter_mismatch", message, services: [] };
}
