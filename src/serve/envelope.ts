import { redactLists, type Redactor, visible } from "../system/mod.ts";
import type { Refusal } from "./problem.ts";
import { SharedResponse } from "./wire_response.ts";

/** The answer of a route, before it is encoded. */
export type Answer = AnswerBody & {
  /** Container context that the request selected; shown in a header. */
  readonly context?: string;
  /** The stack whose secrets are masked in the answer; absent for records, which are masked already. */
  readonly about?: string;
};

type AnswerBody =
  | {
    readonly kind: "content";
    readonly status: number;
    readonly content: unknown;
    /** Id of the run the answer is about; else the request's own id is shown. */
    readonly jobId?: string;
  }
  /** A body without envelope. */
  | { readonly kind: "plain"; readonly status: number; readonly body: object }
  /** Any other body than our JSON. */
  | {
    readonly kind: "raw";
    readonly status: number;
    readonly body: string | Uint8Array<ArrayBuffer>;
    readonly headers: Readonly<Record<string, string>>;
  }
  /** A finished response; its texts were redacted when it was made. */
  | { readonly kind: "made"; readonly status: number; readonly response: Response }
  | {
    readonly kind: "refusal";
    readonly refusal: Refusal;
    readonly jobId?: string;
    /** Methods the path has, for status 405. */
    readonly allow?: readonly string[];
    /** What was thrown, for the log alone. */
    readonly thrown?: unknown;
  };

interface AnswerTo {
  readonly method: string;
  readonly requestId: string;
  readonly redactor: Redactor;
}

const HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** Makes the response of an answer: every text through the redactor, never cached, no body for HEAD. */
export async function toResponse(answer: Answer, to: AnswerTo): Promise<Response> {
  const headers: Record<string, string> = { ...HEADERS, "x-request-id": to.requestId };
  if (answer.kind === "refusal" && answer.allow !== undefined) {
    headers["allow"] = answer.allow.join(", ");
  }
  if (answer.kind === "refusal" && answer.refusal.retryAfter !== undefined) {
    headers["retry-after"] = `${answer.refusal.retryAfter}`;
  }
  if (answer.context !== undefined) headers[CONTEXT_HEADER] = headerText(answer.context);
  const status = answer.kind === "refusal" ? answer.refusal.status : answer.status;
  if (answer.kind === "raw") {
    for (const [name, value] of Object.entries(answer.headers)) headers[name.toLowerCase()] = value;
    if (to.method === "HEAD") return new Response(null, { status, headers });
    return typeof answer.body === "string"
      ? new Response(answer.body, { status, headers })
      : new SharedResponse(answer.body, { status, headers }, { isKept: true });
  }
  if (answer.kind === "made") {
    for (const [name, value] of answer.response.headers) headers[name] = value;
    return new Response(answer.response.body, { status, headers });
  }
  const about = answer.about === undefined ? [] : [answer.about];
  const redact = remembering((text) => to.redactor.redact(text, ...about));
  const json = JSON.stringify(await redactLists(bodyOf(answer, to.requestId), redact));
  // The line feed keeps the prompt of a terminal on its own line, as an escape what would steer it.
  const body = `${visible(json)}\n`;
  return new Response(to.method === "HEAD" ? null : body, { status, headers });
}

/** Caches redacted texts: lists repeat the same ones over and over. */
function remembering(redact: (text: string) => string): (text: string) => string {
  const done = new Map<string, string>();
  return (text) => done.getOrInsertComputed(text, redact);
}

/** Header that names the container context. */
export const CONTEXT_HEADER = "X-Service-Context";

/** Encodes a text that a header cannot hold. */
function headerText(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : encodeURIComponent(value);
}

function bodyOf(answer: Exclude<Answer, { kind: "raw" | "made" }>, requestId: string): object {
  switch (answer.kind) {
    case "plain":
      return answer.body;
    case "content":
      return { content: answer.content, job_id: answer.jobId ?? requestId };
    case "refusal": {
      const { error, content } = answer.refusal;
      return {
        error,
        ...(content === undefined ? {} : { content }),
        ...(answer.jobId === undefined ? {} : { job_id: answer.jobId }),
      };
    }
  }
}
