import type { ProcessFacts } from "../system/mod.ts";
import type { Family } from "./metric_text.ts";

/** The usual metrics of a process under their usual names, as far as the platform tells them. */
export function processFamilies(facts: ProcessFacts): Family[] {
  const { cpuUserSeconds: user, cpuSystemSeconds: system, nodeVersion } = facts;
  const [major = "", minor = "", patch = ""] = nodeVersion.slice(1).split(".");
  const version = { version: nodeVersion, major, minor, patch };
  return [
    counter("process_cpu_user_seconds_total", "Total user CPU time spent in seconds.", user),
    counter("process_cpu_system_seconds_total", "Total system CPU time spent in seconds.", system),
    counter(
      "process_cpu_seconds_total",
      "Total user and system CPU time spent in seconds.",
      user + system,
    ),
    gauge(
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      facts.startedSeconds,
    ),
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", facts.residentBytes),
    gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", facts.virtualBytes),
    gauge("process_heap_bytes", "Process heap size in bytes.", facts.dataBytes),
    gauge("process_open_fds", "Number of open file descriptors.", facts.openFiles),
    gauge("process_max_fds", "Maximum number of open file descriptors.", facts.mostOpenFiles),
    gauge(
      "nodejs_heap_size_total_bytes",
      "Process heap size from Node.js in bytes.",
      facts.heapTotalBytes,
    ),
    gauge(
      "nodejs_heap_size_used_bytes",
      "Process heap size used from Node.js in bytes.",
      facts.heapUsedBytes,
    ),
    gauge(
      "nodejs_external_memory_bytes",
      "Node.js external memory size in bytes.",
      facts.externalBytes,
    ),
    gauge("nodejs_version_info", "Node.js version info.", 1, version),
  ].filter((family) => family !== undefined);
}

function counter(name: string, help: string, value: number): Family {
  return { name, kind: "counter", help, samples: [{ labels: {}, value }] };
}

/** A gauge; `undefined` where the platform does not tell the value. */
function gauge(
  name: string,
  help: string,
  value: number | undefined,
  labels: Readonly<Record<string, string>> = {},
): Family | undefined {
  return value === undefined
    ? undefined
    : { name, kind: "gauge", help, samples: [{ labels, value }] };
}
