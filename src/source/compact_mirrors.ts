import type { Compaction, RunEnd, RunReporter } from "../model/mod.ts";
import type { Clock, Meter } from "../system/mod.ts";
import { type CompactedMirror, COMPACTION_RESULTS, type MirrorStore } from "./git/mirror_store.ts";
import type { StoredMirror } from "./git/unused_mirrors.ts";

/** Compacts mirrors one by one and tells `reporter` which. A mirror that fails does not reject. */
export async function compactMirrors(
  store: MirrorStore,
  work: Pick<Compaction, "repository" | "mode" | "maxBytes">,
  { reporter, meter, clock }: {
    readonly reporter: Pick<RunReporter, "describe">;
    readonly meter: Meter;
    readonly clock: Clock;
  },
  signal: AbortSignal,
): Promise<RunEnd> {
  const mirrors = mirrorsOf(await store.list(), work.repository);
  reporter.describe({ repository: work.repository });
  const done: CompactedMirror[] = [];
  for (const mirror of mirrors) {
    reporter.describe({ message: `${work.mode} of ${mirror.repository}` });
    const began = clock.now().getTime();
    const compacted = await store.compact(mirror, work, signal);
    done.push(compacted);
    const labels = { repository: mirror.repository, mode: work.mode };
    meter.count("git_mirror_compactions_total", { ...labels, result: compacted.result });
    const seconds = (clock.now().getTime() - began) / 1000;
    meter.observe("git_mirror_compaction_duration_seconds", labels, seconds);
  }
  return compactionEnd(work.mode, done);
}

/** The mirrors of a repository and of its submodules; all mirrors for an empty `repository`. */
export function mirrorsOf(all: readonly StoredMirror[], repository: string): StoredMirror[] {
  return all.filter((each) => repository === "" || each.repository === repository);
}

/** The end of a compaction in one sentence. Pure. */
export function compactionEnd(
  mode: Compaction["mode"],
  done: readonly CompactedMirror[],
): RunEnd {
  const count = (result: CompactedMirror["result"]) =>
    done.filter((each) => each.result === result).length;
  const counts = COMPACTION_RESULTS.filter((result) => count(result) > 0)
    .map((result) => `${count(result)} ${result}`).join(", ");
  const measured = done.flatMap(({ bytes }) => bytes === undefined ? [] : [bytes]);
  const sum = (key: "before" | "after") => measured.reduce((total, each) => total + each[key], 0);
  const sizes = measured.length === 0
    ? ""
    : `; packfiles ${bytesText(sum("before"))} -> ${bytesText(sum("after"))}`;
  const mirrors = done.length === 1 ? "1 mirror" : `${done.length} mirrors`;
  const summary = `${mode} of ${mirrors}: ${counts}${sizes}`;
  const bad = count("failed") + count("cancelled");
  if (bad === 0) {
    return { status: count("compacted") > 0 ? "succeeded" : "skipped", message: summary };
  }
  const why = [...new Set(done.flatMap((each) => each.why ?? []))].map((each) => `; ${each}`);
  const message = `${bad}/${done.length} mirror compactions failed: ${summary}${why.join("")}`;
  return { status: "failed", message };
}

/** Bytes as people read them: whole below 1 KiB, then with one decimal. */
function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  for (const unit of ["KiB", "MiB", "GiB"]) {
    value /= 1024;
    if (value < 1024 || unit === "GiB") return `${value.toFixed(1)} ${unit}`;
  }
  return "";
}
