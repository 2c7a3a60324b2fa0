import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { removeWritten } from "../../../src/deploy/mod.ts";
import { systemCommands, systemFiles } from "../../../src/system/mod.ts";
import type { Commands } from "../../../src/system/mod.ts";

const never = new AbortController().signal;
const parts = { commands: systemCommands, files: systemFiles };

/** In memory where that is possible: a disk takes half a minute for a deep tree while others write. */
const scratch = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

async function inDirectory(check: (directory: string) => Promise<void>): Promise<void> {
  const directory = await fs.mkdtemp(join(scratch, "swt-written-"));
  try {
    await check(directory);
  } finally {
    execFileSync("rm", ["-rf", directory]);
  }
}

/** Makes a tree of directories in each other, by one rename for each: no path becomes long. */
function nest(directory: string, name: string, levels: number): void {
  const inner = join(directory, "inner");
  mkdirSync(inner);
  for (let level = 0; level < levels; level++) {
    const outer = join(directory, "outer");
    mkdirSync(outer);
    renameSync(inner, join(outer, "d"));
    renameSync(outer, inner);
  }
  renameSync(inner, join(directory, name));
}

/** Programs that all end like an `rm` that knows no long options. */
const simple: Commands = {
  ...systemCommands,
  run: ({ onLine }) => {
    onLine?.("rm: unrecognized option '--one-file-system'");
    return Promise.resolve({ code: 1, stdout: new Uint8Array(), stderr: "" });
  },
};

describe("removeWritten()", () => {
  it("removes directories that lie in each other 13,000 times, which ended Deno", () =>
    inDirectory(async (directory) => {
      nest(directory, "stack", 13_000);
      await removeWritten(parts, join(directory, "stack"), never);
      assert.deepEqual(await fs.readdir(directory), []);
    }));

  it("removes names that are no UTF-8, keeps what links lead to, and may be called again", () =>
    inDirectory(async (directory) => {
      const stack = join(directory, "stack");
      await fs.mkdir(stack);
      await fs.writeFile(join(directory, "kept"), "x");
      await fs.symlink(directory, join(stack, "link"));
      execFileSync("sh", ["-c", `mkdir "$(printf '${stack}/\\344')"`]);
      await removeWritten(parts, stack, never);
      await removeWritten(parts, stack, never);
      assert.deepEqual(await fs.readdir(directory), ["kept"]);
    }));

  it("does without a program that keeps to one file system", () =>
    inDirectory(async (directory) => {
      nest(directory, "stack", 3);
      await removeWritten({ ...parts, commands: simple }, join(directory, "stack"), never);
      assert.deepEqual(await fs.readdir(directory), []);
    }));

  it("tells what stays", async () => {
    const failing = removeWritten(parts, "/proc/self/status", never);
    await assert.rejects(failing, {
      code: "data_dir_unusable",
      message: /could not be removed: rm/,
    });
  });
});
