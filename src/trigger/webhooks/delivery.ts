import { checkArtifactUrl, isConfigTarget } from "../../config/mod.ts";
import {
  type DeclaredDeployment,
  errors,
  requestError,
  type SourceRequest,
  type WebhookDelivery,
} from "../../model/mod.ts";
import type { WebhookChange, WebhookEvent, WebhookRepository } from "./event.ts";
import type { RepositoryAddress } from "./locate.ts";
import { malformed } from "./payload.ts";

/** Options for turning webhooks into sources. */
export interface WebhookSourceOptions {
  /** See {@link createLocate}. */
  readonly locate: (repository: WebhookRepository) => RepositoryAddress;
  /** The operator's inline deployments for a source, read instead of the repository's file. */
  readonly inlineDeploymentsFor?: (request: SourceRequest) => readonly DeclaredDeployment[];
}

/** Most references of one delivery; each gets a run of its own. */
export const MOST_REFERENCES = 50;

const DELETED = "branch or tag deletion event received, skipping webhook event";
const NO_TARGET = "a target consists of letters, digits, dots, dashes and underscores";
const NO_REFERENCE = "no reference provided in webhook payload, skipping event";

/**
 * Turns an authentic event into sources to deploy. Ignores what the payload says about commits:
 * each source is resolved in its run.
 *
 * Throws `bad_request` when the payload is incomplete or invalid, `forbidden` when it names a
 * repository on this machine and neither a rewrite nor the settings allow that, and
 * `payload_too_large` for more than {@link MOST_REFERENCES}.
 */
export function deliveryOf(
  event: WebhookEvent,
  target: string,
  options: WebhookSourceOptions,
): WebhookDelivery {
  if (target !== "" && !isConfigTarget(target)) {
    throw requestError("invalid target", NO_TARGET);
  }
  switch (event.kind) {
    case "other":
      return skip(event.repository, target, event.message);
    case "artifact":
      return { kind: "deploy", sources: [artifactRequest(event, target, options)] };
    case "push":
      return pushDelivery(event, target, options);
  }
}

function skip(repository: WebhookRepository, target: string, message: string): WebhookDelivery {
  return { kind: "skip", repository: shownName(repository), target, message };
}

function pushDelivery(
  { repository, changes }: WebhookEvent & { readonly kind: "push" },
  target: string,
  options: WebhookSourceOptions,
): WebhookDelivery {
  const live = changes.filter((change) => !change.deleted);
  if (live.length === 0) return skip(repository, target, DELETED);
  if (live.some(({ reference }) => reference === "")) {
    throw errors.bad_request(NO_REFERENCE);
  }
  const deployable = live.filter(isBranchOrTag);
  if (deployable.length === 0) {
    return skip(repository, target, "the reference is neither a branch nor a tag, skipping event");
  }
  const references = [...new Set(deployable.map(({ reference }) => reference))];
  checkCount(references.length);
  checkFullName(repository.fullName);
  const address = options.locate(repository);
  const sources = references.map((reference) => {
    const request = { kind: "git" as const, ...address, reference, target, deployments: [] };
    return { ...request, deployments: options.inlineDeploymentsFor?.(request) ?? [] };
  });
  return { kind: "deploy", sources };
}

/** Forms that no reference has; the source finds out whether a valid short one is a branch or tag. */
// deno-lint-ignore no-control-regex -- control characters are exactly what is refused
const NO_REFERENCE_NAME = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|^[-./]|[./]$/;

/**
 * What sources read as something else than the name of a reference. By its id, servers give out commits
 * that nobody with the right to push has seen, such as those of pull requests.
 */
const NO_NAME = /^(?:HEAD|[0-9a-fA-F]{40})$/;

function isBranchOrTag({ reference }: WebhookChange): boolean {
  if (NO_REFERENCE_NAME.test(reference) || reference.length > 1024) {
    throw malformed("the reference is not the name of a branch or tag");
  }
  if (reference.startsWith("refs/")) return /^refs\/(?:heads|tags)\/./.test(reference);
  return !NO_NAME.test(reference);
}

/** All or nothing: the order in a payload must not decide which of them are deployed. */
function checkCount(references: number): void {
  if (references <= MOST_REFERENCES) return;
  const detail = `${references} branches and tags, and at most ${MOST_REFERENCES} are looked at: ` +
    "nothing was deployed; push what is to be deployed by itself, or poll it";
  throw requestError("too many references in one push", detail, "payload_too_large");
}

function checkFullName(name: string): void {
  if (!name.split(/[/\\]/).includes("..")) return;
  throw requestError("invalid repository name", "it leaves its directory");
}

/** Pins the digest that the tag had when the event was sent. */
function artifactRequest(
  { artifact, digest }: WebhookEvent & { readonly kind: "artifact" },
  target: string,
  options: WebhookSourceOptions,
): SourceRequest {
  const checked = checkArtifactUrl(artifact);
  if ("problem" in checked) throw malformed(checked.problem);
  const { url, reference } = checked.value;
  const pinned = digest === "" || url.includes("@") ? url : `${url}@${digest}`;
  const request = { kind: "oci" as const, url: pinned, reference, target, deployments: [] };
  return { ...request, deployments: options.inlineDeploymentsFor?.(request) ?? [] };
}

function shownName({ fullName, cloneUrl }: WebhookRepository): string {
  return fullName || cloneUrl.replace(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?/i, "");
}
