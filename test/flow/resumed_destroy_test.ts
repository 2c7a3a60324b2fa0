import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { commandTo, rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;
const THEM = "git.example.com/them/shop";
const FILES = {
  "compose.yaml": composeFile({ web: service({ volumes: ["store:/store"] }) }, {
    volumes: { store: {} },
  }),
};

/** Has another Stackwright deploy under the world's name, where nothing runs any more. */
async function deployTheirs(world: World): Promise<void> {
  const { stack } = world;
  const labels = [
    `com.docker.compose.project=${stack}`,
    "com.docker.compose.service=shop",
    "com.docker.compose.container-number=1",
    "stackwright.manager=stackwright",
    `stackwright.source.name=${THEM}`,
  ].flatMap((each) => ["--label", each]);
  await docker(world, "volume", "create", ...labels, `${stack}_data`);
  await docker(world, "network", "create", ...labels, `${stack}_theirs`);
  const configuration = ["--label", `stackwright.source.configuration=${THEM}`];
  await docker(world, "create", "--name", `${stack}-shop-1`, ...labels, ...configuration, IMAGE);
}

/** What the engine has of the world's project, by kind. */
async function left({ engine, stack }: World): Promise<readonly string[]> {
  const project = { "com.docker.compose.project": stack };
  const all = await Promise.all([
    engine.listContainers(project, never),
    engine.listNetworks(project, never),
    engine.listVolumes(project, never),
  ]);
  return all.flat().map(({ name }) => name.slice(stack.length)).sort();
}

/** Opens the intent of a destroy that a process left when it ended. */
function cutOff(world: World, by?: string): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  database.prepare(
    "INSERT INTO intents (id, context, name, kind, options, opened_at) VALUES (?, ?, ?, ?, ?, 0)",
  ).run("cut", "default", world.stack, "destroy", JSON.stringify({ removeVolumes: true }));
  if (by !== undefined) {
    const owner = JSON.stringify({ source: by, reference: "" });
    database.prepare("UPDATE intents SET in_name_of = ? WHERE id = 'cut'").run(owner);
  }
  database.close();
}

/** What is recorded of {@link cutOff} once nothing is open any more. */
async function messageOfCut(world: World): Promise<string> {
  const open = () => rows(world, "SELECT * FROM intents WHERE closed_at IS NULL");
  await until(() => open().length === 0);
  const [intent] = rows(world, "SELECT * FROM intents WHERE id = 'cut'");
  return String(intent?.["message"]);
}

describe("a destroy whose process was killed", () => {
  for (const theirs of [true, false]) {
    const title = theirs
      ? "takes nothing of another manager that has deployed under the name since"
      : "is finished at the next start";
    it(title, () =>
      inWorld("fake", async (world) => {
        await commit(world, FILES);
        await pollTo(world, "succeeded");
        await world.stop();
        for (const { name } of await world.containers()) await docker(world, "rm", "-f", name);
        if (theirs) await deployTheirs(world);
        cutOff(world);
        await world.restart();
        const message = await messageOfCut(world);
        const own = ["_default", "_store"];
        assert.deepEqual(
          await left(world),
          theirs ? ["-shop-1", "_data", ...own, "_theirs"].sort() : [],
        );
        assert.match(
          message,
          theirs ? /is not destroyed: its container \S+-shop-1 belongs to git/ : /^destroyed/,
        );
      }));
  }

  it("is closed where it fails again: who wants it asks again", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await docker(world, "create", "--name", "user", "-v", `${world.stack}_store:/x`, IMAGE);
      await world.stop();
      cutOff(world);
      await world.restart();
      assert.match(await messageOfCut(world), /volume/);
      const open = rows(world, "SELECT outcome FROM intents WHERE id = 'cut'");
      assert.deepEqual(open.map((each) => each["outcome"]), ["failed"]);
    }));

  it("is left to the next look where the engine cannot be looked at", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await world.stop();
      cutOff(world);
      // Its first question about the stack: who has what is there.
      world.proxy.reset({ kind: "error", at: 3, among: "all" });
      await world.restart();
      assert.match(await messageOfCut(world), /^destroyed/);
    }));

  it("is given up where a person holds the stack since", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await world.stop();
      const before = await left(world);
      cutOff(world);
      await commandTo(world, 0, ["hold", "--reason", "keep it", world.stack]);
      await world.restart();
      const message = await messageOfCut(world);
      assert.match(
        message,
        /is not removed: it is held by a person .*: keep it/,
      );
      assert.deepEqual(await left(world), before);
    }));

  for (const version of ["by this version", "by an earlier version, which recorded no owner"]) {
    it(`is given up where the stack was handed over meanwhile, begun ${version}`, () =>
      inWorld("fake", async (world) => {
        await commit(world, FILES);
        await pollTo(world, "succeeded");
        await world.stop();
        const [row] = rows(world, "SELECT source FROM owners");
        const before = await left(world);
        await commandTo(world, 0, ["adopt", world.stack, "--source", THEM]);
        // A hand-over closes what ended processes left; this one's still ran then.
        cutOff(world, version.includes("earlier") ? undefined : String(row?.["source"]));
        await world.restart();
        const message = await messageOfCut(world);
        assert.match(
          message,
          /was handed over to git.example.com\/them\/shop: /,
        );
        assert.deepEqual(await left(world), before);
      }));
  }
});
