import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo, states } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

/** Starts a container as `docker compose run -d` does for a person, such as a dump of a database. */
async function runOnce(world: World): Promise<string> {
  const name = `${world.stack}-by-hand`;
  const labels = [`project=${world.stack}`, "service=db", "oneoff=True", "container-number=1"]
    .flatMap((each) => ["--label", `com.docker.compose.${each}`]);
  const what = ["--network", "bridge", "--name", name, ...labels, IMAGE, "sleep", "1000"];
  await docker(world, "create", ...what);
  await world.engine.startContainer(name, new AbortController().signal);
  return name;
}

const shop = (...services: readonly string[]) => ({
  "compose.yaml": composeFile(
    Object.fromEntries(services.map((name) => [name, service({ restart: "always" })])),
  ),
});

const ENGINES = await engines();

describe("a container that a person runs once for a service", () => {
  for (const engine of ENGINES) {
    it(`keeps no stopped container from being started, and outlives its service, on the ${engine} engine`, () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("web", "db"));
        await pollTo(world, "succeeded");
        const name = await runOnce(world);
        const [db] = (await world.containers()).filter((each) => each.name.endsWith("-db-1"));
        await world.engine.stopContainer(db?.id ?? "", 1, new AbortController().signal);
        await commit(world, { "compose.yaml": `# more\n${shop("web", "db")["compose.yaml"]}` });
        await pollTo(world, "succeeded");
        assert.equal((await states(world))["db-1"], "running");
        await commit(world, shop("web"));
        await pollTo(world, "succeeded");
        const left = (await docker(world, "ps", "--format", "{{.Names}}")).split("\n");
        assert.ok(left.includes(name), left.join());
        await docker(world, "rm", "-f", name);
      }));
  }
});
