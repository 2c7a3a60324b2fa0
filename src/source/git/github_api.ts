import {
  clip,
  errors,
  memberOf,
  messageOf,
  parseJson,
  type StackwrightError,
} from "../../model/mod.ts";
import type { HttpAnswer, HttpClient } from "../../system/mod.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** URL of the API: of github.com, of GitHub Enterprise Cloud (`ghe.com`), or of an Enterprise Server. */
export function apiBase(url: RepositoryUrl): string {
  const host = `${url.host}${url.port === "" ? "" : `:${url.port}`}`;
  if (url.host === "github.com") return "https://api.github.com";
  if (url.host.endsWith(".ghe.com")) return `https://api.${host}`;
  return `${url.scheme === "http" ? "http" : "https"}://${host}/api/v3`;
}

interface Question {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly jwt: string;
  readonly body?: unknown;
}

/** Asks the API of GitHub as an App. */
export async function askGitHub(
  http: HttpClient,
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
    throw errors.repository_unreachable(
      `making a token for ${shown(url)} failed: ${messageOf(cause)}`,
      { cause },
    );
  }
  return read(answer, url);
}

function read({ status, body }: HttpAnswer, url: RepositoryUrl): unknown {
  const value = parseJson(body);
  const said = clip(textAt(value, "message"), 200);
  const because = said === "" ? "" : ` (${said})`;
  if (status >= 200 && status < 300) return value;
  // The App's calls are used up for a while, which says nothing of this repository.
  const isLimit = status === 429 || status === 403 && /rate limit/i.test(said);
  if (status >= 500 || isLimit) throw unexpected(url, `it answered ${status}${because}`);
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
  throw unexpected(url, `it answered ${status}${because}, which is no answer of GitHub's API`);
}

/** The error for an App that GitHub refuses, or that is not installed. */
export function denied(url: RepositoryUrl, why: string): StackwrightError {
  return errors.repository_denied(`no token of a GitHub App for ${shown(url)}: ${why}`);
}

/** The error for a GitHub that cannot be reached, or answers unexpectedly. */
export function unexpected(url: RepositoryUrl, why: string): StackwrightError {
  return errors.repository_unreachable(
    `no token of a GitHub App for ${shown(url)}: asked ${apiBase(url)}, but ${why}`,
  );
}

function shown(url: RepositoryUrl): string {
  return `${url.host}/${url.path}`;
}

/** The text under `key`; empty when the value is missing or no text. */
export function textAt(value: unknown, key: string): string {
  const found = memberOf(value, key);
  return typeof found === "string" ? found : "";
}

/** The whole number under `key`; `undefined` when the value is missing or no whole number. */
export function numberAt(value: unknown, key: string): number | undefined {
  const found = memberOf(value, key);
  return typeof found === "number" && Number.isSafeInteger(found) ? found : undefined;
}
