import { describe, it } from "node:test";
import { findSwarm } from "../fakes/real_swarm.ts";
import { leftObjectsSuite } from "../flow/left_objects_suite.ts";

const swarm = await findSwarm();

if (swarm.unavailable !== undefined) {
  describe("what is left of a stack on the real swarm", () => {
    it(swarm.unavailable, { skip: true }, () => {});
  });
} else {
  leftObjectsSuite("real");
}
