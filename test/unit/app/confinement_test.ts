import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { confinementFinding } from "../../../src/app/confinement.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import type { Command, Commands, Confinement } from "../../../src/system/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const settings = readSettings({ DATA_DIR: "/data" }, () => "");
const { signal } = new AbortController();

describe("confinementFinding()", () => {
  const found = async (
    confinement: Confinement | undefined,
    end: { readonly code: number; readonly stderr: string; readonly stdout?: string },
  ) => {
    const asked: string[] = [];
    const rendered: Command[] = [];
    const commands = {
      run: (command: Command) => {
        rendered.push(command);
        const stdout = new TextEncoder().encode(end.stdout ?? "");
        return Promise.resolve({ code: end.code, stderr: end.stderr, stdout });
      },
      ...(confinement && {
        confinement: (program: string) => {
          asked.push(program);
          return Promise.resolve(confinement);
        },
      }),
    };
    const system = { commands: commands as unknown as Commands, files: systemFiles, env: {} };
    const { isFine, says } = await confinementFinding(settings, system, signal);
    const [command] = rendered;
    if (command !== undefined) {
      assert.equal(command.argv[0], asked[0]);
      assert.match(command.stdin as string, /"\/proc\/version"/);
      assert.ok(command.mayRead?.every((path) => !"/proc/version".startsWith(path)));
    }
    return { isFine, says, times: rendered.length };
  };
  const denied = { code: 1, stderr: "open /proc/version: permission denied\n" };

  it("is confined where compose could not read what is not its own", async () => {
    const says = "the kernel confines rendering (Landlock, version 4 of its interface)";
    assert.deepEqual(await found({ abi: 4 }, denied), { isFine: true, says, times: 1 });
  });

  it("is wrong where compose reads it all the same, or cannot start", async () => {
    const read = await found({ abi: 4 }, { code: 0, stderr: "", stdout: "{}" });
    assert.equal(read.isFine, false);
    assert.match(read.says, /was to confine .*, but compose reads \/proc\/version$/);
    const stderr = "compose: error while loading shared libraries: libx.so: Permission denied";
    const failed = await found({ abi: 4 }, { code: 127, stderr });
    assert.equal(failed.isFine, false);
    assert.match(failed.says, /but docker compose config failed: .*libx\.so/);
  });

  it("is none, which is no fault, for the reason that keeps renderings from it", async () => {
    const says = "the kernel does not confine rendering: no Landlock";
    assert.deepEqual(await found({ why: "no Landlock" }, denied), {
      ...{ isFine: undefined, says, times: 0 },
    });
    const alone = await found(undefined, denied);
    assert.equal(alone.isFine, undefined);
    assert.match(alone.says, /only the executable that .\/scripts\/build makes/);
  });
});
