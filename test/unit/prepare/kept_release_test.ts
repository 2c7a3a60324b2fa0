import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ComposeModel } from "../../../src/model/mod.ts";
import { isRefusal, requireSafeRelease } from "../../../src/prepare/kept_release.ts";
import type { PrepareParts } from "../../../src/prepare/parts.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../deploy/releases.ts";

/** Judges a recorded release with this model, on an engine without containers. */
async function judge(model: ComposeModel): Promise<void> {
  const parts = {
    log: createRecordingLog(),
    files: {
      realPath: (path: string) => Promise.resolve(path),
      stat: () => Promise.resolve(undefined),
      readIfExists: () => Promise.resolve(undefined),
    },
    host: {
      isHere: () => Promise.resolve(true),
      sharesFiles: true,
      dataDir: "/data",
      own: () => Promise.resolve(undefined),
      engine: { inspectContainer: () => Promise.resolve(undefined) },
    },
    options: { protectedPaths: [] },
  } as unknown as PrepareParts;
  const onDisk = { tree: "/data/trees/1", release: releaseOf("old", [], { model }) };
  await requireSafeRelease(parts, onDisk, 1, new AbortController().signal);
}

describe("requireSafeRelease()", () => {
  it("has nothing against a container that is gone: it hands nothing out", async () => {
    await judge({ services: { web: { image: "web:1", volumes_from: ["container:gone"] } } });
  });

  it("takes no other error for that: what nobody looked through is refused, at each start", async () => {
    const lowerdir = Array.from({ length: 20_001 }, (_, at) => `/d${at}`).join(":");
    const web = { image: "web:1", volumes_from: ["container:gone"], volumes: [] };
    const data = { driver_opts: { type: "overlay", o: `lowerdir=${lowerdir}` } };
    await assert.rejects(judge({ services: { web }, volumes: { data } }), (error) => {
      assert.match(String(error), /release 1 was deployed before this was refused.* 20000 paths/);
      return isRefusal(error);
    });
  });
});
