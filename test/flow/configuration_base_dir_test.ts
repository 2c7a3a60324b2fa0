import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, configFile, service } from "./compose_text.ts";
import { inWorld, label, pollTo } from "./steps.ts";

const app = (text: string) => composeFile({ web: service({ labels: { "test.v": text } }) });

describe("DEPLOY_CONFIG_BASE_DIR", () => {
  for (const directory of ["ops/hosts", "/ops/hosts/"]) {
    it(`${directory} is where configurations are looked for, and moves no working_dir`, () =>
      inWorld("fake", async (world) => {
        await world.repository.commit({
          "ops/hosts/.stackwright.yaml": configFile({ name: world.stack }),
          "ops/hosts/compose.yaml": app("beside the configuration"),
          ".stackwright.yaml": configFile({ name: `${world.stack}-never` }),
          "compose.yaml": app("root"),
        });
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "test.v"), "root");
        assert.deepEqual(await world.containers(`${world.stack}-never`), []);
        await world.repository.remove(["ops/hosts/.stackwright.yaml"]);
        const { message = "" } = await pollTo(world, "failed");
        assert.match(message, /expected \.stackwright\.yaml, .* in ops\/hosts/);
      }, { DEPLOY_CONFIG_BASE_DIR: directory }));
  }

  it("a discovery does not take the file that declares it for an override", () =>
    inWorld("fake", async (world) => {
      const stack = `${world.stack}-a`;
      await world.repository.commit({
        [`ops/${stack}/compose.yaml`]: app("found"),
        "ops/.stackwright.yaml": configFile({ name: world.stack, auto_discovery: true }),
        "ops/compose.yaml": app("ops"),
      });
      const run = await pollTo(world, "succeeded");
      assert.deepEqual(run.deployments?.map((each) => each.stack).sort(), ["ops", stack]);
    }, { DEPLOY_CONFIG_BASE_DIR: "ops" }));
});
