import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, docker, ids, inWorld, pollTo, readInside, writeInside } from "./steps.ts";
import { createWorld, engines, type World } from "./world.ts";

const never = new AbortController().signal;

/** A project with a network, a volume and a service that the repository does not know. */
const EXISTING = composeFile({
  old: service(),
  web: service({ volumes: ["store:/store"], networks: ["inner"] }),
}, { volumes: { store: {} }, networks: { inner: {} } });

const WANTED = (more: Part = {}) => ({
  "compose.yaml": composeFile({
    web: service({ volumes: ["store:/store"], networks: ["inner"], ...more }),
  }, { volumes: { store: {} }, networks: { inner: {} } }),
});

/** Starts a project as a person at a terminal does. */
async function startByHand(world: World, model: string): Promise<void> {
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const host = world.fake?.host ?? "unix:///var/run/docker.sock";
  try {
    const up = await compose.run(host, [
      "-p",
      world.stack,
      "-f",
      "-",
      "up",
      "-d",
      "--pull",
      "never",
    ], model);
    assert.equal(up.code, 0, up.output);
  } finally {
    await compose.close();
  }
}

/** Networks by id and volumes with their creation time: what may not be made anew. */
async function resources(world: World): Promise<unknown> {
  const project = { "com.docker.compose.project": world.stack };
  const networks = await world.engine.listNetworks(project, never);
  const volumes = await world.engine.listVolumes(project, never);
  const format = "{{.Name}} {{.CreatedAt}}";
  return {
    networks: networks.map((each) => `${each.name} ${each.id}`).filter((each) =>
      /inner/.test(each)
    ),
    volumes: await docker(world, "volume", "inspect", "--format", format, volumes[0]?.name ?? ""),
  };
}

for (const engine of await engines()) {
  describe(`a project that nobody manages on the ${engine} engine`, () => {
    it("is adopted: its network and data stay, and what is not in the files stays once", () =>
      inWorld(engine, async (world) => {
        await startByHand(world, EXISTING);
        const before = await ids(world);
        const had = await resources(world);
        if (world.kind === "real") await writeInside(world, "web", "/store/file", "precious");

        await commit(world, WANTED());
        const finished = await pollTo(world, "succeeded");
        assert.match(JSON.stringify(finished), /adopted/);
        const adopted = await ids(world);
        assert.notEqual(adopted["web-1"], before["web-1"]);
        assert.equal(adopted["old-1"], before["old-1"]);
        assert.deepEqual(await resources(world), had);
        if (world.kind === "real") {
          assert.equal(await readInside(world, "web", "/store/file"), "precious");
        }

        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), adopted);

        await commit(world, WANTED({ tty: true }));
        const next = await pollTo(world, "succeeded");
        assert.deepEqual(actions(next), { old: "remove", web: "recreate" });
        assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
        assert.deepEqual(await resources(world), had);
      }));

    it("networks and volumes of our own stay the same through releases", () =>
      inWorld(engine, async (world) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const had = await resources(world);
        for (const value of ["1", "2"]) {
          await commit(world, WANTED({ environment: { VALUE: value } }));
          await pollTo(world, "succeeded");
        }
        assert.deepEqual(await resources(world), had);
      }));
  });
}

describe("a stack of another repository", () => {
  it("is a conflict that names both, and is not touched", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          ...WANTED({ tty: true }),
        });
        world.proxy.reset();
        const finished = await pollTo(world, "failed", { url: other.repository.url });
        const message = finished.deployments?.[0]?.message ?? "";
        assert.ok(message.includes(world.stack), message);
        assert.ok(message.includes(nameOf(world)), message);
        assert.ok(message.includes(nameOf(other)), message);
        assert.deepEqual(await ids(world), before);
        assert.equal(world.proxy.mutations(), 0);
        await pollTo(world, "skipped");
      } finally {
        await other.close();
      }
    }));
});

/** What a world's repository is called in labels: its path is part of it. */
function nameOf(world: World): string {
  return world.repository.path.replace(/^\//, "").replace(/\.git$/, "");
}
