import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../src/docker/mod.ts";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import {
  type ComposeCommand,
  composePlugins,
  createComposeCommand,
} from "../fakes/compose_command.ts";
import { createEngineProxy } from "../fakes/engine_proxy.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { type Observation, play, scenario, type Step } from "./compose_scenario.ts";

const real = await findRealEngine();
const steps = scenario(BUSYBOX_IMAGE);

for (const plugin of composePlugins()) {
  describe(`the real compose (${plugin || "installed"}) on engines`, () => {
    const project = `swt-${crypto.randomUUID().slice(0, 8)}`;
    let compose: ComposeCommand;
    let directory: string;
    let onFake: Map<string, Observation>;
    let onReal: Map<string, Observation> | undefined;
    before(async () => {
      compose = await createComposeCommand(plugin);
      directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
      onFake = await playOnFake(compose, project, directory);
      if (real.unavailable !== undefined) return;
      await ensureBusyboxImage();
      onReal = await playOn(real.socketPath, compose, project, directory);
    });
    after(async () => {
      await compose.close();
      await fs.rm(directory, { recursive: true });
    });

    for (const step of steps) {
      it(`the fake engine shows what was asked for after: ${step.title}`, () => {
        expectStep(step, onFake.get(step.title));
      });
      it(`fake and real engine are alike after: ${step.title}`, {
        skip: real.unavailable ?? false,
      }, () => {
        assert.deepEqual(onFake.get(step.title), onReal?.get(step.title));
      });
    }
  });
}

async function playOnFake(compose: ComposeCommand, project: string, directory: string) {
  const fake = await createFakeEngine({ socketPath: join(directory, "fake.sock") });
  try {
    fake.addImage(BUSYBOX_IMAGE);
    return await playOn(fake.socketPath, compose, project, directory);
  } finally {
    await fake.close();
  }
}

async function playOn(
  upstream: string,
  compose: ComposeCommand,
  project: string,
  directory: string,
): Promise<Map<string, Observation>> {
  const proxy = await createEngineProxy({ socketPath: join(directory, "proxy.sock"), upstream });
  const engine = createEngine({ host: `unix://${upstream}` });
  try {
    return await play(steps, { compose, proxy, engine, project });
  } finally {
    // Also when a step failed: what the project left must not stay on a real engine.
    const args = ["-p", project, "down", "-v", "--remove-orphans", "-t", "0"];
    await compose.run(`unix://${upstream}`, args);
    engine.close();
    await proxy.close();
  }
}

function expectStep(step: Step, seen: Observation | undefined): void {
  assert.ok(seen !== undefined);
  assert.equal(seen.mutations.length === 0, step.changesNothing ?? false, step.title);
  const services = (seen.containers as { service: string }[]).map((each) => each.service);
  const expected: Record<string, string[]> = {
    "up": ["db", "extra", "side", "web"],
    "scale up": ["db", "extra", "side", "web", "web", "web"],
    "remove orphans": ["db", "side", "web", "web", "web"],
    "down": [],
  };
  const wanted = expected[step.title];
  if (wanted !== undefined) assert.deepEqual(services.sort(), wanted);
}
