import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { COMMANDS as LISTED } from "../../../src/cli/commands.ts";
import { EXIT } from "../../../src/cli/io.ts";
import { run } from "./command_line.ts";

const COMMANDS = LISTED.map(({ name }) => name);

/** What bash proposes for a command line that is being typed. */
function completed(script: string, ...words: readonly string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(" ");
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _stackwright; ` +
    `printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync("bash", ["--norc", "-c", `${script}\n${ask}`], { encoding: "utf8" });
  return out.trim().split("\n");
}

describe("stackwright completion", () => {
  it("completes the names of commands in bash", async () => {
    const { code, out } = await run(["completion", "bash"]);
    assert.equal(code, EXIT.ok);
    assert.deepEqual(completed(out, "stackwright", "ro"), ["rollback"]);
    assert.deepEqual(completed(out, "stackwright", "").sort(), [...COMMANDS].sort());
    assert.deepEqual(completed(out, "stackwright", "plan", "--j"), ["--json"]);
  });

  for (const shell of ["zsh", "fish"]) {
    it(`names every command to ${shell}`, async () => {
      const { code, out } = await run(["completion", shell]);
      assert.equal(code, EXIT.ok);
      for (const name of COMMANDS) assert.ok(out.includes(name), name);
    });
  }

  it("prints the script as JSON, too", async () => {
    const { out } = await run(["completion", "bash"]);
    const json = await run(["completion", "--json", "bash"]);
    assert.deepEqual(JSON.parse(json.out), { shell: "bash", script: out });
  });

  it("refuses other shells", async () => {
    const { code, err } = await run(["completion", "tcsh"]);
    assert.equal(code, EXIT.usage);
    assert.match(err, /bash, zsh and fish, not for tcsh/);
  });
});
