import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type TunedProcess, tuneRuntime } from "../../../src/cli/tuned_runtime.ts";

interface Started {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PROGRAM = "/$bunfs/root/stackwright";

function processOf(args: readonly string[], env: Readonly<Record<string, string>>, fails = false) {
  const started: Started[] = [];
  const self = {
    argv: ["bun", ...args],
    env: { ...env },
    execPath: "/opt/stackwright",
    execve(path: string, given: readonly string[], with_: Started["env"]) {
      if (fails) throw new Error("ENOENT");
      started.push({ path, args: given, env: with_ });
    },
  };
  return { self: self as unknown as TunedProcess, started };
}

describe("tuneRuntime()", () => {
  it("starts the service of an executable once more, with options, and only once", () => {
    const { self, started } = processOf([PROGRAM, "serve", "-x"], {
      PATH: "/bin",
      BUN_GC_TIMER_INTERVAL: "7",
    });
    tuneRuntime(self);
    const [again] = started;
    assert.equal(again?.path, "/opt/stackwright");
    assert.deepEqual(again?.args, ["/opt/stackwright", "serve", "-x"]);
    assert.equal(again?.env["PATH"], "/bin");
    assert.equal(again?.env["BUN_JSC_useFTLJIT"], "0");
    assert.equal(again?.env["BUN_GC_TIMER_INTERVAL"], "7", "what is set wins");
    const second = processOf([PROGRAM, "serve"], again?.env as Record<string, string>);
    tuneRuntime(second.self);
    assert.equal(second.started.length, 0);
    assert.deepEqual(second.self.env, { PATH: "/bin" }, "nobody else gets them");
  });

  it("leaves other commands and other runtimes alone", () => {
    for (const args of [[PROGRAM, "status"], [PROGRAM], ["/src/main.ts", "serve"]]) {
      const { self, started } = processOf(args, { PATH: "/bin" });
      tuneRuntime(self);
      assert.equal(started.length, 0);
      assert.deepEqual(self.env, { PATH: "/bin" });
    }
  });

  it("goes on where the program cannot be started once more", () => {
    const { self } = processOf([PROGRAM, "serve"], {}, true);
    tuneRuntime(self);
  });
});
