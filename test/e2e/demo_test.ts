import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const programs: readonly (readonly [title: string, args: readonly string[]])[] = [
  ["main.ts on Deno", []],
  ["the executable", ["--program", `${root}dist/stackwright`]],
];

describe("scripts/demo --once", () => {
  for (const [title, args] of programs) {
    it(`shows with ${title} that a commit replaces one container, and leaves nothing behind`, async () => {
      const { code, output } = await run(["scripts/demo", "--once", ...args]);
      assert.equal(code, 0, output);
      assert.match(output, /\| <h1>Hello from the first commit<\/h1>/);
      assert.match(output, /\| <h1>Hello from the second commit<\/h1>/);
      assert.match(output, /^ +web +[0-9a-f]+ .*replaced [0-9a-f]+$/m);
      assert.match(output, /^ +worker +[0-9a-f]+ .*same as before$/m);
      const name = /stackwright-demo-[0-9a-f]{6}/.exec(output)?.[0] ?? "";
      for (const list of [["ps", "--all"], ["network", "ls"], ["images"]]) {
        const left = await run(["docker", ...list]);
        assert.ok(!left.output.includes(name), `left of ${name}: ${left.output}`);
      }
    });
  }

  it("shows the service's last log lines when it fails, and leaves nothing behind", async () => {
    const { code, output } = await run(["scripts/demo", "--once", "--program", "/bin/false"]);
    assert.equal(code, 1, output);
    assert.match(output, /demo: the service ended with 1/);
    assert.match(output, /cleaning up: done/);
  });
});

function run(argv: readonly [string, ...string[]]): Promise<{ code: number; output: string }> {
  const [program, ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Uint8Array) => output += new TextDecoder().decode(chunk));
    child.stderr.on("data", (chunk: Uint8Array) => output += new TextDecoder().decode(chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, output }));
  });
}
