import type { EngineClient, ServiceChange } from "../docker/mod.ts";
import { asRecord } from "../docker/json.ts";
import type { KnownMount } from "./mounts_inside.ts";
import { getsTasks, mountsOf } from "./jobs/swarm_job.ts";

/**
 * An engine that looks at where mounts lead before it starts or restarts a container, whoever made that
 * and whenever, unpacks files into one, or gives a service tasks: the engine follows links anew each
 * time, and containers put them there. So no caller can forget it.
 *
 * `requireInside` throws for mounts that lead elsewhere; then nothing is changed.
 */
export function lookingEngine(
  engine: EngineClient,
  requireInside: (mounts: readonly KnownMount[], signal: AbortSignal) => Promise<void>,
): EngineClient {
  const look = async (id: string, signal: AbortSignal) => {
    const details = await engine.inspectContainer(id, signal);
    await requireInside(details?.mounts ?? [], signal);
  };
  const lookAtTasks = async ({ body }: ServiceChange, signal: AbortSignal) => {
    const spec = asRecord(body);
    if (getsTasks(spec)) await requireInside(mountsOf({ spec }), signal);
  };
  const { swarm } = engine;
  return {
    ...engine,
    async startContainer(id, signal) {
      await look(id, signal);
      await engine.startContainer(id, signal);
    },
    async restartContainer(id, how, signal) {
      await look(id, signal);
      await engine.restartContainer(id, how, signal);
    },
    async unpackInto(id, archive, signal) {
      await look(id, signal);
      await engine.unpackInto(id, archive, signal);
    },
    swarm: {
      ...swarm,
      async createService(change, signal) {
        await lookAtTasks(change, signal);
        return await swarm.createService(change, signal);
      },
      async updateService(service, change, signal) {
        await lookAtTasks(change, signal);
        await swarm.updateService(service, change, signal);
      },
    },
  };
}
