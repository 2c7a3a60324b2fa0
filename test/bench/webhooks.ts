/**
 * What a storm of webhooks costs: 500 signed ones at once, about 50 repositories whose stacks are
 * deployed already, from another process. Prints the latency of the answers, also as a ratio against a
 * server that answers at once, how many runs they became, how many of them were open at the same time
 * for one target, and the memory that is held. Run it as `deno task bench`.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type App, startApp } from "../../src/app.ts";
import { createServer } from "../../src/serve/mod.ts";
import { readSettings } from "../../src/settings/mod.ts";
import {
  createLog,
  createRedactor,
  systemClock,
  systemCommands,
  systemFiles,
} from "../../src/system/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { IMAGE } from "../flow/world.ts";

const SECRET = "bench-webhook-secret";
const API_KEY = "bench-api-key";
const WEBHOOKS = 500;
const REPOSITORIES = 50;
const STORMS = 6;
const CLIENT = fileURLToPath(new URL("webhook_client.ts", import.meta.url));

const run = promisify(execFile);
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Answer {
  readonly status: number;
  readonly job?: string;
  readonly milliseconds: number;
}

async function storm(url: string, webhooks = WEBHOOKS): Promise<readonly Answer[]> {
  const args = ["run", "-A", "--no-check", CLIENT, `${url}/v1/webhook`, SECRET];
  const { stdout } = await run(process.execPath, [...args, `${webhooks}`, `${REPOSITORIES}`], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

/** The time within which a part of the answers came, in milliseconds. */
function within(answers: readonly Answer[], part: number): number {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return times[Math.ceil(times.length * part) - 1] ?? 0;
}

/** The same service without anything behind it: what no product could be faster than. */
function serveNothing() {
  return createServer({
    handler: async (request) => {
      await request.bytes();
      return Response.json({ content: "job accepted", job_id: "none" }, { status: 202 });
    },
    port: 0,
    hostname: "127.0.0.1",
    clock: systemClock,
    log: createRecordingLog(),
  });
}

/**
 * What is left after a collection is what is held on to. Not between storms: a collection that was asked
 * for throws compiled code away, and the next storm would be about that.
 */
function heldNow(): string {
  const { gc } = globalThis as { readonly gc?: () => void };
  assert.ok(gc !== undefined, "run this with --v8-flags=--expose-gc");
  gc();
  const { rss, heapUsed } = process.memoryUsage();
  const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);
  return `${megabytes(heapUsed)} MB in use, ${megabytes(rss)} MB resident`;
}

/** Most runs that were seen in one state for one target. */
type MostOpen = Record<"accepted" | "running", number>;

async function untilIdle({ url }: App): Promise<MostOpen> {
  const most: MostOpen = { accepted: 0, running: 0 };
  const look = async (status: keyof MostOpen) => {
    const answer = await fetch(`${url}/v1/api/runs?limit=200&status=${status}`, {
      headers: { "x-api-key": API_KEY },
    });
    const runs: readonly { repository: string }[] = (await answer.json()).content;
    const counts = new Map<string, number>();
    for (const { repository } of runs) {
      counts.set(repository, (counts.get(repository) ?? 0) + 1);
    }
    most[status] = Math.max(most[status], ...counts.values());
    return runs.length > 0;
  };
  while (await look("accepted") || await look("running")) {
    await systemClock.sleep(50, new AbortController().signal);
  }
  return most;
}

/** A repository with one stack of one service, for each number. */
async function makeRepositories(directory: string): Promise<Record<string, string>> {
  const rewrites: Record<string, string> = {};
  for (let number = 0; number < REPOSITORIES; number++) {
    const repository = await createRepository(join(directory, `${number}`));
    await repository.commit({
      ".stackwright.yaml": `name: swt-bench${number}\n`,
      "compose.yaml": `services:\n  web:\n    image: ${IMAGE}\n    command: [sleep, "1000"]\n`,
    });
    rewrites[`https://git.example.org/acme/shop${number}.git`] = repository.url;
  }
  return rewrites;
}

async function measureStorm(app: App, emptyUrl: string): Promise<void> {
  const empty = within(await storm(emptyUrl), 0.99);
  const answers = await storm(app.url);
  assert.ok(answers.every(({ status, job }) => status === 202 && job !== undefined));
  const most = await untilIdle(app);
  const p99 = within(answers, 0.99);
  say(
    `${WEBHOOKS} webhooks at once: all 202, half within ${within(answers, 0.5).toFixed(0)} ms, ` +
      `p99 ${p99.toFixed(0)} ms, ${(p99 / empty).toFixed(1)} times that of a server that does ` +
      `nothing (${empty.toFixed(0)} ms); ${new Set(answers.map(({ job }) => job)).size} runs, of ` +
      `each target at most ${most.running} running and ${most.accepted} waiting`,
  );
}

const directory = await mkdtemp(join(tmpdir(), "stackwright-webhooks-"));
const engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
engine.addImage(IMAGE, { where: "both" });
const compose = await createComposeCommand(composePlugins()[0] ?? "");
await mkdir(join(directory, "data"));
const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/root",
  DATA_DIR: join(directory, "data"),
  API_SECRET: API_KEY,
  WEBHOOK_SECRET: SECRET,
  SOURCE_URL_REWRITES: JSON.stringify(await makeRepositories(directory)),
  DOCKER_HOST: engine.host,
  DOCKER_CONFIG: compose.configDirectory,
};
const settings = readSettings(env, () => "", { uid: 0 });
const redactor = createRedactor();
const app = await startApp({ ...settings, http: { ...settings.http, port: 0, metricsPort: 0 } }, {
  clock: systemClock,
  commands: systemCommands,
  files: systemFiles,
  log: createLog({ level: "info", format: "json", timeZone: "UTC", redactor, write: () => {} }),
  redactor,
  env,
  hostname: "127.0.0.1",
  version: "0.0.0-bench",
});
const nothing = await serveNothing();
try {
  await storm(app.url, REPOSITORIES);
  await untilIdle(app);
  for (let number = 1; number <= STORMS; number++) {
    await measureStorm(app, nothing.url);
    if (number === 2) say(`after two storms: ${heldNow()}`);
  }
  say(`after ${STORMS} storms: ${heldNow()}`);
} finally {
  await nothing.shutdown(1_000);
  await app.close();
  await engine.close();
  await rm(directory, { recursive: true, force: true });
}
