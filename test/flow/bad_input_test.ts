import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { createEngineProxy } from "../fakes/engine_proxy.ts";
import type { FakeFile } from "../fakes/git_repository.ts";
import { createWorld, IMAGE, type RunBody, type World } from "./world.ts";
import { until } from "./until.ts";

const execute = promisify(execFile);

/** Runs a program; rejects when it fails. */
async function runProgram(program: string, ...args: string[]): Promise<void> {
  await execute(program, args);
}

/** A compose file with one service that is checked and one that is not. */
function compose(more: { readonly web?: string; readonly worker?: string } = {}): string {
  return [
    "services:",
    "  web:",
    `    image: ${IMAGE}`,
    '    command: [sleep, "1000"]',
    '    healthcheck: {test: ["CMD", "true"], interval: 1s}',
    ...(more.web === undefined ? [] : [`    ${more.web}`]),
    "  worker:",
    `    image: ${IMAGE}`,
    '    command: [sleep, "2000"]',
    ...(more.worker === undefined ? [] : [`    ${more.worker}`]),
    "",
  ].join("\n");
}

/** A dotenv file whose last variable has 2 to the power of `count` characters. */
function doubling(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => `A${at + 1}=\${A${at}}\${A${at}}\n`);
  return ["A0=a\n", ...lines].join("");
}

/** What is wrong, and what the run must say about it. */
interface Mistake {
  readonly title: string;
  /** What is committed over the good deployment. */
  readonly files?: (world: World) => Readonly<Record<string, FakeFile>>;
  readonly removed?: readonly string[];
  /** Keys of the poll entry. */
  readonly entry?: (world: World) => Record<string, unknown>;
  readonly says: readonly RegExp[];
}

const CONFIG = ".stackwright.yaml";

const MISTAKES: readonly Mistake[] = [
  {
    title: "a configuration that is no YAML",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\nenvironment: {A: "open\n` }),
    says: [/\.stackwright\.yaml:\d+:\d+/],
  },
  {
    title: "an unknown key",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\ncompose_file: [a.yaml]\n` }),
    says: [/\.stackwright\.yaml:2:1/, /compose_file\b/, /compose_files/],
  },
  {
    title: "an unknown key in the second document",
    files: (world) => ({
      [CONFIG]: `name: ${world.stack}\n---\nname: ${world.stack}-b\nbuild:\n  argz: {}\n`,
    }),
    says: [/\.stackwright\.yaml:5:3/, /build\.argz|argz/],
  },
  {
    title: "a value of the wrong type",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\ntimeout: soon\n` }),
    says: [/\.stackwright\.yaml:2:10/, /timeout/],
  },
  {
    title: "a compose file that is not there",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\ncompose_files: [gone.yaml]\n` }),
    says: [/no such file in the repository: gone\.yaml/],
  },
  {
    title: "a working directory that is not there",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\nworking_dir: nowhere\n` }),
    says: [/nowhere/],
  },
  {
    title: "a file with variables that is not there",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\nenv_files: [gone.env]\n` }),
    says: [/gone\.env/],
  },
  {
    title: "two deployments of one name",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\n---\nname: ${world.stack}\n` }),
    says: [/\.stackwright\.yaml:3:7/, /another deployment/],
  },
  {
    title: "a field that this version does not act on",
    files: (world) => ({ [CONFIG]: `name: ${world.stack}\nswarm: {enabled: true}\n` }),
    says: [/swarm\.enabled/, /Nothing was changed/],
  },
  {
    title: "a compose file with an error",
    files: () => ({ "compose.yaml": compose({ web: "restrat: always" }) }),
    says: [/restrat/, /services\.web/],
  },
  {
    title: "a compose file that is no YAML",
    files: () => ({ "compose.yaml": "services:\n  web: [\n" }),
    says: [/compose\.yaml:\d+:\d+/, /not valid YAML/],
  },
  // Without what bounds it, compose would take all memory of the machine.
  ...(existsSync("/usr/bin/prlimit")
    ? [{
      title: "variables that double each other without end",
      files: () => ({ ".env": doubling(64) }),
      says: [/docker compose config failed: it needed more than 1024 MiB of memory/],
    }]
    : []),
  {
    title: "more deployments than any machine has",
    files: () => ({
      [CONFIG]: Array.from({ length: 501 }, (_, at) => `name: many-${at}\n`).join("---\n"),
    }),
    says: [/the configuration means 501 deployments, the most of .* is 500; nothing was changed/],
  },
  {
    title: "more containers than any machine has",
    files: () => ({ "compose.yaml": compose({ web: "scale: 2000000000" }) }),
    says: [/it asks for 2000000001 containers, the most is 1000/],
  },
  {
    title: "an image that is nowhere",
    files: () => ({
      "compose.yaml": compose({ worker: "image: example.test/none:1" }).replace(
        `  worker:\n    image: ${IMAGE}\n`,
        "  worker:\n",
      ),
    }),
    says: [/example\.test\/none/, /docker compose pull failed/],
  },
  {
    title: "an external network that is missing",
    files: () => ({
      "compose.yaml": `${
        compose({ web: "networks: [theirs]" })
      }networks: {theirs: {external: true}}\n`,
    }),
    says: [/networks\.theirs: network theirs .* does not exist, so nothing was touched/],
  },
  {
    title: "an external volume that is missing",
    files: () => ({
      "compose.yaml": `${
        compose({ web: "volumes: ['data:/data']" })
      }volumes: {data: {external: true}}\n`,
    }),
    says: [/volumes\.data: volume data .* make it first \(docker volume create data\)/],
  },
  {
    title: "a mount whose source must exist and does not",
    files: () => ({
      "compose.yaml": compose({
        web:
          "volumes: [{type: bind, source: ./nope, target: /nope, bind: {create_host_path: false}}]",
      }),
    }),
    says: [/service web/, /nope/],
  },
  {
    title: "a link that leads out of the repository",
    files: () => ({ "compose.yaml": { link: "/etc/hostname" } }),
    says: [/compose\.yaml/],
  },
  {
    title: "a repository without a configuration",
    removed: [CONFIG],
    says: [/has no deployment configuration/, /\.stackwright\.yaml/, /where the target is named/],
  },
  {
    title: "a target without a configuration",
    entry: () => ({ target: "other" }),
    says: [
      /has no deployment configuration/,
      /\.stackwright\.other\.yaml/,
      /\.doco-cd\.other\.yml/,
    ],
  },
  {
    title: "a reference that does not exist",
    entry: () => ({ reference: "no-such-branch" }),
    says: [/no-such-branch/],
  },
  {
    title: "a repository that is not there",
    entry: (world) => ({ url: `file://${dirname(world.dataDir)}/nowhere.git` }),
    says: [/nowhere\.git/],
  },
  {
    title: "a Git server that cannot be reached",
    entry: () => ({ url: "http://127.0.0.1:1/some/repository.git" }),
    says: [/127\.0\.0\.1/],
  },
];

describe("bad input", () => {
  let world: World;
  let good: string;
  let ids: string[];

  before(async () => {
    world = await createWorld({ engine: "fake" });
    good = await world.repository.commit({
      [CONFIG]: `name: ${world.stack}\n`,
      "compose.yaml": compose(),
    });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
  });
  after(() => world.close());
  beforeEach(async () => {
    await world.repository.reset(good);
    ids = (await world.containers()).map((each) => each.id);
    assert.equal(ids.length, 2);
    world.proxy.reset();
  });

  for (const mistake of MISTAKES) {
    it(`${mistake.title} fails the run, says where, and leaves everything as it was`, async () => {
      if (mistake.files) await world.repository.commit(mistake.files(world));
      if (mistake.removed) await world.repository.remove(mistake.removed);
      const { status, body, run } = await world.poll(mistake.entry?.(world));
      assert.equal(run.status, "failed", JSON.stringify(run));
      assert.ok(status >= 400, `${status}`);
      assert.equal(typeof body["error"], "string");
      assert.equal(typeof run.repository, "string");
      for (const text of mistake.says) assert.match(allOf(run), text);
      assert.doesNotMatch(allOf(run), /\n\s+at .*\.ts|BUG|crashed/);
      assert.equal(world.proxy.mutations(), 0, JSON.stringify(world.proxy.calls));
      assert.deepEqual((await world.containers()).map((each) => each.id), ids);
    });
  }

  it("the stack deploys again as soon as the mistake is taken back", async () => {
    await world.repository.commit({ [CONFIG]: "name: [\n" });
    assert.equal((await world.poll()).run.status, "failed");
    await world.repository.reset(good);
    assert.equal((await world.poll()).run.status, "skipped");
    assert.equal(world.proxy.mutations(), 0);
  });
});

/** A change that goes wrong only once containers are being replaced. */
interface BadRelease {
  readonly title: string;
  readonly web?: string;
  readonly worker?: string;
  readonly behave: (world: World) => void;
  readonly says: readonly RegExp[];
}

const BAD_RELEASES: readonly BadRelease[] = [
  {
    title: "a container that exits",
    worker: "environment: {BAD: '1'}",
    behave: (world) => world.fake?.setBehaviour("worker", { exit: 3 }),
    says: [/service worker/, /exit code 3/],
  },
  {
    title: "an unhealthy container",
    web: "environment: {BAD: '1'}",
    behave: (world) => world.fake?.setBehaviour("web", { health: "unhealthy" }),
    says: [/web.*unhealthy/],
  },
  {
    title: "a port that is taken",
    web: "environment: {BAD: '1'}",
    behave: (world) =>
      world.fake?.setBehaviour("web", {
        refuse: "driver failed programming external connectivity: port is already allocated",
      }),
    says: [/port is already allocated/],
  },
];

describe("a release that turns out bad", () => {
  for (const bad of BAD_RELEASES) {
    it(`${bad.title}: the run fails and says why, the earlier release runs again`, async () => {
      const world = await createWorld({ engine: "fake" });
      try {
        await world.repository.commit({
          [CONFIG]: `name: ${world.stack}\ntimeout: 5\n`,
          "compose.yaml": compose(),
        });
        assert.equal((await world.poll()).run.status, "succeeded");
        const before = await world.containers();
        bad.behave(world);
        await world.repository.commit({ "compose.yaml": compose(bad) });
        world.fake?.resetRequests();
        const failing = world.poll();
        await until(() => world.lines.some((line) => line.message === "rolling back"));
        world.fake?.setBehaviour("web", "run");
        world.fake?.setBehaviour("worker", "run");
        const { run } = await failing;
        assert.equal(run.status, "failed", JSON.stringify(run));
        for (const text of bad.says) assert.match(allOf(run), text);
        assert.match(allOf(run), /the previous release was put back/);
        const now = await world.containers();
        assert.deepEqual(now.map((each) => each.name), before.map((each) => each.name));
        for (const [index, container] of now.entries()) {
          assert.equal(container.state, "running", container.name);
          assert.deepEqual(ownLabels(container.labels), ownLabels(before[index]?.labels ?? {}));
        }
        const untouched = bad.web === undefined ? "web" : "worker";
        assert.equal(idOf(now, untouched), idOf(before, untouched), "the other service");
      } finally {
        await world.close();
      }
    });
  }

  it("a first release that fails stays for inspection, and the next good one heals it", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      world.fake?.setBehaviour("worker", { exit: 1 });
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}\n`,
        "compose.yaml": compose(),
      });
      const { run } = await world.poll();
      assert.equal(run.status, "failed");
      assert.match(allOf(run), /no earlier release to go back to/);
      assert.equal((await world.containers()).length, 2);
      world.fake?.setBehaviour("worker", "run");
      const again = await world.poll();
      assert.equal(again.run.status, "succeeded", JSON.stringify(again.run));
      assert.deepEqual((await world.containers()).map((each) => each.state), [
        "running",
        "running",
      ]);
    } finally {
      await world.close();
    }
  });
});

describe("a failed release whose containers were left", () => {
  it("is not taken for a good one by the next automatic poll", async () => {
    const world = await createWorld({ engine: "fake" });
    try {
      world.fake?.setBehaviour("worker", { exit: 1 });
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}\nretry: {limit: 0}\n`,
        "compose.yaml": compose(),
      });
      assert.equal((await world.poll()).run.status, "failed");
      const left = (await world.containers()).map((each) => each.id);
      await world.restart({
        POLL_CONFIG: JSON.stringify([{
          url: world.repository.url,
          reference: "main",
          run_once: true,
        }]),
      });
      await world.app.polled;
      const answer = await world.request("/v1/api/runs");
      const [run] = (await answer.json()).content as RunBody[];
      assert.equal(run?.status, "skipped", JSON.stringify(run));
      assert.equal(run?.deployments?.[0]?.reason, "budget_exhausted");
      assert.match(allOf(run), /failed before.*exit code 1/s);
      assert.deepEqual((await world.containers()).map((each) => each.id), left);
    } finally {
      await world.close();
    }
  });

  it("stays where DEPLOY_ROLLBACK is off, and is replaced where it does not work", async () => {
    const world = await createWorld({ engine: "fake", env: { DEPLOY_ROLLBACK: "false" } });
    try {
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}\n`,
        "compose.yaml": compose(),
      });
      assert.equal((await world.poll()).run.status, "succeeded");
      const before = await world.containers();
      world.fake?.setBehaviour("worker", { exit: 1 });
      await world.repository.commit({ "compose.yaml": compose({ worker: "tty: true" }) });
      const { run: failed } = await world.poll();
      assert.equal(failed.status, "failed");
      assert.match(allOf(failed), /DEPLOY_ROLLBACK is off/);
      const left = await world.containers();
      assert.equal(left.find((each) => each.service === "worker")?.state, "exited");
      world.fake?.setBehaviour("worker", "run");
      const { run: healed } = await world.poll();
      assert.equal(healed.status, "succeeded", JSON.stringify(healed));
      const now = await world.containers();
      assert.equal(now.find((each) => each.service === "worker")?.state, "running");
      assert.equal(idOf(now, "web"), idOf(before, "web"));
    } finally {
      await world.close();
    }
  });
});

describe("names that belong to somebody else", () => {
  it("a stack of another repository is refused and not touched", async () => {
    const world = await createWorld({ engine: "fake" });
    const other = await createWorld({ engine: "fake" });
    try {
      const files = { [CONFIG]: `name: ${world.stack}\n`, "compose.yaml": compose() };
      await world.repository.commit(files);
      await other.repository.commit({ ...files, "compose.yaml": compose({ web: "tty: true" }) });
      assert.equal((await world.poll()).run.status, "succeeded");
      const before = (await world.containers()).map((each) => each.id);
      const { run } = await world.poll({ url: other.repository.url });
      assert.equal(run.status, "failed", JSON.stringify(run));
      assert.match(allOf(run), new RegExp(world.stack));
      assert.deepEqual((await world.containers()).map((each) => each.id), before);
    } finally {
      await world.close();
      await other.close();
    }
  });
});

describe("an engine that is down", () => {
  it("fails the runs, says so, and is used again as soon as it is back", async () => {
    const world = await createWorld({ engine: "fake" });
    const socketPath = world.proxy.host.replace("unix://", "");
    try {
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}\n`,
        "compose.yaml": compose(),
      });
      await world.poll();
      const before = (await world.containers()).map((each) => each.id);
      await world.proxy.close();
      await world.repository.commit({ "compose.yaml": compose({ web: "tty: true" }) });
      const down = await world.poll();
      assert.equal(down.run.status, "failed");
      assert.match(allOf(down.run), /engine/);
      assert.match(allOf(down.run), /proxy\.sock/);
      assert.equal((await world.request("/v1/health")).status, 503);
      assert.deepEqual((await world.containers()).map((each) => each.id), before);

      const upstream = join(dirname(socketPath), "engine.sock");
      const back = await createEngineProxy({ socketPath, upstream });
      try {
        assert.equal((await world.request("/v1/health")).status, 200);
        const { run } = await world.poll();
        assert.equal(run.status, "succeeded", JSON.stringify(run));
        assert.notDeepEqual((await world.containers()).map((each) => each.id), before);
      } finally {
        await world.stop();
        await back.close();
      }
    } finally {
      await world.close();
    }
  });

  it("does not keep the service from starting", async () => {
    const world = await createWorld({ engine: "fake" });
    const socketPath = world.proxy.host.replace("unix://", "");
    try {
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}\n`,
        "compose.yaml": compose(),
      });
      await world.proxy.close();
      await world.restart();
      assert.equal((await world.request("/v1/health")).status, 503);
      assert.equal((await world.poll()).run.status, "failed");
      const upstream = join(dirname(socketPath), "engine.sock");
      const back = await createEngineProxy({ socketPath, upstream });
      try {
        assert.equal((await world.poll()).run.status, "succeeded");
      } finally {
        await world.stop();
        await back.close();
      }
    } finally {
      await world.close();
    }
  });
});

describe("a data directory that cannot be used", () => {
  it("that is a file is a start-up error that names it", async () => {
    await refusedStart(async (dataDir) => {
      await rm(dataDir, { recursive: true });
      await writeFile(dataDir, "");
    }, [/DATA_DIR/, /data/]);
  });

  it("with a directory where state.db belongs is a start-up error that names it", async () => {
    await refusedStart(async (dataDir) => {
      await rm(join(dataDir, "state.db"));
      await mkdir(join(dataDir, "state.db"));
    }, [/state\.db/]);
  });

  it("with a damaged state.db is a start-up error that says what to do", async () => {
    await refusedStart(async (dataDir) => {
      await rm(join(dataDir, "state.db-wal"), { force: true });
      await rm(join(dataDir, "state.db-shm"), { force: true });
      await writeFile(join(dataDir, "state.db"), "this was never a database ".repeat(1000));
    }, [/state\.db/, /damaged/, /backup/]);
  });

  it("with a state.db of a newer version is a start-up error that says so", async () => {
    await refusedStart(async (dataDir) => {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(join(dataDir, "state.db"));
      database.exec("PRAGMA user_version = 9999");
      database.close();
    }, [/state\.db/, /newer|9999/]);
  });
});

const canMount = await mountsWork();

describe("a data directory that fills up", { skip: !canMount }, () => {
  it("fails the run and says so; what runs stays, and with space again it goes on", async () => {
    const world = await createWorld({ engine: "fake" });
    const filler = join(world.dataDir, "filler");
    try {
      await world.stop();
      await runProgram("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", world.dataDir);
      await world.restart();
      await world.repository.commit({
        [CONFIG]: `name: ${world.stack}\n`,
        "compose.yaml": compose(),
      });
      const { run: first } = await world.poll();
      assert.equal(first.status, "succeeded", JSON.stringify(first));
      const before = (await world.containers()).map((each) => each.id);
      await fill(filler);
      world.proxy.reset();
      await world.repository.commit({
        "compose.yaml": compose({ web: "tty: true" }),
        "large.txt": "many words ".repeat(20_000),
      });
      const { run: full } = await world.poll();
      assert.equal(full.status, "failed", JSON.stringify(full));
      assert.match(allOf(full), /space|full/);
      assert.doesNotMatch(allOf(full), /BUG|crashed/);
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual((await world.containers()).map((each) => each.id), before);
      assert.equal((await world.request("/v1/api/runs")).status, 200);
      await rm(filler);
      const { run: again } = await world.poll();
      assert.equal(again.status, "succeeded", JSON.stringify(again));
    } finally {
      await world.stop();
      await runProgram("umount", "--lazy", world.dataDir).catch(() => {});
      await world.close();
    }
  });
});

/** Writes until the disk has no byte left. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (let size = 64 * 1024; size >= 1;) {
      try {
        await file.appendFile(new Uint8Array(size));
      } catch {
        size = Math.floor(size / 4);
      }
    }
  } finally {
    await file.close();
  }
}

/** Whether this user may mount, which only root may where nothing forbids it. */
async function mountsWork(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-mount-"));
  try {
    await runProgram("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory);
    await runProgram("umount", directory);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Breaks the data directory of a stopped service and expects the next start to refuse. */
async function refusedStart(
  damage: (dataDir: string) => Promise<void>,
  says: readonly RegExp[],
): Promise<void> {
  const world = await createWorld({ engine: "fake" });
  try {
    await world.stop();
    await damage(world.dataDir);
    world.proxy.reset();
    await assert.rejects(world.restart(), (error: Error) => {
      for (const text of says) assert.match(error.message, text);
      return true;
    });
    assert.equal(world.proxy.mutations(), 0);
  } finally {
    await world.close();
  }
}

/** Everything a run says. */
function allOf(run: RunBody): string {
  return [run.message, ...(run.deployments ?? []).map((each) => each.message)].join("\n");
}

function idOf(containers: Awaited<ReturnType<World["containers"]>>, service: string) {
  return containers.find((each) => each.service === service)?.id;
}

function ownLabels(labels: Readonly<Record<string, string>>) {
  return Object.entries(labels).filter(([name]) => name.startsWith("stackwright.")).sort();
}
