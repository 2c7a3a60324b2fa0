import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { writeContext } from "../fakes/context_files.ts";
import { createEngineProxy } from "../fakes/engine_proxy.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { freePort } from "../fakes/free_port.ts";
import {
  type EngineCertificates,
  makeEngineCertificates,
  startTlsFront,
} from "../fakes/tls_front.ts";
import type { TlsFront } from "../fakes/tls_front.ts";
import { command } from "./commands.ts";
import { createWorld, IMAGE, type World } from "./world.ts";

const NO_SIGNAL = new AbortController().signal;

/** A second engine beside that of a world. */
interface Second {
  readonly fake: FakeEngine;
  readonly engine: EngineClient;
  front: TlsFront;
  readonly certificates: EngineCertificates;
  close(): Promise<void>;
}

async function startSecond(): Promise<Second> {
  const directory = await mkdtemp(join(tmpdir(), "swt-second-"));
  const fake = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
  fake.addImage(IMAGE, { where: "both" });
  const certificates = makeEngineCertificates();
  const front = await startTlsFront(fake.socketPath, certificates, await freePort());
  const engine = createEngine({ host: fake.host });
  const second: Second = {
    fake,
    engine,
    front,
    certificates,
    async close() {
      engine.close();
      await second.front.close();
      await fake.close();
      certificates.remove();
      await rm(directory, { recursive: true });
    },
  };
  return second;
}

describe("two contexts", () => {
  let world: World;
  let second: Second;
  before(async () => {
    second = await startSecond();
    world = await createWorld({ engine: "fake" });
    const configDir = world.env["DOCKER_CONFIG"] ?? "";
    const host = `tcp://127.0.0.1:${second.front.port}`;
    writeContext(configDir, "two", { host, certificates: second.certificates.client });
    writeContext(configDir, "local", { host: second.fake.host });
    writeContext(configDir, "gone", { host: "unix:///nowhere/engine.sock" });
  });
  after(async () => {
    await world.close();
    await second.close();
  });

  const configuration = (contexts: readonly string[]) =>
    contexts.map((context) => `name: ${world.stack}\ncontext: "${context}"\ntimeout: 60\n`)
      .join("---\n");
  const compose = (more = "") =>
    `services:\n  web:\n    image: ${IMAGE}\n    command: sleep 1d\n${more}`;
  const containersOf = async (engine: EngineClient) =>
    (await engine.listContainers({ "com.docker.compose.project": world.stack }, NO_SIGNAL))
      .map(({ id }) => id);
  const statuses = (run: { deployments?: readonly unknown[] }) =>
    (run.deployments as { context: string; status: string; message?: string }[])
      .map(({ context, status }) => `${context} ${status}`).sort();

  /** Leaves the newest work of a context as a process that was killed when all but the last word was done. */
  const leaveOpen = (context: string) => {
    const database = new DatabaseSync(join(world.dataDir, "state.db"));
    database.prepare(
      "UPDATE intents SET closed_at = NULL, outcome = NULL, owner = '1:gone' WHERE rowid = " +
        "(SELECT MAX(rowid) FROM intents WHERE context = ?)",
    ).run(context);
    const open = () =>
      database.prepare("SELECT context FROM intents WHERE closed_at IS NULL").all()
        .map((row) => row["context"]);
    return { database, open };
  };

  /** The first answer that is fine, or the last of several. */
  const askedUntilFine = async (path: string) => {
    let answer = await world.request(path);
    for (let tries = 0; answer.status !== 200 && tries < 20; tries++) {
      await answer.body?.cancel();
      answer = await world.request(path);
    }
    return answer;
  };

  it("one name on two engines is two stacks, and a broken context fails its own alone", async () => {
    await world.repository.commit({
      ".stackwright.yaml": configuration(["", "two", "gone", "nobody"]),
      "compose.yaml": compose(),
    });
    const { run } = await world.poll();
    assert.equal(run.status, "failed", JSON.stringify(run));
    assert.deepEqual(statuses(run), [
      "default succeeded",
      "gone failed",
      "nobody failed",
      "two succeeded",
    ]);
    const messages = JSON.stringify(run.deployments);
    assert.match(messages, /unix:\/\/\/nowhere\/engine\.sock \(context gone\)/);
    assert.match(messages, /unknown context: nobody; there are default, gone, local, two/);
    const [here, there] = [await containersOf(world.engine), await containersOf(second.engine)];
    assert.equal(here.length, 1);
    assert.equal(there.length, 1);

    const again = await world.poll();
    assert.deepEqual(statuses(again.run), [
      "default skipped",
      "gone failed",
      "nobody failed",
      "two skipped",
    ]);
    assert.deepEqual(await containersOf(second.engine), there);
  });

  it("the API tells them apart by their context", async () => {
    const get = async (path: string) => {
      const response = await world.request(path);
      const body = await response.json() as { content?: unknown; error?: string };
      return { status: response.status, context: response.headers.get("x-service-context"), body };
    };
    const found = await get(`/v1/api/project/${world.stack}?context=two`);
    assert.equal(found.status, 200);
    assert.equal(found.context, "two");
    assert.deepEqual(
      (found.body.content as { ID: string }[]).map(({ ID }) => ID),
      await containersOf(second.engine),
    );
    const unknown = await get(`/v1/api/project/${world.stack}?context=nobody`);
    assert.equal(unknown.status, 400);
    assert.match(
      JSON.stringify(unknown.body),
      /unknown context.*use one of default, gone/,
    );
    const listed = await get("/v1/api/projects?context=gone");
    assert.equal(listed.status >= 500, true, JSON.stringify(listed));
    // Not its address: clients may only read.
    assert.match(JSON.stringify(listed.body), /no answer from the engine of context gone to /);
    assert.doesNotMatch(JSON.stringify(listed.body), /:\/\/|127\.0\.0\.1|ECONN/);
    // The clock of a world runs ahead, so a busy machine may take longer than the question may.
    assert.equal((await askedUntilFine("/v1/health")).status, 200);
  });

  it("takes certificates that were replaced in place, without a restart", async () => {
    const path = `/v1/api/project/${world.stack}?context=two`;
    assert.equal((await world.request(path)).status, 200);
    const others = makeEngineCertificates();
    try {
      for (const side of ["client", "server"] as const) {
        await cp(others[side], second.certificates[side], { recursive: true });
      }
    } finally {
      others.remove();
    }
    await second.front.close();
    second.front = await startTlsFront(
      second.fake.socketPath,
      second.certificates,
      second.front.port,
    );
    // The engine takes nobody who shows the certificate of before, and shows another one itself.
    assert.equal((await world.request(path)).status, 500);
    writeContext(world.env["DOCKER_CONFIG"] ?? "", "two", {
      host: `tcp://127.0.0.1:${second.front.port}`,
      certificates: second.certificates.client,
    });
    // It may join a question that somebody else asked with the certificate of before.
    const renewed = await askedUntilFine(path);
    assert.equal(renewed.status, 200, await renewed.text());
  });

  it("commands take a context as the API does", async () => {
    const run = (...args: string[]) => command(world, args);
    const status = await run("status", "--json", "--context", "two");
    assert.equal(status.code, 0, status.err);
    assert.deepEqual(
      (JSON.parse(status.out).deployments as { context: string; state: string }[])
        .map(({ context, state }) => `${context} ${state}`),
      ["two synced"],
      status.out,
    );
    const { out } = await run("status");
    assert.match(
      out,
      /\nfurther stacks on gone, two: stackwright status --context NAME\n$/,
    );
    const explained = await run("explain", "--context", "two", world.stack);
    assert.equal(explained.code, 0, explained.err);
    const { out: checked } = await run("doctor", "--json");
    const said = (context: string) => {
      const found = JSON.parse(checked) as { about: string; ok: boolean; says: string }[];
      return found.find(({ about }) => about === `context ${context}`) ?? assert.fail(checked);
    };
    assert.equal(said("two").ok, true);
    assert.match(said("two").says, new RegExp(`^\\d[^,]*, API [\\d.]+; has ${world.stack}$`));
    assert.equal(said("gone").ok, true);
    assert.match(said("gone").says, /nowhere\/engine\.sock.*; no stack is there$/);
    const unknown = await run("status", "--context", "nobody");
    assert.notEqual(unknown.code, 0);
    assert.match(unknown.err, /unknown context: nobody/);
  });

  it("refuses files of the repository on another machine, before anything is touched", async () => {
    const before = await containersOf(second.engine);
    await world.repository.commit({
      ".stackwright.yaml": configuration(["", "two"]),
      "compose.yaml": compose(
        "    volumes: [./site:/site:ro]\n    configs: [app, inline]\n" +
          "configs:\n  app: { file: app.conf }\n  inline: { content: hello }\n",
      ),
      "site/index.html": "hello",
      "app.conf": "a=1",
    });
    const { run } = await world.poll();
    assert.deepEqual(statuses(run), ["default succeeded", "two failed"], JSON.stringify(run));
    const messages = JSON.stringify(run.deployments);
    assert.match(messages, /\/site of service web is site of the repository/);
    assert.match(messages, /the config app of service web is app\.conf of the repository/);
    assert.ok(!messages.includes("inline"), messages);
    assert.deepEqual(await containersOf(second.engine), before);
  });

  it("what was interrupted on an engine that is away waits for it, and keeps nothing else", async () => {
    await world.repository.commit({
      ".stackwright.yaml": configuration(["", "two"]),
      "compose.yaml": compose("    environment: [A=0]\n"),
    });
    const { run: deployed } = await world.poll();
    assert.deepEqual(statuses(deployed), ["default succeeded", "two succeeded"]);
    await world.stop();
    const { database, open } = leaveOpen("two");
    await second.front.close();
    await world.restart();
    await world.repository.commit({ "compose.yaml": compose("    environment: [A=2]\n") });
    const { run } = await world.poll();
    assert.deepEqual(statuses(run), ["default succeeded", "two failed"], JSON.stringify(run));
    assert.deepEqual(open(), ["two"]);
    second.front = await startTlsFront(
      second.fake.socketPath,
      second.certificates,
      second.front.port,
    );
    // Nobody asks for it.
    while (open().length > 0) await world.clock.sleep(100, NO_SIGNAL);
    database.close();
    const { run: after } = await world.poll();
    // It may have been tried again by itself meanwhile.
    assert.match(statuses(after).join(), /^default skipped,two (succeeded|skipped)$/);
  });

  it("a default engine that is away at the start keeps no other context waiting", async () => {
    const reconciliation = "reconciliation: { events: [destroy] }\n";
    await world.repository.commit({
      ".stackwright.yaml": configuration(["", "two"]).replaceAll(
        "timeout",
        `${reconciliation}timeout`,
      ),
      "compose.yaml": compose("    environment: [A=3]\n"),
    });
    const { run: deployed } = await world.poll();
    assert.deepEqual(statuses(deployed), ["default succeeded", "two succeeded"]);
    await world.stop();
    const { database, open } = leaveOpen("default");
    world.proxy.setAway(true);
    // In a container it would be asked of the engine that is away.
    await world.restart({ DATA_HOST_DIR: world.dataDir });
    await world.repository.commit({ "compose.yaml": compose("    environment: [A=4]\n") });
    const { run } = await world.poll();
    assert.deepEqual(statuses(run), ["default failed", "two succeeded"], JSON.stringify(run));
    assert.deepEqual(open(), ["default"]);
    // What is gone there comes back, too.
    const [gone = ""] = await containersOf(second.engine);
    await second.engine.removeContainer(gone, { force: true, volumes: true }, NO_SIGNAL);
    while ((await containersOf(second.engine)).length === 0) {
      await world.clock.sleep(100, NO_SIGNAL);
    }
    world.proxy.setAway(false);
    // Nobody asks for it.
    while (open().length > 0) await world.clock.sleep(100, NO_SIGNAL);
    database.close();
    const { run: after } = await world.poll();
    assert.match(statuses(after).join(), /^default (succeeded|skipped),two skipped$/);
  });

  it("an engine that does not answer any more fails its own alone", async () => {
    await world.repository.commit({
      ".stackwright.yaml": configuration(["", "two"]),
      "compose.yaml": compose("    environment: [A=1]\n"),
    });
    await second.front.close();
    const { run } = await world.poll();
    assert.deepEqual(statuses(run), ["default succeeded", "two failed"], JSON.stringify(run));
  });
});

describe("a context whose engine falls silent", () => {
  it("keeps no preparation for another engine waiting", async () => {
    const second = await startSecond();
    const socketPath = `${second.fake.socketPath}.front`;
    const front = await createEngineProxy({ socketPath, upstream: second.fake.socketPath });
    const env = { MAX_CONCURRENT_PREDEPLOYMENTS: "1" };
    const world = await createWorld({ engine: "fake", env });
    try {
      writeContext(world.env["DOCKER_CONFIG"] ?? "", "two", { host: front.host });
      const named = (name: string, context: string) => `name: ${name}\ncontext: ${context}\n`;
      const commit = (value: number) =>
        world.repository.commit({
          ".stackwright.yaml": named(world.stack, "default"),
          ".stackwright.two.yaml": named(`${world.stack}-two`, "two"),
          "compose.yaml":
            `services: {web: {image: ${IMAGE}, command: sleep 1d, environment: [A=${value}]}}\n`,
        });
      await commit(1);
      assert.equal((await world.poll({ target: "two" })).run.status, "succeeded");
      assert.equal((await world.poll()).run.status, "succeeded");
      await commit(2);
      front.reset({ kind: "timeout", at: 1, among: "all", lasts: true });
      const silenced = world.poll({ target: "two" });
      while (front.calls.length === 0) await world.clock.sleep(50, NO_SIGNAL);
      const polled = world.poll();
      const first = await Promise.race([silenced, polled]);
      assert.equal(first, await polled, "a stack of another engine waits for the silent one");
      assert.equal(first.run.status, "succeeded");
      assert.equal((await silenced).run.status, "failed");
    } finally {
      await front.close();
      await world.close();
      await second.close();
    }
  });
});

describe("files of the repository on another machine, with REMOTE_FILES=volume", () => {
  let world: World;
  let second: Second;
  before(async () => {
    second = await startSecond();
    world = await createWorld({
      engine: "fake",
      env: { REMOTE_FILES: "volume", ARTIFACT_GC_RETENTION_RECORDS: "1" },
    });
    writeContext(world.env["DOCKER_CONFIG"] ?? "", "two", {
      host: `tcp://127.0.0.1:${second.front.port}`,
      certificates: second.certificates.client,
    });
  });
  after(async () => {
    await world.close();
    await second.close();
  });

  const service = (name: string, more: string) =>
    `  ${name}:\n    image: ${IMAGE}\n    command: sleep 1d\n${more}`;
  const compose = (mode: string) =>
    "services:\n" + service("web", `    volumes: [./site:/site:${mode}]\n`) +
    service("app", "    configs: [app]\n") + service("plain", "") +
    "configs:\n  app: { file: app.conf }\n";
  const commit = (files: Readonly<Record<string, string>>) =>
    world.repository.commit({
      ".stackwright.yaml": `name: ${world.stack}\ncontext: two\ntimeout: 60\nretry: { limit: 0 }\n`,
      ...files,
    });
  /** What runs there: the id of each service's container. */
  const running = async () => {
    const project = { "com.docker.compose.project": world.stack };
    const found = await second.engine.listContainers(project, NO_SIGNAL);
    return Object.fromEntries(found.map(({ service, id }) => [service, id]));
  };
  const copies = () => {
    const found = second.fake.volumes().filter(({ labels }) =>
      labels["stackwright.files"] !== undefined
    );
    const isMark = ({ name }: { readonly name: string }) => name.endsWith("_whole");
    const whole = found.filter(isMark).map(({ name }) => name.slice(0, -"_whole".length));
    const all = found.filter((each) => !isMark(each));
    assert.deepEqual(all.map(({ name }) => name).sort(), whole.sort(), "each copy is marked");
    return all;
  };
  const copiers = async () =>
    await second.engine.listContainers({ "stackwright.files": undefined }, NO_SIGNAL);

  it("copies them to volumes named after their content, before anything is touched", async () => {
    await commit({
      "compose.yaml": compose("ro"),
      "site/index.html": "hello",
      "app.conf": "a=1",
    });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
    assert.equal(copies().length, 2);
    for (const { name, labels } of copies()) {
      assert.match(name, new RegExp(`^${world.stack}_files_[0-9a-f]{32}$`));
      assert.equal(labels["stackwright.files"], name);
      assert.equal(labels["stackwright.deployment"], world.stack);
      assert.equal(labels["stackwright.manager"], "stackwright");
    }
    assert.deepEqual(await copiers(), []);
    const { web = "" } = await running();
    const details = await second.engine.inspectContainer(web, NO_SIGNAL);
    const mounts = (details?.mounts ?? []).map(({ kind, destination, writable }) =>
      `${kind} ${destination} ${writable}`
    );
    assert.deepEqual(mounts, ["volume /site false"]);
  });

  it("replaces exactly the services whose files changed, and keeps copies to go back to", async () => {
    const before = await running();
    const first = copies().map(({ name }) => name);
    const again = await world.poll();
    assert.equal(again.run.status, "skipped", JSON.stringify(again.run));
    await commit({ "site/index.html": "hello again" });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
    const now = await running();
    assert.notEqual(now["web"], before["web"]);
    assert.equal(now["app"], before["app"]);
    assert.equal(now["plain"], before["plain"]);
    const names = copies().map(({ name }) => name);
    assert.equal(names.length, 3);
    assert.ok(first.every((each) => names.includes(each)), "those of the release before stay");
  });

  it("uses a copy again that is there already", async () => {
    const first = copies().map(({ name }) => name);
    await commit({ "site/index.html": "hello" });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
    assert.deepEqual(copies().map(({ name }) => name), first);
  });

  it("removes what no release needs, and copies again what one that is put back does", async () => {
    const first = copies().map(({ name }) => name);
    await commit({ "site/index.html": "hello for the third time" });
    assert.equal((await world.poll()).run.status, "succeeded");
    const third = copies().map(({ name }) => name);
    assert.equal(third.length, 3, "what the release before needs stays");
    assert.equal(first.filter((each) => !third.includes(each)).length, 1);
    const { code, err } = await command(world, ["rollback", world.stack, "2", "--context", "two"]);
    assert.equal(code, 0, err);
    const now = copies().map(({ name }) => name);
    assert.equal(now.length, 3);
    assert.equal(first.filter((each) => !now.includes(each)).length, 1);
    assert.equal(now.filter((each) => !first.includes(each)).length, 1);
    assert.deepEqual(await copiers(), []);
    const pinned = await command(world, ["unpin", world.stack, "--context", "two"]);
    assert.equal(pinned.code, 0, pinned.err);
  });

  it("a release that fails gives way to the one before, with the files of that one", async () => {
    const mounted = async () => {
      const { web = "" } = await running();
      const details = await second.engine.inspectContainer(web, NO_SIGNAL);
      return (details?.mounts ?? []).map(({ name }) => name);
    };
    const before = await mounted();
    const image = `${world.stack}-bad:1`;
    second.fake.addImage(image, { where: "both", onStart: { exit: 3 } });
    await commit({
      "compose.yaml": compose("ro").replace(IMAGE, image),
      "site/index.html": "of a release that is no good",
    });
    const { run } = await world.poll();
    assert.equal(run.status, "failed", JSON.stringify(run));
    assert.match(JSON.stringify(run.deployments), /exit code 3/);
    assert.deepEqual(await mounted(), before);
    assert.deepEqual(await copiers(), []);
  });

  it("refuses what is written to", async () => {
    const before = await running();
    await commit({ "compose.yaml": compose("rw") });
    const { run } = await world.poll();
    assert.equal(run.status, "failed");
    assert.match(JSON.stringify(run.deployments), /site of the repository \(only what is mounted/);
    assert.deepEqual(await running(), before);
  });

  it("removes the copies with the stack", async () => {
    await commit({
      ".stackwright.yaml": `name: ${world.stack}\ncontext: two\ndestroy: true\n`,
      "compose.yaml": compose("ro"),
    });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
    assert.deepEqual(await running(), {});
    assert.deepEqual(copies(), []);
  });
});
