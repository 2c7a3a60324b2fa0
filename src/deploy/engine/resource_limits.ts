import type { HostBody } from "../../docker/create_bodies.ts";
import { isObject, type JsonObject, objectAt, textAt } from "../../compose/model.ts";
import { amountOf, nanoCpus, numberOf } from "./units.ts";

/** Limits of a container's use of its host; what stands below `deploy` wins. */
export function resourceLimits(service: JsonObject): HostBody {
  const resources = objectAt(objectAt(service, "deploy"), "resources");
  const limits = objectAt(resources, "limits");
  const reserved = objectAt(resources, "reservations");
  const pids = numberOf(limits["pids"]) ?? 0;
  const set = <Name extends keyof HostBody>(name: Name, value: HostBody[Name] | undefined) =>
    value === undefined ? {} : { [name]: value };
  return {
    ...set("ShmSize", amountOf(service["shm_size"])),
    ...set("Memory", amountOf(limits["memory"]) ?? amountOf(service["mem_limit"])),
    ...set("MemorySwap", amountOf(service["memswap_limit"])),
    ...set("MemorySwappiness", amountOf(service["mem_swappiness"])),
    ...set(
      "MemoryReservation",
      amountOf(reserved["memory"]) ?? amountOf(service["mem_reservation"]),
    ),
    OomKillDisable: service["oom_kill_disable"] === true,
    ...set("OomScoreAdj", amountOf(service["oom_score_adj"])),
    ...set("NanoCpus", nanoCpus(limits["cpus"]) ?? nanoCpus(service["cpus"])),
    ...set("CpuShares", amountOf(service["cpu_shares"])),
    ...set("CpuPeriod", amountOf(service["cpu_period"])),
    ...set("CpuQuota", amountOf(service["cpu_quota"])),
    ...set("CpusetCpus", textAt(service, "cpuset") || undefined),
    ...set("PidsLimit", pids > 0 ? pids : amountOf(service["pids_limit"])),
    ...ulimits(service),
  };
}

/** Limits of the processes of a service, by name. */
export function ulimits(service: JsonObject): Pick<HostBody, "Ulimits"> {
  const wanted = Object.entries(objectAt(service, "ulimits"));
  if (wanted.length === 0) return {};
  return {
    Ulimits: wanted.map(([Name, each]) => {
      const limit = isObject(each) ? each : { soft: each, hard: each };
      const single = numberOf(limit["single"]) ?? 0;
      const Soft = numberOf(limit["soft"]) ?? single;
      return { Name, Soft, Hard: numberOf(limit["hard"]) ?? single };
    }),
  };
}
