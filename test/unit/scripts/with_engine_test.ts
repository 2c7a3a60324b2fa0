import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { NOT_TRIED } from "../../../scripts/lib/test_verdict.ts";

const ROOT = join(import.meta.dirname ?? "", "../../..");

describe("an engine of another version", () => {
  it("that is not here is said, and no other one is taken for it", () => {
    const argv = ["engines/0.0", "echo", "ran"];
    const { status, stdout, stderr } = spawnSync("scripts/lib/with_engine.sh", argv, {
      cwd: ROOT,
      encoding: "utf8",
    });
    assert.equal(status, NOT_TRIED);
    assert.equal(stdout, "");
    assert.match(stderr, /ENGINE NOT TRIED: 0\.0: there is no dockerd/);
  });
});
