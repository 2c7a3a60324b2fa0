import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createEngine } from "../../src/docker/mod.ts";
import { writeContext } from "../fakes/context_files.ts";
import { createEngineProxy, type EngineProxy } from "../fakes/engine_proxy.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { inWorld, pollTo } from "./steps.ts";
import { IMAGE } from "./world.ts";

const NO_SIGNAL = new AbortController().signal;
const JOB = { "stackwright.job.enabled": "true", "stackwright.job.schedule": "0 0 1 1 *" };

/** How many streams of events were asked for that are not about one stack: deployments ask for those. */
const streams = ({ calls }: EngineProxy) =>
  calls.map(({ path }) => decodeURIComponent(path))
    .filter((path) => path.startsWith("/events?") && path.includes('"service"')).length;

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await pause(20);
}

it("an engine has one stream of events, for jobs and for what comes back, and each context one", () =>
  inWorld("fake", async (world) => {
    const directory = await mkdtemp(join(tmpdir(), "swt-second-"));
    const second = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
    second.addImage(IMAGE, { where: "both" });
    const proxy = await createEngineProxy({
      socketPath: join(directory, "proxy.sock"),
      upstream: second.socketPath,
    });
    const engine = createEngine({ host: second.host });
    try {
      writeContext(world.env["DOCKER_CONFIG"] ?? "", "two", { host: proxy.host });
      const stack = { name: world.stack, reconciliation: { events: ["destroy"] } };
      await world.repository.commit({
        ".stackwright.yaml": configFile(stack, { ...stack, context: "two" }),
        "compose.yaml": composeFile({
          web: service(),
          backup: service({ command: ["true"], labels: JOB }),
        }),
      });
      await pollTo(world, "succeeded");
      const hosts = [
        { context: "", fake: world.fake, client: world.engine, calls: world.proxy },
        { context: "two", fake: second, client: engine, calls: proxy },
      ];
      for (const { context, fake, client } of hosts) {
        const isPlanned = async () => {
          const answer = await world.request(`/v1/api/jobs?context=${context}`);
          return (await answer.json()).content[0]?.next_run_at !== undefined;
        };
        await until(isPlanned);
        fake?.removeContainer(`${world.stack}-web-1`);
        const labels = { "com.docker.compose.project": world.stack };
        await until(async () =>
          (await client.listContainers(labels, NO_SIGNAL)).some((each) => each.service === "web")
        );
      }
      assert.deepEqual(hosts.map(({ calls }) => streams(calls)), [1, 1]);
    } finally {
      await world.stop();
      engine.close();
      await proxy.close();
      await second.close();
      await rm(directory, { recursive: true });
    }
  }));
