import { join } from "node:path";
import { asList, asRecord, asText } from "../../docker/json.ts";
import type { SwarmService } from "../../docker/swarm.ts";
import { errors, own, type Release } from "../../model/mod.ts";
import { liveHolds, type OldDataParts } from "../copy_old_data.ts";
import { findOldData } from "../old_data.ts";
import { stackDirectories } from "../stack_files.ts";
import { containerSpec, isRunOfJob, shortName } from "./observed_services.ts";
import { STACK_LABELS } from "./stack_parts.ts";

/**
 * Refuses a release whose services would mount an empty directory in place of the data that those before
 * them wrote, below another data directory or somebody else's copy of the repository. It is not copied as
 * that of containers is: it lies on the nodes that ran their tasks.
 *
 * Throws `conflict`.
 */
export async function requireDataHere(
  { host, files, options }: Pick<OldDataParts, "files" | "host" | "options">,
  release: Pick<Release, "key" | "model" | "live" | "workingDir">,
  signal: AbortSignal,
): Promise<void> {
  const { engine, dataDir } = host;
  const { key, live } = release;
  const services = await engine.swarm.services({ [STACK_LABELS.namespace]: key.name }, signal);
  const containers = services.filter((each) => !isRunOfJob(each)).map((each) => ({
    ...{ id: each.id, name: each.name, service: shortName(key.name, each.name) },
    ...{ state: "running", health: "none", exitCode: undefined, imageId: "" } as const,
    labels: each.labels,
    binds: bindsOf(each),
  }));
  for (const data of await findOldData(engine, { ...release, dataDir }, { containers }, signal)) {
    const { service, target, source, path } = data;
    if (own(live.files, path) !== undefined) continue;
    if (await liveHolds(files, stackDirectories(options.dataDir, key).live, path)) {
      continue;
    }
    const place = join(stackDirectories(dataDir, key).live, path);
    const name = `${key.name}_${service}`;
    throw errors.conflict(
      `${key.name} is not deployed: service ${service} has its data (mounted at ${target}) in ${source}, ` +
        "which Stackwright does not copy in a swarm, and would start without it; nothing was changed. Stop " +
        `the service (docker service scale ${name}=0) and copy the data, on the node of Stackwright and on ` +
        `each that runs the service: cp -a ${source} ${place}; if nobody needs it, remove the service ` +
        `(docker service rm ${name}). Then deploy again`,
    );
  }
}

function bindsOf({ spec }: SwarmService) {
  const mounts = asList(containerSpec(spec)["Mounts"]).map(asRecord);
  return mounts.filter((each) => each["Type"] === "bind").map((each) => ({
    source: asText(each["Source"]),
    destination: asText(each["Target"]),
    writable: each["ReadOnly"] !== true,
  }));
}
