import assert from "node:assert/strict";
import net from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { writeContext } from "../fakes/context_files.ts";
import { automaticPoll, commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld } from "./steps.ts";
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

/** Writes down what a deployment of another branch does once its release is prepared. */
function settle(world: World, context: string, reference: string): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  const source = `local${world.repository.path.replace(/\.git$/, "")}`;
  database.prepare("INSERT INTO owners VALUES (?, ?, ?, ?, 0)")
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
      await commandTo(world, 0, ["adopt", "--context", "alias", world.stack]);
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

  it("is not asked about where the other context's engine is away, unless something is there", () =>
    inWorld("fake", async (world) => {
      alias(world);
      await commit(world, FILES(), { context: "alias" });
      await poll(world, "main", "succeeded");
      alias(world, "unix:///nowhere/engine.sock");
      await commit(world, FILES({ tty: true }));
      await world.repository.branch("dev");
      assert.match(await poll(world, "dev", "failed"), /in context alias, which cannot be asked/);
      for (const each of await world.containers()) {
        await world.engine.removeContainer(each.id, { force: true, volumes: false }, never);
      }
      assert.match(await poll(world, "dev", "failed"), /in context alias, which cannot be asked/);
      await world.engine.removeVolume(`${world.stack}_store`, never);
      await poll(world, "dev", "succeeded");
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
      } finally {
        await second.close();
      }
    }));
});

const never = new AbortController().signal;
