/** A change of one reference of a repository. */
export interface WebhookChange {
  /** As delivered; made full where the event tells a branch from a tag. */
  readonly reference: string;
  /** Its commit as the sender says; empty when unknown. Shown, never trusted. */
  readonly commit: string;
  readonly deleted: boolean;
}

/** The repository of an event, as the sender describes it. */
export interface WebhookRepository {
  /** `owner/repo`; empty when the payload has none. */
  readonly fullName: string;
  /** Clone URL for HTTP; empty when the payload has none. */
  readonly cloneUrl: string;
  /** Clone URL for SSH; empty when the payload has none. */
  readonly sshUrl: string;
}

/** The content of an authentic webhook of any provider. */
export type WebhookEvent =
  /** References were pushed, created or deleted; at least one. */
  | {
    readonly kind: "push";
    readonly repository: WebhookRepository;
    readonly changes: readonly WebhookChange[];
  }
  /** An artifact was pushed to a registry. */
  | { readonly kind: "artifact"; readonly artifact: string; readonly digest: string }
  /** Nothing to deploy; `message` says what was received. */
  | {
    readonly kind: "other";
    readonly repository: WebhookRepository;
    readonly message: string;
  };

/** A test message of a provider. */
export function pingEvent(repository: WebhookRepository): WebhookEvent {
  return { kind: "other", repository, message: "ping received, there is nothing to deploy" };
}

/** An event that deploys nothing. `name` is the sender's name of it. */
export function otherEvent(repository: WebhookRepository, name: string): WebhookEvent {
  const shown = /^[\w.: -]{1,60}$/.test(name) ? `${name} event` : "event";
  return { kind: "other", repository, message: `${shown} received, only pushes are deployed` };
}
