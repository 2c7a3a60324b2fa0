import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { Buffer } from "node:buffer";
import { memberOf, messageOf, StackwrightError } from "../../model/mod.ts";
import type { Clock, HttpAnswer, HttpClient, Redactor } from "../../system/mod.ts";
import type { GitHubApp } from "./credentials.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Makes short-lived tokens for repositories in the name of a GitHub App. */
export interface GitHubTokens {
  /**
   * A token that may read one repository. Kept until five minutes before it expires; callers who ask
   * at once share one request.
   *
   * Throws `repository_denied` when GitHub refuses the App or it is not installed there,
   * `repository_unreachable` when GitHub cannot be asked, and the signal's reason.
   */
  token(app: GitHubApp, url: RepositoryUrl, signal: AbortSignal): Promise<string>;
}

/** Parts for making tokens. */
export interface GitHubTokensParts {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly redactor: Redactor;
}

interface Token {
  readonly value: string;
  readonly expiresAt: number;
}

/** A fetch that begins with a token must also end with it. */
const SPARE_MS = 5 * 60 * 1000;
/** Clocks differ: GitHub refuses a time in its future, and lifetimes above ten minutes. */
const BACKDATED_S = 30;
const LIFETIME_S = 9 * 60;

/** Makes the tokens of one process. */
export function createGitHubTokens(parts: GitHubTokensParts): GitHubTokens {
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
      let request = asking.get(key);
      if (request === undefined) {
        request = makeToken(parts, app, url).finally(() => asking.delete(key));
        asking.set(key, request);
      }
      const token = await unlessAborted(request, signal);
      kept.set(key, token);
      return token.value;
    },
  };
}

/** GitHub itself, GitHub with a domain of the customer, or GitHub on a server of one's own. */
export function apiBase(url: RepositoryUrl): string {
  const host = `${url.host}${url.port === "" ? "" : `:${url.port}`}`;
  if (url.host === "github.com") return "https://api.github.com";
  if (url.host.endsWith(".ghe.com")) return `https://api.${host}`;
  return `${url.scheme === "http" ? "http" : "https"}://${host}/api/v3`;
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
    askGitHub(parts, url, { method, path, jwt, ...(body === undefined ? {} : { body }) });
  let installation = app.installationId;
  if (installation === "") {
    const path = `/repos/${encodeURIComponent(owner)}/${
      encodeURIComponent(repository)
    }/installation`;
    installation = String(numberAt(await ask("GET", path), "id") ?? "");
    if (installation === "") throw unexpected(url, "it named no installation");
  }
  const answer = await ask(
    "POST",
    `/app/installations/${encodeURIComponent(installation)}/access_tokens`,
    { repositories: [repository], permissions: { contents: "read" } },
  );
  const value = textAt(answer, "token");
  if (value === "") throw unexpected(url, "it gave no token");
  parts.redactor.add(value);
  const expiresAt = Date.parse(textAt(answer, "expires_at"));
  // A lifetime nobody knows is none: the token serves this one fetch.
  return { value, expiresAt: Number.isNaN(expiresAt) ? 0 : expiresAt };
}

/** The App's own proof of identity: a JSON Web Token signed with its key. */
function signedClaim(parts: GitHubTokensParts, app: GitHubApp, url: RepositoryUrl): string {
  const now = Math.floor(parts.clock.now().getTime() / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claim = { iat: now - BACKDATED_S, exp: now + LIFETIME_S, iss: app.appId };
  const text = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claim)}`;
  const signature = createSign("RSA-SHA256").update(text).sign(privateKey(app, url));
  const jwt = `${text}.${signature.toString("base64url")}`;
  parts.redactor.add(jwt);
  return jwt;
}

function privateKey(app: GitHubApp, url: RepositoryUrl): KeyObject {
  try {
    // In an environment variable line breaks are often written as \n.
    const key = createPrivateKey(app.privateKey.replaceAll("\\n", "\n"));
    if (key.asymmetricKeyType === "rsa") return key;
  } catch {
    // Neither the key nor what the library says about it may be shown.
  }
  throw denied(url, `the private key of GitHub App ${app.appId} is no RSA key in PEM form`);
}

interface Question {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly jwt: string;
  readonly body?: unknown;
}

async function askGitHub(
  { http }: GitHubTokensParts,
  url: RepositoryUrl,
  { method, path, jwt, body }: Question,
): Promise<unknown> {
  let answer: HttpAnswer;
  try {
    answer = await http.send({
      method,
      url: apiBase(url) + path,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${jwt}`,
        "content-type": "application/json",
        "user-agent": "stackwright",
        "x-github-api-version": "2022-11-28",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }, new AbortController().signal);
  } catch (cause) {
    throw new StackwrightError(
      "repository_unreachable",
      `making a token for ${shown(url)} failed: ${messageOf(cause)}`,
      { cause },
    );
  }
  return read(answer, url);
}

function read({ status, body }: HttpAnswer, url: RepositoryUrl): unknown {
  const value = parse(body);
  const said = textAt(value, "message").slice(0, 200);
  const because = said === "" ? "" : ` (${said})`;
  if (status >= 200 && status < 300) return value;
  if (status === 401) {
    throw denied(
      url,
      `GitHub does not know the App${because}: check its id, its private key and the clock here`,
    );
  }
  if (status === 404) throw denied(url, `the App is not installed there${because}`);
  if (status === 403 || status === 422) {
    throw denied(url, `the App may not read its contents${because}`);
  }
  if (status >= 500 || status === 429) throw unexpected(url, `it answered ${status}${because}`);
  throw unexpected(url, `it answered ${status}${because}, which is no answer of GitHub's API`);
}

function denied(url: RepositoryUrl, why: string): StackwrightError {
  return new StackwrightError(
    "repository_denied",
    `no token of a GitHub App for ${shown(url)}: ${why}`,
  );
}

function unexpected(url: RepositoryUrl, why: string): StackwrightError {
  return new StackwrightError(
    "repository_unreachable",
    `no token of a GitHub App for ${shown(url)}: asked ${apiBase(url)}, but ${why}`,
  );
}

function shown(url: RepositoryUrl): string {
  return `${url.host}/${url.path}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textAt(value: unknown, key: string): string {
  const found = memberOf(value, key);
  return typeof found === "string" ? found : "";
}

function numberAt(value: unknown, key: string): number | undefined {
  const found = memberOf(value, key);
  return typeof found === "number" && Number.isSafeInteger(found) ? found : undefined;
}

/** One caller going away must not take the others' token with him. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
