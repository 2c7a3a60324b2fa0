/**
 * Runs the protocol's official conformance suite against the tool server; see scripts/conformance. The
 * suite cannot send a key, so a proxy stands before the server that adds it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { judgeScenario, reportOf, type Scenario, scenarioOf } from "./lib/conformance_report.ts";
import { freePort } from "./lib/demo_service.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The first versions that know the protocol of 2026-07-28 are previews; 0.1.16 does not know it. */
const VERSION = process.argv[2] ?? "0.2.0-alpha.12";
const EXECUTABLE = join(ROOT, "dist/stackwright");
const PROGRAM = existsSync(EXECUTABLE)
  ? [EXECUTABLE]
  : ["deno", "run", "-A", "--no-check", join(ROOT, "main.ts")];

const directory = await mkdtemp(join(tmpdir(), "stackwright-conformance-"));
const key = randomBytes(24).toString("hex");
const port = await freePort();
const service = run([...PROGRAM, "serve"], {
  DATA_DIR: join(directory, "data"),
  DOCKER_HOST: `unix://${join(directory, "no-engine.sock")}`,
  API_SECRET: key,
  MCP_ENABLED: "true",
  HTTP_HOST: "127.0.0.1",
  HTTP_PORT: String(port),
  METRICS_PORT: String(await freePort()),
});
const proxy = createProxy(port, key);
try {
  await untilItAnswers();
  const proxyPort = await freePort();
  await new Promise<void>((resolve) => proxy.listen(proxyPort, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${proxyPort}/mcp`;
  say(`${PROGRAM[0]} under @modelcontextprotocol/conformance ${VERSION}`);
  const suite = run(
    ["bunx", "--bun", `@modelcontextprotocol/conformance@${VERSION}`, "server", "--url", url]
      .concat("--suite", "all", "--output-dir", join(directory, "results")),
    {},
  );
  // The suite also exits with 1 for checks that do not apply.
  await ended(suite.child);
  const scenarios = await readResults(join(directory, "results"));
  const { lines, passes } = reportOf(scenarios);
  say(scenarios.length === 0 ? suite.said().slice(-3000) : lines.join("\n"));
  process.exitCode = passes ? 0 : 1;
} finally {
  proxy.closeAllConnections();
  proxy.close();
  service.child.kill("SIGTERM");
  await ended(service.child);
  await rm(directory, { recursive: true, force: true });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Starts a program; `said` is what it wrote so far. */
function run(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): { readonly child: ChildProcess; readonly said: () => string } {
  const [program = "", ...args] = argv;
  let said = "";
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Uint8Array) => said += new TextDecoder().decode(chunk));
  }
  child.on("error", (error) => said += `${program} could not run: ${error.message}`);
  return { child, said: () => said };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once("exit", resolve));
}

async function untilItAnswers(): Promise<void> {
  for (let turn = 0; turn < 600 && service.child.exitCode === null; turn++) {
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the service does not answer:\n${service.said()}`);
}

/** Forwards requests unchanged, with Host and Origin, and adds the key. */
function createProxy(port: number, key: string): Server {
  return createServer((asked, answer) => {
    const { url: path, method } = asked;
    const headers = { ...asked.headers, "x-api-key": key };
    const onward = request({ host: "127.0.0.1", port, path, method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
}

async function readResults(place: string): Promise<Scenario[]> {
  const names = await readdir(place).catch(() => []);
  return await Promise.all(
    names.sort().flatMap((name) => {
      const scenario = scenarioOf(name);
      return scenario === undefined ? [] : [readScenario(scenario, join(place, name))];
    }),
  );
}

async function readScenario(name: string, place: string): Promise<Scenario> {
  return judgeScenario(name, JSON.parse(await readFile(join(place, "checks.json"), "utf8")));
}
