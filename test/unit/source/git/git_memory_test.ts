import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Git, type GitParts } from "../../../../src/source/git/git.ts";
import { GitMemory } from "../../../../src/source/git/git_memory.ts";
import { parseRepositoryUrl } from "../../../../src/source/git/repository_url.ts";
import { type Command, createRedactor } from "../../../../src/system/mod.ts";
import { tookTooMuch } from "../../../../src/system/command_errors.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";

const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;
const MOST = 2048 * MIB;

/** Work that is short of memory until it has `needs` bytes, and the memory that it got each time. */
function workOf(needs: number, who = "shop") {
  const got: (number | undefined)[] = [];
  const until = Promise.withResolvers<void>();
  const work = {
    ...{ who, isRemote: true, isLarge: false },
    run: async ({ mostMemory = 0 }: Pick<Command, "mostMemory">) => {
      got.push(mostMemory / MIB);
      if (mostMemory === MOST) await until.promise;
      return mostMemory < needs ? "short" : "done";
    },
    isShort: (result: string) => result === "short",
  };
  return { work, got, end: () => until.resolve() };
}

describe("GitMemory.run()", () => {
  it("gives little to what needs no more", async () => {
    const { work, got } = workOf(100 * MIB);
    assert.equal(await new GitMemory(MOST).run(work, NEVER), "done");
    assert.deepEqual(got, [1024]);
  });

  it("has what needs no more than is left wait for no turn", async () => {
    const memory = new GitMemory(MOST);
    const long = workOf(1500 * MIB, "other");
    const first = memory.run(long.work, NEVER);
    await settle();
    const { work, got } = workOf(300 * MIB);
    assert.equal(await memory.run(work, NEVER), "done");
    assert.deepEqual([long.got, got], [[1024, 2048], [1024]]);
    long.end();
    await first;
  });

  it("gives much to what needs it, to one at a time, and keeps nobody else waiting", async () => {
    const memory = new GitMemory(MOST);
    const [first, second, local] = [workOf(1500 * MIB), workOf(1500 * MIB), workOf(1500 * MIB)];
    const all = [first.work, second.work, { ...local.work, isRemote: false }]
      .map((work) => memory.run(work, NEVER));
    await settle();
    assert.deepEqual([first.got, second.got, local.got], [[1024, 2048], [1024], [1024, 2048]]);
    assert.equal(await memory.run(workOf(1).work, NEVER), "done");
    for (const each of [first, second, local]) each.end();
    assert.deepEqual(await Promise.all(all), ["done", "done", "done"]);
    assert.deepEqual(second.got, [1024, 2048]);
  });

  it("gives much at once to what is known to need it, and never to what has no mirror", async () => {
    const large = workOf(1500 * MIB);
    large.end();
    assert.equal(await new GitMemory(MOST).run({ ...large.work, isLarge: true }, NEVER), "done");
    assert.deepEqual(large.got, [2048]);
    const asking = workOf(300 * MIB);
    const work = { ...asking.work, isLittle: true };
    assert.equal(await new GitMemory(MOST).run(work, NEVER), "short");
    assert.deepEqual(asking.got, [256]);
  });
});

describe("a git that has too little memory", () => {
  const ends = {
    "says so": () => {
      const stderr = "fatal: Out of memory, malloc failed (tried to allocate 9 bytes)";
      return Promise.resolve({ code: 128, stdout: new Uint8Array(), stderr });
    },
    "is ended": (command: Command) => Promise.reject(tookTooMuch(command)),
  };
  for (const [how, end] of Object.entries(ends)) {
    it(`is begun again with more when it ${how}, without the lock that it left`, async () => {
      const started: Command[] = [];
      const removed: string[] = [];
      const run = (command: Command) => {
        started.push(command);
        const good = { code: 0, stdout: new Uint8Array(), stderr: "" };
        return started.length === 1 ? end(command) : Promise.resolve(good);
      };
      const parts = {
        commands: { run },
        files: { remove: (path: string) => Promise.resolve(void removed.push(path)) },
        clock: createFakeClock(),
        redactor: createRedactor(),
        access: { home: () => Promise.resolve("/home") },
        options: {
          git: "git",
          path: "/bin",
          localTimeoutMs: 1000,
          mostMemory: MOST,
          http: undefined,
        },
      } as unknown as GitParts;
      const where = { gitDir: "/m", workTree: "/w", indexFile: "/i" };
      const args = ["checkout-index", "--stdin"];
      const invocation = { ...where, args, argsAgain: [...args, "--force"], stdin: "a" };
      const result = await new Git(parts).exporting(invocation, NEVER);
      assert.equal(result.code, 0);
      assert.deepEqual(started.map(({ mostMemory = 0 }) => mostMemory / MIB), [1024, 2048]);
      assert.deepEqual(started.map(({ argv }) => argv.slice(-2)), [args, ["--stdin", "--force"]]);
      assert.equal(started[1]?.argv.length, (started[0]?.argv.length ?? 0) + 1);
      assert.deepEqual(removed, ["/i.lock"]);
    });
  }
});

describe("the turn for much memory", () => {
  it("goes by whose work fetches, not by repository", async () => {
    const inTurn: string[] = [];
    const ends: (() => void)[] = [];
    const run = async ({ argv, mostMemory }: Command) => {
      const good = { code: 0, stdout: new Uint8Array(), stderr: "" };
      if (mostMemory !== MOST) return { ...good, code: 128, stderr: "fatal: Out of memory, a" };
      inTurn.push(argv.at(-1) ?? "");
      await new Promise<void>((resolve) => ends.push(resolve));
      return good;
    };
    const parts = {
      commands: { run },
      files: { list: () => Promise.resolve([]), stat: () => Promise.resolve(undefined) },
      clock: createFakeClock(),
      redactor: createRedactor(),
      access: {
        home: () => Promise.resolve("/home"),
        forRemote: () => Promise.resolve({ scheme: "file", env: {}, config: [] }),
      },
      options: {
        ...{ git: "git", path: "/bin", remoteTimeoutMs: 1000, mostBytes: 0, attempts: 1 },
        ...{ mostMemory: MOST, mostProcessorSeconds: 0, http: undefined },
      },
    } as unknown as GitParts;
    const git = new Git(parts);
    const fetched = ["one/1", "one/2", "one/3", "other/1"].map(async (name) => {
      const url = {
        ...parseRepositoryUrl(`https://git.example/${name}`),
        by: name.replace(/\/.*/, ""),
      };
      await git.remote(url, {
        args: ["fetch", name],
        gitDir: `/${name}`,
      }, NEVER);
    });
    for (let at = 0; at < 4; at++) {
      await settle();
      await settle();
      ends.shift()?.();
    }
    await Promise.all(fetched);
    assert.equal(inTurn.length, 4);
    assert.ok(inTurn.indexOf("other/1") < inTurn.indexOf("one/3"), inTurn.join(" "));
  });
});
