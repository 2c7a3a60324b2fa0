import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { startByHand } from "./by_hand.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";

describe("links of containers in the way of data that was brought along", () => {
  it("lead no removal elsewhere when the adoption fails", () =>
    inWorld("fake", async (world) => {
      const directory = await mkdtemp(join(tmpdir(), "swt-brought-"));
      try {
        await mkdir(join(directory, "x/data"), { recursive: true });
        await writeFile(join(directory, "x/data/file"), "old");
        await mkdir(join(directory, "elsewhere/data"), { recursive: true });
        const precious = join(directory, "elsewhere/data/file");
        await writeFile(precious, "precious");
        const web = { volumes: ["./x/data:/data"] };
        await startByHand(world, composeFile({ web: service(web) }), { directory });
        await commit(world, {
          "compose.yaml": composeFile({
            web: badService(world, web),
            writer: service({ volumes: [".:/all"] }),
          }),
        });
        const polled = pollTo(world, "failed");
        const live = join(world.dataDir, "releases/default", world.stack, "live");
        await until(() => existsSync(join(live, "x/data/file")));
        await rename(join(live, "x"), join(live, "was"));
        await symlink(join(directory, "elsewhere"), join(live, "x"));
        const failed = JSON.stringify(await polled);
        assert.equal(await readFile(precious, "utf8"), "precious", failed);
      } finally {
        await rm(directory, { recursive: true });
      }
    }));

  it("lead no mount of the release elsewhere", () =>
    inWorld("fake", async (world) => {
      const directory = await mkdtemp(join(tmpdir(), "swt-brought-"));
      try {
        await mkdir(join(directory, "data"));
        await symlink(directory, join(directory, "data/sub"));
        await startByHand(world, composeFile({ web: service({ volumes: ["./data:/data"] }) }), {
          directory,
        });
        await commit(world, {
          "compose.yaml": composeFile({
            web: service({ volumes: ["./data:/data", "./data/sub:/sub"] }),
          }),
        });
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.match(failed, /data\/sub leads out of the stack's live files: .* were put back/);
        assert.deepEqual(await states(world), { "web-1": "running" });
        const live = join(world.dataDir, "releases/default", world.stack, "live");
        assert.ok(!existsSync(join(live, "data")));
      } finally {
        await rm(directory, { recursive: true });
      }
    }));
});

describe("links of containers in the place of mounts", () => {
  for (const target of ["../..", "/swt/only-on-the-host"]) {
    it(`are not followed to ${target} when a release fails`, () =>
      inWorld("fake", async (world) => {
        const a = service({ volumes: ["./data:/data"] });
        const b = { volumes: ["./data/sub:/sub"] };
        await commit(world, { "compose.yaml": composeFile({ a, b: service(b) }) });
        await pollTo(world, "succeeded");
        const sub = join(world.dataDir, "releases/default", world.stack, "live/data/sub");
        await rm(sub, { recursive: true });
        await symlink(target, sub);
        await commit(world, { "compose.yaml": composeFile({ a, b: service(b), c: service() }) });
        assert.match(JSON.stringify(await pollTo(world, "failed")), /sub leads out of the stack's/);
        await commit(world, { "compose.yaml": composeFile({ a, b: badService(world, {}) }) });
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.match(failed, /release back failed too: .* leads out of the stack's live files/);
      }));
  }
});
