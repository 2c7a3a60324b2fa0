import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Command, Commands } from "../../src/system/mod.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { label, pollTo } from "./steps.ts";
import { createWorld, IMAGE } from "./world.ts";
import { until } from "./until.ts";

/** Programs of which pulls and builds of stacks named so go on until a signal ends them. */
function createStuck(inner: Commands) {
  const stuck = { count: 0 };
  const isStuck = ({ argv }: Command) =>
    argv.some((each) => /-stuck-\d+$/.test(each)) && !argv.includes("config") &&
    (argv.includes("pull") || argv.includes("build"));
  const commands: Commands = {
    start: (command) => inner.start(command),
    async run(command, signal) {
      if (!isStuck(command)) return await inner.run(command, signal);
      stuck.count++;
      return await new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true })
      );
    },
  };
  return { stuck, commands };
}

describe("a dozen stacks of one repository that never end to", () => {
  const dockerfile = { Dockerfile: `FROM ${IMAGE}\nRUN sleep 900\n` };
  const parts = {
    build: composeFile({ web: { build: "." } }),
    pull: composeFile({ web: { image: "silent.example/app:1" } }),
  };
  for (const [what, compose] of Object.entries(parts)) {
    it(`${what} keep no other repository waiting`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "swt-stuck-"));
      const { stuck, commands } = createStuck(createFakeBuilder());
      const world = await createWorld({ engine: "fake", commands });
      try {
        const other = await createRepository(directory);
        const files = {
          "compose.yaml": composeFile({ web: service({ labels: { number: "1" } }) }),
        };
        await other.commit({ ...files, ".stackwright.yaml": `name: ${world.stack}\n` });
        const names = Array.from({ length: 12 }, (_, at) => `${world.stack}-stuck-${at}`);
        const config = configFile(...names.map((name) => ({ name })));
        await world.repository.commit({
          ".stackwright.yaml": config,
          "compose.yaml": compose,
          ...dockerfile,
        });
        // It ends with its world.
        world.poll().catch(() => {});
        await until(() => stuck.count >= 8);
        await pollTo(world, "succeeded", { url: other.url });
        assert.equal(await label(world, "web", "number"), "1");
        assert.equal(stuck.count, 8, "of one repository eight go on at once");
      } finally {
        await world.close();
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});
