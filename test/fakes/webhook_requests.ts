import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** A signed request, ready to be sent. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Names of the senders that {@link signed} plays. */
export type Sender =
  | "github"
  | "gitea"
  | "gitlab"
  | "gogs"
  | "forgejo"
  | "oci"
  | "bitbucket"
  | "azure";

/** HMAC-SHA256 in hexadecimal, as senders compute it. */
export function signature(body: string | Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** What a sender sends for an event: its headers, and the payload as bytes of JSON. */
export function signed(
  sender: Sender,
  { event, payload, secret }: {
    readonly event: string;
    readonly payload: unknown;
    readonly secret: string;
  },
): WebhookRequest {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const hex = signature(body, secret);
  const basic = Buffer.from(`hook:${secret}`).toString("base64");
  const headers: Record<Sender, Record<string, string>> = {
    github: { "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${hex}` },
    gitea: { "X-Gitea-Event": event, "X-Gitea-Signature": hex },
    gitlab: { "X-Gitlab-Event": event, "X-Gitlab-Token": secret },
    gogs: { "X-Gogs-Event": event, "X-Gogs-Signature": hex },
    forgejo: { "X-Forgejo-Event": event, "X-Forgejo-Signature": hex },
    oci: { "X-Service-OCI-Event": event, "X-Service-OCI-Signature-256": `sha256=${hex}` },
    bitbucket: { "X-Event-Key": event, "X-Hub-Signature": `sha256=${hex}` },
    azure: { "Authorization": `Basic ${basic}` },
  };
  return { headers: { "Content-Type": "application/json", ...headers[sender] }, body };
}

/** A commit id. */
export const COMMIT = "4f1c2d3e4f1c2d3e4f1c2d3e4f1c2d3e4f1c2d3e";
/** What senders write for no commit. */
export const ZEROS = "0".repeat(40);
const OLD = "00112233445566778899aabbccddeeff00112233";

/** A push as GitHub, Gitea, Forgejo and Gogs announce it. */
export function githubPush(
  { ref = "refs/heads/main", name = "acme/shop", host = "git.example.org", ...rest }: {
    readonly ref?: string;
    readonly name?: string;
    readonly host?: string;
    readonly [field: string]: unknown;
  } = {},
): Record<string, unknown> {
  return {
    ref,
    before: OLD,
    after: COMMIT,
    created: false,
    deleted: false,
    repository: {
      name: name.replace(/.*\//, ""),
      full_name: name,
      private: true,
      html_url: `https://${host}/${name}`,
      clone_url: `https://${host}/${name}.git`,
      ssh_url: `git@${host}:${name}.git`,
    },
    pusher: { name: "ada", email: "ada@example.org" },
    ...rest,
  };
}

/** A push as GitLab announces it. */
export function gitlabPush(rest: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    object_kind: "push",
    event_name: "push",
    ref: "refs/heads/main",
    before: OLD,
    after: COMMIT,
    checkout_sha: COMMIT,
    user_name: "Ada",
    project: {
      id: 15,
      name: "Shop",
      path_with_namespace: "acme/shop",
      git_http_url: "https://gitlab.example.org/acme/shop.git",
      git_ssh_url: "git@gitlab.example.org:acme/shop.git",
      default_branch: "main",
    },
    commits: [],
    total_commits_count: 1,
    ...rest,
  };
}

const target = (hash: string) => ({ type: "commit", hash, links: {} });

/** A push as Bitbucket Cloud announces it: any number of references at once. */
export function bitbucketCloudPush(changes: readonly unknown[] = [
  {
    new: { type: "branch", name: "main", target: target(COMMIT) },
    old: { type: "branch", name: "main", target: target(OLD) },
    created: false,
    closed: false,
    forced: false,
  },
]): Record<string, unknown> {
  return {
    actor: { type: "user", display_name: "Ada" },
    repository: {
      type: "repository",
      name: "shop",
      full_name: "acme/shop",
      is_private: true,
      links: {
        self: { href: "https://api.bitbucket.org/2.0/repositories/acme/shop" },
        html: { href: "https://bitbucket.org/acme/shop" },
      },
    },
    push: { changes },
  };
}

/** A push as Bitbucket Data Center announces it. */
export function bitbucketServerPush(changes: readonly unknown[] = [
  {
    ref: { id: "refs/heads/main", displayId: "main", type: "BRANCH" },
    refId: "refs/heads/main",
    fromHash: OLD,
    toHash: COMMIT,
    type: "UPDATE",
  },
]): Record<string, unknown> {
  return {
    eventKey: "repo:refs_changed",
    date: "2026-01-13T22:26:25+1100",
    actor: { name: "ada", id: 1 },
    repository: {
      slug: "shop",
      id: 84,
      name: "shop",
      scmId: "git",
      project: { key: "ACME", id: 84, name: "Acme", type: "NORMAL" },
      public: false,
      links: {
        clone: [
          { href: "ssh://git@bitbucket.example.org:7999/acme/shop.git", name: "ssh" },
          { href: "https://bitbucket.example.org/scm/acme/shop.git", name: "http" },
        ],
      },
    },
    changes,
  };
}

/** A push as a service hook of Azure DevOps announces it. */
export function azurePush(refUpdates: readonly unknown[] = [
  { name: "refs/heads/main", oldObjectId: OLD, newObjectId: COMMIT },
]): Record<string, unknown> {
  return {
    subscriptionId: "00000000-0000-0000-0000-000000000000",
    notificationId: 1,
    id: "03c164c2-8912-4d5e-8009-3707d5f83734",
    eventType: "git.push",
    publisherId: "tfs",
    resource: {
      commits: [{ commitId: COMMIT, comment: "Fix it" }],
      refUpdates,
      repository: {
        id: "278d5cd2-584d-4b63-824a-2ba458937249",
        name: "shop",
        url: "https://dev.azure.com/acme/_apis/git/repositories/278d5cd2",
        project: { id: "6ce954b1", name: "Web", state: "wellFormed" },
        defaultBranch: "refs/heads/main",
        remoteUrl: "https://dev.azure.com/acme/Web/_git/shop",
      },
      pushId: 14,
    },
    resourceVersion: "1.0",
  };
}

/** The announcement of an artifact. */
export function ociPush(rest: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    source: "oci",
    artifact: "registry.example.org/acme/shop:v1",
    digest: `sha256:${"a".repeat(64)}`,
    ...rest,
  };
}
