import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { createEngine } from "../../src/docker/mod.ts";
import { isWanted } from "../../src/deploy/swarm/observed_services.ts";
import {
  type ComposeCommand,
  composePlugins,
  createComposeCommand,
} from "../fakes/compose_command.ts";
import {
  type ImageRegistry,
  registryMissing,
  startImageRegistry,
} from "../fakes/image_registry.ts";
import { findSwarm } from "../fakes/real_swarm.ts";
import { composeFile, service } from "../flow/compose_text.ts";
import { actions, commit, pollTo } from "../flow/steps.ts";
import { createWorld, IMAGE, type World } from "../flow/world.ts";

const run = promisify(execFile);
const never = new AbortController().signal;
const NAMESPACE = "com.docker.stack.namespace";
const swarm = await findSwarm();
const { SWARM_HOSTS = "", SWARM_ADDRESS = "", SWARM_NAMESPACE = "", SWARM_NODES } = process.env;
/** Engines of the nodes beside the manager. */
const OTHERS = SWARM_HOSTS.split(" ").filter((host) => host !== "");
const skip = swarm.unavailable ??
  (SWARM_NODES === undefined
    ? "SWARM_NODES is not set: another stage of scripts/test has several nodes"
    : registryMissing());
const alone = OTHERS.length === 0 && "there is only one node; scripts/lib/with_swarm.sh said why";

describe("a stack on the nodes of a real swarm", { skip }, () => {
  let registry: ImageRegistry;
  let compose: ComposeCommand;
  let world: World;
  let reference: string;
  /** Done once, as soon as the engine was told of a change. */
  let meanwhile: (() => Promise<void>) | undefined;

  before(async () => {
    registry = await startImageRegistry({ address: SWARM_ADDRESS, namespace: SWARM_NAMESPACE });
    compose = await createComposeCommand(composePlugins()[0] ?? "");
    const bin = join(compose.configDirectory, "bin");
    await mkdir(bin);
    await registry.writeHelper(bin, "swt");
    world = await createWorld({
      engine: "real",
      env: { DOCKER_CONFIG: compose.configDirectory, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
      onMutation: async () => {
        const work = meanwhile;
        meanwhile = undefined;
        await work?.();
      },
    });
    reference = `${registry.host}/${world.stack}/app:1`;
    await logIn({ auths: { [registry.host]: registry.auth } });
    await docker("tag", IMAGE, reference);
    await docker("push", "--quiet", reference);
    // So that this node has to fetch it, too.
    await docker("image", "rm", reference);
  });
  after(async () => {
    await world.close();
    await compose.close();
    await registry.close();
  });

  const docker = async (...args: string[]) =>
    (await run("docker", ["--config", compose.configDirectory, ...args])).stdout;
  const logIn = (configuration: Record<string, unknown>) =>
    writeFile(join(compose.configDirectory, "config.json"), JSON.stringify(configuration));
  const web = (v: string) => ({
    "compose.yaml": composeFile({
      web: service({
        image: reference,
        init: true,
        labels: { v },
        deploy: {
          replicas: 1 + OTHERS.length,
          endpoint_mode: "dnsrr",
          update_config: { monitor: "300ms" },
          placement: { preferences: [{ spread: "node.id" }] },
        },
      }),
    }),
  });
  const running = async () =>
    (await world.engine.swarm.tasks({ [NAMESPACE]: world.stack }, never))
      .filter((each) => isWanted(each) && each.state === "running");
  const nodes = async () => new Set((await running()).map(({ nodeId }) => nodeId));

  it("is refused before anything is made while the registry gives its image to nobody", async () => {
    await logIn({});
    await commit(world, web("1"));
    const refused = await pollTo(world, "failed");
    assert.match(JSON.stringify(refused), /the registry has no image .*Nothing was changed/);
    assert.deepEqual(await world.engine.swarm.services({ [NAMESPACE]: world.stack }, never), []);
  });

  it("runs on all of them an image that takes credentials, which a helper keeps", async () => {
    await logIn({ credHelpers: { [registry.host]: "swt" } });
    await pollTo(world, "succeeded");
    assert.equal((await running()).length, 1 + OTHERS.length);
    assert.equal((await nodes()).size, 1 + OTHERS.length);
    const [found] = await world.engine.swarm.services({ [NAMESPACE]: world.stack }, never);
    assert.match(JSON.stringify(found?.spec), /app:1@sha256:[0-9a-f]{64}/);
    await pollTo(world, "skipped");
  });

  it(
    "is updated while one of them is drained, which has none of it in the end",
    { skip: alone },
    async () => {
      await commit(world, web("2"));
      const drained =
        (await docker("node", "ls", "--quiet", "--filter", "role=worker")).split("\n")[0];
      meanwhile = async () =>
        void await docker("node", "update", "--availability", "drain", drained ?? "");
      const first = (await world.poll()).run;
      assert.equal(meanwhile, undefined);
      // A new task that the drain ends within `monitor` counts as failed: who is slow meets that.
      const isPaused = first.status === "failed";
      if (isPaused) assert.match(JSON.stringify(first), /update paused .* release was put back/);
      world.advance(60_000);
      const finished = isPaused ? await pollTo(world, "succeeded") : first;
      assert.equal(finished.status, "succeeded", JSON.stringify(finished));
      assert.deepEqual(actions(finished), { web: "recreate" });
      const tasks = await running();
      assert.equal(tasks.length, 1 + OTHERS.length);
      assert.ok(tasks.every(({ nodeId }) => nodeId !== drained));
      assert.ok(tasks.every(({ spec }) => JSON.stringify(spec).includes('"v":"2"')));
      await pollTo(world, "skipped");
    },
  );

  it("leaves nothing on any of them when it is destroyed", async () => {
    await commit(world, {}, { destroy: true });
    await pollTo(world, "succeeded");
    for (const host of [process.env["DOCKER_HOST"] ?? "", ...OTHERS]) {
      const engine = createEngine({ host });
      const left = await engine.listContainers({ [NAMESPACE]: world.stack }, never);
      engine.close();
      assert.deepEqual(left.filter((each) => each.state === "running"), []);
    }
  });
});
