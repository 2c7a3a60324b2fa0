import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, pollTo } from "./steps.ts";
import { createWorld, engines } from "./world.ts";

// The fake engine stops containers at once, so that nothing can outlive the call there.
for (const engine of (await engines()).filter((each) => each === "real")) {
  describe(`a stop that outlives the deployment on the ${engine} engine`, () => {
    it("a rollback starts again what died after it had begun", async () => {
      const world = await createWorld({ engine, speed: 1 });
      try {
        const web = (value: string) =>
          service({
            command: ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
            stop_grace_period: "9s",
            environment: { VALUE: value },
          });
        await commit(world, { "compose.yaml": composeFile({ web: web("1") }) });
        await pollTo(world, "succeeded");
        const since = Math.floor(Date.now() / 1000);
        await commit(world, { "compose.yaml": composeFile({ web: web("2") }) }, { timeout: 4 });
        const { deployments } = await pollTo(world, "failed");
        assert.match(deployments?.[0]?.message ?? "", /put back/);
        const name = `${world.stack}-web-1`;
        const inspect = (field: string) =>
          docker(world, "inspect", "--format", `{{${field}}}`, name).then((text) => text.trim());
        assert.equal(await inspect(".State.Status"), "running");
        assert.ok((await inspect(".Config.Env")).includes("VALUE=1"));
        // On a machine that is slow enough the step is cut before it came to the stop.
        const filters = ["--filter", `container=${name}`, "--filter", "event=kill"];
        const until = Math.ceil(Date.now() / 1000);
        const killed = await docker(
          world,
          ...["events", "--since", `${since}`, "--until", `${until}`],
          ...filters,
        );
        if (killed !== "") assert.doesNotMatch(await inspect(".State.FinishedAt"), /^0001/);
      } finally {
        await world.close();
      }
    });
  });
}
