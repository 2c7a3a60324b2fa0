import process from "node:process";
import { describe, it } from "node:test";
import { findSwarm } from "../fakes/real_swarm.ts";
import { stackSuite } from "../flow/stack_suite.ts";

const swarm = await findSwarm();

if (swarm.unavailable !== undefined) {
  describe("stacks on the real swarm", () => {
    it(swarm.unavailable, { skip: true }, () => {});
  });
} else {
  stackSuite(
    "real",
    process.env["STACKS"] === "sample"
      ? { identical: 3, all: false }
      : { identical: 10, all: true },
  );
}
