import type { TargetDecision, TargetListener } from "../model/mod.ts";
import type { Log } from "../system/mod.ts";

type Tried = Exclude<TargetDecision["kind"], "skip" | "error">;

const STARTED: Readonly<Record<Tried, string>> = {
  deploy: "deploying",
  repair: "repairing",
  destroy: "removing the stack",
  start: "starting the stack",
  stop: "stopping the stack",
  restart: "restarting the stack",
  scale: "scaling the stack",
  run: "running jobs of the stack",
};
const FAILED: Readonly<Record<Tried, string>> = {
  deploy: "deployment failed",
  repair: "repair failed",
  destroy: "the stack was not removed",
  start: "the stack was not started",
  stop: "the stack was not stopped",
  restart: "the stack was not restarted",
  scale: "the stack was not scaled",
  run: "jobs of the stack were not run",
};

/** Makes the listener that logs actions on stacks, and every failure. */
export function logListener(log: Log): TargetListener {
  return ({ key, trigger }) => {
    const own = log.with({ stack: key.name, context: key.context });
    let tried: Tried = "deploy";
    let said = "";
    let started = false;
    return (event) => {
      const revision = event.revision.id;
      if (event.kind === "decided") {
        const { kind, message } = event.decision;
        if (kind !== "skip" && kind !== "error") tried = kind;
        said = message;
      } else if (event.kind === "started") {
        started = true;
        own.info(`${STARTED[tried]}: ${said}`, { revision });
      } else if (event.kind === "ended") {
        const { status, message, error } = event.end;
        if (status === "failed") {
          // Who asked over the API is told, and nothing has failed.
          const isRefusal = trigger === "project" && error?.code === "conflict";
          const level = isRefusal ? "warning" : "error";
          own[level](`${FAILED[tried]}: ${message}`, { ...factsOf(error), revision });
        } else if (started) {
          own.info(tried === "deploy" ? `deployed: ${message}` : message, { revision });
        }
      }
    };
  };
}

function factsOf(error: { readonly code: string; readonly cause?: unknown } | undefined) {
  if (error === undefined) return {};
  const { code, cause } = error;
  return { code, ...(cause instanceof Error ? { cause } : {}) };
}
