import {
  clip,
  errors,
  isStackwrightError,
  parseJson,
  type StackwrightError,
} from "../model/mod.ts";
import { asRecord, asText } from "./json.ts";
import type { TransportResponse } from "./transport_messages.ts";
import type { ApiRequest } from "./api_request.ts";

const ERROR_LIMIT = 64 << 10;

/** Characters of the engine's reason in an error. */
const MOST_REASON = 2_000;

/** Whether a status means success: redirects and changes of protocol do not. */
export function isDone(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

/** The error of a call that the engine refused. */
export async function refusal(
  request: ApiRequest,
  response: TransportResponse,
): Promise<StackwrightError> {
  const text = await readText(response, ERROR_LIMIT).catch(() => "");
  const reason = clip(messageIn(text), MOST_REASON);
  return errors.engine_refused(
    `engine refused ${request.method} ${request.path}: ${response.status}` +
      (reason === "" ? "" : ` ${reason}`),
  );
}

/**
 * Whether an engine refused a change, such as a restart: `engine_refused` is also what is thrown for an
 * answer that is too large, or that somebody asked for before.
 */
export function isRefusedChange(error: unknown): boolean {
  return isStackwrightError(error, "engine_refused") &&
    /^engine refused (?:POST|PUT|DELETE) /.test(error.message);
}

/**
 * Whether an engine refused a list because it missed something: engines with images in containerd's
 * store do when an image is removed while they list. Asked again, they no longer look for it.
 */
export function isListOfRemoved(error: unknown): boolean {
  return isStackwrightError(error, "engine_refused") &&
    /^engine refused GET \/\w+\/json: 404 /.test(error.message);
}

/** A TLS engine's answer to plain HTTP. */
const WANTS_TLS = "Client sent an HTTP request to an HTTPS server.";

/** The engine's own message in an answer: a proxy in front of it refuses with a page for people. */
function messageIn(text: string): string {
  if (text.trim() === WANTS_TLS) return `${WANTS_TLS} It wants certificates: ca, cert and key`;
  return asText(asRecord(parseJson(text))["message"]).trim();
}

/** The text of an answer, up to a limit in bytes. */
async function readText(response: TransportResponse, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > limit) {
      response.discard();
      throw errors.engine_refused(`the engine's answer is longer than ${limit}`);
    }
  }
  return text + decoder.decode();
}

/** The parsed answer, with an error that names the call when it is not JSON. */
export async function parsing<T>({ method, path }: ApiRequest, value: Promise<T>): Promise<T> {
  return await value.catch((cause) => {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw errors.engine_refused(
      `engine answered ${method} ${path} with something that is not JSON; ` +
        "is a Docker Engine listening there?",
      { cause },
    );
  });
}
