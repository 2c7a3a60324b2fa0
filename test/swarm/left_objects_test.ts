import process from "node:process";
import { describe, it } from "node:test";
import { findSwarm } from "../fakes/real_swarm.ts";
import { leftObjectsSuite } from "../flow/left_objects_suite.ts";

const swarm = await findSwarm();

if (swarm.unavailable !== undefined) {
  describe("what is left of a stack on the real swarm", () => {
    it(swarm.unavailable, { skip: true }, () => {});
  });
} else if (process.env["STACKS"] !== "sample") {
  // A sample shows it on the fake swarm (left_things_test).
  leftObjectsSuite("real");
}
