/**
 * The main job as a show, step by step; see scripts/demo for how to call it. Read {@link show} and
 * you know what it does.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  buildImage,
  containersOf,
  type DemoContainer,
  engineAddress,
  removeProject,
} from "./lib/demo_engine.ts";
import {
  commitPage,
  createRepository,
  type DemoRepository,
  lastCommit,
  PAGE_FILE,
} from "./lib/demo_repository.ts";
import { DemoService, freePort, type RunReport } from "./lib/demo_service.ts";
import { heading, isTerminal, quote, say, withProgress } from "./lib/terminal.ts";

/** What the command line asks for. */
interface Options {
  /** End after the show instead of waiting for Ctrl-C. */
  readonly once: boolean;
  /** The program to show; without it, main.ts on Deno. */
  readonly program?: string;
}

/** Everything one run of the demo has made or chosen. */
interface Stage {
  readonly folder: string;
  readonly repository: DemoRepository;
  readonly service: DemoService;
  readonly apiKey: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const programArguments = ["deno", "run", "--quiet", "-A", join(root, "main.ts")];

async function show(stage: Stage, signal: AbortSignal): Promise<void> {
  const { repository, service } = stage;
  heading(1, "A Git repository says what should run");
  await buildImage(repository.image, join(stage.folder, "image"));
  await createRepository(repository);
  say(`   repository ${repository.path}: ${await lastCommit(repository)}`);

  heading(2, "Stackwright is started on it");
  service.start();
  await withProgress("starting", () => service.untilReady(signal));
  await withProgress("first deployment", () => service.untilFirstRun(signal));
  const before = await containersOf(repository.name);
  showContainers(before);

  heading(3, "The page is there");
  const firstPage = await fetchPage(repository, signal);
  quote(firstPage);

  heading(4, `A commit changes ${PAGE_FILE}, nothing else`);
  await commitPage(repository, "Hello from the second commit");
  say(`   ${await lastCommit(repository)}`);
  const poll = () => service.poll([pollEntry(repository)], signal);
  showReasons(await withProgress("second deployment", poll));
  const after = await containersOf(repository.name);
  showContainers(after, before);
  quote(await fetchPage(repository, signal));
  expectOnlyWebReplaced(before, after);
  if (firstPage === await fetchPage(repository, signal)) throw new Error("the page is the old one");
  say("   Only web was replaced, and it serves the new page; worker was left alone.");

  heading(5, "Where things are");
  showPlaces(stage);
}

function pollEntry({ path }: DemoRepository) {
  return { url: path, reference: "main" };
}

async function fetchPage({ port }: DemoRepository, signal: AbortSignal): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal });
  const page = await response.text();
  if (!response.ok) throw new Error(`the page answered ${response.status}: ${page}`);
  return page;
}

function showContainers(
  containers: readonly DemoContainer[],
  before?: readonly DemoContainer[],
): void {
  for (const { service, id, status } of containers) {
    const old = before?.find((container) => container.service === service)?.id;
    const fate = before === undefined ? "" : old === id ? "  same as before" : `  replaced ${old}`;
    say(`   ${service.padEnd(8)} ${id}  ${status}${fate}`);
  }
}

/** What was decided for each service, and why. */
function showReasons({ deployments = [] }: RunReport): void {
  for (const { name, action, because } of deployments.flatMap(({ services = [] }) => services)) {
    say(`   ${name}: ${[action, ...because].join(", ")}`);
  }
}

function expectOnlyWebReplaced(
  before: readonly DemoContainer[],
  after: readonly DemoContainer[],
): void {
  const kept = after.filter(({ id }) => before.some((container) => container.id === id));
  const services = (list: readonly DemoContainer[]) =>
    list.map(({ service }) => service).join(", ");
  if (services(after) !== "web, worker" || services(kept) !== "worker") {
    throw new Error(
      `expected web replaced and worker kept; running are ${services(after)}, kept ${
        services(kept)
      }`,
    );
  }
}

function showPlaces({ folder, repository, service, apiKey }: Stage): void {
  const { path } = repository;
  const body = JSON.stringify([pollEntry(repository)]);
  say(`   page        http://127.0.0.1:${repository.port}/`);
  say(`   API         ${service.url}/v1/api/runs with header x-api-key: ${apiKey}`);
  say(`   log         ${join(folder, "service.log")} (process ${service.pid})`);
  say(`   data        ${join(folder, "data")}`);
  say(`   repository  ${path}`);
  say("   Your turn: commit a change there, then ask for a poll:");
  say(`   curl -sH 'x-api-key: ${apiKey}' -d '${body}' '${service.url}/v1/api/poll/run'`);
}

async function prepare(options: Options): Promise<Stage> {
  const name = `stackwright-demo-${randomBytes(3).toString("hex")}`;
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const apiKey = randomBytes(16).toString("hex");
  const repository: DemoRepository = {
    path: join(folder, "repository"),
    name,
    image: `${name}:latest`,
    port: await freePort(),
  };
  const service = new DemoService({
    argv: [
      ...(options.program === undefined ? programArguments : [resolve(options.program)]),
      "serve",
    ],
    cwd: folder,
    port: await freePort(),
    apiKey,
    logFile: join(folder, "service.log"),
    env: {
      DATA_DIR: join(folder, "data"),
      DOCKER_HOST: await engineAddress(),
      METRICS_PORT: String(await freePort()),
      // The first poll is made at start; later ones are asked for.
      POLL_CONFIG: JSON.stringify([{ ...pollEntry(repository), interval: "24h" }]),
    },
  });
  return { folder, repository, service, apiKey };
}

async function main(options: Options): Promise<number> {
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error("interrupted"));
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  const stage = await prepare(options);
  try {
    await show(stage, stop.signal);
    if (!options.once) {
      say("\nRunning. Ctrl-C ends it and removes everything it made.");
      await aborted(stop.signal);
    }
    return 0;
  } catch (error) {
    const interrupted = stop.signal.aborted;
    say(`\ndemo: ${interrupted ? "interrupted" : error instanceof Error ? error.message : error}`);
    if (!interrupted) {
      const log = stage.service.lastLogLines(25);
      say(log === "" ? "The service has logged nothing." : "The service's last log lines:");
      if (log !== "") quote(log);
    }
    return interrupted ? 130 : 1;
  } finally {
    await withProgress("cleaning up", () => cleanUp(stage));
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
  }
}

/** Removes everything that the demo made; a failure does not stop the rest. */
async function cleanUp({ service, repository, folder }: Stage): Promise<void> {
  const steps = [
    () => service.close(),
    () => removeProject(repository.name, repository.image),
    () => rm(folder, { recursive: true, force: true }),
  ];
  for (const step of steps) {
    await step().catch((error) => say(`   could not clean up: ${error.message}`));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // An abort listener alone would not keep the process alive.
    const alive = setInterval(() => {}, 60_000);
    const done = () => {
      clearInterval(alive);
      resolve();
    };
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}

/** Reads the command line; throws an `Error` about an argument it does not know. */
function parseArguments(args: readonly string[]): Options {
  let once = !isTerminal();
  let program: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const argument = args[index];
    if (argument === "--once") once = true;
    else if (argument === "--program" && args[index + 1] !== undefined) program = args[++index];
    else throw new Error(`unknown argument '${argument}'; known are --once and --program PATH`);
  }
  return { once, ...(program === undefined ? {} : { program }) };
}

async function start(): Promise<number> {
  try {
    return await main(parseArguments(process.argv.slice(2)));
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}

process.exit(await start());
