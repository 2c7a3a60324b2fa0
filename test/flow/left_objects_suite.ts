import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createRepository } from "../fakes/git_repository.ts";
import { removeStack } from "../fakes/real_swarm.ts";
import { commandTo } from "./commands.ts";
import { composeFile, type Part } from "./compose_text.ts";
import { commit, pollTo } from "./steps.ts";
import { createWorld, IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;
const NAMESPACE = "com.docker.stack.namespace";

/** A service that ends at once when it is removed. */
function service(more: Part): Part {
  return {
    ...{ image: IMAGE, command: ["sleep", "100000"], init: true, stop_grace_period: "1s" },
    deploy: { update_config: { monitor: "300ms" }, endpoint_mode: "dnsrr" },
    ...more,
  };
}

/** A stack with a secret and a config. */
const FILES = {
  "compose.yaml": composeFile({ web: service({ secrets: ["db"], configs: ["conf"] }) }, {
    secrets: { db: { file: "db.txt", labels: { "stackwright.source.name": "git.example/o/r" } } },
    configs: { conf: { file: "conf.txt" } },
  }),
  "db.txt": "the word of this shop\n",
  "conf.txt": "how this shop works\n",
};

/** What nobody else gets of a stack of a swarm, whoever plays that. */
export function leftObjectsSuite(engine: "fake" | "real"): void {
  const inSwarm = (test: (world: World, thief: Thief) => Promise<void>) => async () => {
    const world = await createWorld({ engine });
    world.fake?.becomeManager();
    const thief = await thiefOf(world);
    try {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await test(world, thief);
    } finally {
      await removeStack(world.engine, `${world.stack}-user`);
      await removeStack(world.engine, world.stack);
      await world.close();
    }
  };

  describe(`what is left of a stack on the ${engine} swarm`, () => {
    it(
      "goes to no other repository that takes the name after the ledger was lost",
      inSwarm(async (world, { takes }) => {
        for (const { id } of await world.engine.swarm.services(labelOf(world), never)) {
          await world.engine.swarm.removeService(id, never);
        }
        assert.match(await takes("first"), /already has a network of \S+ \(network \S+_default\)/);
        await removeNetworks(world);
        assert.match(await takes("second"), /already has a secret of \S+ \(secret \S+_db_\w{8}\)/);
        const [secret] = await secrets(world);
        await world.engine.swarm.removeObject("secrets", secret?.id ?? "", never);
        assert.match(await takes("third"), /already has a config of \S+ \(config \S+_conf_\w{8}\)/);
        assert.deepEqual(await world.engine.swarm.services(labelOf(world), never), []);
        const { url } = world.repository;
        await commandTo(world, 0, ["apply", url], { env: { DATA_DIR: await empty(world, "own") } });
      }),
    );

    it(
      "stays its owner's while services of others use it, which the destroy says",
      inSwarm(async (world, { url, takes }) => {
        const [secret] = await secrets(world);
        assert.ok(secret);
        await uses(world, secret);
        await commit(world, FILES, { destroy: true });
        const said = JSON.stringify(await pollTo(world, "succeeded"));
        const stays = `kept secret ${secret.name}: services of others use it, so ${world.stack} ` +
          "keeps its owner";
        assert.ok(said.includes(stays), said);
        assert.deepEqual((await secrets(world)).map(({ id }) => id), [secret.id]);
        assert.match(JSON.stringify(await pollTo(world, "failed", { url })), /already belongs to/);
        assert.match(await takes("lost"), /already has a secret of /);
        await commit(world, FILES);
        await pollTo(world, "succeeded");
      }),
    );
  });
}

/** A repository with a stack of the world's name that takes its secret. */
interface Thief {
  readonly url: string;
  /** Applies it with a ledger that knows nothing, in vain; returns what that says. */
  readonly takes: (ledger: string) => Promise<string>;
}

async function thiefOf(world: World): Promise<Thief> {
  const { url, ...repository } = await createRepository(join(dirname(world.dataDir), "thief"));
  const takes = async (ledger: string) => {
    const [secret] = await secrets(world);
    const loot = { external: true, name: secret?.name ?? "none" };
    await repository.commit({
      ".stackwright.yaml": `name: ${world.stack}\n`,
      "compose.yaml": composeFile({ spy: service({ secrets: ["loot"] }) }, { secrets: { loot } }),
    });
    const DATA_DIR = await empty(world, ledger);
    const { out, err } = await commandTo(world, 1, ["apply", url], { env: { DATA_DIR } });
    return out + err;
  };
  await repository.commit({
    ".stackwright.yaml": `name: ${world.stack}\n`,
    "compose.yaml": composeFile({ spy: service({}) }),
  });
  return { url, takes };
}

async function empty(world: World, name: string): Promise<string> {
  const path = join(dirname(world.dataDir), name);
  await mkdir(path);
  return path;
}

function labelOf({ stack }: World) {
  return { [NAMESPACE]: stack };
}

async function secrets(world: World) {
  return await world.engine.swarm.objects("secrets", labelOf(world), never);
}

/** Removes the networks of the stack as soon as its tasks have left them. */
async function removeNetworks(world: World): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const networks = await world.engine.listNetworks(labelOf(world), never);
    if (networks.length === 0) return;
    for (const { id } of networks) {
      await world.engine.removeNetwork(id, never).catch((error) => {
        if (attempt === 60) throw error;
      });
    }
    await pause(world.kind === "fake" ? 1 : 500);
  }
}

/** A person's service that uses a secret. */
async function uses(world: World, { id, name }: { readonly id: string; readonly name: string }) {
  const File = { Name: name, UID: "0", GID: "0", Mode: 0o444 };
  const body = {
    Name: `${world.stack}-user`,
    Labels: { [NAMESPACE]: `${world.stack}-user` },
    TaskTemplate: {
      ContainerSpec: {
        ...{ Image: IMAGE, Args: ["sleep", "100000"], StopGracePeriod: 1e9 },
        Secrets: [{ SecretID: id, SecretName: name, File }],
      },
    },
    Mode: { Replicated: { Replicas: 1 } },
  };
  await world.engine.swarm.createService({ body, auth: "" }, never);
}
