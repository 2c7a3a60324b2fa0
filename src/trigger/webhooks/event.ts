/** A change of one reference of a repository. */
export interface WebhookChange {
  /** As delivered, made full where the event says whether it is a branch or a tag. */
  readonly reference: string;
  /** The commit it is at now, as the sender says; empty when unknown. Told, never trusted. */
  readonly commit: string;
  readonly deleted: boolean;
}

/** The repository an event is about, in the sender's words. */
export interface WebhookRepository {
  /** `owner/repo`; empty when the payload has none. */
  readonly fullName: string;
  /** For HTTP; empty when the payload has none. */
  readonly cloneUrl: string;
  /** For SSH; empty when the payload has none. */
  readonly sshUrl: string;
}

/** The message of an authentic webhook, whoever sent it. */
export type WebhookEvent =
  /** References were pushed, created or deleted; at least one. */
  | {
    readonly kind: "push";
    readonly repository: WebhookRepository;
    readonly changes: readonly WebhookChange[];
  }
  /** An artifact was pushed to a registry. */
  | { readonly kind: "artifact"; readonly artifact: string; readonly digest: string }
  /** Nothing that could be deployed; `message` says what, for people. */
  | {
    readonly kind: "other";
    readonly repository: WebhookRepository;
    readonly message: string;
  };

/** A test message of a provider. */
export function pingEvent(repository: WebhookRepository): WebhookEvent {
  return { kind: "other", repository, message: "ping received, there is nothing to deploy" };
}

/** An event that deploys nothing. `name` is the sender's. */
export function otherEvent(repository: WebhookRepository, name: string): WebhookEvent {
  const shown = /^[\w.: -]{1,60}$/.test(name) ? `${name} event` : "event";
  return { kind: "other", repository, message: `${shown} received, only pushes are deployed` };
}
