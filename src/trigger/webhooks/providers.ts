import { requestError } from "../../model/mod.ts";
import { readAzurePayload } from "./azure.ts";
import { readBitbucketPayload } from "./bitbucket.ts";
import type { WebhookEvent } from "./event.ts";
import { readGithubPayload } from "./github.ts";
import { readGitlabPayload } from "./gitlab.ts";
import { readOciPayload } from "./oci.ts";
import { malformed } from "./payload.ts";

/** The headers of a request. */
export type WebhookHeaders = Pick<Headers, "get">;

/** Ways for a sender to prove that it knows the secret. */
export type Proof =
  /** HMAC-SHA256 of the raw body in hexadecimal; `prefix` says whether `sha256=` is in front. */
  | { readonly kind: "hmac"; readonly prefix: "never" | "optional" | "always" }
  /** The secret itself. */
  | { readonly kind: "token" }
  /** Basic authentication; the secret is the password, any user name will do. */
  | { readonly kind: "basic" };

/** A kind of sender of webhooks. */
export interface WebhookProvider {
  readonly name: string;
  /** Header whose presence identifies the sender. */
  readonly securityHeader: string;
  readonly proof: Proof;
  /** Headers that may name the event, the first one counts; empty where the payload names it. */
  readonly eventHeaders: readonly string[];
  /** Whether a request must have one of these headers. */
  readonly eventRequired: boolean;
  /** Reads the payload. Throws `bad_request`. */
  readonly read: (event: string, payload: unknown) => WebhookEvent;
}

const GITHUB_LIKE = ["X-GitHub-Event", "X-Gitea-Event", "X-Forgejo-Event", "X-Gogs-Event"];

/**
 * Known senders, in the order of detection. Gitea and Forgejo also send GitHub's headers, and are
 * read as GitHub, since their payload has the same format. GitHub's additional SHA-1 signature is
 * ignored: Bitbucket's header of the same name counts only with Bitbucket's event header.
 */
export const WEBHOOK_PROVIDERS: readonly WebhookProvider[] = [
  githubLike("GitHub", "X-Hub-Signature-256", "X-GitHub-Event", "optional"),
  githubLike("Gitea", "X-Gitea-Signature", "X-Gitea-Event", "never"),
  {
    name: "GitLab",
    securityHeader: "X-Gitlab-Token",
    proof: { kind: "token" },
    eventHeaders: ["X-Gitlab-Event"],
    eventRequired: true,
    read: readGitlabPayload,
  },
  githubLike("Gogs", "X-Gogs-Signature", "X-Gogs-Event", "never"),
  githubLike("Forgejo", "X-Forgejo-Signature", "X-Forgejo-Event", "never"),
  {
    name: "OCI",
    securityHeader: "X-Service-OCI-Signature-256",
    proof: { kind: "hmac", prefix: "optional" },
    eventHeaders: ["X-Service-OCI-Event"],
    eventRequired: false,
    read: readOciPayload,
  },
  {
    name: "Bitbucket",
    securityHeader: "X-Hub-Signature",
    proof: { kind: "hmac", prefix: "always" },
    eventHeaders: ["X-Event-Key"],
    eventRequired: true,
    read: readBitbucketPayload,
  },
  {
    name: "Azure DevOps",
    securityHeader: "Authorization",
    proof: { kind: "basic" },
    eventHeaders: [],
    eventRequired: false,
    read: readAzurePayload,
  },
];

/** The sender of a request, by its security header. Throws `bad_request` when it has none. */
export function detectProvider(headers: WebhookHeaders): WebhookProvider {
  const found = WEBHOOK_PROVIDERS.find((each) => isSentBy(each, headers));
  if (found !== undefined) return found;
  const known = [...new Set(WEBHOOK_PROVIDERS.map(({ securityHeader }) => securityHeader))];
  throw requestError("missing signature or token header", `one of ${known.join(", ")} is needed`);
}

/** The event's name; empty where the payload names it. Throws `bad_request` when it is missing. */
export function eventName(provider: WebhookProvider, headers: WebhookHeaders): string {
  const names = provider.eventHeaders.map((header) => headers.get(header)?.trim() ?? "");
  const name = names.find((each) => each !== "") ?? "";
  if (name !== "" || !provider.eventRequired) return name;
  const header = provider.eventHeaders[0] ?? "";
  throw malformed(`missing event header for ${provider.name}: ${header}`);
}

function isSentBy(provider: WebhookProvider, headers: WebhookHeaders): boolean {
  const value = headers.get(provider.securityHeader);
  if (value === null) return false;
  if (provider.proof.kind === "basic") return /^basic(?:\s|$)/i.test(value);
  return provider.proof.kind !== "hmac" || provider.proof.prefix !== "always" ||
    headers.get(provider.eventHeaders[0] ?? "") !== null;
}

function githubLike(
  name: string,
  securityHeader: string,
  ownEvent: string,
  prefix: "never" | "optional",
): WebhookProvider {
  return {
    name,
    securityHeader,
    proof: { kind: "hmac", prefix },
    eventHeaders: [ownEvent, ...GITHUB_LIKE.filter((each) => each !== ownEvent)],
    eventRequired: true,
    read: readGithubPayload,
  };
}
