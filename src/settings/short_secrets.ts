import type { Settings } from "./settings.ts";

/** Below it a key is guessed in reasonable time, and a text like it comes up where nobody meant it. */
const SHORTEST_KEY = 12;

/** A warning for each key of the service that is short; none of them is repeated. */
export function shortSecrets(
  { apiSecret, apiReadSecret, webhookSecret }: Pick<
    Settings,
    "apiSecret" | "apiReadSecret" | "webhookSecret"
  >,
): string[] {
  const keys = {
    API_SECRET: apiSecret,
    API_READ_SECRET: apiReadSecret,
    WEBHOOK_SECRET: webhookSecret,
  };
  return Object.entries(keys).flatMap(([name, { length } = ""]) =>
    length === 0 || length >= SHORTEST_KEY ? [] : [
      `${name} has ${length} characters: such a key can be guessed, and wherever a log or an answer ` +
      `happens to say the same, there is *** in its place; use one of ${SHORTEST_KEY} or more, such as ` +
      "openssl rand -hex 24 makes",
    ]
  );
}
