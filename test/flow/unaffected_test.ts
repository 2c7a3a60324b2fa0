import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, configFile, service } from "./compose_text.ts";
import { type CountingCompose, createCountingCompose } from "./counting_compose.ts";
import { commit, ids, inWorld, pollTo } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

/** A world whose calls of compose are counted. */
async function counting(
  engine: "fake" | "real",
  test: (world: World, compose: CountingCompose) => Promise<void>,
): Promise<void> {
  const compose = await createCountingCompose();
  try {
    await inWorld(engine, (world) => test(world, compose), {
      DOCKER_CONFIG: compose.configDirectory,
    });
  } finally {
    await compose.close();
  }
}

const never = new AbortController().signal;

/** Two stacks in directories of their own. */
const twoStacks = (world: World) => ({
  ".stackwright.yaml": configFile(
    { name: `${world.stack}-a`, working_dir: "a" },
    { name: `${world.stack}-b`, working_dir: "b" },
  ),
  "a/compose.yaml": composeFile({ web: service({ volumes: ["./page:/page:ro"] }) }),
  "a/page/index.html": "one",
  "b/compose.yaml": composeFile({ web: service({ env_file: ["web.env"] }) }),
  "b/web.env": "A=1",
});

for (const engine of await engines()) {
  describe(`commits that do not concern a stack on the ${engine} engine`, () => {
    it("cost no call of compose and no mutation, only those of the stack they concern", () =>
      counting(engine, async (world, compose) => {
        await world.repository.commit(twoStacks(world));
        await pollTo(world, "succeeded");
        assert.deepEqual(new Set(await compose.take()), new Set(["config"]));
        const [a, b] = [`${world.stack}-a`, `${world.stack}-b`];
        const [idsA, idsB] = [await ids(world, a), await ids(world, b)];

        world.proxy.reset();
        await pollTo(world, "skipped");
        await world.repository.commit({ "README.md": "words", "c/compose.yaml": "not: [yaml" });
        await pollTo(world, "skipped");
        assert.deepEqual(await compose.take(), []);
        assert.equal(world.proxy.mutations(), 0);

        await world.repository.commit({ "a/page/index.html": "two" });
        await pollTo(world, "succeeded");
        assert.deepEqual(await compose.take(), []);
        assert.notDeepEqual(await ids(world, a), idsA);
        assert.deepEqual(await ids(world, b), idsB);

        await world.restart();
        await pollTo(world, "skipped");
        assert.deepEqual(await compose.take(), []);
      }));

    // The rest is about us. How often an engine is asked depends on us alone.
    if (engine === "real") return;

    it("of a stack cost the same however many other stacks there are", () =>
      inWorld(engine, async (world) => {
        const names = ["a", "b", "c", "d", "e"];
        await world.repository.commit({
          ".stackwright.yaml": configFile(
            ...names.map((each) => ({ name: `${world.stack}-${each}`, working_dir: each })),
          ),
          ...Object.fromEntries(
            names.map((each) => [`${each}/compose.yaml`, composeFile({ web: service({}) })]),
          ),
        });
        await pollTo(world, "succeeded");

        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.deepEqual(world.proxy.calls.map(({ path }) => path.replace(/\?.*/, "")), [
          `${world.proxy.calls[0]?.path.replace(/\/containers.*/, "")}/containers/json`,
        ]);

        const [gone] = await world.containers(`${world.stack}-d`);
        await world.engine.removeContainer(gone?.id ?? "", { force: true, volumes: false }, never);
        const run = await pollTo(world, "succeeded");
        const states = run.deployments?.map(({ status }) => status);
        assert.deepEqual(states, ["skipped", "skipped", "skipped", "succeeded", "skipped"]);
        assert.equal((await world.containers(`${world.stack}-d`)).length, 1);
      }));
  });
}

/** Changes that change no container. */
const CHANGES: readonly { title: string; files: (world: World) => Record<string, string> }[] = [
  {
    title: "a comment in the compose file",
    files: () => ({ "compose.yaml": `# a comment\n${COMPOSE}` }),
  },
  {
    title: "another order of keys and quoting",
    files: () => ({
      "compose.yaml":
        `services:\n  web:\n    command: ["sleep", "100000"]\n    "image": '${IMAGE}'\n    stop_grace_period: 0s\n`,
    }),
  },
  {
    title: "the compose file under another default name",
    files: () => ({ "compose.yml": COMPOSE, "docker-compose.yml": COMPOSE }),
  },
  {
    title: "a comment in the configuration",
    files: (world) => ({ ".stackwright.yaml": `# a comment\nname: ${world.stack}\n` }),
  },
  {
    title: "a default that is written out",
    files: (world) => ({ ".stackwright.yaml": `name: ${world.stack}\nworking_dir: .\n` }),
  },
  {
    title: "a longer timeout",
    files: (world) => ({ ".stackwright.yaml": `name: ${world.stack}\ntimeout: 9m\n` }),
  },
  { title: "an .env nobody reads from", files: () => ({ ".env": "UNUSED=1\n" }) },
];

const COMPOSE = `services:
  web:
    image: ${IMAGE}
    command: [sleep, "100000"]
    stop_grace_period: 0s
`;

describe("changes that change no container", () => {
  for (const change of CHANGES) {
    it(`${change.title}: no mutation, and the next poll calls no compose`, () =>
      counting("fake", async (world, compose) => {
        await commit(world, { "compose.yaml": COMPOSE });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await world.repository.commit(change.files(world));
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        await compose.take();
        await pollTo(world, "skipped");
        assert.deepEqual(await compose.take(), []);
        assert.deepEqual(await ids(world), before);
      }));
  }
});
