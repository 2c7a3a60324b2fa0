import type { ObservedContainer, ObservedStack, ReleaseService } from "../model/mod.ts";

/** The verdict on the services of a release. */
export type Readiness =
  | { readonly kind: "ready" }
  | {
    readonly kind: "waiting";
    readonly services: Readonly<Record<string, string>>;
    /** Those of `services` that have too few containers. */
    readonly incomplete: readonly string[];
  }
  | {
    readonly kind: "failed";
    readonly service: string;
    readonly container: ObservedContainer;
    readonly why: string;
  };

/**
 * Judges one sample: every started service must run, and be healthy where it has a health check;
 * exit code 0 is success unless the restart policy restarts the container. A container that cannot
 * recover fails at once; restart loops are not detected here, since that takes several samples.
 */
export function readiness(services: readonly ReleaseService[], observed: ObservedStack): Readiness {
  const waiting: Record<string, string> = {};
  const incomplete: string[] = [];
  for (const service of services) {
    const { name, expectation: { replicas, autostart } } = service;
    if (replicas === 0 || !autostart) continue;
    const containers = observed.containers.filter((each) => each.service === name);
    for (const container of containers) {
      const judged = judge(service, container);
      if (judged.kind === "failed") return { ...judged, kind: "failed", service: name, container };
      if (judged.kind === "waiting") waiting[name] = judged.why;
    }
    if (containers.length < replicas) {
      incomplete.push(name);
      waiting[name] = `${containers.length} of ${replicas} containers exist`;
    }
  }
  if (Object.keys(waiting).length === 0) return { kind: "ready" };
  return { kind: "waiting", services: waiting, incomplete };
}

type Judgement =
  | { readonly kind: "ready" }
  | { readonly kind: "waiting" | "failed"; readonly why: string };

function judge(service: ReleaseService, container: ObservedContainer): Judgement {
  switch (container.state) {
    case "running":
      return judgeRunning(service, container);
    case "exited":
      return judgeExited(service, container);
    case "created":
      return { kind: "waiting", why: "created but not started" };
    case "paused":
      return { kind: "waiting", why: "paused" };
    case "removing":
      return { kind: "waiting", why: "being removed" };
    case "restarting":
      return { kind: "waiting", why: `restarted by the engine: it stopped${exitText(container)}` };
    case "dead":
      return { kind: "failed", why: "is dead" };
  }
}

function judgeRunning(service: ReleaseService, container: ObservedContainer): Judgement {
  if (service.expectation.oneShot) return { kind: "waiting", why: "has not finished" };
  if (container.health === "unhealthy") return { kind: "failed", why: "is unhealthy" };
  if (container.health === "starting") return { kind: "waiting", why: "health check is starting" };
  return { kind: "ready" };
}

function judgeExited(service: ReleaseService, container: ObservedContainer): Judgement {
  const { mayFinish, oneShot } = service.expectation;
  if (container.exitCode === 0 && (mayFinish || oneShot)) return { kind: "ready" };
  return { kind: "failed", why: `stopped${exitText(container)}` };
}

function exitText(container: ObservedContainer): string {
  return container.exitCode === undefined ? "" : ` with exit code ${container.exitCode}`;
}

/** A service that deployments start, or do not, whatever its release says. */
export function withAutostart(service: ReleaseService, autostart: boolean): ReleaseService {
  return { ...service, expectation: { ...service.expectation, autostart } };
}
