import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../src/docker/mod.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { engineSuite } from "./engine_suite.ts";

engineSuite("fake engine", async () => {
  const directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
  const fake = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
  const engine = createEngine({ host: fake.host });
  const image = "stackwright-test/busybox:1";
  fake.addImage(image);
  return {
    engine,
    image,
    prepare(name, script) {
      if (script.exit !== undefined) fake.setBehaviour(name, { exit: script.exit });
      if (script.health === undefined) return {};
      fake.setBehaviour(name, { health: script.health, afterMs: 50 });
      return { Healthcheck: { Test: ["CMD", "true"] } };
    },
    started(id, script) {
      if (script.exit === undefined) return;
      fake.writeLog(id, "out");
      fake.writeLog(id, "err", "stderr");
    },
    async close() {
      engine.close();
      await fake.close();
      await fs.rm(directory, { recursive: true });
    },
  };
});
