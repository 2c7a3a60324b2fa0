import {
  abortable,
  type Clock,
  type HttpClient,
  keepLatest,
  type Redactor,
} from "../../system/mod.ts";
import type { GitHubApp } from "./credentials.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { apiBase, askGitHub, denied, numberAt, textAt, unexpected } from "./github_api.ts";
import { signedClaim } from "./github_claim.ts";

/** Makes short-lived tokens for repositories in the name of a GitHub App. */
interface GitHubTokens {
  /**
   * A token that may read one repository. Kept until five minutes before it expires; callers who ask
   * at once share one request.
   *
   * Throws `repository_denied` when GitHub refuses the App or it is not installed there,
   * `repository_unreachable` when GitHub cannot be asked, and the signal's reason.
   */
  token(app: GitHubApp, url: RepositoryUrl, signal: AbortSignal): Promise<string>;
}

interface GitHubTokensParts {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly redactor: Redactor;
}

interface Token {
  readonly value: string;
  readonly expiresAt: number;
}

/** Remaining lifetime that a kept token needs: it must outlive the fetch that begins with it. */
const SPARE_MS = 5 * 60 * 1000;
/** Most tokens that are kept, since deployments may name any number of repositories; the oldest go first. */
const MOST_KEPT = 10_000;

/** Owner of tokens in the redactor, which forgets an owner's old secrets: tokens live for an hour. */
const TOKENS = "tokens of GitHub Apps";

/** Makes the tokens of one process, of which it keeps `most`. */
export function createGitHubTokens(parts: GitHubTokensParts, most = MOST_KEPT): GitHubTokens {
  const kept = new Map<string, Token>();
  const asking = new Map<string, Promise<Token>>();
  return {
    async token(app, url, signal) {
      signal.throwIfAborted();
      const key = [apiBase(url), app.appId, app.installationId, url.path.toLowerCase()].join(" ");
      const known = kept.get(key);
      if (known !== undefined && known.expiresAt - SPARE_MS > parts.clock.now().getTime()) {
        return known.value;
      }
      const request = asking.getOrInsertComputed(
        key,
        () => makeToken(parts, app, url).finally(() => asking.delete(key)),
      );
      // A caller that aborts must not abort the request that other callers share.
      return keepLatest(kept, most, key, await abortable(request, signal)).value;
    },
  };
}

async function makeToken(
  parts: GitHubTokensParts,
  app: GitHubApp,
  url: RepositoryUrl,
): Promise<Token> {
  const [owner = "", repository = "", ...rest] = url.path.split("/");
  if (owner === "" || repository === "" || rest.length > 0) {
    throw denied(url, `${url.path} is not the owner/name of a repository on GitHub`);
  }
  const jwt = signedClaim(parts, app, url);
  const ask = (method: "GET" | "POST", path: string, body?: unknown) =>
    askGitHub(parts.http, url, { method, path, jwt, ...(body === undefined ? {} : { body }) });
  let installation = app.installationId;
  if (installation === "") {
    const name = `${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;
    const found = await ask("GET", `/repos/${name}/installation`);
    installation = String(numberAt(found, "id") ?? "");
    if (installation === "") throw unexpected(url, "it named no installation");
  }
  const answer = await ask(
    "POST",
    `/app/installations/${encodeURIComponent(installation)}/access_tokens`,
    { repositories: [repository], permissions: { contents: "read" } },
  );
  const value = textAt(answer, "token");
  if (value === "") throw unexpected(url, "it gave no token");
  parts.redactor.add(value, TOKENS);
  const expiresAt = Date.parse(textAt(answer, "expires_at"));
  // Without a known expiry the token serves this one fetch and is not kept.
  return { value, expiresAt: Number.isNaN(expiresAt) ? 0 : expiresAt };
}
