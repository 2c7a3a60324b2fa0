import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { loadInstanceKey } from "../../src/record/mod.ts";
import { systemFiles } from "../../src/system/mod.ts";
import type { FakeFile } from "../fakes/git_repository.ts";
import { configFile, type Part } from "./compose_text.ts";
import { createWorld, type RunBody, type World } from "./world.ts";

const run = promisify(execFile);

/** Runs a test in a world of its own; `env` are settings beside the usual ones. */
export async function inWorld(
  engine: "fake" | "real",
  test: (world: World) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const world = await createWorld({ engine, env });
  try {
    await test(world);
  } finally {
    await world.close();
  }
}

/** Commits files together with a configuration of one document; its name is the world's stack. */
export async function commit(
  world: World,
  files: Readonly<Record<string, FakeFile>>,
  configuration: Part = {},
): Promise<string> {
  return await world.repository.commit({
    ".stackwright.yaml": configFile({ name: world.stack, ...configuration }),
    ...files,
  });
}

/** Polls, and requires that the run ended with `status`. */
export async function pollTo(
  world: World,
  status: string,
  entry: Record<string, unknown> = {},
): Promise<RunBody> {
  const { run: finished } = await world.poll(entry);
  assert.equal(finished.status, status, JSON.stringify(finished));
  return finished;
}

/** What was planned for each service of the run's only target. */
export function actions(finished: RunBody): Record<string, string> {
  const services = finished.deployments?.[0]?.services ?? [];
  return Object.fromEntries(services.map((each) => [each.name, each.action]));
}

/** Why a service of the run's only target was treated as it was, as one text. */
export function reasons(finished: RunBody, name: string): string {
  const services = finished.deployments?.[0]?.services ?? [];
  return services.find((each) => each.name === name)?.because.join("; ") ?? "";
}

/** The containers' ids by their names. */
export async function ids(world: World, stack = world.stack): Promise<Record<string, string>> {
  const containers = await world.containers(stack);
  return Object.fromEntries(containers.map((each) => [shortName(stack, each.name), each.id]));
}

/** The containers' states by their names. */
export async function states(world: World, stack = world.stack): Promise<Record<string, string>> {
  const containers = await world.containers(stack);
  return Object.fromEntries(containers.map((each) => [shortName(stack, each.name), each.state]));
}

/** `web-1` of `stack-web-1`. */
function shortName(stack: string, name: string): string {
  return name.replace(`${stack}-`, "");
}

/** Names of the containers that two listings have in common under another id. */
export function replaced(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  return Object.keys(after).filter((name) =>
    before[name] !== undefined && before[name] !== after[name]
  );
}

/** A label of the first container of a service. */
export async function label(
  world: World,
  name: string,
  key: string,
  stack = world.stack,
): Promise<string | undefined> {
  const containers = await world.containers(stack);
  return containers.find((each) => each.service === name)?.labels[key];
}

/** Runs `docker` on the world's engine, past the counting proxy. */
export async function docker(world: World, ...args: readonly string[]): Promise<string> {
  const host = `unix://${world.socketPath}`;
  const { stdout } = await run("docker", ["--host", host, ...args]);
  return stdout;
}

/**
 * The text of a file as the container sees it. A container of the fake engine has no file system:
 * there the file is read through the source of the mount that holds it.
 */
export async function readInside(world: World, name: string, path: string): Promise<string> {
  const id = await containerOf(world, name);
  if (world.kind === "real") return await docker(world, "exec", id, "cat", path);
  return await readFile(hostPath(world, id, path), "utf8");
}

/** Writes a file as the container's process does; see {@link readInside}. */
export async function writeInside(
  world: World,
  name: string,
  path: string,
  text: string,
): Promise<void> {
  const id = await containerOf(world, name);
  if (world.kind === "fake") return await writeFile(hostPath(world, id, path), text);
  await docker(world, "exec", id, "sh", "-c", 'printf %s "$1" > "$2"', "sh", text, path);
}

async function containerOf(world: World, name: string): Promise<string> {
  const found = (await world.containers()).find((each) => each.service === name);
  assert.ok(found, `service ${name} has no container`);
  return found.id;
}

function hostPath(world: World, id: string, path: string): string {
  const mounts = world.fake?.containers().find((each) => each.id === id)?.mounts ?? [];
  const mount = mounts.find((each) =>
    path === each.destination || path.startsWith(`${each.destination}/`)
  );
  assert.ok(mount, `nothing is mounted at ${path}`);
  return mount.source + path.slice(mount.destination.length);
}

/** Leaves the ledger of a world that stands still as a kill does, right before the first change of a release. */
export function interrupt(world: World, release: number): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  database.exec(
    "UPDATE intents SET closed_at = NULL, outcome = NULL, owner = '1:gone' WHERE release_id = " +
      `(SELECT id FROM releases WHERE number = ${release})`,
  );
  database.exec(`UPDATE releases SET status = 'applying' WHERE number = ${release}`);
  database.close();
}

/** Makes the records those of an older version, which had no texts of files beside the model. */
export async function forgetTexts({ dataDir }: World): Promise<void> {
  const key = await loadInstanceKey(systemFiles, dataDir);
  const database = new DatabaseSync(join(dataDir, "state.db"));
  const rows = database.prepare("SELECT release_id, sealed FROM release_contents").all();
  for (const { release_id: id, sealed } of rows) {
    const { invocation, ...rest } = JSON.parse(key.open(sealed as Uint8Array));
    const { secrets: _, ...older } = invocation;
    database.prepare(
      `UPDATE release_contents SET sealed = ?, closure = json_remove(closure, '$.recordsTexts')
       WHERE release_id = ?`,
    ).run(key.seal(JSON.stringify({ ...rest, invocation: older })), id ?? "");
  }
  database.close();
}
