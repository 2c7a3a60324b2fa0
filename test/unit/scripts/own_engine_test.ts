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
run_command sh -c 'echo $$; exec sleep 1000'`;

const skip = process.platform === "linux" ? false : "engines of one's own are for Linux";

/** A script that works, where it keeps things, and the processes that it began. */
interface Begun {
  readonly script: ChildProcess;
  readonly place: string;
  readonly processes: readonly string[];
}

/** Starts the script, as a group of processes. */
async function begin(): Promise<Begun> {
  const script = spawn("sh", ["-c", SCRIPT], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [place = "", ...processes] = await new Promise<string[]>((resolve, reject) => {
    let said = "";
    script.stdout?.on("data", (chunk: Uint8Array) => {
      said += new TextDecoder().decode(chunk);
      if (said.split("\n").length === 3) resolve(said.trim().split(/\s/));
    });
    script.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
  assert.ok(existsSync(place));
  assert.equal(processes.length, 2);
  return { script, place, processes };
}

/** What is left of it. */
function left({ place, processes }: Begun): string[] {
  return [place, ...processes.map((each) => `/proc/${each}/exe`)].filter((path) =>
    existsSync(path)
  );
}

/** Waits until nothing is left: there is no event for the end of another's process. */
async function allGone(begun: Begun): Promise<void> {
  while (left(begun).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a script with an engine of its own", { skip }, () => {
  it("leaves nothing behind when it is told to end, more than once", async () => {
    const begun = await begin();
    const { script } = begun;
    const ended = new Promise((resolve) => script.once("exit", resolve));
    process.kill(-(script.pid ?? 0), "SIGTERM");
    process.kill(script.pid ?? 0, "SIGTERM");
    await ended;
    assert.deepEqual(left(begun), []);
  });

  it("leaves nothing behind when only itself is told to end", async () => {
    const begun = await begin();
    const ended = new Promise((resolve) => begun.script.once("exit", resolve));
    process.kill(begun.script.pid ?? 0, "SIGTERM");
    await ended;
    assert.deepEqual(left(begun), []);
  });

  it("leaves nothing behind when it is killed with all of its group", async () => {
    const begun = await begin();
    process.kill(-(begun.script.pid ?? 0), "SIGKILL");
    await allGone(begun);
  });

  it("leaves nothing behind when only itself is killed", async () => {
    const begun = await begin();
    process.kill(begun.script.pid ?? 0, "SIGKILL");
    await allGone(begun);
  });
});
