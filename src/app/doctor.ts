import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createEngine } from "../docker/mod.ts";
import { findComposeProgram } from "../deploy/mod.ts";
import { fewOf, messageOf, type SourceRequest, utf8, wholeSeconds } from "../model/mod.ts";
import { recordedFailures, recordedRefusals, recordedStacks } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { checkContexts } from "./check_contexts.ts";
import { confinementFinding } from "./confinement.ts";
import { tryDataDirectory } from "./data_directory.ts";
import { engineSays } from "./engine_says.ts";
import { engineEnvironment } from "./engine_environment.ts";
import { hideSecrets } from "./hide_secrets.ts";
import { localRepository } from "./local_repository.ts";
import { LEDGER_FILE } from "./open_state.ts";
import { isServed, NOT_SERVED } from "./only_service.ts";
import type { System } from "./system.ts";
import { createUrlRewriter, fullReference, sourceKey, sourceNameOf } from "../source/mod.ts";
import { atEnd, formatTime, readText } from "../system/mod.ts";

/** The result of one check. */
export interface Finding {
  /** The subject: `engine`, `context nas`, `compose`, `confinement`, `git`, `source`, `address`, `data`, `service`. */
  readonly about: string;
  /**
   * Whether the service can work with the subject as it is; `undefined` where nobody was asked, and for
   * what is not there and nothing needs.
   */
  readonly isFine: boolean | undefined;
  /** The result in a few words. */
  readonly says: string;
}

/** Milliseconds for a program or an engine to tell its version. */
const LIMIT_MS = 10_000;

/**
 * Checks what the service needs: the engines of all contexts, compose and what confines it, git, sources
 * with their intervals, addresses, data directory. Asks no other machines than those of the engines; of sources
 * elsewhere, it tells what the ledger knows. Never rejects because of a finding.
 */
export async function quickCheck(
  settings: Settings,
  system: System,
  signal: AbortSignal,
): Promise<Finding[]> {
  await hideSecrets(settings, system);
  // Alone: starting programs takes processors from a service that has just begun.
  const engine = await finding("engine", () => ownEngineSays(settings, system, signal));
  const [others, data, ...programs] = await Promise.all([
    contexts(settings, system, signal),
    finding("data", () => dataSays(settings, system)),
    finding("compose", () => composeSays(settings, system, signal)),
    confinement(settings, system, signal),
    finding("git", () => programSays(system, ["git", "--version"], signal)),
  ]);
  const from = await sources(settings, system);
  const service = await serviceFinding(settings, system);
  return [engine, ...others, ...programs, ...from, address(settings), data, ...service];
}

/** Nothing before the first start: this is asked before that, too. */
async function serviceFinding({ data }: Settings, { files }: System): Promise<Finding[]> {
  const runs = await isServed(files, data.dir);
  if (runs === undefined) return [];
  const says = runs ? `runs on ${data.dir}` : NOT_SERVED;
  return [{ about: "service", isFine: runs || undefined, says }];
}

async function finding(about: string, ask: () => Promise<string>): Promise<Finding> {
  try {
    return { about, isFine: true, says: await ask() };
  } catch (error) {
    return { about, isFine: false, says: messageOf(error) };
  }
}

async function ownEngineSays(
  settings: Settings,
  { env, clock }: System,
  signal: AbortSignal,
): Promise<string> {
  const engine = createEngine({ env: engineEnvironment(settings, env), clock });
  using _ = atEnd(() => engine.close());
  return await engineSays(engine, settings, AbortSignal.any([signal, limit()]));
}

async function contexts(
  settings: Settings,
  system: System,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found = await checkContexts(settings, system, AbortSignal.any([signal, limit()]));
  return found.map(({ context, ...rest }) => ({ about: `context ${context}`, ...rest }));
}

function limit(): AbortSignal {
  return AbortSignal.timeout(LIMIT_MS);
}

async function composeSays(
  settings: Settings,
  system: System,
  signal: AbortSignal,
): Promise<string> {
  const program = await findComposeProgram(system.files, engineEnvironment(settings, system.env));
  const version = ["version", "--short"] as const;
  return program === "docker"
    ? await programSays(system, ["docker", "compose", ...version], signal)
    : await programSays(system, [program, ...version], signal);
}

async function confinement(
  settings: Settings,
  system: System,
  signal: AbortSignal,
): Promise<Finding> {
  const within = AbortSignal.any([signal, limit()]);
  const about = "confinement";
  return await confinementFinding(settings, system, within).then(
    (found) => ({ about, ...found }),
    (error) => ({ about, isFine: false, says: messageOf(error) }),
  );
}

async function programSays(
  { commands, env }: System,
  argv: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<string> {
  const { code, stdout, stderr } = await commands.run({
    argv,
    env: { PATH: env["PATH"] ?? "", HOME: env["HOME"] ?? "/", LC_ALL: "C" },
    timeoutMs: LIMIT_MS,
  }, signal);
  const text = (bytes: Uint8Array | string) =>
    (typeof bytes === "string" ? bytes : utf8(bytes)).trim();
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${text(stderr)}`);
  return text(stdout).replace(/^git version /, "");
}

async function sources(settings: Settings, { files, clock }: System): Promise<Finding[]> {
  const { polls, webhookSecret, apiSecret, git } = settings;
  const rewrite = createUrlRewriter(git.urlRewrites);
  const failureOf = knownFailures(settings);
  const refusedTo = knownRefusals(settings, clock.now());
  const polled = await Promise.all(polls.map(async (poll) => {
    const { request, intervalSeconds, schedule, runOnce, watch } = poll;
    const reached = rewrite(request.url);
    const at = { ...request, url: reached ?? request.url };
    const [isHere, missing] = await missingRepository(files, at);
    const unasked = isHere && watch && reached === undefined ? "when it changes" : "never";
    const when = runOnce
      ? "once"
      : schedule ?? (intervalSeconds === 0 ? unasked : `every ${intervalSeconds} s`);
    const target = request.target && `, target ${request.target}`;
    const inline = request.deployments.map(({ deployment: { name, workingDir } }) =>
      name || workingDir
    );
    const own = inline.length === 0 ? "" : `, deployments of its own (${inline.join(", ")})`;
    const same = polls.filter((each) => placeOf(each.request) === placeOf(request));
    const isLater = 0 < same.findIndex(({ request: { deployments } }) =>
      isDeepStrictEqual(deployments, request.deployments)
    );
    const less = (isLater ? ", but no stack that an earlier entry of this reference names" : "") +
      refusedTo(request, isLater);
    const says = `${requestName(request)}@${request.reference}${target}${own}, ${when}${less}`;
    const problem = missing ?? failureOf(request);
    if (problem !== undefined) {
      return { about: "source", isFine: false, says: `${says}: ${problem}` };
    }
    return isHere
      ? { about: "source", isFine: true, says }
      : { about: "source", isFine: undefined, says: `${says}; not asked` };
  }));
  const others = [
    ...(webhookSecret === undefined ? [] : ["webhooks"]),
    ...(apiSecret === undefined ? [] : ["requests to the API"]),
  ];
  if (polled.length > 0 || others.length > 0) {
    const says = `${polled.length > 0 ? "also " : ""}by ${others.join(" and ")}`;
    return others.length === 0 ? polled : [...polled, { about: "source", isFine: true, says }];
  }
  const says = "none: set POLL_CONFIG, WEBHOOK_SECRET or API_SECRET, or nothing is ever deployed";
  return [{ about: "source", isFine: false, says }];
}

/** The key of a source, however its reference is written. */
function placeOf(request: SourceRequest): string | undefined {
  const { kind, reference } = request;
  return sourceKey({ ...request, reference: fullReference(kind, reference) });
}

function address({ http }: Settings): Finding {
  const scheme = http.tls === undefined ? "http" : "https";
  const place = (host: string, port: number) =>
    `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return {
    about: "address",
    isFine: true,
    says: `${place(http.host, http.port)}, metrics ${place(http.metricsHost, http.metricsPort)}`,
  };
}

async function dataSays({ data }: Settings, { files }: System): Promise<string> {
  const isThere = await tryDataDirectory(files, data.dir);
  if (!isThere) return `${data.dir}, which is made at the first start`;
  // A ledger that cannot be read, such as one of a newer version, keeps the service from starting.
  recordedStacks(join(data.dir, LEDGER_FILE));
  return data.dir;
}

/** Why sources could not be read when they were last tried, as far as the ledger tells. */
function knownFailures(
  { data, polls, timeZone }: Settings,
): (request: SourceRequest) => string | undefined {
  const keys = polls.flatMap(({ request }) => sourceKey(request) ?? []);
  let known: ReturnType<typeof recordedFailures>;
  try {
    known = recordedFailures(join(data.dir, LEDGER_FILE), keys);
  } catch {
    // Another finding tells of the ledger.
    known = new Map();
  }
  return (request) => {
    const failure = known.get(sourceKey(request) ?? "");
    if (failure === undefined) return undefined;
    const [why] = failure.message.split("\n");
    const at = wholeSeconds(formatTime(failure.lastAt, timeZone));
    return `not asked now; could not be read at ${at}: ${why}`;
  };
}

/** What says which stacks an entry was refused, as far as the ledger tells. */
function knownRefusals(
  { data }: Settings,
  now: Date,
): (request: SourceRequest, isLater: boolean) => string {
  let known: ReturnType<typeof recordedRefusals>;
  try {
    known = recordedRefusals(join(data.dir, LEDGER_FILE), now);
  } catch {
    // Another finding tells of the ledger.
    known = [];
  }
  return (request, isLater) => {
    const [source, own] = [requestName(request), fullReference(request.kind, request.reference)];
    const refused = known.filter((each) =>
      each.source === source && (each.reference === undefined ? isLater : each.reference === own)
    );
    const names = [...new Set(refused.map(({ stack }) => stack))];
    const [first] = names;
    if (first === undefined) return "";
    return `, and was refused ${fewOf(names, MOST_NAMED)}: stackwright explain ${first} says more`;
  };
}

/** Most stacks that a finding names. */
const MOST_NAMED = 5;

/**
 * Whether a repository is on this machine, and why it cannot be read, as far as its directory tells.
 */
async function missingRepository(
  files: System["files"],
  request: SourceRequest,
): Promise<readonly [isHere: boolean, problem?: string]> {
  try {
    const path = localRepository(request);
    if (path === undefined) return [false];
    if (await files.stat(path) === undefined) return [true, `there is no ${path}`];
    const marks = await Promise.all([".git", "HEAD"].map((each) => files.stat(join(path, each))));
    if (marks.every((each) => each === undefined)) return [true, `${path} is no repository`];
    const [git, head] = marks;
    const own = git?.kind === "directory" ? join(path, ".git") : head && path;
    const isMissing = own !== undefined && await lacksReference(files, own, request);
    return isMissing ? [true, `${path} has no ${request.reference}`] : [true];
  } catch (error) {
    return [true, messageOf(error)];
  }
}

/** Whether a repository's directory certainly has no such branch or tag. */
async function lacksReference(
  files: System["files"],
  directory: string,
  { kind, reference }: SourceRequest,
): Promise<boolean> {
  const full = fullReference(kind, reference);
  const names = [full, full.replace(/^refs\/heads\//, "refs/tags/")];
  if (!full.startsWith("refs/") || full.includes("..")) return false;
  // Nobody but git reads the other format of references.
  for (const each of ["reftable", ...names]) {
    if (await files.stat(join(directory, each)) !== undefined) return false;
  }
  const packed = await readText(files, join(directory, "packed-refs"), MOST_OF_REFERENCES);
  const known = new Set((packed ?? "").split("\n").map((line) => line.split(" ")[1]));
  return !names.some((each) => known.has(each));
}

/** Most bytes of a file of references; it has a line for each. */
const MOST_OF_REFERENCES = 16 * 1024 * 1024;

/** The name of a source that was not read yet; never its URL, which may carry credentials. */
function requestName(request: SourceRequest): string {
  try {
    return sourceNameOf(request);
  } catch {
    return "a source whose address cannot be read";
  }
}
