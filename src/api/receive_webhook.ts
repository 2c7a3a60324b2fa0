import * as z from "zod";
import {
  type Admission,
  CANCELLED_BY_CLIENT,
  CANCELLED_BY_SHUTDOWN,
  type Intake,
  type SubmitOptions,
} from "../intake.ts";
import {
  requestKey,
  type Run,
  type RunTarget,
  type SourceRequest,
  type WebhookDelivery,
} from "../model/mod.ts";
import { sourceNameOf } from "../source/mod.ts";
import type { OperationFacts } from "./operation.ts";

/** The answer to a webhook. */
export const webhookResult = z.strictObject({
  outcome: z.enum(["accepted", "complete", "skipped", "failed", "cancelled"]).describe(
    "complete: looked at, whether or not anything had changed. skipped: there was nothing to look " +
      "at, or every deployment is held back.",
  ),
  message: z.string().describe("One sentence."),
  job_id: z.string().describe("Id of the run."),
  repository: z.string().describe("Name of the repository, as far as it is known."),
});

/** See {@link webhookResult}. */
export type WebhookResult = z.output<typeof webhookResult>;

/** The operation behind webhooks, which its face has read and authenticated. */
export interface WebhookOperation extends OperationFacts<WebhookResult> {
  /**
   * Submits the work. The work goes on when the sender disconnects, also with `wait`: most senders
   * give up after ten seconds. Throws `overloaded` and `shutting_down`.
   */
  call(request: WebhookDelivery, options: { readonly wait: boolean }): Promise<WebhookResult>;
}

interface WebhookParts {
  readonly intake: Intake;
}

/**
 * Deploys what a webhook names. Each pushed reference gets a run, and webhooks about the same
 * repository, reference and target share a waiting run. The answer is about the first run; with
 * `wait`, about the first failed one, if any.
 */
export function receiveWebhookOperation(parts: WebhookParts): WebhookOperation {
  return {
    id: "receiveWebhook",
    summary: "Deploy what was pushed.",
    tag: "Webhooks",
    power: "act",
    input: z.strictObject({
      target: z.string().optional().describe(
        "Reads `.stackwright.<target>.yaml` instead of `.stackwright.yaml`.",
      ),
      wait: z.boolean().default(false).describe(
        "Wait for the end of the run. `true` or `1`; anything else is false.",
      ),
    }),
    output: webhookResult,
    errors: [
      "bad_request",
      "unauthorized",
      "forbidden",
      "payload_too_large",
      "overloaded",
      "shutting_down",
    ],
    call: (request, { wait }) => receive(request, wait, parts),
  };
}

/** The operation for describing it only; it cannot be called. */
export function describedWebhookOperation(): WebhookOperation {
  return receiveWebhookOperation({} as WebhookParts);
}

async function receive(
  request: WebhookDelivery,
  wait: boolean,
  parts: WebhookParts,
): Promise<WebhookResult> {
  if (request.kind === "skip") {
    const { repository, target, message } = request;
    const run = parts.intake.skip({ trigger: "webhook", repository, target, message });
    return { outcome: "skipped", message, ...facts(run) };
  }
  const [source, ...others] = request.sources;
  if (source === undefined) throw new Error("BUG: a webhook without sources");
  const waits = parts.intake.arrive(sourceNameOf(source));
  const first = submitWebhook(source, parts, waits);
  const admissions = [first, ...others.map((each) => submitWebhook(each, parts, waits))];
  if (!wait) return { outcome: "accepted", message: "job accepted", ...facts(first.run) };
  const runs = await Promise.all(admissions.map(({ finished }) => finished));
  const told = runs.find(({ status }) => status === "failed") ??
    runs.find(({ status }) => status === "succeeded") ?? runs[0] ?? first.run;
  return { ...describeEnd(told), ...facts(told) };
}

/** Not the whole run: formatting its times would take longer than everything else. */
function facts({ id, repository }: Run): Pick<WebhookResult, "job_id" | "repository"> {
  return { job_id: id, repository };
}

/** Submits the work of a webhook about one source. Throws `shutting_down`. */
export function submitWebhook(
  source: SourceRequest,
  { intake }: WebhookParts,
  waits?: SubmitOptions["waits"],
): Admission {
  const repository = sourceNameOf(source);
  return intake.submit(
    { kind: "sync", trigger: "webhook", origin: "automatic", sources: [source] },
    {
      repository,
      ...(waits === undefined ? {} : { waits }),
      // Case matters: on many hosts such names are two repositories, which must not share runs.
      lane: `webhook ${requestKey(source, repository)}`,
    },
  );
}

function describeEnd(
  { status, message, targets }: Run,
): { outcome: WebhookResult["outcome"]; message: string } {
  if (message === CANCELLED_BY_CLIENT || message === CANCELLED_BY_SHUTDOWN) {
    return { outcome: "cancelled", message };
  }
  if (status === "failed") return { outcome: "failed", message };
  const held = status === "skipped" && targets.length > 0 && targets.every(isHeldBack);
  return { outcome: held ? "skipped" : "complete", message };
}

/** Held back, that is filtered out, paused, or outside its sync windows. */
function isHeldBack({ reason }: RunTarget): boolean {
  return reason === "filter_mismatch" || reason === "sync_window" ||
    reason?.startsWith("paused") === true;
}
