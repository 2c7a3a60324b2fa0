import { isStackwrightError, type StackwrightError, wholeSeconds } from "../../model/mod.ts";
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
   * at once share one request. A refusal of an author is kept, too, for some minutes, and who asked for much that was
   * refused gets no token for another repository for a while: the App has one limit of calls, for all.
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

/** Milliseconds for which a refusal is kept. */
const REFUSED_MS = 10 * 60 * 1000;
/** Refusals within {@link BUDGET_MS} for one author: GitHub answers 5,000 calls an hour, and each is up to two. */
const MOST_REFUSED = 300;
const BUDGET_MS = 60 * 60 * 1000;
/** Authors whose refusals are counted. */
const MOST_AUTHORS = 1000;

/** A refusal that is kept. */
interface Refusal {
  readonly error: StackwrightError;
  readonly at: number;
}

/** Owner of tokens in the redactor, which forgets an owner's old secrets: tokens live for an hour. */
const TOKENS = "tokens of GitHub Apps";

/** Makes the tokens of one process, of which it keeps `most`. */
export function createGitHubTokens(parts: GitHubTokensParts, most = MOST_KEPT): GitHubTokens {
  const kept = new Map<string, Token>();
  const refusals = new Refusals(parts.clock, most);
  const asking = new Map<string, Promise<Token>>();
  return {
    async token(app, url, signal) {
      signal.throwIfAborted();
      const key = [apiBase(url), app.appId, app.installationId, url.path.toLowerCase()].join(" ");
      const known = kept.get(key);
      if (known !== undefined && known.expiresAt - SPARE_MS > parts.clock.now().getTime()) {
        return known.value;
      }
      const asked = `${key} ${url.by}`;
      const make = async () => {
        try {
          refusals.check(asked, url, known !== undefined);
          return await makeToken(parts, app, url);
        } catch (error) {
          refusals.note(asked, url, error);
          throw error;
        }
      };
      const request = asking.getOrInsertComputed(
        asked,
        () => make().finally(() => asking.delete(asked)),
      );
      // A caller that aborts must not abort the request that other callers share.
      return keepLatest(kept, most, key, await abortable(request, signal)).value;
    },
  };
}

/** The refusals of GitHub, by what was asked for and whose work asked: one author's keep no other one away. */
class Refusals {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #kept = new Map<string, Refusal>();
  /** Times of an author's refusals, the oldest first. */
  readonly #authors = new Map<string, number[]>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Throws a refusal that is kept, and `repository_denied` to who had too many, unless `isKnown` to be granted. */
  check(key: string, url: RepositoryUrl, isKnown: boolean): void {
    const now = this.#clock.now().getTime();
    const refusal = this.#kept.get(key);
    if (refusal !== undefined && Math.abs(now - refusal.at) < REFUSED_MS) throw refusal.error;
    const times = this.#recent(url, now);
    if (isKnown || times.length < MOST_REFUSED) return;
    const until = wholeSeconds(new Date((times[0] ?? now) + BUDGET_MS));
    throw denied(
      url,
      `GitHub refused ${MOST_REFUSED} others of ${url.by} within an hour, so it is not asked for ` +
        `further ones until ${until}: name no repositories that the App may not read`,
    );
  }

  /** Keeps an error that is a refusal and no kept one. */
  note(key: string, url: RepositoryUrl, error: unknown): void {
    const isRefusal = isStackwrightError(error, "repository_denied");
    const now = this.#clock.now().getTime();
    const times = this.#recent(url, now);
    if (!isRefusal || this.#kept.get(key)?.error === error || times.length >= MOST_REFUSED) return;
    keepLatest(this.#kept, this.#most, key, { error, at: now });
    keepLatest(this.#authors, MOST_AUTHORS, url.by ?? "", [...times, now]);
  }

  #recent({ by = "" }: RepositoryUrl, now: number): number[] {
    return (this.#authors.get(by) ?? []).filter((at) => Math.abs(now - at) < BUDGET_MS);
  }
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
