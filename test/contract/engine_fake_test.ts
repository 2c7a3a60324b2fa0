import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../src/docker/mod.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { makeEngineCertificates, startTlsFront } from "../fakes/tls_front.ts";
import { type EngineFixture, engineSuite } from "./engine_suite.ts";

for (const by of ["a socket", "TCP with TLS"] as const) {
  engineSuite(`fake engine by ${by}`, () => open(by === "TCP with TLS"));
}

async function open(byTls: boolean): Promise<EngineFixture> {
  const directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
  const fake = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
  const certificates = byTls ? makeEngineCertificates() : undefined;
  const front = certificates && await startTlsFront(fake.socketPath, certificates);
  const engine = front === undefined ? createEngine({ host: fake.host }) : createEngine({
    host: `tcp://127.0.0.1:${front.port}`,
    env: { DOCKER_CERT_PATH: certificates?.client },
  });
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
      await front?.close();
      certificates?.remove();
      await fake.close();
      await fs.rm(directory, { recursive: true });
    },
  };
}
