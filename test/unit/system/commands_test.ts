import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { collectOutput } from "../../../src/system/command_bounds.ts";
import { type Command, systemCommands } from "../../../src/system/mod.ts";

const never = new AbortController().signal;
const env = { PATH: "/usr/bin:/bin" };

function shell(script: string, more: Partial<Command> = {}): Command {
  return { argv: ["/bin/sh", "-c", script], env, ...more };
}

async function output(command: Command): Promise<string> {
  const { stdout } = await systemCommands.run(command, never);
  return new TextDecoder().decode(stdout);
}

/** Whether a process runs; one that only waits to be collected does not. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}

/** Waits until none of the processes runs; fails when one never ends. */
async function allGone(pids: readonly number[]): Promise<void> {
  for (let attempt = 0; attempt < 6000 && pids.some(isRunning); attempt++) await delay(10);
  assert.deepEqual(pids.filter(isRunning), []);
}

/** A child with a grandchild in the background, whose ids it prints before both wait for ever. */
const FAMILY = "sleep 1000 & echo $!; sh -c 'sleep 1000 & echo $!; wait' & echo $!; echo up; wait";

/** Runs {@link FAMILY} until all of it is up, then `stop`s it. */
async function runFamily(
  more: Partial<Command>,
  stop: (abort: (reason: Error) => void) => void,
): Promise<{ pids: number[]; error: unknown }> {
  const pids: number[] = [];
  const controller = new AbortController();
  let up = 0;
  const command = shell(FAMILY, {
    ...more,
    onLine(line) {
      if (/^\d+$/.test(line)) pids.push(Number(line));
      up++;
      if (up === 4) stop((reason) => controller.abort(reason));
    },
  });
  const error = await systemCommands.run(command, controller.signal).then(
    () => assert.fail("it ended by itself"),
    (error) => error,
  );
  return { pids, error };
}

/** The processes that were told to watch over a process group. */
function watchersOf(group: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words[0] === "/bin/sh" && words[4] === group;
    } catch {
      return false;
    }
  });
}

describe("systemCommands.run", () => {
  const codes: [string, number][] = [
    ["exit 0", 0],
    ["exit 7", 7],
    ["exit 255", 255],
    ["kill -KILL $$", 137],
    ["kill -TERM $$", 143],
    ["kill -INT $$", 130],
    ["kill -SEGV $$", 139],
    ["kill -HUP $$", 129],
  ];
  for (const [script, code] of codes) {
    it(`run() gives ${code} for "${script}": that is a result, not an error`, async () => {
      assert.equal((await systemCommands.run(shell(script), never)).code, code);
    });
  }

  it("run() has each program lead a group and a session of its own", async () => {
    const fields = (await output({ argv: ["cat", "/proc/self/stat"], env })).split(" ");
    const [pid, , , , group, session] = fields;
    assert.deepEqual([group, session], [pid, pid]);
  });

  it("run() keeps output and errors apart, every byte of the output as it was", async () => {
    const { code, stdout, stderr } = await systemCommands.run(
      shell("printf '\\377\\000a'; echo bad ü >&2"),
      never,
    );
    assert.deepEqual([code, [...stdout], stderr], [0, [255, 0, 97], "bad ü\n"]);
  });

  it("run() gives arguments to the program as they are, without a shell", async () => {
    const args = ["$HOME", "a b", "*", ";", "-n", "", "'\"\\"];
    const printed = await output({ argv: ["printf", "%s|", ...args], env });
    assert.equal(printed, args.map((each) => `${each}|`).join(""));
  });

  it("run() gives the program the environment it is told and nothing else", async () => {
    const printed = await output({ argv: ["/usr/bin/env"], env: { ONE: "a=b", TWO: "" } });
    assert.deepEqual(printed.trim().split("\n").sort(), ["ONE=a=b", "TWO="]);
  });

  it("run() runs in the directory it is told", async () => {
    assert.equal(await output(shell("pwd", { cwd: "/usr" })), "/usr\n");
  });

  it("run() writes standard input and closes it; without any the program reads nothing", async () => {
    assert.equal(await output(shell("cat", { stdin: "a\nü" })), "a\nü");
    assert.equal(await output(shell("cat; echo end")), "end\n");
    assert.equal(await output(shell("cat; echo end", { stdin: "" })), "end\n");
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    const { stdout } = await systemCommands.run(shell("cat", { stdin: bytes }), never);
    assert.deepEqual(stdout, bytes);
  });

  it("run() does not mind a program that ends without reading its input", async () => {
    const command = shell("exit 3", { stdin: "x".repeat(1_000_000) });
    assert.equal((await systemCommands.run(command, never)).code, 3);
  });

  it("run() hands over each line of both streams without its end, also the last one", async () => {
    const lines: string[] = [];
    const script = "printf 'one\\r\\ntwo\\n\\n'; printf 'err\\n' >&2; printf 'l\\303'; " +
      "sleep 0.1; printf '\\274st'";
    const { stdout, stderr } = await systemCommands.run(
      shell(script, { onLine: (line) => void lines.push(line) }),
      never,
    );
    assert.deepEqual(lines.filter((line) => line !== "err"), ["one", "two", "", "lüst"]);
    assert.equal(lines.length, 5);
    assert.equal(new TextDecoder().decode(stdout), "one\r\ntwo\n\nlüst");
    assert.equal(stderr, "err\n");
  });

  it("run() starts nothing when it is aborted already", async () => {
    const reason = new Error("stopped");
    const command: Command = { argv: ["/nowhere/program"], env };
    await assert.rejects(systemCommands.run(command, AbortSignal.abort(reason)), reason);
  });

  for (const endsWithUs of [false, true]) {
    it(`run() kills the whole group on abort, grandchildren too (endsWithUs: ${endsWithUs})`, async () => {
      const reason = new Error("stopped");
      const { pids, error } = await runFamily({ endsWithUs }, (abort) => abort(reason));
      assert.equal(error, reason);
      assert.equal(pids.length, 3);
      await allGone(pids);
    });

    it(`run() kills the whole group when it takes too long (endsWithUs: ${endsWithUs})`, async () => {
      const { pids, error } = await runFamily({ endsWithUs, timeoutMs: 1_500 }, () => {});
      assert.ok(isStackwrightError(error, "timeout"), String(error));
      assert.match(error.message, /^\/bin\/sh -c .* did not end within 1500 ms$/);
      assert.equal(pids.length, 3);
      await allGone(pids);
    });
  }

  it("run() ends a program that prints more than is kept", async () => {
    const endless = shell("while :; do echo 0123456789; done", { mostBytes: 100_000 });
    const error = await systemCommands.run(endless, never).then(() => undefined, (each) => each);
    assert.ok(isStackwrightError(error, "payload_too_large"), String(error));
    assert.match(error.message, /printed more than 100000 bytes/);
    const quiet = shell("echo 123; echo 456 >&2", { mostBytes: 8 });
    assert.equal((await systemCommands.run(quiet, never)).code, 0);
  });

  it("run() keeps the end of what a program prints, where it is told how much", async () => {
    const much = shell("for out in 2 1; do yes a line | head -n 300000 >&$out; done; echo end", {
      keptBytes: 1000,
    });
    const { stdout, stderr } = await systemCommands.run(much, never);
    assert.ok(stdout.length >= 1000 && stdout.length < 200_000, String(stdout.length));
    assert.ok(stderr.length >= 1000 && stderr.length < 200_000, String(stderr.length));
    assert.match(new TextDecoder().decode(stdout), /^(?:a line\n)+end\n$/);
    // Of a line that is cut in front nothing masks what is left of a secret.
    const cut = shell("head -c 2000000 /dev/zero; echo; echo end", { keptBytes: 1000 });
    assert.equal(await output(cut), "end\n");
  });

  it("run() keeps both ends of what a program says, all of what it prints", () => {
    const streams = { stdout: new EventEmitter(), stderr: new EventEmitter() };
    const child = Object.assign(new EventEmitter(), streams) as unknown as ChildProcess;
    const printed = collectOutput(child, shell(""), () => assert.fail());
    const lines = new TextEncoder().encode(`remote: ${"x".repeat(91)}\n`.repeat(600));
    streams.stderr.emit("data", new TextEncoder().encode("the host key is lost\n"));
    for (let count = 0; count < 100; count++) {
      for (const each of Object.values(streams)) each.emit("data", lines);
    }
    streams.stderr.emit("data", new TextEncoder().encode("fatal: the end\n"));
    const { stdout, stderr } = printed();
    assert.equal(stdout.length, 100 * lines.length);
    assert.ok(stderr.length >= 256 * 1024 && stderr.length < 1024 * 1024, String(stderr.length));
    assert.match(stderr, /^the host key is lost\n(?:remote: x{91}\n)+fatal: the end\n$/);
  });

  it("run() keeps what comes byte by byte in as much memory as what comes at once", () => {
    const child = Object.assign(new EventEmitter(), {
      stdout: new EventEmitter(),
      stderr: new EventEmitter(),
    });
    const printed = collectOutput(child as unknown as ChildProcess, shell(""), () => assert.fail());
    // The same array each time: whoever keeps it, and not its byte, has only the last one.
    const chunk = new Uint8Array(1);
    // Not of the process, which has other tests in it.
    const used = () => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = used();
    for (let count = 0; count < 1_000_000; count++) {
      chunk[0] = count;
      child.stdout.emit("data", chunk);
    }
    const { stdout } = printed();
    const more = used() - before;
    assert.equal(stdout.length, 1_000_000);
    assert.ok(stdout.every((byte, at) => byte === at % 256));
    assert.ok(more < 64 * 1024 * 1024, `it took ${more} bytes`);
  });

  it("run() tells the beginning of a line that has no end", async () => {
    const lines: string[] = [];
    const command = shell("head -c 3000000 /dev/zero; echo; echo end", {
      onLine: (line) => void lines.push(line),
    });
    await systemCommands.run(command, never);
    assert.equal(lines.length, 2);
    assert.ok((lines[0]?.length ?? 0) < 1_000_000, String(lines[0]?.length));
    assert.equal(lines[1], "end");
  });

  it("run() bounds the memory of a program, where the machine has what does it", {
    skip: !existsSync("/usr/bin/prlimit"),
  }, async () => {
    assert.equal(await output(shell("ulimit -d", { mostMemory: 512 * 1024 * 1024 })), "524288\n");
    const missing: Command = { argv: ["/no/such/program"], env, mostMemory: 512 * 1024 * 1024 };
    const error = await systemCommands.run(missing, never).then(() => undefined, (each) => each);
    assert.ok(isStackwrightError(error, "command_failed"), String(error));
    assert.match(error.message, /^could not start \/no\/such\/program: /);
  });

  it(
    "run() kills a program that has more memory with its children than the kernel bounds of each",
    {
      skip: !existsSync("/proc/self/statm"),
    },
    async () => {
      const holder = "{ head -c 40000000 /dev/zero; sleep 5; } | tail >/dev/null";
      const three = shell(`for n in 1 2 3; do ${holder} & done; wait`, { mostMemory: 80_000_000 });
      const error = await systemCommands.run(three, never).then(() => undefined, (each) => each);
      assert.ok(isStackwrightError(error, "payload_too_large"), String(error));
      assert.match(error.message, /more than 80000000 bytes of memory/);
    },
  );

  it("run() ends with the program, also when something it left behind holds its output", async () => {
    const script = "setsid sleep 1000 & echo $!; exec sleep 0.1";
    const { code, stdout } = await systemCommands.run(shell(script), never);
    assert.equal(code, 0);
    const left = Number(new TextDecoder().decode(stdout));
    assert.ok(isRunning(left), "the sleeper was to outlive the program");
    process.kill(left, "SIGKILL");
  });

  it("run() ends on abort, also when something it left behind holds its output", async () => {
    const controller = new AbortController();
    let left = 0;
    const script = "setsid sh -c 'echo $$; exec sleep 1000' & exec sleep 1000";
    const command = shell(script, {
      onLine(line) {
        left = Number(line);
        controller.abort(new Error("enough"));
      },
    });
    await assert.rejects(systemCommands.run(command, controller.signal), /enough/);
    process.kill(left, "SIGKILL");
  });

  it("run() says that a program it cannot find may not be installed", async () => {
    const programs = ["stackwright-no-such-program", "/nowhere/program"];
    const commands = programs.flatMap((each) => [
      { argv: [each] as const, env },
      { argv: [each] as const, env, mostMemory: 2 ** 30 },
    ]);
    for (const command of commands) {
      const [program] = command.argv;
      await assert.rejects(systemCommands.run(command, never), (error) => {
        assert.ok(isStackwrightError(error, "command_failed"), String(error));
        assert.ok(error.message.startsWith(`could not start ${program}: `), error.message);
        assert.match(error.message, /is it installed and on PATH\?$/);
        assert.doesNotMatch(error.message, /setsid|prlimit/);
        return true;
      });
    }
  });

  it("run() starts a program that ends with us with its variables alone, and no shell sees them", async () => {
    const variables = { "BASH_FUNC_read%%": "() { id >&2; }", SHELLOPTS: "xtrace", PS4: "$(id)" };
    const wants = Object.entries(variables).map(([name, value]) => `${name}=${value}`).sort();
    const printed = await output({ argv: ["/usr/bin/env"], env: variables, endsWithUs: true });
    assert.deepEqual(printed.trim().split("\n").sort(), wants);

    // What watches over it is there while it runs, has no variables, and is gone afterwards.
    let group = "";
    let watchers: string[] = [];
    const controller = new AbortController();
    await assert.rejects(
      systemCommands.run({
        argv: ["/bin/sh", "-c", "echo $$; read -r line; echo $line; exec sleep 1000"],
        env: variables,
        endsWithUs: true,
        stdin: "fed\n",
        onLine(line) {
          if (/^\d+$/.test(line)) group = line;
          if (line !== "fed") return;
          watchers = watchersOf(group);
          for (const pid of watchers) {
            assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, "latin1"), /BASH_FUNC|PS4/);
          }
          controller.abort(new Error("enough"));
        },
      }, controller.signal),
      /enough/,
    );
    assert.equal(watchers.length, 1);
    await allGone(watchers.map(Number));
  });

  it("run() has a program that ends with us killed when this process is", async () => {
    const file = fileURLToPath(new URL("ending_program.ts", import.meta.url));
    const args = process.versions["deno"] === undefined
      ? [file]
      : ["run", "-A", "--no-check", file];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const pids: number[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (/^\d+$/.test(line)) pids.push(Number(line));
      if (line === "fed") break;
    }
    assert.equal(pids.length, 2);
    assert.ok(pids.every(isRunning));
    child.kill("SIGKILL");
    await allGone(pids);
  });

  it("run() passes input, output and exit code through a program that ends with us", async () => {
    const command = shell("cat; echo bad >&2; exit 9", { endsWithUs: true, stdin: "in" });
    const { code, stdout, stderr } = await systemCommands.run(command, never);
    assert.deepEqual([code, new TextDecoder().decode(stdout), stderr], [9, "in", "bad\n"]);
  });
});

describe("systemCommands.start", () => {
  it("start() talks to a program while it runs; close() ends it, also twice", async () => {
    const running = systemCommands.start({ argv: ["cat"], env });
    const chunks = running.output[Symbol.asyncIterator]();
    for (const text of ["one\n", "two\n"]) {
      running.write(text);
      const { value } = await chunks.next();
      assert.equal(new TextDecoder().decode(value), text);
    }
    await running.close();
    await running.close();
    assert.equal((await chunks.next()).done, true);
  });

  it("start() looks once more at the memory of a program that rests, until it is asked again", {
    skip: !existsSync("/proc/self/statm"),
  }, async () => {
    const counting = () => {
      const [looks, more] = [{ count: 0 }, Promise.withResolvers<void>()];
      const note = () => void (++looks.count === 4 && more.resolve());
      const sharedMemory = { note, leave: () => {} };
      return { looks, more: more.promise, sharedMemory };
    };
    const [rested, asked] = [counting(), counting()];
    const resting = systemCommands.start({ argv: ["cat"], env, ...rested });
    resting.rest();
    const working = systemCommands.start({ argv: ["cat"], env, ...asked });
    await asked.more;
    assert.equal(rested.looks.count, 1);
    resting.write("again\n");
    await rested.more;
    await Promise.all([resting.close(), working.close()]);
  });

  it("start() throws on first use when the program cannot be started", async () => {
    const running = systemCommands.start({ argv: ["/nowhere/program"], env });
    running.write("x");
    await assert.rejects(async () => {
      for await (const _ of running.output) assert.fail("it has output");
    }, (error) => isStackwrightError(error, "command_failed"));
    await running.close();
  });

  it("start() throws the same where another program makes its group or bounds it", async () => {
    const command = { argv: ["/nowhere/program"], env, mostMemory: 1024 ** 3 } as const;
    const running = systemCommands.start(command);
    const why = /^could not start \/nowhere\/program: No such file or directory; is it installed/;
    await assert.rejects(async () => {
      for await (const _ of running.output) assert.fail("it has output");
    }, (error) => isStackwrightError(error, "command_failed") && why.test(error.message));
    await running.close();
  });

  it("close() ends what start() has just started, and all that it started", async () => {
    const early = systemCommands.start(shell("sleep 100 & exec sleep 100"));
    await early.close();
    const running = systemCommands.start(shell("sleep 100 & echo $$ $!; exec sleep 100"));
    const { value } = await running.output[Symbol.asyncIterator]().next();
    const pids = new TextDecoder().decode(value).trim().split(" ").map(Number);
    assert.ok(pids.length === 2 && pids.every(isRunning));
    await running.close();
    await allGone(pids);
  });

  it("close() ends a program of which nobody reads what it prints, and its output", async () => {
    const running = systemCommands.start(shell("while :; do echo word; done"));
    const output = running.output[Symbol.asyncIterator]();
    await output.next();
    // Long enough that more is there than was asked for.
    await delay(200);
    await running.close();
    await running.close();
    while (!(await output.next()).done);
  });
});
