import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { keepWritten, writtenData } from "../../../src/deploy/kept_data.ts";
import { writeFilesRecord } from "../../../src/deploy/files_record.ts";
import { stackDirectories } from "../../../src/deploy/stack_files.ts";
import { type ComposeModel, stackKey } from "../../../src/model/mod.ts";
import { type Files, systemCommands, systemFiles } from "../../../src/system/mod.ts";

describe("writtenData()", () => {
  it("reads no more names of what containers wrote than it compares", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-kept-"));
    try {
      const key = stackKey("", "shop");
      const { live } = stackDirectories(dataDir, key);
      // A container may put millions of names there, which take the runtime half a minute.
      const asked: number[] = [];
      const files: Files = {
        ...systemFiles,
        list: () => Promise.reject(new Error("all names")),
        listAtMost: (path, most) => {
          asked.push(most);
          return systemFiles.listAtMost(path, most);
        },
      };
      const written = () =>
        writtenData({ files, options: { dataDir }, host: { dataDir } }, key, undefined);
      assert.deepEqual(await written(), []);
      await mkdir(join(live, "a/b"), { recursive: true });
      assert.deepEqual(await written(), []);
      await writeFile(join(live, "a/b/c"), "1");
      assert.deepEqual(await written(), [`what was written to ${live}`]);
      assert.deepEqual(asked.slice(-3), [10_000, 9999, 9998]);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe("writtenData() of a model", () => {
  it("names what earlier releases mounted, too, and no committed files", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-kept-"));
    try {
      const key = stackKey("", "shop");
      const { live, stack } = stackDirectories(dataDir, key);
      for (const each of ["stacks/db/data", "stacks/db/empty", "apps/db/data", "apps/db/backup"]) {
        await mkdir(join(live, each), { recursive: true });
        if (!each.endsWith("empty")) await writeFile(join(live, each, "f"), "1");
      }
      await mkdir(join(live, "stacks/old/deep"), { recursive: true });
      await writeFile(join(live, "stacks/old/deep/f"), "1");
      const { current } = stackDirectories(dataDir, key);
      await mkdir(join(current, "stacks/db"), { recursive: true });
      for (const each of ["committed", "changed"]) {
        await writeFile(join(current, "stacks/db", each), "1");
        await writeFile(join(live, "stacks/db", each), each === "changed" ? "rows" : "1");
      }
      const files = { "stacks/db/committed": "file:1", "stacks/db/changed": "file:1" };
      const tracked = { files, directories: [] };
      await writeFilesRecord(systemFiles, stack, { live: tracked, shows: "", current: "" });
      const data = `${live}/stacks/db/data`;
      const volumes = [{ type: "bind", source: data, target: "/data" }];
      const written = (model: ComposeModel) =>
        writtenData({ files: systemFiles, options: { dataDir }, host: { dataDir } }, key, model);
      assert.deepEqual(await written({ services: { db: { volumes } } }), [
        "what was written to ./stacks/db/data",
        "what was written to ./apps (not mounted any more)",
        "what was written to ./stacks/old (not mounted any more)",
        "what was written to ./stacks/db/changed (not mounted any more)",
      ]);
      const all = [{ type: "bind", source: live, target: "/all" }];
      assert.deepEqual(await written({ services: { db: { volumes: all } } }), [
        "what was written to .",
      ]);
      for (let at = 0; at < 20; at++) await writeFile(join(live, `f${at}`), "1");
      const many = await written({ services: { db: { volumes } } });
      assert.equal(many.length, 12);
      assert.equal(many.at(-1), `whatever else is in ${live}`);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe("what containers wrote", () => {
  it("may have paths too long for anything to name: it is kept, and told", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-kept-"));
    try {
      const key = stackKey("", "shop");
      const { live, current } = stackDirectories(dataDir, key);
      await mkdir(join(live, "data"), { recursive: true });
      await mkdir(current);
      // One in the other as a container makes them: no single path is too long for it.
      const name = "d".repeat(200);
      const inside = `for each in $(seq 25); do mkdir ${name} && cd -P ${name} || exit 1; done`;
      execFileSync("bash", ["-c", inside], { cwd: join(live, "data") });
      const [files, commands] = [systemFiles, systemCommands];
      const parts = { files, commands, options: { dataDir }, host: { dataDir } };
      assert.deepEqual(await writtenData(parts, key, undefined), [`what was written to ${live}`]);
      const [before, { signal }] = [{ files: {}, directories: [] }, new AbortController()];
      assert.equal(await keepWritten(parts, key, { before }, signal), true);
      assert.deepEqual([existsSync(join(live, "data", name)), existsSync(current)], [true, false]);
    } finally {
      execFileSync("rm", ["-rf", dataDir]);
    }
  });
});
