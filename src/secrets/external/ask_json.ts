import type { HttpClient, HttpRequest } from "../../system/mod.ts";
import { unresolved } from "./provider.ts";
import { parseJson, valueAt } from "../../model/mod.ts";

interface JsonAnswer {
  readonly status: number;
  readonly value: unknown;
}

/**
 * Asks a store and reads its JSON. Statuses in `expected` are returned, by default only those below 300.
 *
 * Throws `secret_unresolved` for any other status and for no JSON; bodies are never part of a message.
 */
export async function askJson(
  http: HttpClient,
  request: HttpRequest,
  { signal, expected = [] }: { signal: AbortSignal; expected?: readonly number[] },
): Promise<JsonAnswer> {
  const headers = { accept: "application/json", ...request.headers };
  const answer = await http.send({ ...request, headers }, signal);
  const { status } = answer;
  if (expected.includes(status)) return { status, value: parseJson(answer.body) };
  if (status < 200 || status > 299) throw unresolved(statusReason(status, request));
  const value = parseJson(answer.body);
  if (value === undefined) {
    throw unresolved(`${originOf(request)} answered with something that is not JSON`);
  }
  return { status, value };
}

/** The meaning of a status for somebody who wants a secret. */
export function statusReason(status: number, request: HttpRequest): string {
  return `${originOf(request)} ${meaningOf(status)} (HTTP ${status})`;
}

function meaningOf(status: number): string {
  switch (status) {
    case 401:
      return "does not accept the credentials of the secret provider";
    case 403:
      return "does not let the secret provider's credentials read it";
    case 404:
      return "does not have it";
    case 429:
      return "has had too many requests, also after waiting";
    default:
      return status >= 500 ? "fails" : "refuses the request";
  }
}

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin;
}

/** The text at a path, if it is one. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** A found value as the text of a variable: numbers and booleans as they are written. */
export function scalarText(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === undefined || value === null) throw unresolved(`${where} is not there`);
  const kind = Array.isArray(value) ? "a list" : "an object";
  throw unresolved(`${where} is ${kind}, expected text`);
}

/** An address below a base, whose own path is kept. */
export function below(base: string, path: string): string {
  return base.replace(/\/+$/, "") + path;
}
