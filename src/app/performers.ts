import type { Assembly } from "./assemble.ts";
import type { JobBoards } from "./jobs.ts";
import type { System } from "./system.ts";
import type { Pipeline } from "../pipeline.ts";
import { compactMirrors } from "../source/mod.ts";
import type { GateParts } from "./gate.ts";
import type { Prometheus } from "../record/mod.ts";

/** The performer of each kind of work. */
export function performers(
  pipeline: Pipeline,
  boards: JobBoards,
  { assembly: { mirrors }, meter, clock }: {
    readonly assembly: Assembly;
    readonly meter: Prometheus;
    readonly clock: System["clock"];
  },
): GateParts["performers"] {
  return {
    sync: pipeline.execute,
    rollback: pipeline.rollBack,
    job: (work, reporter, signal) =>
      boards.of(work.key.context).perform(pipeline)(work, reporter, signal),
    recovery: async (_work, reporter, signal) => void await pipeline.recover(signal, reporter),
    compaction: (work, reporter, signal) =>
      compactMirrors(mirrors, work, { reporter, meter, clock }, signal),
  };
}
