/**
 * What a storm of webhooks costs: 500 signed ones at once, about 50 repositories whose stacks are
 * deployed already, from another process. Prints the latency of the answers, how many runs they
 * became, and the memory of the service after each storm. Run it as `deno task bench`.
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

/** What is left after a collection is what is held on to. */
function collectGarbage(): void {
  const { gc } = globalThis as { readonly gc?: () => void };
  assert.ok(gc !== undefined, "run this with --v8-flags=--expose-gc");
  gc();
}

async function untilIdle({ url }: App): Promise<void> {
  const open = async (status: string) => {
    const answer = await fetch(`${url}/v1/api/runs?status=${status}`, {
      headers: { "x-api-key": API_KEY },
    });
    return (await answer.json()).content.length > 0;
  };
  while (await open("accepted") || await open("running")) {
    await systemClock.sleep(50, new AbortController().signal);
  }
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
try {
  await storm(app.url, REPOSITORIES);
  await untilIdle(app);
  for (let number = 1; number <= STORMS; number++) {
    const answers = await storm(app.url);
    assert.ok(answers.every(({ status, job }) => status === 202 && job !== undefined));
    const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
    const at = (part: number) => (times[Math.ceil(times.length * part) - 1] ?? 0).toFixed(0);
    await untilIdle(app);
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);
    say(
      `${WEBHOOKS} webhooks at once: all 202, half within ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
        `${new Set(answers.map(({ job }) => job)).size} runs; ` +
        `afterwards ${megabytes(heapUsed)} MB in use, ${megabytes(rss)} MB resident`,
    );
  }
} finally {
  await app.close();
  await engine.close();
  await rm(directory, { recursive: true, force: true });
}
