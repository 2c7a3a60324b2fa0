import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { describe, it } from "node:test";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { commandTo } from "./commands.ts";
import {
  type Example,
  EXAMPLES,
  EXAMPLES_DIRECTORY,
  filesOf,
  forRealEngine,
  imagesOf,
  type Stem,
} from "./examples.ts";
import { docker, inWorld, pollTo } from "./steps.ts";
import { decidingEngine, withAllLabels, type World } from "./world.ts";

const MOVING: readonly Stem[] = [".doco-cd.yml", ".doco-cd.yaml", ".stackwright.yaml"];
const never = new AbortController().signal;

for (const engine of await decidingEngine()) {
  describe(`examples of those who move here, on the ${engine} engine`, () => {
    for (const example of EXAMPLES.filter((each) => runsOn(each, engine))) {
      it(`${example.name} is valid and deploys; renaming its configuration changes nothing`, () =>
        inWorld(engine, async (world) => {
          let before: readonly string[] = [];
          for (const [index, stem] of MOVING.entries()) {
            await put(world, example, stem);
            await validate(world, example);
            for (const target of example.targets ?? [""]) {
              await pollTo(world, index === 0 ? "succeeded" : "skipped", { target });
            }
            const found = await running(world);
            if (index === 0) await assertRuns(world, example, found);
            else assert.deepEqual(found.map((each) => each.id), before);
            before = found.map((each) => each.id);
          }
        }));
    }
  });
}

describe("test/examples", () => {
  it("has a row for each directory", async () => {
    const names = EXAMPLES.map((each) => each.name).sort();
    assert.deepEqual((await readdir(EXAMPLES_DIRECTORY)).sort(), names);
  });
});

function runsOn(example: Example, engine: "fake" | "real"): boolean {
  return engine === "real" ? example.real === true : example.builds !== true;
}

/** Puts the example into the repository, in place of what was there. */
async function put(world: World, example: Example, stem: Stem): Promise<void> {
  await world.repository.git("rm", "-r", "--quiet", "--ignore-unmatch", "--", ".");
  const files = await filesOf(example.name, stem);
  for (const image of imagesOf(files)) world.fake?.addImage(image, { where: "registry" });
  for (const name of example.ends ?? []) world.fake?.setBehaviour(name, { exit: 0 });
  await world.repository.commit(
    world.kind === "fake" ? files : forRealEngine(files, world.stack),
  );
}

async function validate(world: World, example: Example): Promise<void> {
  const directory = await world.repository.git("rev-parse", "--show-toplevel");
  const { out, err } = await commandTo(world, 0, ["validate", "--json", directory]);
  assert.equal(err, "");
  assert.equal((JSON.parse(out) as { deployments: number }).deployments, example.deployments);
}

/** The containers that run, by name. */
async function running(world: World): Promise<ObservedContainer[]> {
  const label = "stackwright.manager";
  const listed = await world.engine.listContainers({ [label]: undefined }, never);
  return (await withAllLabels(world.engine, listed)).filter((each) => each.state === "running")
    .filter((each) => world.kind === "fake" || each.name.startsWith(world.stack))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

async function assertRuns(
  world: World,
  example: Example,
  found: readonly ObservedContainer[],
): Promise<void> {
  const prefix = world.kind === "fake" ? "" : `${world.stack}-`;
  assert.deepEqual(found.map((each) => each.name), example.running.map((name) => prefix + name));
  const named = (name: string) => found.find((each) => each.name === prefix + name);
  for (const [key, value] of Object.entries(example.labels ?? {})) {
    const [name = "", label = ""] = key.split(" ");
    assert.equal(named(name)?.labels[label], value, key);
  }
  for (const [key, value] of Object.entries(example.variables ?? {})) {
    const [name = "", variable = ""] = key.split(" ");
    const format = "{{json .Config.Env}}";
    const env = await docker(world, "inspect", "--format", format, named(name)?.id ?? "");
    assert.ok((JSON.parse(env) as string[]).includes(`${variable}=${value}`), `${key}: ${env}`);
  }
}
