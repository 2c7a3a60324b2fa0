import {
  createUrlRewriter,
  type GitCredentials,
  inlineDeploymentsFor,
  ofRepository,
  parseRepositoryUrl,
  resolveLogin,
  sameHostAndPath,
  sourceLocation,
  sourceNameOf,
} from "../source/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { createLocate, type LocateOptions, type WebhookSourceOptions } from "../trigger/mod.ts";
import { pollThatReaches } from "./as_polled.ts";
import { gitCredentials } from "./git_credentials.ts";

/** The settings for turning webhooks into sources. */
export function webhookSources(settings: Settings): WebhookSourceOptions {
  return {
    locate: createLocate(locateOptions(settings)),
    inlineDeploymentsFor: (source) =>
      inlineDeploymentsFor(settings.polls, sourceNameOf(source), source.reference, source.target),
  };
}

/** The settings for locating repositories of webhooks. */
export function locateOptions(settings: Settings): LocateOptions {
  const credentials = gitCredentials(settings);
  const polled = settings.polls.map(({ request }) => request)
    .filter(({ kind }) => kind === "git");
  const rewrite = createUrlRewriter(settings.git.urlRewrites);
  // What is deployed is fetched as it is polled, whatever else the webhook says.
  const reached = (urls: readonly string[]) =>
    urls.map((url) => pollThatReaches(settings.polls, rewrite, url)).find((each) => each);
  return {
    rewrite,
    allowLocal: settings.deploy.allowLocalRepositoryUrl,
    nameOf: (url) => sourceLocation("git", url).name,
    hasSshKey: (url) => hasSshKey(url, credentials),
    agree: sameHostAndPath,
    configured: (urls) => ofRepository(polled, ({ url }) => [url], urls)[0] ?? reached(urls),
  };
}

/** False for an invalid SSH URL, which is no error: the repository may have another URL. */
function hasSshKey(url: string, credentials: GitCredentials): boolean {
  try {
    return resolveLogin(parseRepositoryUrl(url), credentials).kind === "ssh_key";
  } catch {
    return false;
  }
}
