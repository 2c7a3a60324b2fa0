import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, it } from "node:test";
import { freePort } from "../fakes/free_port.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

function listening(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

/** Whether this process is on the engine's machine, so that a program here can hold a port there. */
async function isInHostNetwork(world: World): Promise<boolean> {
  const format = "{{range .IPAM.Config}}{{.Gateway}}{{end}}";
  const gateway = (await docker(world, "network", "inspect", "bridge", "--format", format)).trim();
  return Object.values(networkInterfaces()).flat().some((each) => each?.address === gateway);
}

for (const engine of (await engines()).filter((each) => each === "real")) {
  describe("a port that a program of the host holds", () => {
    it("is found where a person's run of a service of the stack holds it, too", () =>
      inWorld(engine, async (world) => {
        const port = await freePort();
        const web = (more = {}) => ({
          "compose.yaml": composeFile({ web: service({ network_mode: "bridge", ...more }) }),
        });
        await commit(world, web());
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const name = `${world.stack}-dump`;
        const labels = { project: world.stack, service: "web", oneoff: "True" };
        const marks = Object.entries(labels).flatMap((
          [key, value],
        ) => ["--label", `com.docker.compose.${key}=${value}`]);
        const run = ["run", "--detach", "--name", name, "--publish", `${port}:80`, ...marks];
        await docker(world, ...run, IMAGE, "sleep", "1000");
        try {
          await commit(world, web({ ports: [`${port}:80`] }));
          const failed = JSON.stringify(await pollTo(world, "failed"));
          assert.match(
            failed,
            new RegExp(`service web needs port ${port}/tcp, which container ${name}`),
          );
          assert.match(failed, /Stackwright did not make it and leaves it alone/);
          assert.deepEqual(await ids(world), { ...before, dump: (await ids(world))["dump"] });
        } finally {
          await docker(world, "rm", "--force", name);
        }
      }));

    it("is found before anything is touched, and one's own port is none", () =>
      inWorld(engine, async (world) => {
        if (!await isInHostNetwork(world)) return;
        const [port, taken] = [await freePort(), await freePort()];
        const web = (published: number, more = {}) => ({
          "compose.yaml": composeFile({
            web: service({ ports: [`127.0.0.1:${published}:80`], ...more }),
          }),
        });
        await commit(world, web(port));
        await pollTo(world, "succeeded");
        await commit(world, web(port, { labels: { "test.v": "2" } }));
        await pollTo(world, "succeeded");
        const before = await ids(world);

        const program = await listening(taken);
        try {
          await commit(world, web(taken));
          const { deployments } = await pollTo(world, "failed");
          assert.match(
            deployments?.[0]?.message ?? "",
            new RegExp(`service web needs port ${taken}/tcp of the host, which a program holds`),
          );
          assert.deepEqual(await ids(world), before);
        } finally {
          await new Promise((resolve) => program.close(resolve));
        }
        await pollTo(world, "succeeded");
      }));
  });
}
