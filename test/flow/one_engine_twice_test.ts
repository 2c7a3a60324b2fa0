import assert from "node:assert/strict";
import net from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { writeContext } from "../fakes/context_files.ts";
import { automaticPoll, commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo } from "./steps.ts";
import { IMAGE, type World } from "./world.ts";

const FILES = (more: Part = {}) => ({
  "compose.yaml": composeFile({ web: service({ volumes: ["store:/store"], ...more }) }, {
    volumes: { store: {} },
  }),
});

/** Polls a branch as the service does by itself. */
async function poll(world: World, reference: string, status: string): Promise<string> {
  const run = await automaticPoll(world, { reference });
  assert.equal(run.status, status, JSON.stringify(run));
  return JSON.stringify(run);
}

/** Commits to the branch `dev`, which is made anew, what it wants of the world's stack by another context. */
async function commitToDev(world: World, configuration: Part = {}, more: Part = {}): Promise<void> {
  await commit(world, FILES({ tty: true, ...more }), { context: "alias", ...configuration });
  await world.repository.branch("dev");
  await commit(world, FILES());
}

function alias(world: World, host = world.env["DOCKER_HOST"] ?? ""): void {
  writeContext(world.env["DOCKER_CONFIG"] ?? "", "alias", { host });
}

/** Changes the ledger of a world. */
function change(world: World, sql: string): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  database.exec(sql);
  database.close();
}

/** Has a person remove the world's stack by a context. */
async function remove(world: World, context: string): Promise<string> {
  const path = `/v1/api/project/${world.stack}?context=${context}&volumes=false`;
  const answer = await world.request(path, { method: "DELETE" });
  return `${answer.status} ${await answer.text()}`;
}

/** A world with two repositories beside the one with the configuration. */
async function withRepositories(
  test: (world: World, ours: FakeRepository, theirs: FakeRepository) => Promise<void>,
): Promise<void> {
  const directories = await Promise.all(
    ["ours", "theirs"].map((each) => mkdtemp(join(tmpdir(), `stackwright-${each}-`))),
  );
  try {
    const [ours, theirs] = await Promise.all(directories.map((each) => createRepository(each)));
    assert.ok(ours !== undefined && theirs !== undefined);
    const env = { ALLOW_LOCAL_REPOSITORY_URL: "true" };
    await inWorld("fake", (world) => test(world, ours, theirs), env);
  } finally {
    for (const each of directories) await rm(each, { recursive: true, force: true });
  }
}

/** Writes down what a deployment of another branch does once its release is prepared. */
function settle(world: World, context: string, reference: string): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  const source = `local${world.repository.path}`;
  database.prepare(
    "INSERT INTO owners (context, name, source, reference, adopted) VALUES (?, ?, ?, ?, 0)",
  )
    .run(context, world.stack, source, reference);
  database.close();
}

describe("an engine that two contexts lead to", () => {
  it("gives a stack to one branch: by the other context it is neither deployed nor destroyed", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES());
      await poll(world, "main", "succeeded");
      const before = await ids(world);
      world.proxy.reset();
      await commitToDev(world);
      const refused = await poll(world, "dev", "failed");
      assert.match(
        refused,
        /belongs to .*heads\/main.* in context default, .* leads to this engine/,
      );
      await commitToDev(world, { destroy: { enabled: true } });
      assert.match(await poll(world, "dev", "failed"), /heads\/main.* in context default/);
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(await ids(world), before);

      await commitToDev(world);
      await commandTo(world, 0, ["adopt", "--context", "alias", "--also", "default", world.stack]);
      await poll(world, "dev", "succeeded");
    }));

  it("does so while nothing runs", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES());
      await poll(world, "main", "succeeded");
      await commit(world, FILES(), { destroy: { enabled: true, remove_volumes: false } });
      await poll(world, "main", "succeeded");
      await commitToDev(world);
      await poll(world, "dev", "failed");
    }));

  it("has no name that a branch keeps for later", () =>
    inWorld("fake", async (world) => {
      alias(world);
      const empty = { "compose.yaml": composeFile({ web: service({ deploy: { replicas: 0 } }) }) };
      await commit(world, empty, { context: "alias" });
      await world.repository.branch("dev");
      await poll(world, "dev", "skipped");
      await commit(world, FILES());
      assert.match(await poll(world, "main", "failed"), /heads\/dev.* in context alias/);
    }));

  it("gives a stack to whom has it first, also while the other one's image is fetched", () =>
    inWorld("fake", async (world) => {
      const [image, socketPath] = ["slow:1", `${world.dataDir}/../alias.sock`];
      world.fake?.addImage(image, { where: "registry" });
      let pulls = 0;
      const server = net.createServer((client) => {
        const engine = net.connect(world.socketPath);
        for (const each of [client, engine]) each.on("error", () => client.destroy());
        engine.pipe(client);
        client.on("data", (data) => {
          if (!data.includes("/images/create")) return;
          if (pulls++ === 0) settle(world, "default", "refs/heads/main");
        });
        client.pipe(engine);
      }).listen(socketPath);
      try {
        alias(world, `unix://${socketPath}`);
        await commitToDev(world, {}, { image });
        assert.match(await poll(world, "dev", "failed"), /heads\/main.* in context default/);
        assert.equal(pulls, 1);
        assert.deepEqual(await ids(world), {});
      } finally {
        await world.stop();
        server.close();
      }
    }));

  it("gives it to no other branch when a person deploys that one by the other context", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES());
      await poll(world, "main", "succeeded");
      const before = await ids(world);
      await commitToDev(world);
      const refused = JSON.stringify(await pollTo(world, "failed", { reference: "dev" }));
      assert.match(refused, /belongs to .*heads\/main.* in context default/);
      await poll(world, "dev", "failed");
      assert.deepEqual(await ids(world), before);
    }));

  it("stays main's where a person deploys a tag by the other context", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES());
      await poll(world, "main", "succeeded");
      await commitToDev(world);
      await world.repository.tag("v1", { at: "HEAD~1" });
      const before = await ids(world);
      const refused = await pollTo(world, "failed", { reference: "refs/tags/v1" });
      assert.match(JSON.stringify(refused), /in context default|by context default/);
      await poll(world, "dev", "failed");
      assert.deepEqual(await ids(world), before);
    }));

  it("hands a stack over by both contexts: the former owner gets nothing back by the other one", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES(), { context: "alias" });
      await world.repository.branch("dev");
      await poll(world, "dev", "succeeded");
      await commit(world, FILES({ stdin_open: true }));
      assert.match(await poll(world, "main", "failed"), /heads\/dev.* in context alias/);
      const refused = await commandTo(world, 1, ["adopt", world.stack]);
      assert.match(refused.err, /heads\/dev\) by context alias.*--also alias/);
      assert.match(await poll(world, "main", "failed"), /heads\/dev.* in context alias/);
      const adopted = await commandTo(world, 0, ["adopt", "--also", "alias", world.stack]);
      assert.match(adopted.out, /; by context alias, too/);
      await poll(world, "main", "succeeded");
      for (const each of await world.containers()) {
        await world.engine.removeContainer(each.id, { force: true, volumes: false }, never);
      }
      world.proxy.reset();
      assert.match(await poll(world, "dev", "failed"), /already belongs to .*heads\/main/);
      assert.deepEqual(await ids(world), {});
      await commitToDev(world, { destroy: { enabled: true, remove_volumes: true } });
      assert.match(await poll(world, "dev", "failed"), /is not destroyed: it belongs to .*main/);
      await poll(world, "main", "succeeded");
      await commandTo(world, 0, [
        "adopt",
        "--context",
        "alias",
        "--also",
        "default",
        world.stack,
        "--reference",
        "dev",
      ]);
      await commitToDev(world);
      assert.match(await poll(world, "main", "failed"), /already belongs to .*heads\/dev/);
      await poll(world, "dev", "succeeded");
    }));

  it("is handed over by a context that was never used only together with the other one", () =>
    inWorld("fake", async (world) => {
      alias(world, "unix:///nowhere/engine.sock");
      await commit(world, FILES());
      await poll(world, "main", "succeeded");
      const to = ["--source", world.repository.url, "--reference", "dev", world.stack];
      const byAlias = ["adopt", "--context", "alias", ...to];
      const away = await commandTo(world, 1, byAlias);
      assert.match(away.err, /context alias never said what it is, and cannot be asked now/);
      alias(world);
      const refused = await commandTo(world, 1, byAlias);
      assert.match(refused.err, /heads\/main\) by context default.*--also default/);
      await commandTo(world, 0, [...byAlias, "--also", "default"]);
      assert.match(await poll(world, "main", "failed"), /already belongs to .*heads\/dev/);
    }));

  it("lets a person remove a stack by the context that it belongs to, also where another one lost it", () =>
    inWorld("fake", async (world) => {
      assert.match(await remove(world, "default"), /^404 /);
      alias(world);
      await commit(world, FILES());
      await poll(world, "main", "succeeded");
      const before = await ids(world);
      const theirs = (context: string, branch: string) =>
        new RegExp(`^409 .*is not removed.*belongs to .*heads/${branch}.* context ${context}`);
      assert.match(await remove(world, "alias"), theirs("default", "main"));
      assert.deepEqual(await ids(world), before);
      await commitToDev(world);
      await poll(world, "dev", "failed");
      await commandTo(world, 0, [
        "adopt",
        "--context",
        "alias",
        "--also",
        "default",
        world.stack,
        "--reference",
        "dev",
      ]);
      await poll(world, "dev", "succeeded");
      const dev = await ids(world);
      assert.match(await remove(world, "default"), theirs("alias", "dev"));
      assert.deepEqual(await ids(world), dev);
      assert.match(await remove(world, "alias"), /^200 /);
      assert.deepEqual(await ids(world), {});
    }));

  it("lets a person remove what one owner names by both contexts by the one that deployed it alone", () =>
    inWorld("fake", async (world) => {
      alias(world);
      for (const [context, other] of [["default", "alias"], ["alias", "default"]] as const) {
        await commit(world, FILES(), { context });
        await poll(world, "main", "succeeded");
        await commit(world, FILES({ tty: true }), { context: other });
        await poll(world, "main", "failed");
        const before = await ids(world);
        assert.match(
          await remove(world, other),
          new RegExp(`^409 .*is not removed: .*context ${context},`),
        );
        assert.deepEqual(await ids(world), before);
        assert.match(await remove(world, context), /^200 /);
        assert.deepEqual(await ids(world), {});
      }
    }));

  for (const policy of ["deploys", "destroys"]) {
    it(`${policy} no stack of one deployed repository for another one, by the other context`, () =>
      withRepositories(async (world, ours, theirs) => {
        alias(world);
        await ours.commit(FILES());
        await theirs.commit({ "README.md": "nothing yet" });
        const written = { name: world.stack, repository_url: ours.url, reference: "main" };
        const found = {
          ...{ repository_url: theirs.url, reference: "main", context: "alias" },
          ...{ working_dir: ".", auto_discovery: { enabled: true, depth: 1, delete: true } },
          ...policy === "destroys" ? { destroy: { enabled: true } } : {},
        };
        const documents = [written, found].map((each) => JSON.stringify(each)).join("\n---\n");
        await world.repository.commit({ ".stackwright.yaml": documents });
        await poll(world, "main", "succeeded");
        const before = await ids(world);
        const files = FILES({ tty: true })["compose.yaml"];
        await theirs.commit({ [`${world.stack}/compose.yaml`]: files });
        for (const _ of [1, 2]) {
          assert.match(await poll(world, "main", "failed"), /by context default, so it was not/);
        }
        const pauses = { [`${world.stack}/.stackwright.yaml`]: "pause: true\n" };
        await theirs.commit(pauses);
        await automaticPoll(world);
        await theirs.remove([`${world.stack}/compose.yaml`]);
        await automaticPoll(world);
        assert.deepEqual(await ids(world), before);
      }));
  }

  it("is known as one after an engine went away, and one never heard of matters where something is", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES(), { context: "alias" });
      await poll(world, "main", "succeeded");
      alias(world, "unix:///nowhere/engine.sock");
      await commit(world, FILES({ tty: true }));
      await world.repository.branch("dev");
      assert.match(await poll(world, "dev", "failed"), /in context alias, which leads to this/);
      change(world, "DELETE FROM engines");
      assert.match(await poll(world, "dev", "failed"), /in context alias, which cannot be asked/);
      for (const each of await world.containers()) {
        await world.engine.removeContainer(each.id, { force: true, volumes: false }, never);
      }
      assert.match(await poll(world, "dev", "failed"), /in context alias, which cannot be asked/);
      await world.engine.removeVolume(`${world.stack}_store`, never);
      assert.match(await poll(world, "dev", "failed"), /in context alias, which cannot be asked/);
      await world.engine.removeNetwork(`${world.stack}_default`, never);
      await poll(world, "dev", "succeeded");
    }));
});

describe("a ledger that was lost", () => {
  it("gives a discovery no stack whose labels name another deployed repository", () =>
    withRepositories(async (world, ours, theirs) => {
      const written = { name: world.stack, repository_url: ours.url, reference: "main" };
      await ours.commit(FILES());
      await theirs.commit({
        [`${world.stack}/compose.yaml`]: FILES({ tty: true })["compose.yaml"],
      });
      await world.repository.commit({ ".stackwright.yaml": JSON.stringify(written) });
      await poll(world, "main", "succeeded");
      const before = await ids(world);
      const found = {
        ...{ repository_url: theirs.url, reference: "main", working_dir: "." },
        auto_discovery: { enabled: true, depth: 1 },
      };
      const configured = (each: object) =>
        world.repository.commit({ ".stackwright.yaml": JSON.stringify(each) });
      await configured(found);
      await poll(world, "main", "failed");
      const forget = async () => {
        await world.stop();
        for (const end of ["", "-wal", "-shm"]) {
          await rm(join(world.dataDir, `state.db${end}`), { force: true });
        }
        await world.restart();
      };
      await forget();
      const refused = await poll(world, "main", "failed");
      assert.match(refused, /container .* is from local.*, so .* was not deployed from/);
      assert.deepEqual(await ids(world), before);

      await configured(written);
      await forget();
      await poll(world, "main", "skipped");
    }));
});

describe("two engines", () => {
  it("have a stack of one name each, of two branches", () =>
    inWorld("fake", async (world) => {
      const second = await createFakeEngine({ socketPath: `${world.dataDir}/../second.sock` });
      second.addImage(IMAGE, { where: "both" });
      try {
        alias(world, second.host);
        await commit(world, FILES());
        await poll(world, "main", "succeeded");
        await commitToDev(world);
        await poll(world, "dev", "succeeded");
        await poll(world, "main", "skipped");
        // An engine that says later that it is another one takes nothing that is deployed there.
        const before = await ids(world);
        const told = rows(world, "SELECT id FROM engines ORDER BY context DESC");
        const [ofFirst, ofSecond] = told.map(({ id }) => String(id).split(" ")[0]);
        second.sayId(ofFirst ?? "");
        const refused = /belongs to .*heads\/dev\) by context alias/;
        assert.match(await poll(world, "main", "failed"), refused);
        await commit(world, FILES({ stdin_open: true }));
        assert.match(await poll(world, "main", "failed"), refused);
        assert.match(await remove(world, "default"), /^409 .*is not removed/);
        assert.deepEqual(await ids(world), before);
        second.sayId(ofSecond ?? "");
        await poll(world, "dev", "skipped");
        await poll(world, "main", "succeeded");
      } finally {
        await second.close();
      }
    }));

  it("become one: the stack is neither branch's until a person hands it over by both contexts", () =>
    inWorld("fake", async (world) => {
      const second = await createFakeEngine({ socketPath: `${world.dataDir}/../second.sock` });
      second.addImage(IMAGE, { where: "both" });
      try {
        alias(world, second.host);
        await commit(world, FILES());
        await poll(world, "main", "succeeded");
        await commitToDev(world);
        await poll(world, "dev", "succeeded");
        const before = await ids(world);
        alias(world);
        for (const configuration of [{}, { destroy: { enabled: true, remove_volumes: true } }]) {
          await commitToDev(world, configuration, { stdin_open: true });
          assert.match(await poll(world, "dev", "failed"), /belongs to .*heads\/main.* default/);
        }
        await commit(world, FILES({ stdin_open: true }));
        assert.match(
          await poll(world, "main", "failed"),
          /belongs to .*heads\/dev\) by context alias/,
        );
        assert.match(await remove(world, "alias"), /^409 .*is not removed/);
        assert.deepEqual(await ids(world), before);
        await commandTo(world, 1, ["adopt", world.stack]);
        await commandTo(world, 0, ["adopt", "--also", "alias", world.stack]);
        await poll(world, "main", "succeeded");
        assert.notDeepEqual(await ids(world), before);
      } finally {
        await second.close();
      }
    }));
});

const never = new AbortController().signal;
