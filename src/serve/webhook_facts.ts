import { WEBHOOK_PROVIDERS } from "../trigger/mod.ts";

/** Facts for documents: how a provider is recognised and authenticated. */
export interface WebhookSenderFacts {
  readonly provider: string;
  readonly securityHeader: string;
  /** `basic` is HTTP's own scheme; the others are a key in that header. */
  readonly scheme: "basic" | "header";
  readonly description: string;
  readonly eventHeader: string | undefined;
  readonly eventRequired: boolean;
}

/** The senders in the order in which they are recognised; a request needs the header of one of them. */
export const WEBHOOK_SENDERS: readonly WebhookSenderFacts[] = WEBHOOK_PROVIDERS.map((provider) => ({
  provider: provider.name,
  securityHeader: provider.securityHeader,
  scheme: provider.proof.kind === "basic" ? "basic" : "header",
  description: {
    hmac: "HMAC-SHA256 of the raw body with the webhook secret, in hexadecimal" +
      (provider.proof.kind === "hmac" && provider.proof.prefix === "never"
        ? "."
        : ", after `sha256=`."),
    token: "The webhook secret.",
    basic: "The webhook secret as the password, with any user name.",
  }[provider.proof.kind],
  eventHeader: provider.eventHeaders[0],
  eventRequired: provider.eventRequired,
}));

/** Answers of the webhook routes that are no refusals, with what they mean. */
export const WEBHOOK_SUCCESS: Readonly<Record<number, string>> = {
  201: "With `wait`: the run is over and nothing failed, whether or not anything changed.",
  202: "Accepted, or nothing to do: another event, a deletion, a filter, a window, a pause.",
};

/**
 * Refusals beyond those that the operation's errors have: the run failed while it was waited for, or
 * the service is shutting down and cut it short.
 */
export const WEBHOOK_REFUSALS: readonly number[] = [500, 503];
