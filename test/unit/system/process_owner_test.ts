import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { systemCommands, systemProcessOwner } from "../../../src/system/mod.ts";

describe("systemProcessOwner", () => {
  it("systemProcessOwner() knows this process, under the same id each time", () => {
    const owner = systemProcessOwner();
    assert.equal(owner.id.split(":")[0], String(process.pid));
    assert.equal(systemProcessOwner().id, owner.id);
    assert.equal(owner.isAlive(owner.id), true);
  });

  it("isAlive() is false for another process that got the same number", () => {
    assert.equal(systemProcessOwner().isAlive(`${process.pid}:1`), false);
  });

  it("isAlive() is false for a process that has ended", async () => {
    const { stdout } = await systemCommands.run(
      { argv: ["/bin/sh", "-c", "cut -d' ' -f1,22 /proc/$$/stat"], env: { PATH: "/usr/bin:/bin" } },
      new AbortController().signal,
    );
    const [pid, start] = new TextDecoder().decode(stdout).trim().split(" ");
    assert.equal(systemProcessOwner().isAlive(`${pid}:${start}`), false);
  });

  it("isAlive() is false for what is no id", () => {
    for (const id of ["", "x", "0", "-1:5", "1.5:3", ":"]) {
      assert.equal(systemProcessOwner().isAlive(id), false, id);
    }
  });
});
