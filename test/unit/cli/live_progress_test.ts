import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { liveProgress } from "../../../src/cli/live_progress.ts";
import type { RunTarget } from "../../../src/model/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";

/** A progress, and what it said on either stream. */
function watched(interactive: boolean, args: readonly string[] = []) {
  const said = { out: "", err: "" };
  const progress = liveProgress({
    args,
    env: {},
    cwd: "/",
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    interactive,
    redactor: createRedactor(),
    signal: new AbortController().signal,
  });
  return { progress, said };
}

const entry = (stack: string, more: Partial<RunTarget>): RunTarget => ({
  context: "default",
  stack,
  status: "pending",
  ...more,
});

/** Everything that can be told, some of it twice. */
function tell({ progress }: ReturnType<typeof watched>): void {
  progress.step("resolving main");
  progress.step("");
  progress.target(entry("a", {}));
  progress.target(entry("a", { message: "rendering" }));
  progress.target(entry("b", { message: "rendering" }));
  progress.target(entry("a", { message: "rendering" }));
  progress.stack("a", "pulling web");
  progress.target(entry("a", { status: "running" }));
  progress.target(entry("a", { status: "running", message: "replacing web" }));
  progress.target(entry("b", { status: "skipped", message: "no changes" }));
  progress.target(entry("a", { status: "succeeded", message: "recreate web" }));
}

describe("liveProgress()", () => {
  it("says each step of each stack once, on standard error, when a person watches", () => {
    const given = watched(true);
    tell(given);
    assert.deepEqual(given.said.err.split("\n"), [
      "resolving main",
      "a: rendering",
      "b: rendering",
      "a: pulling web",
      "a: replacing web",
      "b: skipped",
      "a: succeeded",
      "",
    ]);
    assert.equal(given.said.out, "");
  });

  it("says nothing when nobody watches", () => {
    const given = watched(false);
    tell(given);
    assert.deepEqual(given.said, { out: "", err: "" });
  });

  for (
    const [what, message] of [
      ["another process is", "waiting for process 7@vm, which is changing a"],
      ["jobs are", "waiting for running jobs: a-backup-1"],
    ] as const
  ) {
    it(`says that ${what} waited for when nobody watches, too, unless --json asks`, () => {
      for (const [args, err] of [[[], `a: ${message}\n`], [["--json"], ""]] as const) {
        const given = watched(false, args);
        given.progress.target(entry("a", { message }));
        given.progress.target(entry("a", { message }));
        assert.deepEqual(given.said, { out: "", err });
      }
    });
  }
});
