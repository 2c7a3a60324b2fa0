import * as z from "zod";
import { COMPACTION_MODES, errors } from "../model/mod.ts";
import type { RunStore } from "../record/mod.ts";
import { mirrorsOf, sourceLocation, type StoredMirror, writtenName } from "../source/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { createRunView } from "./run_view.ts";
import { runResult, runWork, type RunWorkParts } from "./run_work.ts";

const trigger = "mirror_compaction";

/** Default for the bytes of packs above which a mirror is not repacked. */
const DEFAULT_MAX_BYTES = 268_435_456;

const compactionView = runResult.extend({
  busy: z.boolean().describe(
    "Another compaction is under way: nothing was started, and this is it.",
  ),
});

/** See {@link compactionView}. */
export type CompactionView = z.output<typeof compactionView>;

/** Ports of the operation. */
export interface CompactionParts extends RunWorkParts {
  readonly mirrors: () => Promise<readonly StoredMirror[]>;
  readonly runs: Pick<RunStore, "list">;
}

const input = z.strictObject({
  repository: z.string().default("").describe(
    "Only mirrors of this repository: `host/owner/name`, or a clone URL.",
  ),
  mode: z.enum(COMPACTION_MODES).default("repack").describe(
    "`repack` encodes every object anew, `copy` joins packs as they are.",
  ),
  max_size: z.int().min(0).default(DEFAULT_MAX_BYTES).describe(
    "Bytes of packs above which `repack` leaves a mirror out; 0 is no limit.",
  ),
  wait: z.boolean().default(false).describe("Wait for the end of the run."),
});

/** Compacts mirrors of Git repositories, one run at a time. A call throws `not_found` without any. */
export function compactMirrorsOperation(parts: CompactionParts): Operation<CompactionView> {
  return defineOperation({
    id: "compactMirrors",
    summary: "Make the mirrors of Git repositories smaller.",
    tag: "Storage",
    power: "act",
    input,
    output: compactionView,
    errors: ["bad_request", "not_found", "conflict", "shutting_down"],
  }, async ({ repository: named, mode, max_size: maxBytes, wait }, call) => {
    const repository = nameOf(named);
    requireMirrors(mirrorsOf(await parts.mirrors(), repository), repository);
    // No await until the run is opened: no other call may come in between.
    const active = activeRun(parts);
    if (active !== undefined) {
      const run = createRunView(parts.timeZone)(active);
      const message = `mirror compaction ${active.id} is already running`;
      return { outcome: "failed", message, run, busy: true };
    }
    const what = { repository, mode, maxBytes };
    const work = { kind: "compaction", trigger, origin: "manual", ...what } as const;
    const client = call.client === undefined ? {} : { client: call.client };
    call.log.info("the API was asked to compact mirrors", { repository, mode, ...client });
    const asked = { work, wait, started: "mirror compaction started" };
    return { ...await runWork(asked, parts, call), busy: false };
  });
}

function activeRun({ runs }: Pick<CompactionParts, "runs">) {
  const [active] = (["accepted", "running"] as const).flatMap((status) =>
    runs.list({ limit: 1, trigger, status })
  );
  return active;
}

/** The name of a repository that is given by name or by clone URL. */
function nameOf(text: string): string {
  if (text === "" || !/[:@]/.test(text)) return writtenName(text);
  try {
    return sourceLocation("git", text).name;
  } catch {
    return text;
  }
}

function requireMirrors(found: readonly StoredMirror[], repository: string): void {
  if (found.length > 0) return;
  const of = repository === "" ? "" : ` for repository ${repository}`;
  throw errors.not_found(`no git mirrors found${of}`, { told: "no git mirrors found" });
}
