import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { SteadyLoad } from "../fakes/steady_load.ts";
import { composeFile, service } from "../flow/compose_text.ts";
import { commit, docker, pollTo, reasons } from "../flow/steps.ts";
import { createWorld, engines, type World } from "../flow/world.ts";

/** How often the service is updated; `START_FIRST_UPDATES` says another number. */
const UPDATES = Number(process.env["START_FIRST_UPDATES"] ?? 15);
/** Requests a second. */
const RATE = 200;
/** Share of requests that who asks may lose for want of time before the test says nothing. */
const MOST_STALLED = 0.05;

const LIBRARIES = ["/lib", "/lib64", "/usr/lib"].filter((path) => existsSync(path))
  .map((path) => `${path}:${path}:ro`);

/** A program of the tests, run by this machine's Deno in an image that has no C library. */
function program(name: string, argument: string) {
  const fakes = fileURLToPath(new URL("../fakes", import.meta.url));
  return service({
    command: ["/deno", "run", "-A", "--no-check", "--quiet", `/fakes/${name}.ts`, argument],
    environment: { DENO_DIR: "/tmp/deno", DENO_NO_UPDATE_CHECK: "1" },
    tmpfs: ["/tmp"],
    volumes: [`${process.execPath}:/deno:ro`, `${fakes}:/fakes:ro`, ...LIBRARIES],
    stop_grace_period: "10s",
    healthcheck: {
      test: ["CMD", "wget", "-q", "-O-", "http://127.0.0.1/"],
      interval: "1s",
      retries: 60,
    },
  });
}

/** A web server that answers which version it is, and a proxy that looks it up for every request. */
const files = (version: number) => ({
  "compose.yaml": composeFile({
    web: {
      ...program("version_server", `version ${version}`),
      deploy: { update_config: { order: "start-first" } },
    },
    proxy: program("lookup_proxy", "web"),
  }),
});

async function proxyOf(world: World): Promise<string> {
  const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
  const address = await docker(world, "inspect", "--format", format, `${world.stack}-proxy-1`);
  return `${address.trim()}:80`;
}

for (const engine of (await engines()).filter((each) => each === "real")) {
  describe(`a service under load that is updated start-first ${UPDATES} times`, () => {
    it("answers every request, asked by a proxy that looks its name up anew", async () => {
      const world = await createWorld({ engine, speed: 1 });
      try {
        await commit(world, files(0));
        await pollTo(world, "succeeded");
        const load = new SteadyLoad(await proxyOf(world), RATE);
        try {
          for (let version = 1; version <= UPDATES; version++) {
            await commit(world, files(version));
            const finished = await pollTo(world, "succeeded");
            assert.match(reasons(finished, "web"), /replaced start-first/);
            assert.deepEqual(load.report.failures, [], `while it became version ${version}`);
          }
        } finally {
          await load.stop();
        }
        const { seconds, answers, failures, stalled, withheld } = load.report;
        const count = Object.values(answers).reduce((sum, each) => sum + each, 0);
        process.stderr.write(
          `${count} requests answered, ${(count / seconds).toFixed(0)} a second, ` +
            `${failures.length} failed, ${stalled.length} lost by who asked too late, ` +
            `${withheld} not made; ` +
            `${Object.keys(answers).length} versions answered\n`,
        );
        assert.deepEqual(failures, []);
        assert.ok(stalled.length <= count * MOST_STALLED, stalled.join("\n"));
        // The last one may have taken over after the last request.
        assert.ok(Object.keys(answers).length >= UPDATES, Object.keys(answers).join(", "));
      } finally {
        await world.close();
      }
    });
  });
}
