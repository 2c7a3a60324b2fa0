import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";

const ROOT = join(import.meta.dirname ?? "", "../../..");

/** Begins what it says where an engine would be started, in a session of its own like one of those. */
const SCRIPT = `set -eu
own_engine=scripts/lib/own_engine.sh
. "$own_engine"
setsid sleep 1000 &
began $!
echo "$place $!"
run_command sleep 1000`;

const skip = process.platform === "linux" ? false : "engines of one's own are for Linux";

/** Starts the script, as a group of processes; answers with what it made. */
async function begun(): Promise<{ script: ChildProcess; place: string; engine: number }> {
  const script = spawn("sh", ["-c", SCRIPT], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [place = "", engine] = await new Promise<string[]>((resolve, reject) => {
    script.stdout?.once(
      "data",
      (chunk: Uint8Array) => resolve(new TextDecoder().decode(chunk).trim().split(" ")),
    );
    script.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
  assert.ok(existsSync(place));
  return { script, place, engine: Number(engine) };
}

/** Waits until nothing is left: there is no event for the end of another's process. */
async function allGone(place: string, engine: number): Promise<void> {
  while (existsSync(place) || existsSync(`/proc/${engine}/exe`)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a script with an engine of its own", { skip }, () => {
  it("leaves nothing behind when it is told to end, more than once", async () => {
    const { script, place, engine } = await begun();
    const ended = new Promise((resolve) => script.once("exit", resolve));
    process.kill(-(script.pid ?? 0), "SIGTERM");
    process.kill(script.pid ?? 0, "SIGTERM");
    await ended;
    assert.equal(existsSync(place), false);
    assert.equal(existsSync(`/proc/${engine}/exe`), false);
  });

  it("leaves nothing behind when it is killed with all of its group", async () => {
    const { script, place, engine } = await begun();
    process.kill(-(script.pid ?? 0), "SIGKILL");
    await allGone(place, engine);
  });

  it("leaves nothing behind when only itself is killed", async () => {
    const { script, place, engine } = await begun();
    process.kill(script.pid ?? 0, "SIGKILL");
    await allGone(place, engine);
  });
});
