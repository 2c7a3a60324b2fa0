import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const never = new AbortController().signal;
const COMPOSE = composeFile({ web: service({ volumes: ["store:/store", "data:/data"] }) }, {
  volumes: { store: {}, data: {} },
});
const FILES = { "compose.yaml": COMPOSE };
const UNKNOWN = "another manager made it: Stackwright neither did, nor took it over";

/** Names of the volumes of the world's project. */
async function volumes({ engine, stack }: World): Promise<string[]> {
  const all = await engine.listVolumes({ "com.docker.compose.project": stack }, never);
  return all.map(({ name }) => name.slice(stack.length)).sort();
}

/** Makes volumes of the world's project, each with some labels. */
async function others(world: World, labels: Readonly<Record<string, readonly string[]>>) {
  for (const [name, own] of Object.entries(labels)) {
    const project = [
      `com.docker.compose.project=${world.stack}`,
      `com.docker.compose.volume=${name}`,
    ];
    const all = [...project, ...own].flatMap((each) => ["--label", each]);
    await docker(world, "volume", "create", ...all, `${world.stack}_${name}`);
  }
}

/** Takes away what a person removed: the containers, and the volume `store`. */
async function removeByHand(world: World): Promise<void> {
  for (const { name } of await world.containers()) await docker(world, "rm", "--force", name);
  await docker(world, "volume", "rm", `${world.stack}_store`);
}

/** Volumes that other managers make while nothing of the stack runs. */
const OTHERS = {
  store: [],
  more: [],
  peer: ["cd.doco.source.url=https://me:word@git.example.com/them/shop.git"],
  theirs: ["stackwright.manager=stackwright", "stackwright.source.name=git.example.com/them/shop"],
};

const kept = (verb: string, stack: string) =>
  [
    `more: ${UNKNOWN}`,
    "peer: it was made for https://git.example.com/them/shop.git",
    `store: ${UNKNOWN}`,
    "theirs: it was made for git.example.com/them/shop",
  ].map((each) => `; ${verb} volume ${stack}_${each}`).join("");

describe("volumes that another manager made under a stack's name", () => {
  it("are not taken by a stack that was deployed before, and was destroyed without volumes", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      const destroy = { enabled: true, remove_volumes: false, remove_images: false };
      await commit(world, {}, { destroy });
      await pollTo(world, "succeeded");
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy });
      await pollTo(world, "succeeded");
      const label = `stackwright.deployment=${world.stack}`;
      await others(world, { theirs: [label, ...OTHERS.theirs] });
      const model = { volumes: { theirs: {} } };
      await commit(world, {
        "compose.yaml": composeFile({ thief: service({ volumes: ["theirs:/d"] }) }, model),
      });
      const { deployments: [end] = [] } = await pollTo(world, "failed");
      assert.match(
        end?.message ?? "",
        /has data of git.example.com\/them\/shop \(volume \S+_theirs\)/,
      );
      assert.deepEqual(await world.containers(), []);
    }));

  it("stay when the stack is destroyed; plan and run name them with the reason", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await removeByHand(world);
      await others(world, OTHERS);
      await commit(world, FILES, { destroy: true });
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      const told = (deletes: string, keeps: string) =>
        `; ${deletes} volume ${world.stack}_data${kept(keeps, world.stack)}`;
      assert.ok(out.includes(`destroy what is left${told("deletes", "keeps")}\n`), out);
      const [target] = (await pollTo(world, "succeeded")).deployments ?? [];
      assert.equal(target?.message, `destroyed${told("deleted", "kept")}`);
      assert.deepEqual(await volumes(world), ["_more", "_peer", "_store", "_theirs"]);
    }));

  it("stay when a person removes the project with its volumes", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await removeByHand(world);
      await others(world, OTHERS);
      const path = `/v1/api/project/${world.stack}?volumes=true&images=false&timeout=600`;
      const answer = await (await world.request(path, { method: "DELETE" })).json();
      assert.equal(
        answer.content,
        `project removed: ${world.stack}; deleted volume ${world.stack}_data` +
          kept("kept", world.stack),
      );
      assert.deepEqual(await volumes(world), ["_more", "_peer", "_store", "_theirs"]);
    }));

  it("stay when a discovered stack is removed", () =>
    inWorld("fake", async (world) => {
      const policy = { enabled: true, delete: true, remove_volumes: true };
      const discovery = { name: "", working_dir: "apps", auto_discovery: policy };
      await commit(
        world,
        { [`apps/${world.stack}/compose.yaml`]: COMPOSE, "apps/x": "" },
        discovery,
      );
      await pollTo(world, "succeeded");
      await removeByHand(world);
      await others(world, OTHERS);
      await world.repository.remove([`apps/${world.stack}`]);
      const run = JSON.stringify(await pollTo(world, "succeeded"));
      assert.ok(run.includes(kept("kept", world.stack)), run);
      assert.deepEqual(await volumes(world), ["_more", "_peer", "_store", "_theirs"]);
    }));

  it("go with a stack that took them over, also those that only an earlier release mounted", () =>
    inWorld("fake", async (world) => {
      await startByHand(world, COMPOSE);
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      const now = composeFile({ web: service({ volumes: ["data:/data"] }) }, {
        volumes: { data: {} },
      });
      await commit(world, { "compose.yaml": now });
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      await pollTo(world, "succeeded");
      assert.deepEqual(await volumes(world), []);
    }));

  it("go with a swarm stack that took them over, which name that stack alone", () =>
    inWorld("fake", async (world) => {
      world.fake?.becomeManager();
      const label = `com.docker.stack.namespace=${world.stack}`;
      await docker(world, "volume", "create", "--label", label, `${world.stack}_store`);
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      const [target] = (await pollTo(world, "succeeded")).deployments ?? [];
      assert.match(target?.message ?? "", /deleted volume \S+_store/);
      const names = ["store", "data"].map((each) => `${world.stack}_${each}`);
      assert.deepEqual(await world.engine.findVolumes(names, never), []);
    }));

  it("are not mounted by a release that a person goes back to", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      const nothing = composeFile({ web: service({ scale: 0 }) });
      await commit(world, { "compose.yaml": nothing });
      await pollTo(world, "succeeded");
      await docker(world, "volume", "rm", `${world.stack}_store`);
      await others(world, { store: OTHERS.theirs });
      world.proxy.reset();
      const { err } = await commandTo(world, 1, ["rollback", world.stack]);
      assert.match(err, /has data of git.example.com\/them\/shop \(volume \S+_store\)/);
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(await world.containers(), []);
    }));

  it("are not mounted because the current release, which ran nothing, named them", () =>
    inWorld("fake", async (world) => {
      const model = { volumes: { store: {} } };
      const files = (more: Part) => ({
        "compose.yaml": composeFile({ web: service({ volumes: ["store:/d"], ...more }) }, model),
      });
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      await commit(world, files({ scale: 0 }));
      await pollTo(world, "succeeded");
      await others(world, { store: OTHERS.theirs });
      await commit(world, files({}));
      const { deployments: [end] = [] } = await pollTo(world, "failed");
      assert.match(
        end?.message ?? "",
        /has data of git.example.com\/them\/shop \(volume \S+_store\)/,
      );
      assert.deepEqual(await world.containers(), []);
    }));

  it("are not taken of doco-cd's other repositories either, while nothing of the stack runs", () =>
    inWorld("fake", async (world) => {
      await others(world, { store: OTHERS.peer });
      await commit(world, FILES);
      const failed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(failed, /has data of https:\/\/git.example.com\/them\/shop.git \(volume/);
    }));

  it("go with a stack that was handed over with them", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await removeByHand(world);
      await others(world, OTHERS);
      const source = ["--source", world.repository.url, "--reference", "main"];
      await commandTo(world, 0, ["adopt", world.stack, ...source]);
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      await pollTo(world, "succeeded");
      assert.deepEqual(await volumes(world), ["_more", "_peer"]);
    }));
});

describe("volumes and networks that a stack's release calls external", () => {
  it("stay when the stack is destroyed, although it made them, and the plan and the run say why", () =>
    inWorld("fake", async (world) => {
      const name = `${world.stack}_store`;
      const file = (store: Part) => ({
        "compose.yaml": composeFile({ web: service({ volumes: ["store:/d"] }) }, {
          volumes: { store },
        }),
      });
      await commit(world, file({}));
      await pollTo(world, "succeeded");
      await commit(world, file({ external: true, name }));
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.ok(out.includes(`; keeps volume ${name}: release 2 calls it external`), out);
      const { deployments: [end] = [] } = await pollTo(world, "succeeded");
      assert.equal(
        end?.message,
        `destroyed; kept volume ${name}: release 2 calls it external`,
      );
      assert.deepEqual(await volumes(world), ["_store"]);
    }));
});
