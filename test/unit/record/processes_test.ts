import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { stackKey } from "../../../src/model/mod.ts";
import { InstanceKey, Ledger, processesOf } from "../../../src/record/mod.ts";
import { createIds, systemClock, systemProcessOwner } from "../../../src/system/mod.ts";

const PROGRAM = fileURLToPath(new URL("../../fakes/changing_process.ts", import.meta.url));
/** Starts a program in a PID namespace of its own, in which its id is a small number. */
const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const WEB = stackKey("", "web");

async function inDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-processes-"));
  try {
    await test(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const locks = async (directory: string) =>
  (await readdir(directory)).filter((each) => each.startsWith("process-")).sort();

describe("the processes of a data directory", () => {
  it("are alive from their first change to their end", () =>
    inDirectory(async (directory) => {
      const [one, two] = [processesOf(directory, "1@a:1:1"), processesOf(directory, "1@b:1:1")];
      assert.equal(two.isAlive("1@a:1:1"), false);
      one.enter();
      one.enter();
      assert.equal(two.isAlive("1@a:1:1"), true);
      assert.equal(one.isAlive("1@b:1:1"), false);
      two.enter();
      assert.deepEqual(await locks(directory), ["process-1@a:1:1.lock", "process-1@b:1:1.lock"]);
      // Another user's process has to be able to ask.
      assert.equal((await stat(join(directory, "process-1@a:1:1.lock"))).mode & 0o777, 0o644);
      one.leave();
      one.leave();
      assert.equal(two.isAlive("1@a:1:1"), false);
      assert.deepEqual(await locks(directory), ["process-1@b:1:1.lock"]);
      await rm(join(directory, "process-1@b:1:1.lock"));
      two.enter();
      assert.equal(one.isAlive("1@b:1:1"), true);
      two.leave();
    }));

  it("have a name for each ledger, and those of an earlier version are told by their ids", () =>
    inDirectory((directory) => {
      const { own, isAlive } = processesOf(directory);
      assert.notEqual(processesOf(directory).own, own);
      assert.match(own, new RegExp(`^${process.pid}@[\\w.-]+:\\d+:\\d+:[\\w-]{36}$`));
      assert.equal(isAlive(systemProcessOwner().id), true);
      for (const id of ["", `${process.pid}:1`, "x"]) assert.equal(isAlive(id), false, id);
      return Promise.resolve();
    }));

  const cannot = spawnSync(UNSHARE[0] ?? "", [...UNSHARE.slice(1), "true"]).status !== 0;
  for (const [title, around] of [["", []], [" of another PID namespace", UNSHARE]] as const) {
    const skip = cannot && around.length > 0 && "no namespaces can be made here";
    it(
      `keep what they have begun while they run, also one${title}`,
      { skip },
      () =>
        inDirectory(async (directory) => {
          const child = await changing(directory, around);
          const ledger = new Ledger(join(directory, "state.db"), {
            key: new InstanceKey(new Uint8Array(32).fill(7)),
            clock: systemClock,
            ids: createIds(systemClock),
            processes: processesOf(directory),
            redact: String,
          });
          try {
            assert.match(ledger.heldElsewhere(WEB) ?? "", /^\d+@/);
            assert.deepEqual(ledger.interrupted(), []);
            assert.throws(() => ledger.beginDestroy(WEB, {}), { code: "conflict" });
            const ended = once(child, "exit");
            // Deno's kill() closes standard input first, at which it would end by itself.
            process.kill(Number(child.pid), "SIGKILL");
            await ended;
            const deadline = Date.now() + 20_000;
            // The kernel ends what is in the namespace after what made it.
            while (ledger.heldElsewhere(WEB) !== undefined && Date.now() < deadline) {
              await systemClock.sleep(20, new AbortController().signal);
            }
            assert.equal(ledger.interrupted().length, 1);
            const left = await locks(directory);
            assert.equal(left.length, 1);
            ledger.beginDestroy(WEB, {});
            const now = await locks(directory);
            assert.equal(now.length, 1, "what the killed process left is removed");
            assert.notDeepEqual(now, left);
          } finally {
            ledger.close();
          }
          assert.deepEqual(await locks(directory), []);
        }),
    );
  }
});

/** Starts {@link PROGRAM}, and waits until it has begun. */
async function changing(directory: string, around: readonly string[]): Promise<ChildProcess> {
  const run = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
  const argv = [...around, process.execPath, ...run, PROGRAM, directory];
  const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(([code]) => assert.fail(`it ended with ${code}`)),
  ]);
  return child;
}
