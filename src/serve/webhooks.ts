import * as z from "zod";
import type { WebhookOperation, WebhookResult } from "../api/mod.ts";
import { beginning, isStackwrightError, type WebhookDelivery } from "../model/mod.ts";
import {
  deliveryOf,
  detectProvider,
  type ReadWebhook,
  readWebhook,
  type WebhookSourceOptions,
} from "../trigger/mod.ts";
import type { Answer } from "./envelope.ts";
import { lenientBoolean } from "./query.ts";
import type { Exchange, OperationRoute, RouteFacts } from "./route.ts";
import { WEBHOOK_REFUSALS, WEBHOOK_SUCCESS } from "./webhook_facts.ts";

/** Ports for receiving webhooks. */
export interface ReceiveWebhooks {
  /** The one secret of all senders; not empty. */
  readonly secret: string;
  readonly sources: WebhookSourceOptions;
  readonly operation: WebhookOperation;
  /**
   * Called for every authentic request, whatever its result; `repository` is a name for people, `none`
   * or `invalid`. Not called for other requests: anybody could make up names of repositories.
   */
  readonly onAuthentic?: (repository: string) => void;
}

/** Path of the webhooks; a further segment names a configuration target. */
const WEBHOOK_PATH = "/v1/webhook";

/** The routes on which pushes are announced. */
export function webhookRoutes(receive: ReceiveWebhooks): OperationRoute[] {
  return webhookFacts(receive.operation).map((facts) => ({
    ...facts,
    power: receive.operation.power,
    answer: (exchange) => answerWebhook(exchange, receive),
  }));
}

/** Facts for documents about these routes. */
export function webhookFacts(operation: WebhookOperation): RouteFacts[] {
  const facts = {
    methods: ["POST"],
    access: "webhook",
    operation,
    query: { wait: lenientBoolean },
    success: WEBHOOK_SUCCESS,
    content: z.string().describe("One sentence on what came of it."),
    refusals: WEBHOOK_REFUSALS,
  } as const;
  return [
    { ...facts, path: WEBHOOK_PATH, params: {} },
    { ...facts, path: `${WEBHOOK_PATH}/{target}`, params: { target: "target" } },
  ];
}

async function answerWebhook(exchange: Exchange, receive: ReceiveWebhooks): Promise<Answer> {
  detectProvider(exchange.headers);
  const body = await exchange.readBytes("failed to parse payload");
  try {
    const { webhook, delivery } = readDelivery(exchange, body, receive);
    const wait = lenientBoolean(exchange.query, "wait");
    const result = await receive.operation.call(delivery, { wait });
    receive.onAuthentic?.(result.repository || "none");
    logResult(exchange, { webhook, delivery, result });
    return webhookAnswer(result);
  } catch (error) {
    if (provedItself(error, body)) {
      receive.onAuthentic?.("invalid");
      logRefusal(exchange, error);
    }
    throw error;
  }
}

/** Authenticates a webhook of a known provider, then reads its delivery. */
function readDelivery(
  { headers, params }: Exchange,
  body: Uint8Array,
  { secret, sources }: ReceiveWebhooks,
): { readonly webhook: ReadWebhook; readonly delivery: WebhookDelivery } {
  const webhook = readWebhook({ headers, body }, secret);
  return { webhook, delivery: deliveryOf(webhook.event, params["target"] ?? "", sources) };
}

/** Whether an error came after the proof: only an empty body and `unauthorized` come before it. */
function provedItself(error: unknown, body: Uint8Array): boolean {
  return body.length > 0 && !(isStackwrightError(error) && error.code === "unauthorized");
}

/** Most characters of a reason in the log, which may repeat words of the sender. */
const MOST_OF_REASON = 300;

/**
 * Says in one line why a webhook with the right secret was refused: nobody else sees the answer. Failures
 * of ours have a line of their own, and whoever does not know the secret must not write to the log.
 */
function logRefusal({ call, params }: Exchange, error: unknown): void {
  if (!isStackwrightError(error, ...REFUSED)) return;
  const told = [error.message, ...error.problems.map(({ message }) => message)].join(": ");
  const target = params["target"] ?? "";
  const reason = beginning(told, MOST_OF_REASON);
  call.log.warning(`webhook refused: ${reason}`, { target: beginning(target, MOST_OF_REASON) });
}

/** Codes of what is wrong with a webhook itself. */
const REFUSED = ["bad_request", "forbidden", "not_found", "payload_too_large"] as const;

interface Received {
  readonly webhook: ReadWebhook;
  readonly delivery: WebhookDelivery;
  readonly result: WebhookResult;
}

function logResult({ call, params }: Exchange, { webhook, delivery, result }: Received): void {
  const { job_id, repository } = result;
  const references = delivery.kind === "deploy"
    ? delivery.sources.map(({ reference }) => reference)
    : [];
  const target = params["target"] ?? "";
  const said = result.outcome === "failed" ? "its run failed" : result.message;
  call.log.info(`webhook of ${webhook.provider}: ${said}`, {
    job_id,
    repository,
    target,
    references: references.join(", "),
  });
}

const STATUS: Readonly<Record<WebhookResult["outcome"], number>> = {
  accepted: 202,
  skipped: 202,
  complete: 201,
  failed: 500,
  cancelled: 503,
};

function webhookAnswer({ outcome, message, job_id: jobId }: WebhookResult): Answer {
  const status = STATUS[outcome];
  if (outcome === "failed") {
    return {
      kind: "refusal",
      refusal: { status, error: "deployment failed", content: message },
      jobId,
    };
  }
  return outcome === "cancelled"
    ? { kind: "refusal", refusal: { status, error: message }, jobId }
    : { kind: "content", status, content: message, jobId };
}
