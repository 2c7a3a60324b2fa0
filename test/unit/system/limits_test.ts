import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { systemCommands } from "../../../src/system/mod.ts";
import { limited, PRLIMIT } from "../../../src/system/limits.ts";
import { childrenOf, watchMemory } from "../../../src/system/memory_watch.ts";

const never = new AbortController().signal;
const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

describe("limited()", () => {
  const argv = ["git", "fetch", "$x; y"] as const;

  it("changes nothing without limits", () => {
    assert.deepEqual(limited(argv, {}, true), argv);
    assert.deepEqual(limited(argv, { mostMemory: 1, mostProcessorSeconds: 1 }, false), argv);
  });

  it("has the kernel told where there is a program that does it", () => {
    const limits = { mostMemory: 5, mostProcessorSeconds: 6, mostFileBytes: 7 };
    assert.deepEqual(limited(argv, limits, true), [
      PRLIMIT,
      "--core=0:0",
      "--cpu=6:7",
      "--fsize=7:7",
      "--stack=1048576:1048576",
      "--data=5:5",
      ...argv,
    ]);
  });

  for (const hasPrlimit of [true, false]) {
    it(`ends who writes a larger file, ${hasPrlimit ? "with" : "without"} prlimit`, {
      skip: hasPrlimit && !existsSync(PRLIMIT) ? `there is no ${PRLIMIT}` : false,
    }, async () => {
      const directory = await mkdtemp(join(tmpdir(), "stackwright-limits-"));
      const write = (bytes: number) => {
        const file = join(directory, `${bytes}`);
        const script = [
          "sh",
          "-c",
          'head -c "$1" /dev/zero >"$2"',
          "sh",
          `${bytes}`,
          file,
        ] as const;
        const started = limited(script, { mostFileBytes: 64 * 1024 }, hasPrlimit);
        return systemCommands.run({ argv: started, env }, never);
      };
      try {
        assert.equal((await write(64 * 1024)).code, 0);
        assert.notEqual((await write(1024 * 1024)).code, 0);
        assert.equal((await stat(join(directory, `${1024 * 1024}`))).size, 64 * 1024);
      } finally {
        await rm(directory, { recursive: true });
      }
    });
  }
});

describe("watchMemory()", () => {
  const skip = existsSync("/proc/self/statm") ? false : "there is no /proc";

  it("tells when a program or its child takes more", { skip }, async () => {
    const controller = new AbortController();
    // A line without an end is kept whole.
    const command = { argv: ["sh", "-c", "echo $$; tail /dev/zero; :"] as const, env };
    const enough = new Error("enough");
    const run = systemCommands.run({
      ...command,
      onLine: (line) => {
        watchMemory(Number(line), { mostMemory: 64 * 1024 * 1024 }, () => controller.abort(enough));
      },
    }, controller.signal);
    await assert.rejects(run, enough);
  });

  it("finds children that another thread started", { skip }, async () => {
    const controller = new AbortController();
    const seen = new Error("seen");
    const child = 'import("node:child_process").then((m) => ' +
      'console.log(process.pid, m.spawn("sleep", ["20"]).pid))';
    const script = 'import { Worker } from "node:worker_threads";' +
      `new Worker(${JSON.stringify(child)}, { eval: true }); setTimeout(process.exit, 20_000);`;
    const run = systemCommands.run({
      argv: [process.execPath, "Bun" in globalThis ? "-e" : "eval", script],
      env: { ...env, HOME: process.env["HOME"] ?? "/" },
      onLine: (line) => {
        const [parent = 0, started = 0] = line.split(" ").map(Number);
        controller.abort(childrenOf(parent).includes(started) ? seen : new Error(line));
      },
    }, controller.signal);
    await assert.rejects(run, seen);
  });

  it("says nothing of a program that takes little, or has ended", { skip }, async () => {
    let pid = 0;
    let told = false;
    const command = { argv: ["sh", "-c", "echo $$; sleep 0.3"] as const, env };
    let end = () => {};
    await systemCommands.run({
      ...command,
      onLine: (line) => {
        pid = Number(line);
        // Less than the libraries of the two, which all programs share.
        end = watchMemory(pid, { mostMemory: 2 * 1024 * 1024 }, () => told = true);
      },
    }, never);
    end();
    assert.ok(pid > 0);
    assert.equal(told, false);
  });
});
