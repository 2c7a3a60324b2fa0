import { asList, asRecord, asText, asTexts } from "../../docker/json.ts";
import type { SwarmService } from "../../docker/swarm.ts";
import { withKnownNames } from "../../compose/mod.ts";
import { STACK_LABELS } from "./stack_parts.ts";

/** A volume that tasks of a service make when they start, with the labels that it gets. */
export interface VolumeOfTasks {
  /** Has templates where the swarm fills in what is not known yet. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The volumes that tasks of `services` make or mount when they start on `node`, once for each stack.
 * That may be long after the deployment: a task without its image is tried again for ever, and a
 * job waits until it is due.
 */
export function volumesOfTasks(services: readonly SwarmService[], node: string): VolumeOfTasks[] {
  const found = new Map<string, VolumeOfTasks>();
  for (const { labels: { [STACK_LABELS.namespace]: stack = "" }, spec } of services) {
    const container = asRecord(asRecord(spec["TaskTemplate"])["ContainerSpec"]);
    for (const mount of asList(container["Mounts"]).map(asRecord)) {
      const source = asText(mount["Source"]);
      if (mount["Type"] !== "volume" || source === "") continue;
      const name = withKnownNames(source, { stack, node });
      const labels = asTexts(asRecord(mount["VolumeOptions"])["Labels"]);
      found.set(JSON.stringify([name, stack]), { name, labels });
    }
  }
  return [...found.values()];
}
