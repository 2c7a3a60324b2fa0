import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors } from "../../../src/model/mod.ts";
import { createImages } from "../../../src/prepare/mod.ts";
import { noMeter, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

type Parts = Parameters<typeof createImages>[0];
const signal = new AbortController().signal;

describe("names of images after a failed build", () => {
  it("lead to what they did, but for those that another stack's build gave meanwhile", async () => {
    const engine = createMemoryEngine();
    engine.images = { "old:1": "sha256:old", "taken:1": "sha256:old", "gone:1": "sha256:old" };
    const built: Readonly<Record<string, string>> = {
      "sha256:ours": "shop",
      "sha256:theirs": "other",
    };
    engine.imageLabels = (id) => {
      const project = built[id];
      return Promise.resolve(
        project === undefined ? {} : { "com.docker.compose.project": project },
      );
    };
    engine.removeImage = (name) => {
      delete engine.images[name];
      return Promise.resolve();
    };
    const names = ["old:1", "taken:1", "gone:1", "new:1", "theirs:1"];
    const parts: Partial<Parts> = {
      engine,
      compose: {
        build: () => {
          engine.images = {
            "old:1": "sha256:ours",
            "taken:1": "sha256:theirs",
            "new:1": "sha256:ours",
            "theirs:1": "sha256:theirs",
          };
          return Promise.reject(errors.build_failed("no"));
        },
      } as unknown as Parts["compose"],
      files: systemFiles,
      log: createRecordingLog(),
      meter: noMeter,
      clock: createFakeClock(),
      clientConfigFile: "/none/config.json",
    };
    const images = createImages(parts as Parts);
    const wanted = {
      key: { context: "default", name: "shop" },
      services: names.map((image, index) => ({ name: `service-${index}`, image })),
      call: {
        project: { name: "shop", directory: "/", files: [], envFiles: [], profiles: [] },
        variables: {},
      },
      timeoutSeconds: 60,
      progress: () => {},
    };
    const options = { forceImagePull: false, noCache: false, quiet: true, args: {} };
    await assert.rejects(images.build(wanted, options, signal), { code: "build_failed" });
    const { images: now } = engine;
    assert.deepEqual(names.map((name) => now[name]), [
      "sha256:old",
      "sha256:theirs",
      "sha256:old",
      undefined,
      "sha256:theirs",
    ]);
  });
});
