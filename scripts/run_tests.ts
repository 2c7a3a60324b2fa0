/** Runs the stages of ./scripts/test and counts; see scripts/test for how to call it. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  addCounts,
  countBun,
  countJunit,
  type Counts,
  countsLine,
  NO_TESTS,
} from "./lib/test_counts.ts";
import { childrenCounter } from "./lib/children_seconds.ts";
import { inLanes } from "./lib/lanes.ts";
import { machineLine, type MachineSeconds, machineSeconds } from "./lib/machine_seconds.ts";
import {
  type Failure,
  failureOfCommand,
  failuresOfBun,
  failuresOfJunit,
  toldFailures,
} from "./lib/test_failures.ts";
import { secondAttempt, worthAnother } from "./lib/second_attempt.ts";
import { judge } from "./lib/test_verdict.ts";
import { memoryPlace } from "./lib/memory_place.ts";
import { killTree } from "./lib/process_tree.ts";
import { ALL, chosenSteps, GROUPS, type Stage, testSteps } from "./lib/test_stages.ts";

/** A stage that takes longer hangs; the whole run of the gate has an hour, on a slow machine half of one more. */
const STAGE_LIMIT_MS = 50 * 60_000;

const TOO_LONG = `killed: it had not ended after ${STAGE_LIMIT_MS / 60_000} minutes`;

/** Milliseconds after which no further sweep begins: a slow machine makes fewer, and ends in time. */
const SWEEPS_MS = 45 * 60_000;

/** Stages that run at a time: half of the time they wait for containers, timers and slow clients. */
const LANES = availableParallelism() + 2;

const root = fileURLToPath(new URL("..", import.meta.url));

/** How one stage ended. */
interface Result {
  readonly stage: Stage;
  readonly ok: boolean;
  readonly counts: Counts;
  readonly seconds: number;
  /** Processor seconds of its programs, where the system tells: they depend little on who runs beside. */
  readonly work: number | undefined;
  /** What failed; of a stage that is good nevertheless, at the first attempt. */
  readonly failures: readonly Failure[];
}

async function main(names: readonly string[]): Promise<number> {
  const known: readonly string[] = [...GROUPS, ALL];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    say(`unknown stage ${unknown.join(", ")}; known are ${known.join(", ")}`);
    return 2;
  }
  const memory = await memoryPlace(root);
  try {
    const [added, before] = [childrenCounter(), machineSeconds()];
    const steps = chosenSteps(testSteps(root), names);
    return conclude(await runSteps(steps, memory.directory, added), before);
  } finally {
    await memory.close();
  }
}

/** Says how many processor seconds children took since it was last asked. */
type Added = () => number | undefined;

/** Runs all steps, or those up to one that fails; `memory` is a directory for temporary files. */
async function runSteps(
  steps: Stage[][],
  memory: string | undefined,
  added: Added,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const step of steps) {
    const stages = step.map((stage) => inMemory(stage, memory));
    // Output of stages that run side by side is shown when each has ended.
    const ended = await inLanes(
      stages,
      LANES,
      (stage) => runStage(stage, stages.length === 1, added),
    );
    results.push(...await withSecondAttempts(ended, added));
    if (results.some(({ ok }) => !ok)) break;
  }
  return results;
}

/** The stage with its temporary files in memory, if they may be there. */
function inMemory(stage: Stage, directory: string | undefined): Stage {
  if (stage.inMemory !== true || directory === undefined) return stage;
  return { ...stage, env: { ...stage.env, TMPDIR: directory } };
}

/** The results of a step, after one more attempt at the few tests that failed in a stage, one stage after the other. */
async function withSecondAttempts(step: readonly Result[], added: Added): Promise<Result[]> {
  // Who ran alone had no load beside it.
  if (step.length === 1) return [...step];
  const failed = step.filter(({ ok }) => !ok);
  const places = worthAnother(failed.map(({ failures }) => failures));
  const results = [...step];
  for (const first of places.flatMap((place) => failed.slice(place, place + 1))) {
    say(`\n== ${first.stage.name}: once more, alone, what failed`);
    const again = secondAttempt(first.stage, first.failures);
    const { ok, seconds, work } = await runStage(again, true, added);
    if (!ok) continue;
    const { passed, failed, skipped } = first.counts;
    results[results.indexOf(first)] = {
      ...first,
      ok,
      counts: { passed: passed + failed, failed: 0, skipped },
      seconds: first.seconds + seconds,
      work: sum(first.work, work),
    };
  }
  return results;
}

function conclude(results: readonly Result[], before: MachineSeconds | undefined): number {
  say("");
  for (const { stage, ok, counts, seconds, work } of results) {
    const what = stage.runner === "plain" ? "" : `  ${countsLine(counts)}`;
    const how = `${ok ? "ok    " : "FAILED"} ${inSeconds(seconds)}${ofProcessor(work)}`;
    say(`${how}  ${stage.name}${what}`);
  }
  const wall = performance.now() / 1000;
  say(`in all ${inSeconds(wall)}${ofProcessor(results.map(({ work }) => work).reduce(sum, 0))}`);
  const machine = machineLine(before, machineSeconds());
  if (machine !== undefined) say(machine);
  const broken = results.filter(({ ok }) => !ok).map(({ stage }) => stage.name);
  if (broken.length > 0) say(`stopped: the stage "${broken.join('" and "')}" failed, see above`);
  for (const { stage, ok, failures } of results.filter(({ failures }) => failures.length > 0)) {
    const how = ok ? "FAILED BESIDE OTHERS, and passed alone," : "failed";
    say(toldFailures(`${how} in "${stage.name}"`, failures));
  }
  say(countsLine(results.map(({ counts }) => counts).reduce(addCounts, NO_TESTS)));
  return broken.length === 0 ? 0 : 1;
}

function inSeconds(seconds: number): string {
  return `${seconds.toFixed(1).padStart(6)} s`;
}

function ofProcessor(seconds: number | undefined): string {
  return seconds === undefined ? "" : `, ${inSeconds(seconds)} of a processor`;
}

/** Both, or what one says of them. */
function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : a + b;
}

async function runStage(stage: Stage, live: boolean, added: Added): Promise<Result> {
  const started = performance.now();
  let work: number | undefined = 0;
  const done = (ok: boolean, counts: Counts, failures: readonly Failure[] = []): Result => {
    const seconds = (performance.now() - started) / 1000;
    return { stage, ok, counts, seconds, work, failures };
  };
  const skip = stage.isSweep === true && performance.now() > SWEEPS_MS
    ? "NOT TRIED: this machine is slow, and the time for sweeps is up"
    : stage.skip;
  if (skip !== undefined) {
    say(`\n== ${stage.name}: skipped, ${skip}`);
    return done(true, { ...NO_TESTS, skipped: 1 });
  }
  say(`\n== ${stage.name}`);
  const scratch = mkdtempSync(join(tmpdir(), "stackwright-test-"));
  try {
    const report = join(scratch, "report.xml");
    const argv = stage.runner === "deno"
      ? [...stage.argv, ...together(stage, scratch), `--junit-path=${report}`]
      : [...stage.argv];
    const { code, output } = await run(argv, stage.env ?? {}, live);
    work = added();
    const { counts, failures } = readResults(stage, report, output);
    const verdict = judge(stage, code, counts);
    if (!live) {
      say(`\n== ${stage.name}: ${verdict.ok ? "ok" : "failed"}\n${shown(output, verdict.ok)}`);
    }
    if (verdict.problem !== undefined) say(`${stage.name}: ${verdict.problem}`);
    return done(verdict.ok, verdict.counts, verdict.ok ? [] : failures);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The module that loads the tests of a stage that share an isolate, if any do. */
function together({ together: files = [] }: Stage, scratch: string): string[] {
  if (files.length === 0) return [];
  const module = join(scratch, "together_test.ts");
  const urls = files.map((file) => pathToFileURL(join(root, file)).href);
  writeFileSync(module, urls.map((url) => `import ${JSON.stringify(url)};\n`).join(""));
  return [module];
}

/** What a stage's runner reported of its tests. */
function readResults(
  stage: Stage,
  report: string,
  output: string,
): { counts: Counts; failures: Failure[] } {
  const asCommand = { counts: NO_TESTS, failures: [failureOfCommand(stage.name, output)] };
  if (stage.runner === "plain") return asCommand;
  if (stage.runner === "bun") return { counts: countBun(output), failures: failuresOfBun(output) };
  try {
    const junit = readFileSync(report, "utf8");
    return { counts: countJunit(junit), failures: failuresOfJunit(junit) };
  } catch {
    // The runner ended before it could write one; its exit code tells.
    return asCommand;
  }
}

/** Of a stage that passed only its end is of interest. */
function shown(output: string, ok: boolean): string {
  return ok ? output.trimEnd().split("\n").slice(-4).join("\n") : output;
}

function run(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  live: boolean,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const [program = "", ...args] = argv;
    const mark = crypto.randomUUID();
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: "1", TEST_STAGE: mark, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let isOver = false;
    const limit = setTimeout(() => {
      isOver = true;
      killTree(child.pid ?? 0, `TEST_STAGE=${mark}`);
    }, STAGE_LIMIT_MS);
    let output = "";
    const take = (chunk: Uint8Array) => {
      output += new TextDecoder().decode(chunk);
      if (live) process.stdout.write(chunk);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const done = (code: number, more: string) => {
      clearTimeout(limit);
      resolve({ code, output: output + more });
    };
    child.on("error", (error) => done(127, `${error.message}\n`));
    child.on("close", (code) => done(code ?? 137, isOver ? `\n${TOO_LONG}\n` : ""));
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = await main(process.argv.slice(2));
