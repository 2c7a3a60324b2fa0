import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createEngineProxy, type EngineProxy } from "../fakes/engine_proxy.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { engines, IMAGE } from "../flow/world.ts";
import {
  DENO_PROGRAM,
  executables,
  freePort,
  type Program,
  ServiceProcess,
} from "./service_process.ts";

const KEY = "crash-test-key-4711";
const PROJECT = "com.docker.compose.project";
const never = new AbortController().signal;

/** Calls of a rollout are about ten; far more of them would be a bug. */
const MOST_MUTATIONS = 30;

/** `CRASH=update` kills one program in one kind of deployment only, `SWEEP=full` on both engines. */
const UPDATE_ONLY = process.env["CRASH"] === "update";
const PROGRAMS = UPDATE_ONLY ? [DENO_PROGRAM] : [DENO_PROGRAM, ...executables().slice(0, 1)];
const ENGINES = await engines();
const KINDS = process.env["SWEEP"] === "full" ? ENGINES : ENGINES.slice(-1);

for (const program of PROGRAMS) {
  for (const kind of KINDS) {
    // The executable needs no second look at every place where an engine may be left.
    if (kind === "fake" && program !== DENO_PROGRAM) continue;
    describe(`${program.title} killed on the ${kind} engine`, () => {
      it("after any change of an update comes to the new release by itself", async () => {
        const site = await createSite(program, kind);
        try {
          await site.commit("first");
          await site.settle();
          const worker = idOf(await site.containers(), "worker");
          const total = await killAfterEach(site, async (k) => {
            await site.commit(`rev-${k}`);
          });
          assert.ok(total >= 3, `an update makes ${total} changes`);
          assert.equal(idOf(await site.containers(), "worker"), worker, "worker was never changed");
        } finally {
          await site.close();
        }
      });

      // The same code on another runtime: one of the two kinds of deployment shows that it holds.
      if (program !== DENO_PROGRAM || UPDATE_ONLY) return;
      it("after any change of a first deployment comes to the release by itself", async () => {
        const site = await createSite(program, kind);
        try {
          const total = await killAfterEach(site, async (k) => {
            await site.forget();
            await site.commit(`rev-${k}`);
          });
          assert.ok(total >= 5, `a first deployment makes ${total} changes`);
        } finally {
          await site.close();
        }
      });

      it("after any change of a release that fails has the one before it, and remembers both", async () => {
        const site = await createSite(program, kind);
        try {
          await site.commit("first");
          await site.settle();
          const worker = idOf(await site.containers(), "worker");
          const total = await killInRollbacks(site);
          assert.ok(total >= 5, `a release and its rollback make ${total} changes`);
          assert.equal(idOf(await site.containers(), "worker"), worker, "worker was never changed");
        } finally {
          await site.close();
        }
      });
    });
  }
}

/**
 * Kills the service after the first change of a deployment, after the second of the next, and so on
 * until a deployment ends before it is killed; returns how many changes a deployment has.
 */
async function killAfterEach(site: Site, prepare: (k: number) => Promise<void>): Promise<number> {
  for (let k = 1; k <= MOST_MUTATIONS; k++) {
    await prepare(k);
    const before = await site.containers();
    const killed = await site.killAfter(k);
    await assertEitherRelease(site, before, `rev-${k}`);
    const log = await site.settle();
    const where = `killed after change ${k} (${site.lastChange}):\n${log}`;
    const now = await site.containers();
    assert.deepEqual(
      now.map((each) => [each.name, each.state, each.labels["rev"]]),
      [
        [`${site.stack}-web-1`, "running", `rev-${k}`],
        [`${site.stack}-worker-1`, "running", undefined],
      ],
      where,
    );
    site.assertLedger(where);
    await site.assertQuiet(now.map((each) => each.id), where);
    if (!killed) return k - 1;
  }
  throw new Error(`a deployment makes more than ${MOST_MUTATIONS} changes`);
}

/**
 * The same with releases whose service ends with an error, so that each of them is rolled back: killed
 * before or while it is, a start later what ran before runs, and the bad release is not tried again.
 */
async function killInRollbacks(site: Site): Promise<number> {
  for (let k = 1; k <= MOST_MUTATIONS; k++) {
    await site.commit(`rev-${k}`, { fails: true });
    const killed = await site.killAfter(k);
    const log = await site.settle();
    const where = `killed after change ${k} (${site.lastChange}):\n${log}`;
    const now = await site.containers();
    assert.deepEqual(
      now.map((each) => [each.name, each.state, each.labels["rev"]]),
      [
        [`${site.stack}-web-1`, "running", "first"],
        [`${site.stack}-worker-1`, "running", undefined],
      ],
      where,
    );
    site.assertLedger(where, { failed: true });
    await site.assertQuiet(now.map((each) => each.id), where);
    if (!killed) return k - 1;
  }
  throw new Error(`a rollback makes more than ${MOST_MUTATIONS} changes`);
}

/** A dead service leaves containers of the old or the new release, and nothing else of anybody. */
async function assertEitherRelease(
  site: Site,
  before: readonly ObservedContainer[],
  next: string,
): Promise<void> {
  const old = before.find((each) => each.service === "web")?.labels["rev"];
  for (const each of await site.containers()) {
    if (each.service !== "web") continue;
    assert.ok([old, next].includes(each.labels["rev"]), `${each.name} is ${each.labels["rev"]}`);
  }
}

/** A repository, an engine behind a proxy, and a service that is started and killed. */
class Site {
  readonly stack: string;
  lastChange = "";
  #service: ServiceProcess | undefined;
  #port = 0;
  #killAt = 0;
  readonly #parts: SiteParts;

  constructor(parts: SiteParts) {
    this.#parts = parts;
    this.stack = `swt-${parts.directory.slice(-6).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")}`;
    parts.onMutation = async (n, call) => {
      if (n !== this.#killAt) return;
      this.lastChange = call;
      this.#service?.kill("SIGKILL");
      await this.#service?.ended;
    };
  }

  async commit(revision: string, { fails = false } = {}): Promise<void> {
    await this.#parts.repository.commit({
      ".stackwright.yaml": `name: ${this.stack}\ntimeout: 60\nretry: {limit: 0}\n`,
      "compose.yaml": composeFile(revision, fails),
    });
  }

  async containers(): Promise<ObservedContainer[]> {
    const all = await this.#parts.engine.listContainers({ [PROJECT]: this.stack }, never);
    return all.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** Starts the service and kills it after the `k`-th change; false when there were fewer. */
  async killAfter(k: number): Promise<boolean> {
    this.#killAt = k;
    this.#parts.proxy.reset();
    const service = await this.#start();
    await Promise.race([service.ended, this.#runEnded(service).catch(() => {})]);
    this.#killAt = 0;
    const killed = this.#parts.proxy.mutations() >= k;
    if (killed) assert.equal((await service.ended).signal, "SIGKILL");
    else await service.stop();
    return killed;
  }

  /** Starts the service, lets it poll by itself until a run ended, and stops it. */
  async settle(): Promise<string> {
    const service = await this.#start();
    await this.#runEnded(service);
    const { code, stderr } = await service.stop();
    assert.equal(code, 0, stderr);
    return stderr;
  }

  /** A last look: nothing is left to do. */
  async assertQuiet(ids: readonly string[], where: string): Promise<void> {
    this.#parts.proxy.reset();
    await this.settle();
    assert.equal(this.#parts.proxy.mutations(), 0, where);
    assert.deepEqual((await this.containers()).map((each) => each.id), ids, where);
  }

  /**
   * The ledger is whole, closed, knows every release, and the newest commit as the current one; where
   * releases `failed`, the first.
   */
  assertLedger(where: string, { failed = false } = {}): void {
    const database = new DatabaseSync(join(this.#parts.dataDir, "state.db"));
    try {
      const all = (sql: string) => database.prepare(sql).all();
      assert.deepEqual(all("PRAGMA integrity_check").map((each) => each["integrity_check"]), [
        "ok",
      ]);
      assert.deepEqual(all("SELECT * FROM intents WHERE closed_at IS NULL"), [], where);
      const releases = all("SELECT number, status FROM releases ORDER BY number");
      assert.deepEqual(
        releases.map((each) => each["number"]),
        releases.map((_each, index) => index + 1),
        where,
      );
      const bad = releases.filter((each) => each["status"] !== "deployed");
      assert.equal(bad.length > 0, failed, where);
      const [current] = all(
        "SELECT r.number FROM stacks s JOIN releases r ON r.id = s.release_id",
      );
      assert.equal(current?.["number"], failed ? 1 : releases.length, where);
    } finally {
      database.close();
    }
  }

  /** Takes the stack away and all memory of it. */
  async forget(): Promise<void> {
    await this.#clean();
    await rm(this.#parts.dataDir, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    this.#killAt = 0;
    this.#service?.kill("SIGKILL");
    await this.#service?.ended;
    const { proxy, fake, engine, directory } = this.#parts;
    await proxy.close();
    await this.#clean();
    engine.close();
    await fake?.close();
    await rm(directory, { recursive: true, force: true });
  }

  async #start(): Promise<ServiceProcess> {
    const { proxy, repository, dataDir, configDirectory, program } = this.#parts;
    this.#port = await freePort();
    this.#service = new ServiceProcess(program, ["serve"], {
      DATA_DIR: dataDir,
      API_SECRET: KEY,
      HTTP_PORT: String(this.#port),
      METRICS_PORT: String(await freePort()),
      DOCKER_HOST: proxy.host,
      DOCKER_CONFIG: configDirectory,
      LOG_LEVEL: "info",
      POLL_CONFIG: JSON.stringify([{ url: repository.url, reference: "main", interval: 600 }]),
    });
    return this.#service;
  }

  /** Waits for the end of the first run of the service. */
  async #runEnded(service: ServiceProcess): Promise<void> {
    await service.until(async () => {
      try {
        const answer = await fetch(`http://127.0.0.1:${this.#port}/v1/api/runs`, {
          headers: { "x-api-key": KEY },
        });
        const { content } = await answer.json() as { content: { status: string }[] };
        return content.length > 0 &&
          content.every(({ status }) => !["accepted", "running", "pending"].includes(status));
      } catch {
        return false;
      }
    });
  }

  async #clean(): Promise<void> {
    const { engine } = this.#parts;
    for (const each of await this.containers()) {
      await engine.removeContainer(each.id, { force: true, volumes: true }, never);
    }
    for (const each of await engine.listNetworks({ [PROJECT]: this.stack }, never)) {
      await engine.removeNetwork(each.id, never);
    }
  }
}

interface SiteParts {
  readonly directory: string;
  readonly dataDir: string;
  readonly program: Program;
  readonly repository: FakeRepository;
  readonly engine: EngineClient;
  readonly fake: FakeEngine | undefined;
  readonly proxy: EngineProxy;
  readonly configDirectory: string;
  onMutation(n: number, call: string): Promise<void>;
}

async function createSite(program: Program, kind: "fake" | "real"): Promise<Site> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-crash-"));
  const socketPath = join(directory, "engine.sock");
  const fake = kind === "fake" ? await createFakeEngine({ socketPath }) : undefined;
  fake?.addImage(IMAGE, { where: "both" });
  const real = fake === undefined ? await findRealEngine() : undefined;
  const upstream = real?.unavailable === undefined && real !== undefined
    ? real.socketPath
    : socketPath;
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const proxy = await createEngineProxy({
    socketPath: join(directory, "proxy.sock"),
    upstream,
    onMutation: (n, call) => parts.onMutation(n, `${call.method} ${call.path}`),
  });
  const parts: SiteParts = {
    directory,
    dataDir: join(directory, "data"),
    program,
    repository: await createRepository(join(directory, "git")),
    engine: createEngine({ host: `unix://${upstream}` }),
    fake,
    proxy,
    configDirectory: compose.configDirectory,
    onMutation: () => Promise.resolve(),
  };
  return new Site(parts);
}

function composeFile(revision: string, fails: boolean): string {
  const command = fails ? `[sh, -c, "exit 3"]` : `[sleep, "100000"]`;
  return `
services:
  web:
    image: ${IMAGE}
    command: ${command}
    stop_grace_period: 0s
    labels: {rev: ${revision}}
    healthcheck: {test: ["CMD", "true"], interval: 1s}
  worker:
    image: ${IMAGE}
    command: [sleep, "100000"]
    stop_grace_period: 0s
`;
}

function idOf(containers: readonly ObservedContainer[], service: string): string | undefined {
  return containers.find((each) => each.service === service)?.id;
}
