import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, label, pollTo } from "./steps.ts";
import { decidingEngine, type World } from "./world.ts";

const web = (v: string) => ({
  "compose.yaml": composeFile({
    web: service({ labels: { v }, volumes: ["/anonymous"], restart: "always" }),
  }),
});

for (const engine of await decidingEngine()) {
  describe(`anonymous volumes on the ${engine} engine`, () => {
    it("survive a compose that breaks off between removing the old container and renaming the new", () =>
      inWorld(engine, async (world) => {
        await commit(world, web("1"));
        await pollTo(world, "succeeded");
        const before = await volume(world);
        await commit(world, web("2"));
        world.proxy.reset();
        await pollTo(world, "succeeded");
        const calls = world.proxy.calls.filter((each) => each.mutating);
        const at = 1 + calls.findIndex((each) => each.path.split("?")[0]?.endsWith("/rename"));
        assert.ok(at > 0, "this compose does not rename");
        assert.equal(await volume(world), before);

        await commit(world, web("3"));
        world.proxy.reset({ kind: "error", at, among: "mutating" });
        await pollTo(world, "failed");
        assert.equal(await label(world, "web", "v"), "2");
        assert.equal(await volume(world), before);
        world.proxy.reset();
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "v"), "3");
        assert.equal(await volume(world), before);
      }));
  });
}

/** Name of the anonymous volume of `web`. */
async function volume(world: World): Promise<string> {
  const format = '{{range .Mounts}}{{if eq .Destination "/anonymous"}}{{.Name}}{{end}}{{end}}';
  const text = await docker(world, "inspect", "--format", format, `${world.stack}-web-1`);
  assert.match(text.trim(), /^[0-9a-f]{64}$/);
  return text.trim();
}
