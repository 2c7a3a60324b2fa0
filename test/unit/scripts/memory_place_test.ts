import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { memoryPlace } from "../../../scripts/lib/memory_place.ts";

const root = join(import.meta.dirname ?? "", "../../..");

/** Why nothing can be mounted here; `undefined` where it can. */
function whyNot(): string | undefined {
  try {
    execFileSync("unshare", ["--mount", "true"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "this machine lets nobody mount anything";
  }
}

const isMounted = (place: string) =>
  readFileSync("/proc/self/mountinfo", "utf8").includes(` ${place} `);

describe("files of tests that are in memory", () => {
  it("lie in a directory for everybody, which goes with them", async (t) => {
    const why = whyNot();
    if (why !== undefined) return t.skip(why);
    const place = await memoryPlace(root, 1024);
    const { directory = "" } = place;
    assert.ok(isMounted(directory));
    assert.equal(statSync(directory).mode & 0o7777, 0o1777);
    writeFileSync(join(directory, "left"), "x");
    await place.close();
    assert.ok(!isMounted(directory) && !existsSync(directory));
  });

  it("go also when whoever asked for them is killed", async (t) => {
    const why = whyNot();
    if (why !== undefined) return t.skip(why);
    const program = join(root, "scripts/lib/memory_place.sh");
    const script = `sleep 100 | "${program}" 1024`;
    const asking = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => asking.on("close", resolve));
    const directory = await new Promise<string>((resolve) =>
      asking.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
    );
    assert.ok(isMounted(directory));
    const children = readFileSync(`/proc/${asking.pid}/task/${asking.pid}/children`, "utf8");
    for (const pid of children.trim().split(" ").map(Number)) {
      if (readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n") process.kill(pid, "SIGKILL");
    }
    await ended;
    for (let attempt = 0; attempt < 6000 && existsSync(directory); attempt++) await delay(10);
    assert.ok(!isMounted(directory) && !existsSync(directory));
  });

  it("are on the disk where there is not twice the memory", async () => {
    const place = await memoryPlace(root, 1024 ** 4);
    assert.equal(place.directory, undefined);
    await place.close();
  });
});
