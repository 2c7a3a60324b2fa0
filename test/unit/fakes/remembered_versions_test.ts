import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { type Command, type CommandResult, systemCommands } from "../../../src/system/mod.ts";
import { rememberingVersions } from "../../fakes/remembered_versions.ts";

const never = new AbortController().signal;
const version = (program: string) =>
  ({ argv: [program, "compose", "version", "--short"], env: {} }) as const;

/** Commands that write down what is run, and answer the number of the run. */
function counting(code: (n: number) => number = () => 0) {
  const run: string[] = [];
  const commands = rememberingVersions({
    ...systemCommands,
    run({ argv }: Command): Promise<CommandResult> {
      run.push(argv.join(" "));
      const stdout = new TextEncoder().encode(`${run.length}`);
      return Promise.resolve({ code: code(run.length), stdout, stderr: "" });
    },
  });
  return { run, commands };
}

describe("the version of an installed compose", () => {
  it("is asked of each program once", async () => {
    const { run, commands } = counting();
    for (const program of ["/usr/a", "/usr/b", "/usr/a"]) {
      await commands.run(version(program), never);
    }
    assert.deepEqual(run, ["/usr/a compose version --short", "/usr/b compose version --short"]);
  });

  it("is asked again where the program failed, is one of a test, or docker, and nothing else is kept", async () => {
    const { run, commands } = counting((n) => n === 1 ? 1 : 0);
    const render = { argv: ["/usr/a", "compose", "config"], env: {} } as const;
    const all = [version("/usr/a"), version(`${tmpdir()}/x`), version("docker"), render];
    for (const each of [...all, ...all]) await commands.run(each, never);
    assert.equal(run.length, 8);
  });
});
