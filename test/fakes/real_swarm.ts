import process from "node:process";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { ensureBusyboxImage } from "./busybox_image.ts";

/** A swarm's manager behind `DOCKER_HOST`, or why there is none. */
export type RealSwarm =
  | { readonly host: string; readonly unavailable?: undefined }
  | { readonly unavailable: string };

/**
 * Looks whether the engine of `DOCKER_HOST` manages a swarm, as `scripts/lib/with_swarm.sh` starts one.
 * The engine that everybody uses is never asked to become one; with `SWARM_TESTS=1`, as the stage of the
 * gate sets it, that there is none is a failure.
 */
export async function findSwarm(): Promise<RealSwarm> {
  const reason = await whyNot();
  const host = process.env["DOCKER_HOST"] ?? "";
  if (reason === undefined) {
    await ensureBusyboxImage();
    return { host };
  }
  const unavailable =
    `NO SWARM, TESTS SKIPPED: ${reason}; scripts/lib/with_swarm.sh COMMAND has one`;
  if (process.env["SWARM_TESTS"] === "1") throw new Error(unavailable);
  return { unavailable };
}

async function whyNot(): Promise<string | undefined> {
  const host = process.env["DOCKER_HOST"];
  if (host === undefined) return "DOCKER_HOST is not set";
  const engine = createEngine({ host });
  try {
    const { swarm } = await engine.info(new AbortController().signal);
    return swarm === "manager" ? undefined : `the engine of DOCKER_HOST is ${swarm}`;
  } catch (error) {
    return String(error);
  } finally {
    engine.close();
  }
}

/** Takes the services of a stack away, and what only they have, also while they are being updated. */
export async function removeStack({ swarm }: EngineClient, stack: string): Promise<void> {
  const never = new AbortController().signal;
  const label = { "com.docker.stack.namespace": stack };
  for (const { id } of await swarm.services(label, never)) await swarm.removeService(id, never);
  for (const kind of ["configs", "secrets"] as const) {
    for (const { id } of await swarm.objects(kind, label, never)) {
      await swarm.removeObject(kind, id, never);
    }
  }
}
