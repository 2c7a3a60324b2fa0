import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, reasons, replaced, states } from "./steps.ts";
import { decidingEngine, type World } from "./world.ts";

const always = { restart: "always" };

for (const engine of await decidingEngine()) {
  describe(`what a stopped container needs to be started again on the ${engine} engine`, () => {
    it("services that share the namespace of one that is started again are replaced", () =>
      inWorld(engine, async (world) => {
        const files = {
          "compose.yaml": composeFile({
            app: service({ ...always, network_mode: "service:vpn" }),
            other: service(always),
            vpn: service(always),
          }),
        };
        await commit(world, files);
        await pollTo(world, "succeeded");
        const first = await ids(world);
        await docker(world, "stop", "--time", "0", `${world.stack}-vpn-1`);
        const finished = await pollTo(world, "succeeded");
        assert.match(
          reasons(finished, "app"),
          /network namespace of vpn, and vpn is started again/,
        );
        assert.deepEqual(replaced(first, await ids(world)), ["app-1"]);
        await assertOneNamespace(world);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);

        // Both stopped: starting them in order is enough.
        const second = await ids(world);
        for (const name of ["app", "vpn"]) {
          await docker(world, "stop", "--time", "0", `${world.stack}-${name}-1`);
        }
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(second, await ids(world)), []);
        await assertOneNamespace(world);
      }));

    it("a container whose network was removed while it was stopped is replaced", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            app: service({ ...always, network_mode: "service:vpn" }),
            vpn: service({ ...always, volumes: ["/anonymous"] }),
          }),
        });
        await pollTo(world, "succeeded");
        for (const name of ["app", "vpn"]) {
          await docker(world, "stop", "--time", "0", `${world.stack}-${name}-1`);
        }
        await docker(world, "network", "rm", `${world.stack}_default`);
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "app-1": "running", "vpn-1": "running" });
        await assertOneNamespace(world);
        await pollTo(world, "skipped");
      }));
  });
}

/** The fake engine has no namespaces. */
async function assertOneNamespace(world: World): Promise<void> {
  if (world.kind === "fake") return;
  const space = (name: string) =>
    docker(world, "exec", `${world.stack}-${name}-1`, "readlink", "/proc/1/ns/net");
  assert.equal(await space("app"), await space("vpn"));
}
