import assert from "node:assert/strict";
import type { FakeFile } from "../../fakes/git_repository.ts";
import { ids, label, pollTo, replaced } from "../steps.ts";
import type { RunBody, World } from "../world.ts";

/** One row of the tables of what configurations may say, or one rule about them, and what shows that it holds. */
export interface Row {
  /** Where the rule is written. */
  readonly rule: string;
  readonly title: string;
  /** Fields of the deployment configuration that would have to be ignored for this to fail. */
  readonly covers: readonly string[];
  readonly steps: readonly Step[];
}

/** A commit, a poll, and what must have become of it. `{{stack}}` stands for the stack's name. */
export interface Step {
  /** Texts of files; the configuration is `.stackwright.yaml`. */
  readonly files?: Readonly<Record<string, FakeFile>>;
  readonly removed?: readonly string[];
  /** Keys of the poll entry; the reference is the row's branch. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** What happens between commit and poll. */
  readonly before?: (seen: Seen) => void | Promise<void>;
  readonly status: "succeeded" | "failed" | "skipped";
  /** What the run says, in its message or in that of a target. */
  readonly says?: readonly RegExp[];
  /** Containers of the stack that run afterwards, without the stack's name. */
  readonly running?: readonly string[];
  /** Labels by `service label`; `undefined` is none. */
  readonly labels?: Readonly<Record<string, string | undefined>>;
  /** Containers that were replaced, all others being as they were. */
  readonly replaced?: readonly string[];
  /** No mutating call to the engine. */
  readonly untouched?: true;
  /** What the rest does not say. */
  readonly see?: (seen: Seen) => void | Promise<void>;
}

/** What a step can look at. */
export interface Seen {
  readonly world: World;
  /** Name of the row's stack. */
  readonly stack: string;
  /** The branch the row commits to. */
  readonly branch: string;
  readonly run: RunBody;
}

/** Carries a row out on a branch and with a stack name of its own; rows of one world never meet. */
export async function carryOut(world: World, row: Row, number: number): Promise<void> {
  const stack = `${world.stack}-${number}`;
  const branch = `row-${number}`;
  await startBranch(world, branch);
  for (const [index, step] of row.steps.entries()) {
    try {
      await carryOutStep(world, step, { stack, branch });
    } catch (error) {
      if (error instanceof Error) error.message = `step ${index + 1}: ${error.message}`;
      throw error;
    }
  }
}

interface Place {
  readonly stack: string;
  readonly branch: string;
}

/** An empty branch. */
async function startBranch(world: World, branch: string): Promise<void> {
  await world.repository.git("rm", "-r", "--quiet", "--force", "--ignore-unmatch", "--", ".");
  await world.repository.git("symbolic-ref", "HEAD", `refs/heads/${branch}`);
}

async function carryOutStep(world: World, step: Step, { stack, branch }: Place): Promise<void> {
  const named = (text: string) => text.replaceAll("{{stack}}", stack);
  if (step.removed !== undefined) await world.repository.remove(step.removed.map(named));
  const files = Object.entries(step.files ?? {}).map(([path, file]) =>
    [named(path), typeof file === "string" ? named(file) : file] as const
  );
  if (files.length > 0) await world.repository.commit(Object.fromEntries(files));
  const before = await ids(world, stack);
  await step.before?.({ world, stack, branch, run: { job_id: "", status: "" } });
  world.proxy.reset();
  const entry = JSON.parse(named(JSON.stringify(step.entry ?? {}))) as Record<string, unknown>;
  const run = await pollTo(world, step.status, { reference: branch, ...entry });
  const mutations = world.proxy.mutations();
  for (const pattern of step.says ?? []) assert.match(sayings(run), pattern);
  if (step.untouched === true) assert.equal(mutations, 0);
  const after = await ids(world, stack);
  if (step.running !== undefined) assert.deepEqual(Object.keys(after), step.running);
  if (step.replaced !== undefined) assert.deepEqual(replaced(before, after), step.replaced);
  for (const [key, value] of Object.entries(step.labels ?? {})) {
    const [service = "", name = ""] = key.split(" ");
    assert.equal(await label(world, service, name, stack), value, key);
  }
  await step.see?.({ world, stack, branch, run });
}

/** Everything a run says to people. */
function sayings(run: RunBody): string {
  const targets = run.deployments?.map((each) => `${each.reason ?? ""}\n${each.message ?? ""}`);
  return [run.message ?? "", ...targets ?? []].join("\n");
}
