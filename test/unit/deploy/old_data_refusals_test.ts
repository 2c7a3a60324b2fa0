import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OldData } from "../../../src/deploy/old_data.ts";
import { takenAway, twofold } from "../../../src/deploy/old_data_refusals.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";

const container = runningContainer("shop", "web");
const DATA: OldData = {
  ...{ service: "web", target: "/data", source: "/old/data", path: "data", writable: true },
  ...{ container, holders: [container], writers: [], isInUse: false },
};

describe("twofold()", () => {
  it("names each container that has the second, whether it runs or not, once", () => {
    const second = runningContainer("shop", "web", { id: "2", name: "shop-web-2" });
    const left = runningContainer("shop", "web", {
      id: "3",
      name: "ab_shop-web-1",
      state: "created",
    });
    const holders = [container, second, left];
    const { message } = twofold(stackKey("", "shop"), "/ours/live", [{ ...DATA, holders }, DATA]);
    assert.match(
      message,
      /docker rm -f shop-web-1; docker rm -f shop-web-2; docker rm -f ab_shop-web-1$/,
    );
  });
});

describe("takenAway()", () => {
  it("advises no copy of what does not exist", () => {
    const { message, code } = takenAway(stackKey("", "shop"), DATA, "/ours/data");
    assert.equal(code, "conflict");
    assert.match(message, /in \/old\/data, which does not exist any more/);
    assert.match(
      message,
      /if it was moved, stop the stack and copy it to \/ours\/data, or move it/,
    );
    assert.doesNotMatch(message, /cp -a/);
  });
});
