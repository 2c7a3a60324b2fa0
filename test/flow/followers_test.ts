import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, reasons, replaced, states } from "./steps.ts";
import { decidingEngine, type World } from "./world.ts";

/** What makes one service follow another, and what the plan says about it. */
const FOLLOWERS: readonly { title: string; follower: Part; because: RegExp; compose?: Part }[] = [
  {
    title: "network_mode: service:x",
    follower: { network_mode: "service:web" },
    because: /shares the network namespace of web, and web is replaced/,
  },
  {
    title: "pid: service:x",
    follower: { pid: "service:web" },
    because: /shares the pid namespace of web, and web is replaced/,
  },
  {
    title: "volumes_from",
    follower: { volumes_from: ["web"] },
    because: /mounts the volumes of web, and web is replaced/,
  },
  {
    title: "depends_on with restart: true",
    follower: { depends_on: { web: { condition: "service_started", restart: true } } },
    because: /depends on web with restart: true, and web is replaced/,
  },
];

const files = (follower: Part, value: string) => ({
  "compose.yaml": composeFile({
    bystander: service({ depends_on: ["web"] }),
    follower: service(follower),
    second: service({ depends_on: { follower: { condition: "service_started", restart: true } } }),
    web: service({ environment: { VALUE: value }, volumes: ["/anonymous"] }),
  }),
});

for (const engine of await decidingEngine()) {
  describe(`services that follow another on the ${engine} engine`, () => {
    for (const row of FOLLOWERS) {
      it(`${row.title}: replaced with it, those that follow them too, and nobody else`, () =>
        inWorld(engine, async (world) => {
          await commit(world, files(row.follower, "1"));
          await pollTo(world, "succeeded");
          const first = await ids(world);
          await commit(world, files(row.follower, "2"));
          await pollTo(world, "succeeded");
          const second = await ids(world);
          assert.deepEqual(replaced(first, second), ["follower-1", "second-1", "web-1"]);
          assert.deepEqual(new Set(Object.values(await states(world))), new Set(["running"]));

          world.proxy.reset();
          await pollTo(world, "skipped");
          assert.equal(world.proxy.mutations(), 0);
        }));
    }

    it("a follower is replaced when only the container it follows had to be made anew", () =>
      inWorld(engine, async (world) => {
        const row = FOLLOWERS[0];
        assert.ok(row);
        await commit(world, files(row.follower, "1"));
        await pollTo(world, "succeeded");
        const first = await ids(world);
        await removeWeb(world);
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /its container is missing/);
        assert.match(reasons(finished, "follower"), row.because);
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["follower-1", "second-1", "web-1"]);
      }));
  });
}

async function removeWeb(world: World): Promise<void> {
  await docker(world, "rm", "--force", `${world.stack}-web-1`);
}
