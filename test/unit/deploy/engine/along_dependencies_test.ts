import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alongDependencies } from "../../../../src/deploy/engine/along_dependencies.ts";

const never = new AbortController().signal;
const BEFORE: Readonly<Record<string, readonly string[]>> = { web: ["db", "cache"], job: ["web"] };
const dependsOn = (name: string) => BEFORE[name] ?? [];

describe("work along dependencies", () => {
  it("is done for a service after those it depends on", async () => {
    const done: string[] = [];
    const work = (name: string) => Promise.resolve().then(() => void done.push(name));
    await alongDependencies(["job", "web", "cache"], dependsOn, work, never);
    assert.deepEqual(done, ["cache", "web", "job"]);
  });

  it("begins nothing new after a failure, and ends when all that was begun has ended", async () => {
    const ended: string[] = [];
    let letGo = () => {};
    const slow = new Promise<void>((resolve) => letGo = resolve);
    const work = async (name: string) => {
      if (name === "db") {
        letGo();
        throw new Error("no");
      }
      await slow;
      ended.push(name);
    };
    await assert.rejects(
      alongDependencies(["cache", "db", "web"], dependsOn, work, never),
      /^Error: no$/,
    );
    assert.deepEqual(ended, ["cache"]);
  });
});
