import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { servicesOf, textsOf } from "../../../src/compose/mod.ts";
import type { ComposeCall } from "../../../src/deploy/mod.ts";
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
    // Whoever takes a name may give its image our labels, too.
    engine.imageLabels = () => Promise.resolve({ "com.docker.compose.project": "shop" });
    engine.removeImage = (name) => {
      delete engine.images[name];
      return Promise.resolve();
    };
    const names = ["old:1", "taken:1", "gone:1", "new:1", "theirs:1"];
    const parts: Partial<Parts> = {
      engine,
      compose: {
        build: ({ model = {} }: ComposeCall) => {
          const tags = names.flatMap((_, index) => {
            const { build } = servicesOf(model)[`service-${index}`] ?? {};
            return textsOf((build as { tags?: unknown }).tags);
          });
          engine.images = {
            ...Object.fromEntries(tags.map((tag) => [tag, "sha256:ours"])),
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
        model: {
          services: Object.fromEntries(
            names.map((image, index) => [`service-${index}`, { image, build: { context: "." } }]),
          ),
        },
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
    assert.deepEqual(Object.keys(now).filter((name) => name.includes("kept")), []);
  });
});
