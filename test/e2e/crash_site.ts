import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { observe } from "../../src/deploy/mod.ts";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { type ObservedContainer, stackKey } from "../../src/model/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import type { EngineCall } from "../fakes/engine_calls.ts";
import { createEngineProxy, type EngineProxy } from "../fakes/engine_proxy.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { removeStack } from "../fakes/real_swarm.ts";
import { IMAGE, withAllLabels } from "../flow/world.ts";
import { freePort } from "../fakes/free_port.ts";
import { type Program, ServiceProcess } from "./service_process.ts";

const KEY = "crash-test-key-4711";
const PROJECT = "com.docker.compose.project";
const never = new AbortController().signal;

/** Calls of a rollout are about ten; far more of them would be a bug. */
export const MOST_MUTATIONS = 40;

/** After which change a process is killed: the `k`-th, or the first one of which it says so. */
export type Cut = number | ((call: EngineCall) => boolean);

/** A repository, an engine behind a proxy, and a service that is started and killed. */
export class Site {
  readonly stack: string;
  lastChange = "";
  #service: ServiceProcess | undefined;
  #port = 0;
  #started = new Date();
  /** Until the process was killed. */
  #cut: Cut | undefined;
  /** What the repository has as a submodule. */
  #library: FakeRepository | undefined;
  /** What no other site has: a network, and an address of this machine to publish on. */
  readonly #own = randomInt(200_000);
  readonly #parts: SiteParts;

  constructor(parts: SiteParts) {
    this.#parts = parts;
    this.stack = `swt-${parts.directory.slice(-6).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")}`;
    parts.onMutation = async (n, call) => {
      const cut = this.#cut;
      if (cut === undefined || !(typeof cut === "number" ? n === cut : cut(call))) return;
      this.#cut = undefined;
      this.lastChange = `${call.method} ${call.path}`;
      this.#service?.kill("SIGKILL");
      await this.#service?.ended;
    };
  }

  /**
   * Commits a release of `worker` and `web`, or of one of another name that has all that another one
   * cannot have at the same time: a container's name, data, a port and an address.
   */
  async commit(
    revision: string,
    { fails = false, name = "", startFirst = false } = {},
  ): Promise<void> {
    await this.#parts.repository.commit({
      ".stackwright.yaml": `name: ${this.stack}\ntimeout: 60\nretry: {limit: 0}\n`,
      "compose.yaml": composeFile(revision, {
        fails,
        startFirst,
        ...(name === "" ? {} : { name, renamed: renamed(this.chosenName, this.#own) }),
      }),
    });
  }

  /**
   * Commits a release of which everything but `worker` changes with `revision`: `web` is built, shares
   * the network of `vpn`, mounts through a link and from a submodule, and waits for a job and a database,
   * which is in a network that is made anew when `isInternal` is another than before.
   */
  async commitShapes(revision: string, isInternal: boolean): Promise<void> {
    const { repository } = this.#parts;
    this.#library ??= await createRepository(join(dirname(repository.path), "lib"));
    const id = await this.#library.commit({ "page.txt": revision });
    await repository.submodule("mod", "../lib/remote.git", id);
    await repository.commit({
      ".stackwright.yaml": `name: ${this.stack}\ntimeout: 60\nretry: {limit: 0}\n`,
      "compose.yaml": shapes(revision, isInternal),
      "app/Dockerfile": `FROM ${IMAGE}\nCOPY page.txt /page.txt\n`,
      "app/page.txt": revision,
      "real/page.txt": revision,
      "site": { link: "real" },
    });
  }

  /**
   * Commits a release that is, where it `isOdd`, another distribution of the same things: a service with
   * another name has the data and the fixed address in a network that is made anew for it, and `vpn`, in
   * whose network `app` then is, its port.
   */
  async commitHandOver(revision: string, isOdd: boolean): Promise<void> {
    await this.#parts.repository.commit({
      ".stackwright.yaml": `name: ${this.stack}\ntimeout: 60\nretry: {limit: 0}\n`,
      "compose.yaml": handOver(revision, isOdd, this.#own),
    });
  }

  /**
   * Commits a release of a stack of a swarm: `web`, whose config changes with the revision, `worker`, and
   * `shop` where it is wanted.
   */
  async commitStack(
    revision: string,
    { fails = false, withShop = false }: { readonly fails?: boolean; readonly withShop?: boolean },
  ): Promise<void> {
    await this.#parts.repository.commit({
      ".stackwright.yaml": `name: ${this.stack}\ntimeout: 120\nretry: {limit: 0}\n`,
      "compose.yaml": stackFile(revision, { fails, withShop }),
    });
  }

  /** What the container is called whose service is renamed. */
  get chosenName(): string {
    return `${this.stack}-chosen`;
  }

  /** Of a stack its tasks. */
  async containers(): Promise<ObservedContainer[]> {
    const { engine, isSwarm } = this.#parts;
    const all = isSwarm
      ? (await observe(engine, { key: stackKey("", this.stack), swarm: {} }, never)).containers
      : await engine.listContainers({ [PROJECT]: this.stack }, never);
    // What a swarm runs is told by its tasks.
    const whole = isSwarm ? [...all] : await withAllLabels(engine, all);
    return whole.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** Revisions of the containers of a service that run and are found by its name. */
  async serving(service: string): Promise<string[]> {
    const found: string[] = [];
    for (const each of await this.containers()) {
      if (each.service !== service || each.state !== "running") continue;
      const details = await this.#parts.engine.inspectContainer(each.id, never);
      const names = Object.values(details?.endpoints ?? {}).flatMap(({ aliases }) => aliases);
      if (names.includes(service)) found.push(each.labels["rev"] ?? "");
    }
    return found.sort();
  }

  /** Names of the volumes of a service; one that nobody named has 64 hex digits. */
  async volumes(service: string): Promise<readonly string[]> {
    const all = await this.#parts.engine.describeContainers({ [PROJECT]: this.stack }, never);
    return all.filter((each) => each.service === service).flatMap((each) => each.mounts);
  }

  /** Starts the service and kills it after a change; false when there was no such one. */
  async killAfter(cut: Cut): Promise<boolean> {
    this.#cut = cut;
    this.#parts.proxy.reset();
    const service = await this.#start();
    await Promise.race([service.ended, this.#runEnded(service).catch(() => {})]);
    const killed = this.#cutWasMade();
    if (killed) assert.equal((await service.ended).signal, "SIGKILL");
    else await service.stop();
    return killed;
  }

  /** Runs a command beside no service and kills it after its `k`-th change; false when it had fewer. */
  async killCommandAfter(k: number, args: readonly string[]): Promise<boolean> {
    this.#cut = k;
    this.#parts.proxy.reset();
    this.#service = new ServiceProcess(this.#parts.program, args, this.#env());
    const { signal, code, stderr } = await this.#service.ended;
    const killed = this.#cutWasMade();
    if (killed) assert.equal(signal, "SIGKILL");
    else assert.equal(code, 0, stderr);
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
    this.#cut = undefined;
    this.#service?.kill("SIGKILL");
    await this.#service?.ended;
    const { proxy, fake, engine, directory } = this.#parts;
    await proxy.close();
    await this.#clean();
    engine.close();
    await rm(this.#parts.configDirectory, { recursive: true, force: true });
    await fake?.close();
    await rm(directory, { recursive: true, force: true });
  }

  #cutWasMade(): boolean {
    const wasMade = this.#cut === undefined;
    this.#cut = undefined;
    return wasMade;
  }

  async #start(): Promise<ServiceProcess> {
    const { repository, program } = this.#parts;
    this.#port = await freePort();
    this.#started = new Date();
    this.#service = new ServiceProcess(program, ["serve"], {
      ...this.#env(),
      HTTP_PORT: String(this.#port),
      METRICS_PORT: String(await freePort()),
      POLL_CONFIG: JSON.stringify([
        // What a test commits is deployed when the test says so.
        { url: repository.url, reference: "main", interval: 600, watch: false },
      ]),
    });
    return this.#service;
  }

  #env(): Record<string, string> {
    const { proxy, dataDir, configDirectory } = this.#parts;
    return {
      DATA_DIR: dataDir,
      API_SECRET: KEY,
      DOCKER_HOST: proxy.host,
      DOCKER_CONFIG: configDirectory,
      LOG_LEVEL: "info",
      // Jobs of other tests' stacks on the same engine would count as changes of this one.
      SCHEDULER_ENABLED: "false",
    };
  }

  /** Waits for the end of the first run of the service. */
  async #runEnded(service: ServiceProcess): Promise<void> {
    await service.until(async () => {
      try {
        const answer = await fetch(`http://127.0.0.1:${this.#port}/v1/api/runs`, {
          headers: { "x-api-key": KEY },
        });
        const { content } = await answer.json() as { content: Listed[] };
        // The last runs of before it was started are listed, too.
        const own = content.filter(({ created_at: at }) => new Date(at) >= this.#started);
        return own.length > 0 &&
          own.every(({ status }) => !["accepted", "running", "pending"].includes(status));
      } catch {
        return false;
      }
    });
  }

  async #clean(): Promise<void> {
    const { engine, isSwarm } = this.#parts;
    if (isSwarm) return await removeStack(engine, this.stack);
    for (const each of await this.containers()) {
      await engine.removeContainer(each.id, { force: true, volumes: true }, never);
    }
    for (const each of await engine.listNetworks({ [PROJECT]: this.stack }, never)) {
      await engine.removeNetwork(each.id, never);
    }
    for (const each of await engine.listVolumes({ [PROJECT]: this.stack }, never)) {
      await engine.removeVolume(each.name, never);
    }
    for (const each of await engine.listImages(never)) {
      const labels = await engine.imageLabels(each.id, never);
      if (labels?.[PROJECT] === this.stack) await engine.removeImage(each.id, never);
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
  readonly isSwarm: boolean;
  readonly proxy: EngineProxy;
  readonly configDirectory: string;
  onMutation(n: number, call: EngineCall): Promise<void>;
}

/** The engine of a site; a swarm is an engine that manages one. */
export type SiteKind = "fake" | "real" | "fake swarm" | "real swarm";

/** A site without a commit; `kind` is the engine behind the proxy. */
export async function createSite(program: Program, kind: SiteKind): Promise<Site> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-crash-"));
  const socketPath = join(directory, "engine.sock");
  const fake = kind.startsWith("real") ? undefined : await createFakeEngine({ socketPath });
  fake?.addImage(IMAGE, { where: "both" });
  const isSwarm = kind.endsWith("swarm");
  if (isSwarm) fake?.becomeManager();
  const real = fake === undefined ? await findRealEngine() : undefined;
  const upstream = real?.unavailable === undefined && real !== undefined
    ? real.socketPath
    : socketPath;
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const proxy = await createEngineProxy({
    socketPath: join(directory, "proxy.sock"),
    upstream,
    onMutation: (n, call) => parts.onMutation(n, call),
  });
  const parts: SiteParts = {
    directory,
    dataDir: join(directory, "data"),
    program,
    repository: await createRepository(join(directory, "git")),
    engine: createEngine({ host: `unix://${upstream}` }),
    fake,
    isSwarm,
    proxy,
    configDirectory: compose.configDirectory,
    onMutation: () => Promise.resolve(),
  };
  return new Site(parts);
}

function composeFile(
  revision: string,
  { fails, startFirst, name = "web", renamed = { service: {}, rest: {} } }: {
    readonly fails: boolean;
    readonly startFirst: boolean;
    readonly name?: string;
    readonly renamed?: Renamed;
  },
): string {
  // It ends well when it is told to: nothing about it says afterwards that it should run.
  const command = fails ? "exit 3" : "trap 'exit 0' TERM; while :; do sleep 0.1; done";
  return JSON.stringify({
    services: {
      [name]: {
        image: IMAGE,
        command: ["sh", "-c", command],
        stop_grace_period: "5s",
        labels: { rev: revision },
        healthcheck: { test: ["CMD", "true"], interval: "1s" },
        ...(startFirst
          ? { deploy: { update_config: { order: "start-first" } } }
          : { volumes: ["/anonymous"] }),
        ...renamed.service,
      },
      worker: { image: IMAGE, command: ["sleep", "100000"], stop_grace_period: "0s" },
    },
    ...renamed.rest,
  });
}

/** What a service takes along to another name, and what of it is not in services. */
interface Renamed {
  readonly service: Readonly<Record<string, unknown>>;
  readonly rest: Readonly<Record<string, unknown>>;
}

function renamed(container: string, own: number): Renamed {
  const { service, rest } = fixedAddress(own);
  return {
    service: {
      ...service,
      ...published(own),
      container_name: container,
      volumes: ["/anonymous", "data:/data"],
    },
    rest: { ...rest, volumes: { data: {} } },
  };
}

/** An address in a network beside what engines choose by themselves. */
function fixedAddress(own: number) {
  const network = `10.${octets(own, 0)}/28`;
  return {
    service: { networks: { default: {}, lan: { ipv4_address: `10.${octets(own, 9)}` } } },
    rest: { networks: { lan: { ipam: { config: [{ subnet: network }] } } } },
  };
}

/** A port of a loopback address of its own; no service that a test starts is told to listen there. */
function published(own: number): Readonly<Record<string, unknown>> {
  return { ports: [`127.${octets(own, 9)}:11080:80`] };
}

/** The last three numbers of the address of a host in one of 200,000 networks of 16 addresses. */
function octets(network: number, host: number): string {
  const last = 16 * Math.floor(network / 12_500) + host;
  return `${150 + network % 50}.${Math.floor(network / 50) % 250}.${last}`;
}

function shapes(revision: string, isInternal: boolean): string {
  const labels = { rev: revision };
  const runs = { image: IMAGE, command: ["sleep", "100000"], stop_grace_period: "0s" };
  return JSON.stringify({
    services: {
      db: {
        ...runs,
        labels,
        healthcheck: { test: ["CMD", "true"], interval: "1s" },
        networks: ["default", "inner"],
      },
      job: { ...runs, labels, command: ["true"] },
      vpn: { ...runs, labels },
      web: {
        ...runs,
        image: undefined,
        build: "./app",
        labels,
        network_mode: "service:vpn",
        volumes: ["./site:/site", "./mod/page.txt:/module.txt:ro"],
        depends_on: {
          db: { condition: "service_healthy" },
          job: { condition: "service_completed_successfully" },
        },
      },
      worker: runs,
    },
    networks: { inner: { internal: isInternal } },
  });
}

/** Refuses to run beside another one on the same data. */
const ALONE = "trap 'rm -f /data/lock; exit 0' TERM; test ! -e /data/lock || exit 9; " +
  "touch /data/lock; while :; do sleep 0.1; done";

function handOver(revision: string, isOdd: boolean, ownNumber: number): string {
  const runs = { image: IMAGE, command: ["sleep", "100000"], stop_grace_period: "0s" };
  const own = { ...runs, labels: { rev: revision } };
  const { service: address, rest: { networks: { lan } } } = fixedAddress(ownNumber);
  const port = published(ownNumber);
  return JSON.stringify({
    services: {
      cache: own,
      [isOdd ? "shop" : "site"]: {
        ...own,
        command: ["sh", "-c", ALONE],
        stop_grace_period: "10s",
        volumes: ["data:/data"],
        ...address,
        depends_on: { cache: { condition: "service_started", restart: true } },
      },
      app: { ...own, ...(isOdd ? { network_mode: "service:vpn" } : port) },
      ...(isOdd ? { vpn: { ...own, ...port } } : {}),
      worker: runs,
    },
    volumes: { data: {} },
    networks: { lan: { ...lan, internal: isOdd } },
  });
}

function stackFile(
  revision: string,
  { fails, withShop }: { readonly fails: boolean; readonly withShop: boolean },
): string {
  // A real swarm replaces it at once, and soon sees that an update failed.
  const at = { monitor: "300ms" };
  const alike = {
    image: IMAGE,
    init: true,
    stop_grace_period: "1s",
    deploy: {
      endpoint_mode: "dnsrr",
      restart_policy: { condition: "any", delay: "200ms" },
      update_config: at,
      rollback_config: at,
    },
  };
  const service = (more: Readonly<Record<string, unknown>> = {}) => ({
    ...alike,
    command: ["sh", "-c", fails ? "exit 3" : "sleep 100000"],
    deploy: { ...alike.deploy, labels: { rev: revision } },
    ...more,
  });
  return JSON.stringify({
    services: {
      web: service({ configs: ["page"] }),
      ...(withShop ? { shop: service({ command: ["sleep", "100000"] }) } : {}),
      worker: { ...alike, command: ["sleep", "100000"] },
    },
    configs: { page: { content: revision } },
  });
}

/** Id of the container of a service, where it has one. */
export function idOf(
  containers: readonly ObservedContainer[],
  service: string,
): string | undefined {
  return containers.find((each) => each.service === service)?.id;
}

/** A run as the service lists it. */
interface Listed {
  readonly status: string;
  readonly created_at: string;
}
