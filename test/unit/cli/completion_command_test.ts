import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { COMMANDS as LISTED } from "../../../src/cli/commands.ts";
import { EXIT } from "../../../src/cli/io.ts";
import { Ledger, loadInstanceKey } from "../../../src/record/mod.ts";
import { createIds, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { releaseOf } from "../record/releases.ts";
import { run, withFiles } from "./command_line.ts";

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
    assert.deepEqual(completed(out, "stackwright", "completion", ""), ["bash", "zsh", "fish"]);
    for (const shell of ["zsh", "fish"]) {
      assert.match((await run(["completion", shell])).out, /completion.* '?bash zsh fish/);
    }
  });

  it("completes the options of each command, and stacks only where it takes one", async () => {
    const { out } = await run(["completion", "bash"]);
    // In place of the program: what asks for the names of stacks.
    const script = `stackwright() { [ "$*" = "completion stacks" ] && echo shop blog; }\n${out}`;
    assert.deepEqual(completed(script, "stackwright", "status", "--c"), ["--context"]);
    assert.deepEqual(completed(script, "stackwright", "plan", "--c"), [""]);
    assert.deepEqual(completed(script, "stackwright", "status", "b"), ["blog"]);
    assert.ok(completed(script, "stackwright", "validate", "/etc/host").includes("/etc/hosts"));
  });

  it("tells the names of stacks in the ledger, without those that a shell would run", async () => {
    await withFiles({}, async (directory) => {
      const dataDir = join(directory, "data");
      await mkdir(dataDir);
      const key = await loadInstanceKey(systemFiles, dataDir);
      const clock = createFakeClock();
      const parts = { key, clock, ids: createIds(clock), redact: String };
      const ledger = new Ledger(join(dataDir, "state.db"), parts);
      for (const name of ["web", "$(reboot)", "-x", "blog"]) {
        const intent = ledger.beginDeploy(releaseOf({ context: "default", name }, "a".repeat(40)));
        ledger.succeed(intent, {}, "done");
      }
      ledger.close();
      const env = { DATA_DIR: dataDir, DOCKER_HOST: "unix:///nonexistent-4711.sock" };
      const { code, out, err } = await run(["completion", "stacks"], { env });
      assert.deepEqual([code, out, err], [EXIT.ok, "blog\nweb\n", ""]);
    });
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
