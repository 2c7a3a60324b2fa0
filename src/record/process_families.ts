import type { ProcessFacts } from "../system/mod.ts";
import type { Family } from "./metric_text.ts";

type Row = readonly [name: string, help: string, value: number | undefined];

/** The usual metrics of a process under their usual names, as far as the platform tells them. */
export function processFamilies(facts: ProcessFacts): Family[] {
  const { cpuUserSeconds: user, cpuSystemSeconds: system, nodeVersion: version } = facts;
  const [major = "", minor = "", patch = ""] = version.slice(1).split(".");
  const info = family("gauge", { version, major, minor, patch });
  return [
    ...([
      ["process_cpu_user_seconds_total", "Total user CPU time spent in seconds.", user],
      ["process_cpu_system_seconds_total", "Total system CPU time spent in seconds.", system],
      [
        "process_cpu_seconds_total",
        "Total user and system CPU time spent in seconds.",
        user + system,
      ],
    ] as const).flatMap(family("counter")),
    ...gaugesOf(facts).flatMap(family("gauge")),
    ...info(["nodejs_version_info", "Node.js version info.", 1]),
  ];
}

function gaugesOf(facts: ProcessFacts): Row[] {
  const { heapTotalBytes, heapUsedBytes, externalBytes, startedSeconds } = facts;
  return [
    [
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      startedSeconds,
    ],
    ["process_resident_memory_bytes", "Resident memory size in bytes.", facts.residentBytes],
    ["process_virtual_memory_bytes", "Virtual memory size in bytes.", facts.virtualBytes],
    ["process_heap_bytes", "Process heap size in bytes.", facts.dataBytes],
    ["process_open_fds", "Number of open file descriptors.", facts.openFiles],
    ["process_max_fds", "Maximum number of open file descriptors.", facts.mostOpenFiles],
    ["nodejs_heap_size_total_bytes", "Process heap size from Node.js in bytes.", heapTotalBytes],
    ["nodejs_heap_size_used_bytes", "Process heap size used from Node.js in bytes.", heapUsedBytes],
    ["nodejs_external_memory_bytes", "Node.js external memory size in bytes.", externalBytes],
  ];
}

/** Makes a family of a row; none where the platform does not tell the value. */
function family(kind: Family["kind"], labels: Readonly<Record<string, string>> = {}) {
  return ([name, help, value]: Row): Family[] =>
    value === undefined ? [] : [{ name, kind, help, samples: [{ labels, value }] }];
}
