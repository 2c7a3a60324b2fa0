import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { startByHand } from "./by_hand.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo } from "./steps.ts";
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
});
