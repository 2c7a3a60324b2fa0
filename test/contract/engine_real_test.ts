import { describe, it } from "node:test";
import { createEngine } from "../../src/docker/mod.ts";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { engineSuite, type Script } from "./engine_suite.ts";

const real = await findRealEngine();
const CHECK_INTERVAL_NS = 100_000_000;

if (real.unavailable !== undefined) {
  describe("Engine contract: real engine", () => {
    it(real.unavailable, { skip: true }, () => {});
  });
} else {
  engineSuite("real engine", async () => {
    await ensureBusyboxImage();
    const engine = createEngine({ host: `unix://${real.socketPath}` });
    return {
      engine,
      image: BUSYBOX_IMAGE,
      prepare: (_name, script) => ({ ...command(script), ...healthcheck(script) }),
      started: () => {},
      close: () => Promise.resolve(engine.close()),
    };
  });
}

function command(script: Script): Record<string, unknown> {
  if (script.exit === undefined) return { Cmd: ["sleep", "1000"] };
  return { Cmd: ["sh", "-c", `echo out; echo err >&2; exit ${script.exit}`] };
}

function healthcheck(script: Script): Record<string, unknown> {
  if (script.health === undefined) return {};
  const Test = ["CMD", script.health === "healthy" ? "true" : "false"];
  return { Healthcheck: { Test, Interval: CHECK_INTERVAL_NS, Retries: 1 } };
}
