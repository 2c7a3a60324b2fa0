import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { runCommand } from "../../src/cli/mod.ts";
import { type Commands, createRedactor } from "../../src/system/mod.ts";
import { ENGINE_LIMIT_MS, type RunBody, type World, worldCommands } from "./world.ts";

/** What a command printed, and its exit code. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** How a command is started. */
export interface Start {
  /** Working directory. */
  readonly cwd?: string;
  /** Whether a person watches. */
  readonly interactive?: boolean;
  /** What runs programs for it; the real thing by default. */
  readonly commands?: Commands;
  /** Settings beside the world's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command of the program beside the world's service, on the same data directory and engine. */
export async function command(
  world: World,
  args: readonly string[],
  { cwd = "/", interactive = false, env = {}, commands = worldCommands }: Start = {},
): Promise<Ended> {
  const said = { out: "", err: "" };
  const code = await runCommand({
    args,
    env: { ...world.env, ...env },
    cwd,
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    interactive,
    redactor: createRedactor(),
    clock: world.clock,
    engineLimitMs: ENGINE_LIMIT_MS,
    commands,
    signal: new AbortController().signal,
  });
  return { code, ...said };
}

/** Runs a command that must end with exit code `code`. */
export async function commandTo(
  world: World,
  code: number,
  args: readonly string[],
  start: Start = {},
): Promise<Ended> {
  const ended = await command(world, args, start);
  assert.equal(ended.code, code, `${args.join(" ")}: ${JSON.stringify(ended)}`);
  return ended;
}

/**
 * One poll that nobody asked for: the service is restarted with a `run_once` entry, so whatever it
 * remembers, it remembers across a restart.
 */
export async function automaticPoll(
  world: World,
  { reference = "main" }: { readonly reference?: string } = {},
): Promise<RunBody> {
  const entry = { url: world.repository.url, reference, run_once: true };
  const before = new Set((await runsOf(world)).map((run) => run.job_id));
  await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
  await world.app.polled;
  const begun = (await runsOf(world)).filter((run) => !before.has(run.job_id));
  assert.equal(begun.length, 1, JSON.stringify(begun));
  const [only] = begun;
  assert.ok(only);
  return only;
}

/** The runs that the service shows, those of before its last start among them. */
async function runsOf(world: World): Promise<RunBody[]> {
  const answer = await world.request("/v1/api/runs?limit=200");
  const { content } = await answer.json() as { content: RunBody[] };
  return content;
}

/** As {@link automaticPoll}, and requires how the run ends. */
export async function automaticPollTo(world: World, status: string): Promise<RunBody> {
  const run = await automaticPoll(world);
  assert.equal(run.status, status, JSON.stringify(run));
  return run;
}

/** The content of every table of the ledger; two equal texts are equal ledgers. */
export function ledgerText(world: World): string {
  return JSON.stringify(
    ["releases", "stacks", "intents", "failures", "pins", "decisions"].map((table) =>
      rows(world, `SELECT * FROM ${table} ORDER BY rowid`).map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            value instanceof Uint8Array ? [...value].join() : value,
          ]),
        )
      )
    ),
  );
}

/** Rows of the ledger. */
export function rows(world: World, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(join(world.dataDir, "state.db"), { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
