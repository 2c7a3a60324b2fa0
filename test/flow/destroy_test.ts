import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { setTimeout as pause } from "node:timers/promises";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;

/** Two services; the real engine's shared image must not be theirs when they go. A network and a named volume of their own. */
const files = (image = IMAGE) => ({
  "compose.yaml": composeFile({
    web: service({ image, volumes: ["store:/store", "./data:/data"], depends_on: ["worker"] }),
    worker: service({ image, networks: ["inner"] }),
  }, { volumes: { store: {} }, networks: { inner: {} } }),
  "data/tracked": "x",
});

/** What the engine still has of the world's stack, by kind. */
async function leftovers(world: World): Promise<Record<string, number>> {
  const project = { "com.docker.compose.project": world.stack };
  return {
    containers: (await world.engine.listContainers(project, never)).length,
    networks: (await world.engine.listNetworks(project, never)).length,
    volumes: (await world.engine.listVolumes(project, never)).length,
  };
}

const isOnDisk = (world: World) =>
  existsSync(join(world.dataDir, "releases", "default", world.stack));

/** Writes a file as a container does through a relative mount. */
async function write({ dataDir, stack }: World, path: string): Promise<void> {
  await writeFile(join(dataDir, "releases", "default", stack, "live", path), "precious");
}

/** An image that only this world uses: the fake engine's has come from a registry, the real one's was made by hand. */
async function ownImage(world: World): Promise<string> {
  const reference = `${world.stack}-image:1`;
  if (world.fake !== undefined) world.fake.addImage(reference, { where: "both" });
  else {
    const container = (await docker(world, "create", IMAGE)).trim();
    await docker(world, "commit", "--change", `LABEL of=${world.stack}`, container, reference);
    await docker(world, "rm", container);
  }
  return reference;
}

for (const engine of await engines()) {
  describe(`destroy on the ${engine} engine`, () => {
    const rows: readonly {
      title: string;
      destroy: boolean | Part;
      volumes: number;
      image: boolean;
    }[] = [
      { title: "true takes everything", destroy: true, volumes: 0, image: false },
      {
        title: "remove_volumes: false keeps volumes",
        destroy: { enabled: true, remove_volumes: false },
        volumes: 1,
        image: false,
      },
      {
        title: "remove_images: false keeps images",
        destroy: { enabled: true, remove_images: false },
        volumes: 0,
        image: true,
      },
    ];
    for (const row of rows) {
      it(`${row.title}, is done once, and the stack can come back`, () =>
        inWorld(engine, async (world) => {
          const image = await ownImage(world);
          await commit(world, files(image));
          await pollTo(world, "succeeded");
          assert.deepEqual(await leftovers(world), { containers: 2, networks: 2, volumes: 1 });
          assert.equal(isOnDisk(world), true);
          await write(world, "data/by-container");

          await commit(world, {}, { destroy: row.destroy });
          const planned = await commandTo(world, 2, ["plan", world.repository.url]);
          const data = row.volumes === 0
            ? [`volume ${world.stack}_store`, "what was written to ./data"]
            : [];
          const deletes = row.volumes === 0
            ? data.map((each) => `; deletes ${each}`).join("")
            : "; keeps its volumes and the data in its relative mounts";
          assert.ok(planned.out.includes(`destroy web, worker${deletes}\n`), planned.out);
          const destroyed = await pollTo(world, "succeeded");
          const deleted = data.map((each) => `; deleted ${each}`).join("");
          assert.equal(destroyed.deployments?.[0]?.message, `destroyed${deleted}`);
          const left = { containers: 0, networks: 0, volumes: row.volumes };
          assert.deepEqual(await leftovers(world), left);
          assert.equal(isOnDisk(world), row.volumes > 0);
          const isLeft = await world.engine.imageId(image, never) !== undefined;
          assert.equal(isLeft, row.image || engine === "real");
          world.proxy.reset();
          const again = await pollTo(world, "skipped");
          assert.equal(again.deployments?.[0]?.reason, "nothing_to_destroy");
          assert.equal(world.proxy.mutations(), 0);

          await commit(world, files());
          await pollTo(world, "succeeded");
          assert.deepEqual(Object.keys(await ids(world)), ["web-1", "worker-1"]);
          if (isLeft) await docker(world, "image", "rm", image);
        }));
    }
  });
}

describe("destroy", () => {
  it("leaves an image that a container of somebody else uses", () =>
    inWorld("fake", async (world) => {
      const image = await ownImage(world);
      await docker(world, "create", image, "true");
      await commit(world, files(image));
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      await pollTo(world, "succeeded");
      assert.notEqual(await world.engine.imageId(image, never), undefined);
    }));

  it("leaves a network that somebody else's container is connected to", () =>
    inWorld("fake", async (world) => {
      await commit(world, files());
      await pollTo(world, "succeeded");
      await docker(world, "run", "--detach", "--network", `${world.stack}_inner`, IMAGE);
      await commit(world, {}, { destroy: true });
      await pollTo(world, "succeeded");
      assert.deepEqual(await leftovers(world), { containers: 0, networks: 1, volumes: 0 });
    }));

  it("keeps the owner of a network that stays, which nobody else takes for a stack's own", async () => {
    const other = await createWorld({ engine: "fake" });
    try {
      await inWorld("fake", async (world) => {
        const victim = other.repository;
        const named = { networks: { default: { name: `${other.stack}_default` } } };
        await victim.commit({ "compose.yaml": composeFile({ x: service() }, named) });
        await victim.branch("pull");
        const configuration = { name: other.stack };
        await commit(other, { "compose.yaml": composeFile({ web: service() }) }, configuration);
        const fields = { repository_url: victim.url, reference: "pull" };
        await commit(world, {}, fields);
        await pollTo(world, "succeeded");
        await docker(world, "run", "--detach", "--network", `${other.stack}_default`, IMAGE);
        await commit(world, {}, { ...fields, destroy: true });
        await pollTo(world, "succeeded");
        const refused = JSON.stringify(await pollTo(world, "failed", { url: victim.url }));
        assert.match(refused, /network \S+_default is stack \S+'s, .* and was not joined/);
        assert.equal((await ids(world, other.stack))["web-1"], undefined);
      });
    } finally {
      await other.close();
    }
  });

  it("that failed is not finished at the next start: the stack may be wanted by then", () =>
    inWorld("fake", async (world) => {
      await commit(world, files());
      await pollTo(world, "succeeded");
      await docker(world, "create", "--name", "user", "-v", `${world.stack}_store:/x`, IMAGE);
      await commit(world, {}, { destroy: true });
      assert.match(JSON.stringify(await pollTo(world, "failed")), /has volume \S+ in use/);
      const database = new DatabaseSync(join(world.dataDir, "state.db"));
      const open = database.prepare("SELECT * FROM intents WHERE closed_at IS NULL").all();
      // Else what the destroy removed would come back, and go again with the next one.
      const [repaired] = database.prepare("SELECT * FROM reconciliations").all();
      database.close();
      assert.deepEqual(open, []);
      assert.match(String(repaired?.["options"]), /"isSuspended":true/);
      await docker(world, "rm", "user");
      await pollTo(world, "succeeded");
      assert.deepEqual(await leftovers(world), { containers: 0, networks: 0, volumes: 0 });
    }));

  it("that a newer commit took back while it waited for another process is left to that", () =>
    inWorld("fake", async (world) => {
      await commit(world, files());
      await pollTo(world, "succeeded");
      const before = await ids(world);
      await commit(world, {}, { destroy: true });
      await withOther(world, async (other) => {
        const intent = beginRollback(world, other, 1, false);
        const run = world.poll();
        await pause(500);
        await commit(world, files());
        other.fail(intent, "failed", "given up");
        const ended = await run;
        assert.match(JSON.stringify(ended), /came meanwhile, by which it is decided/);
        const left = ended.run.deployments?.find(({ stack }) => stack === world.stack);
        assert.deepEqual([left?.status, left?.reason], ["skipped", "superseded"]);
        // Nothing was tried, and nothing has succeeded.
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(out, /skip \(superseded\): refs.* came meanwhile, by which it is decided/);
        assert.match(out, /: destroy: [\s\S]*?outcome: skipped: refs.* came meanwhile/);
      });
      assert.deepEqual(await ids(world), before);
      await pollTo(world, "skipped");
    }));

  it("of what never was is skipped", () =>
    inWorld("fake", async (world) => {
      await commit(world, files(), { destroy: true });
      const finished = await pollTo(world, "skipped");
      assert.equal(finished.deployments?.[0]?.reason, "nothing_to_destroy");
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("needs no compose file any more", () =>
    inWorld("fake", async (world) => {
      await commit(world, files());
      await pollTo(world, "succeeded");
      await world.repository.remove(["compose.yaml"]);
      await commit(world, {}, { destroy: true });
      await pollTo(world, "succeeded");
      assert.deepEqual(await leftovers(world), { containers: 0, networks: 0, volumes: 0 });
    }));

  it("takes what is left when somebody removed the containers before", () =>
    inWorld("fake", async (world) => {
      await commit(world, files());
      await pollTo(world, "succeeded");
      await write(world, "data/by-container");
      for (const each of await world.containers()) world.fake?.removeContainer(each.name);
      await commit(world, {}, { destroy: true });
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(
        out,
        /: destroy what is left; deletes volume \S+_store; deletes what was written to .\/data\n/,
      );
      await pollTo(world, "succeeded");
      assert.deepEqual(await leftovers(world), { containers: 0, networks: 0, volumes: 0 });
    }));

  for (const when of ["stop", "networks", "volumes"]) {
    it(`leaves the rest, with the data, to whom a person handed it over at its ${when}`, async () => {
      let onMutation = (_: number, _call: { readonly path: string }) => {};
      const world = await createWorld({
        engine: "fake",
        onMutation: (number, call) => onMutation(number, call),
      });
      const owners = () => new DatabaseSync(join(world.dataDir, "state.db"));
      const data = join(world.dataDir, "releases", "default", world.stack, "live", "data");
      try {
        await commit(world, files());
        await pollTo(world, "succeeded");
        await write(world, "data/by-container");
        onMutation = (_, { path }) => {
          if (!path.includes(when)) return;
          onMutation = () => {};
          const database = owners();
          database.exec("UPDATE owners SET source = 'example.com/heir', adopted = 1");
          database.close();
        };
        await commit(world, files(), { destroy: true });
        const [target] = (await pollTo(world, "failed")).deployments ?? [];
        assert.match(
          target?.message ?? "",
          // By its next step, or by the look each second.
          /(?:is not destroyed further: it belongs|was handed over) to example\.com\/heir/,
        );
        const { containers, networks = 0, volumes } = await leftovers(world);
        assert.deepEqual(
          [containers, networks > 0, volumes],
          {
            stop: [2, true, 1],
            networks: [0, true, 1],
            volumes: [0, false, 0],
          }[when],
        );
        assert.equal(await readFile(join(data, "by-container"), "utf8"), "precious");
        const database = owners();
        const left = database.prepare("SELECT source FROM owners").all();
        database.close();
        assert.deepEqual(left.map((row) => row["source"]), ["example.com/heir"]);
      } finally {
        await world.close();
      }
    });
  }

  it("keeps no name for files of the commit that no container changed", () =>
    inWorld("fake", async (world) => {
      const web = {
        "compose.yaml": composeFile({ web: service({ volumes: ["./d:/d", "./conf:/conf"] }) }),
        "conf/web.conf": "as committed",
      };
      await commit(world, web);
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: { enabled: true, remove_volumes: false } });
      assert.doesNotMatch(JSON.stringify(await pollTo(world, "succeeded")), /written to/);
      const stack = join(world.dataDir, "releases", "default", world.stack);
      await assert.rejects(readFile(join(stack, "live", "conf", "web.conf")), { code: "ENOENT" });
      const other = await createWorld({ engine: "fake" });
      try {
        const configuration = JSON.stringify({ name: world.stack });
        await other.repository.commit({ ...web, ".stackwright.yaml": configuration });
        await pollTo(world, "succeeded", { url: other.repository.url });
      } finally {
        await other.close();
      }
    }));

  it("keeps what containers wrote with the volumes, for the owner alone, also without a ledger", () =>
    inWorld("fake", async (world) => {
      // No volume whose labels would tell whose the name is.
      const web = { "compose.yaml": composeFile({ web: service({ volumes: ["./d:/d"] }) }) };
      const data = join(world.dataDir, "releases", "default", world.stack, "live", "d", "db");
      await commit(world, web);
      await pollTo(world, "succeeded");
      await writeFile(data, "precious");
      await commit(world, {}, { destroy: { enabled: true, remove_volumes: false } });
      await pollTo(world, "succeeded");
      assert.equal(await readFile(data, "utf8"), "precious");

      const other = await createWorld({ engine: "fake" });
      try {
        await other.repository.commit({
          ...web,
          ".stackwright.yaml": JSON.stringify({ name: world.stack }),
        });
        const byOther = async () =>
          JSON.stringify(await pollTo(world, "failed", { url: other.repository.url }));
        assert.match(await byOther(), /belongs to/);
        const database = new DatabaseSync(join(world.dataDir, "state.db"));
        for (const table of ["owners", "intents", "releases"]) {
          database.exec(`DELETE FROM ${table}`);
        }
        database.close();
        assert.match(await byOther(), /has data that its containers wrote, kept for /);
      } finally {
        await other.close();
      }

      await commit(world, web);
      await pollTo(world, "succeeded");
      assert.equal(await readFile(data, "utf8"), "precious");
      await commit(world, {}, { destroy: true });
      const [target] = (await pollTo(world, "succeeded")).deployments ?? [];
      assert.equal(target?.message, "destroyed; deleted what was written to ./d");
      assert.equal(isOnDisk(world), false);
    }));

  for (const end of ["a destroy", "hand"] as const) {
    it(`keeps what containers wrote for the owner, removed by ${end} after the ledger was lost`, () =>
      inWorld("fake", async (world) => {
        const web = { "compose.yaml": composeFile({ web: service({ volumes: ["./d:/d"] }) }) };
        const data = join(world.dataDir, "releases", "default", world.stack, "live", "d", "db");
        await commit(world, web);
        await pollTo(world, "succeeded");
        await writeFile(data, "precious");
        const loseLedger = async () => {
          await world.stop();
          for (const part of ["", "-wal", "-shm"]) {
            await rm(join(world.dataDir, `state.db${part}`), { force: true });
          }
          await world.restart();
        };
        await loseLedger();
        if (end === "hand") await docker(world, "rm", "--force", `${world.stack}-web-1`);
        else {
          await commit(world, {}, { destroy: { enabled: true, remove_volumes: false } });
          await pollTo(world, "succeeded");
          // Else the ledger may tell what only the record is to tell here.
          await loseLedger();
        }
        const other = await createWorld({ engine: "fake" });
        try {
          await other.repository.commit({
            ...web,
            ".stackwright.yaml": JSON.stringify({ name: world.stack }),
          });
          const refused = await pollTo(world, "failed", { url: other.repository.url });
          assert.match(JSON.stringify(refused), /has data that its containers wrote, kept for /);
        } finally {
          await other.close();
        }
        await commit(world, web);
        await pollTo(world, "succeeded");
        assert.equal(await readFile(data, "utf8"), "precious");
      }));
  }

  it("of a project that nobody manages is refused", () =>
    inWorld("fake", async (world) => {
      await docker(
        world,
        "create",
        "--name",
        "foreign",
        "--label",
        `com.docker.compose.project=${world.stack}`,
        "--label",
        "com.docker.compose.service=web",
        "--label",
        "com.docker.compose.oneoff=False",
        "--label",
        "com.docker.compose.container-number=1",
        IMAGE,
      );
      await commit(world, files(), { destroy: true });
      const finished = await pollTo(world, "failed");
      assert.match(JSON.stringify(finished), /is not destroyed: its container foreign belongs to/);
      assert.equal((await leftovers(world))["containers"], 1);
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("of another repository's stack is refused, and the stack stays", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        await commit(world, files());
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\ndestroy: true\n`,
        });
        world.proxy.reset();
        const finished = await pollTo(world, "failed", { url: other.repository.url });
        assert.match(JSON.stringify(finished), /is not destroyed/);
        assert.deepEqual(await ids(world), before);
        assert.equal(world.proxy.mutations(), 0);
      } finally {
        await other.close();
      }
    }));

  it("by another repository is refused also when the containers are gone", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        await commit(world, files());
        await pollTo(world, "succeeded");
        for (const each of await world.containers()) world.fake?.removeContainer(each.name);
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\ndestroy: true\n`,
        });
        const finished = await pollTo(world, "failed", { url: other.repository.url });
        assert.match(JSON.stringify(finished), /is not destroyed/);
        assert.deepEqual(await leftovers(world), { containers: 0, networks: 2, volumes: 1 });
      } finally {
        await other.close();
      }
    }));
});
