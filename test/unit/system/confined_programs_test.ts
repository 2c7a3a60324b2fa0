import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Command, CommandResult, Commands } from "../../../src/system/mod.ts";
import { landlockHere } from "../../../src/system/landlock.ts";
import { CONFINED, confiningCommands, twiceAtMost } from "../../../src/system/confined_programs.ts";

const { signal } = new AbortController();

describe("confiningCommands()", () => {
  const started: Command[] = [];
  const ended = { code: 0, stdout: new Uint8Array(), stderr: "" };
  const commands = {
    run: (each: Command) => {
      started.push(each);
      return Promise.resolve(ended);
    },
  };
  const confining = confiningCommands(commands as unknown as Commands, "/opt/self");
  const startedBy = async (command: Partial<Command>) => {
    await confining.run({ argv: ["/bin/cat", "x"], env: {}, ...command }, signal);
    const { argv, startedBy } = started.pop() ?? {};
    assert.deepEqual(argv, command.argv ?? ["/bin/cat", "x"]);
    return startedBy;
  };
  let directory: string;
  before(async () => void (directory = await mkdtemp(join(tmpdir(), "swt-confined-"))));
  after(() => rm(directory, { recursive: true }));

  it("starts what may read some paths alone by this program, where the kernel confines", async () => {
    const words = ["/opt/self", CONFINED, '{"mostMemory":5}', "/a", "/b", "--"];
    const mayRead = ["/a", "/b", "/a"];
    const here = await landlockHere();
    const isHere = "abi" in here;
    assert.deepEqual(await startedBy({ mayRead, mostMemory: 5 }), isHere ? words : undefined);
    assert.deepEqual(await confining.confinement?.("/bin/cat"), here);
  });

  it("starts this program with no variable under its own name, nor any on its command line", async () => {
    const env = { MIMALLOC_VERBOSE: "2", PATH: "/bin", STACKWRIGHT_GIVEN_A: "=" };
    await confining.run({ argv: ["/bin/cat"], env, mayRead: ["/a"] }, signal);
    const ours = {
      STACKWRIGHT_GIVEN_MIMALLOC_VERBOSE: "2",
      STACKWRIGHT_GIVEN_PATH: "/bin",
      STACKWRIGHT_GIVEN_STACKWRIGHT_GIVEN_A: "=",
    };
    assert.deepEqual(started.pop()?.env, "abi" in await landlockHere() ? ours : env);
    await confining.run({ argv: ["docker"], env, mayRead: ["/a"] }, signal);
    assert.deepEqual(started.pop()?.env, env);
  });

  it("starts all else as it is, and says why", async () => {
    assert.equal(await startedBy({}), undefined);
    assert.equal(await startedBy({ argv: ["docker", "compose"], mayRead: ["/a"] }), undefined);
    const why = "which program docker starts, as its plugin, is not known";
    assert.deepEqual(await confining.confinement?.("docker"), { why });
  });

  it("starts a script as it is, and says why", async () => {
    const script = join(directory, "script");
    await writeFile(script, "#!/bin/sh\nexec cat file\n", { mode: 0o755 });
    assert.equal(await startedBy({ argv: [script, "x"], mayRead: ["/a"] }), undefined);
    const why = `${script} is a script, which starts programs`;
    assert.deepEqual(await confining.confinement?.(script), { why });
  });

  it("takes neither what is as short as a file can be for a script, nor what is not there", async () => {
    const [empty, short] = ["empty", "short"].map((name) => join(directory, name));
    await writeFile(empty ?? "", "");
    await writeFile(short ?? "", "#");
    const here = await landlockHere();
    for (const program of [empty, short, join(directory, "nothing"), directory]) {
      assert.deepEqual(await confining.confinement?.(program ?? ""), here);
    }
  });
});

describe("twiceAtMost()", () => {
  const done: CommandResult = { code: 0, stdout: new Uint8Array(), stderr: "" };
  const stderr =
    "=====\nBun v1.4.5 (a7733435c) Linux x64\npanic(main thread): Segmentation fault\n";
  const crash = { ...done, code: 139, stderr };
  const run = (...results: CommandResult[]) =>
    twiceAtMost(() => Promise.resolve(results.shift() ?? done), "/bin/cat");

  it("runs once more what crashed before it became another program, and tells it in a line", async () => {
    assert.equal(await run(crash), done);
    const twice = await run(crash, crash);
    const told = "this program crashed twice before it became /bin/cat (139)";
    assert.deepEqual([twice.code, twice.stderr], [139, told]);
  });

  it("runs nothing again that ended otherwise", async () => {
    const ended = { ...done, code: 152, stderr: "level=warning msg=x" };
    const failed = { ...done, code: 15, stderr };
    for (const each of [done, ended, failed]) assert.equal(await run(each), each);
  });
});
