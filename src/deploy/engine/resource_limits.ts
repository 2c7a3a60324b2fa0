import type { HostBody } from "../../docker/create_bodies.ts";
import { filled } from "../../model/mod.ts";
import { isObject, type JsonObject, objectAt, textAt } from "../../compose/model.ts";
import { amountOf, nanoCpus, numberOf } from "./units.ts";

/** Limits of a container's resources; values below `deploy` win. */
export function resourceLimits(service: JsonObject): HostBody {
  const resources = objectAt(objectAt(service, "deploy"), "resources");
  const limits = objectAt(resources, "limits");
  const reserved = objectAt(resources, "reservations");
  const pids = numberOf(limits["pids"]) ?? 0;
  return filled({
    ShmSize: amountOf(service["shm_size"]),
    Memory: amountOf(limits["memory"]) ?? amountOf(service["mem_limit"]),
    MemorySwap: amountOf(service["memswap_limit"]),
    MemorySwappiness: amountOf(service["mem_swappiness"]),
    MemoryReservation: amountOf(reserved["memory"]) ?? amountOf(service["mem_reservation"]),
    OomKillDisable: service["oom_kill_disable"] === true,
    OomScoreAdj: amountOf(service["oom_score_adj"]),
    NanoCpus: nanoCpus(limits["cpus"]) ?? nanoCpus(service["cpus"]),
    CpuShares: amountOf(service["cpu_shares"]),
    CpuPeriod: amountOf(service["cpu_period"]),
    CpuQuota: amountOf(service["cpu_quota"]),
    CpusetCpus: textAt(service, "cpuset"),
    PidsLimit: pids > 0 ? pids : amountOf(service["pids_limit"]),
    Ulimits: ulimits(service),
  });
}

/** Limits of the processes of a service, by name. */
export function ulimits(service: JsonObject) {
  return Object.entries(objectAt(service, "ulimits")).map(([Name, each]) => {
    const limit = isObject(each) ? each : { soft: each, hard: each };
    const single = numberOf(limit["single"]) ?? 0;
    const Soft = numberOf(limit["soft"]) ?? single;
    return { Name, Soft, Hard: numberOf(limit["hard"]) ?? single };
  });
}
