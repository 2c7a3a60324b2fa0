import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createEngines } from "../../../src/app/engines.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import type { System } from "../../../src/app/system.ts";
import { noMeter, systemFiles } from "../../../src/system/mod.ts";
import { writeContext } from "../../fakes/context_files.ts";

describe("createEngines()", () => {
  it("has contexts that cannot be used as well, and not those that nobody made", async () => {
    const directory = await mkdtemp(join(tmpdir(), "stackwright-test-"));
    const env = { DOCKER_CONFIG: directory, HOME: directory };
    const settings = readSettings(env, () => "", { uid: 0 });
    const system = { files: systemFiles, env } as unknown as System;
    writeContext(directory, "good", { host: "unix:///nowhere/engine.sock" });
    writeContext(directory, "damaged", { host: "unix:///nowhere/engine.sock" });
    const id = createHash("sha256").update("damaged").digest("hex");
    await writeFile(join(directory, "contexts/meta", id, "meta.json"), "{");
    const engines = createEngines(settings, system, noMeter);
    try {
      const asked = ["default", "good", "damaged", "nobody"];
      const found = await Promise.all(asked.map((name) => engines.has(name)));
      assert.deepEqual(found, [true, true, true, false]);
      assert.deepEqual(await engines.names(), ["default", "good"]);
    } finally {
      engines.close();
      await rm(directory, { recursive: true });
    }
  });
});
