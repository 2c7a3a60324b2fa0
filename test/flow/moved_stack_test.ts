import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, reasons, states } from "./steps.ts";
import type { World } from "./world.ts";

const DB: Part = { volumes: ["store:/store", "./d:/d"] };
const VOLUMES = { volumes: { store: {} } };

/** The label of what doco-cd deployed from the world's repository. */
function doco({ repository }: World): Readonly<Record<string, string>> {
  return { "cd.doco.source.url": repository.url };
}

/** A project beside the world's stack that somebody started, with data in a volume and a directory. */
async function besideOld(
  world: World,
  labels: Readonly<Record<string, string>>,
  test: (old: { readonly project: string; readonly directory: string }) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-moved-"));
  const project = `${world.stack}-old`;
  try {
    await mkdir(join(directory, "d"));
    await writeFile(join(directory, "d/f"), "precious");
    const db = service({ ...DB, labels });
    await startByHand(world, composeFile({ app: service({ labels }), db }, VOLUMES), {
      ...{ project, directory },
    });
    await test({ project, directory });
  } finally {
    await rm(directory, { recursive: true });
  }
}

// What is told depends on mounts as either engine lists them.
describe("a stack that begins beside the project that it was", () => {
  const engine = "fake";
  it("says which data of a container of the same service it does not have, and is deployed", () =>
    inWorld(engine, (world) =>
      besideOld(world, doco(world), async ({ project, directory }) => {
        const compose = (version: string) =>
          composeFile({ db: service({ ...DB, environment: { A: version } }) }, VOLUMES);
        await commit(world, { "compose.yaml": compose("1") });
        const other =
          `begins empty: container ${project}-db-1 of project ${project}, which Stackwright did ` +
          "not make, has the same service and image; what it has there in";
        const told = [
          `/store ${other} volume ${project}_store stays there`,
          `/d ${other} ${directory}/d stays there`,
        ];
        const { out, err } = await commandTo(world, 2, ["plan", world.repository.url]);
        for (const each of told) {
          assert.ok(out.includes(each), out);
          assert.ok(err.includes(`service db: ${each}`), err);
        }
        const why = reasons(await pollTo(world, "succeeded"), "db");
        for (const each of told) assert.ok(why.includes(each), why);
        assert.equal((await states(world, project))["db-1"], "running");

        await commit(world, { "compose.yaml": compose("2") });
        const later = await pollTo(world, "succeeded");
        assert.doesNotMatch(JSON.stringify(later), /begins empty/);
      })));

  it("is told of, with the volume that both have, also where Stackwright deployed what it was", () =>
    inWorld(engine, async (world) => {
      const volumes = { volumes: { store: { name: `${world.stack}-kept` } } };
      const files = { "compose.yaml": composeFile({ db: service(DB) }, volumes) };
      const name = `${world.stack}-new`;
      await commit(world, files);
      await pollTo(world, "succeeded");
      await commit(world, files, { name });
      const told = [
        `/store is volume ${world.stack}-kept, which container ${world.stack}-db-1 of stack ` +
        `${world.stack}, which nothing names any more, has, too: both write to it`,
        `/d begins empty: container ${world.stack}-db-1 of stack ${world.stack}, which nothing ` +
        "names any more, has the same service and image; what it has there in ",
      ];
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      const { deployments } = await pollTo(world, "succeeded");
      for (const each of told) {
        assert.ok(out.includes(each), out);
        assert.ok(JSON.stringify(deployments).includes(each), JSON.stringify(deployments));
      }
    }));
});
