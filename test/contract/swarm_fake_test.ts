import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../src/docker/mod.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { swarmSuite } from "./swarm_suite.ts";

swarmSuite("fake engine", async () => {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-swarm-"));
  const fake = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
  fake.addImage("app:1", { where: "engine" });
  fake.becomeManager();
  const engine = createEngine({ host: fake.host });
  return {
    engine,
    image: "app:1",
    async close() {
      engine.close();
      await fake.close();
      await rm(directory, { recursive: true });
    },
  };
});
