import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COMPOSE_LABELS } from "../../src/model/mod.ts";
import type { Commands } from "../../src/system/mod.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { composeFile, service } from "./compose_text.ts";
import { actions, commit, docker, inWorld, pollTo } from "./steps.ts";
import { createWorld, IMAGE, type World, worldCommands } from "./world.ts";

const reference = "registry.test/app:1";

/** Another repository's build takes the name of an image. */
const take = (world: World) =>
  world.fake?.addImage(reference, { where: "engine", content: "another's" });

/** What the containers of a service run. */
const runs = async (world: World, name: string) =>
  (await world.containers()).filter((each) => each.service === name).map((each) => each.imageId);

describe("an image whose name another repository's build takes", () => {
  for (const how of ["pull_policy: always", "force_image_pull"] as const) {
    it(`after it was pulled for ${how} is the one that the container runs`, async () => {
      const inner = createFakeBuilder(worldCommands);
      let meanwhile = () => {};
      const commands: Commands = {
        start: (command) => inner.start(command),
        run: async (command, signal) => {
          const { argv } = command;
          if (argv.includes("build") && !argv.includes("config")) meanwhile();
          return await inner.run(command, signal);
        },
      };
      const world = await createWorld({ engine: "fake", commands });
      try {
        const pulled = world.fake?.addImage(reference, { where: "registry" });
        const always = how === "pull_policy: always" ? { pull_policy: "always" } : {};
        const web = service({ image: reference, ...always });
        const app = service({ image: `${world.stack}-app:1`, build: "./app" });
        meanwhile = () => void take(world);
        await commit(world, {
          "compose.yaml": composeFile({ web, app }),
          "app/Dockerfile": `FROM ${IMAGE}\n`,
        }, how === "force_image_pull" ? { force_image_pull: true } : {});
        await pollTo(world, "succeeded");
        assert.deepEqual(await runs(world, "web"), [pulled]);
      } finally {
        await world.close();
      }
    });
  }

  it("while the stack builds, with its labels, is run by no container of the stack", async () => {
    const inner = createFakeBuilder(worldCommands);
    let meanwhile = () => {};
    const commands: Commands = {
      start: (command) => inner.start(command),
      run: async (command, signal) => {
        const result = await inner.run(command, signal);
        const { argv } = command;
        if (argv.includes("build") && !argv.includes("config")) meanwhile();
        return result;
      },
    };
    const world = await createWorld({ engine: "fake", commands });
    try {
      const image = `${world.stack}-app:1`;
      let theirs: string | undefined;
      meanwhile = () => {
        const labels = { [COMPOSE_LABELS.project]: world.stack, [COMPOSE_LABELS.service]: "app" };
        theirs = world.fake?.addImage(image, { where: "engine", content: "forged", labels });
      };
      await commit(world, {
        "compose.yaml": composeFile({ app: service({ image, build: "./app" }) }),
        "app/Dockerfile": `FROM ${IMAGE}\n`,
      });
      await pollTo(world, "succeeded");
      const [ran] = await runs(world, "app");
      assert.notEqual(ran, theirs);
      const { signal } = new AbortController();
      const labels = await world.engine.imageLabels(ran ?? "", signal);
      assert.equal(labels?.[COMPOSE_LABELS.service], "app");
    } finally {
      await world.close();
    }
  });

  it("is what a missing container of the deployed release gets, and more replicas", () =>
    inWorld("fake", async (world) => {
      const ours = world.fake?.addImage(reference, { where: "engine" });
      const files = (scale: number) => ({
        "compose.yaml": composeFile({ web: service({ image: reference, scale }) }),
      });
      await commit(world, files(1));
      await pollTo(world, "succeeded");
      const theirs = take(world);
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      assert.deepEqual(actions(await pollTo(world, "succeeded")), { web: "create" });
      assert.deepEqual(await runs(world, "web"), [ours]);

      await commit(world, files(2));
      assert.deepEqual(actions(await pollTo(world, "succeeded")), { web: "scale" });
      assert.deepEqual(await runs(world, "web"), [ours, ours]);
      const named = await world.engine.imageId(reference, new AbortController().signal);
      assert.equal(named, theirs, "their name was taken back");

      // A release that has something else for it takes what the name means, as the words say.
      const next = service({ image: reference, environment: { NEW: "1" } });
      await commit(world, { "compose.yaml": composeFile({ web: next }) });
      await pollTo(world, "succeeded");
      assert.deepEqual(await runs(world, "web"), [theirs]);
    }));
});
