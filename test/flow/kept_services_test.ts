import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { commit, ids, label, pollTo, replaced } from "./steps.ts";
import { createWorld, engines } from "./world.ts";

// A real engine: its health checks decide.
for (const engine of (await engines()).filter((each) => each === "real")) {
  describe("a release and the services that it leaves alone", () => {
    it("is put back when it breaks one that depends on what it changes", async () => {
      const world = await createWorld({ engine, speed: 1 });
      try {
        const shop = (version: string, command: readonly string[]) => ({
          "compose.yaml": composeFile({
            db: service({ command, labels: { version } }),
            web: service({
              depends_on: ["db"],
              healthcheck: {
                test: ["CMD-SHELL", "nc -w 5 db 5000 < /dev/null"],
                interval: "1s",
                timeout: "10s",
                retries: 2,
              },
            }),
          }),
        });
        await commit(world, shop("1", ["httpd", "-f", "-p", "5000"]));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, shop("2", ["sleep", "100000"]));
        const { deployments } = await pollTo(world, "failed");
        const message = deployments?.[0]?.message ?? "";
        assert.match(
          message,
          /service web: .* is unhealthy; the release left web alone, but changed/,
        );
        assert.equal(await label(world, "db", "version"), "1");
        assert.deepEqual(replaced(before, await ids(world)), ["db-1"]);

        await commit(world, shop("3", ["httpd", "-f", "-p", "5000"]));
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "db", "version"), "3");
      } finally {
        await world.close();
      }
    });
  });
}
