import { describe, it } from "node:test";
import { createEngine } from "../../src/docker/mod.ts";
import { BUSYBOX_IMAGE } from "../fakes/busybox_image.ts";
import { findSwarm } from "../fakes/real_swarm.ts";
import { swarmSuite } from "../contract/swarm_suite.ts";

const swarm = await findSwarm();

if (swarm.unavailable !== undefined) {
  describe("Swarm contract: real swarm", () => {
    it(swarm.unavailable, { skip: true }, () => {});
  });
} else {
  swarmSuite("real swarm", () => {
    const engine = createEngine({ host: swarm.host });
    return Promise.resolve({
      engine,
      image: BUSYBOX_IMAGE,
      close: () => Promise.resolve(engine.close()),
    });
  });
}
