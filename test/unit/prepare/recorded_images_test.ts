import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { UNTOUCHED_IMAGES } from "../../../src/prepare/images.ts";
import { requireImages } from "../../../src/prepare/recorded_images.ts";

const signal = new AbortController().signal;
const REFUSED = {
  code: "build_failed",
  message: /^service web: image shop-web, which was built for commit c1, is gone/,
};

describe("requireImages() of a service that is built", () => {
  /** Asks for the images of a release that ran `ran`, on an engine with these images. */
  const ask = async (there: readonly string[], ran: string | undefined, action = "recreate") => {
    const engine = {
      imageId: (image: string) => Promise.resolve(there.includes(image) ? image : undefined),
      imageLabels: () => Promise.resolve({}),
      imageListed: () => Promise.resolve({ labels: 0, all: 0 }),
      findNetworks: () => Promise.resolve([]),
      findVolumes: () => Promise.resolve([]),
    };
    const web = { name: "web", image: "shop-web", builds: true, expectation: { replicas: 1 } };
    const release = {
      key: stackKey("", "shop"),
      model: { services: { web: { image: "shop-web", build: { context: "." } } } },
      services: [web],
      revision: { id: "c1" },
      invocation: { values: {}, envFiles: [], profiles: [], files: [] },
    };
    await requireImages(
      { host: { engine, images: UNTOUCHED_IMAGES, dataDir: "/d" } } as unknown as Parameters<
        typeof requireImages
      >[0],
      { release, tree: "/t" } as unknown as Parameters<typeof requireImages>[1],
      {
        services: [{ name: "web", action, because: [] }] as unknown as Parameters<
          typeof requireImages
        >[2]["services"],
        progress: () => {},
        ...(ran && { images: { web: ran } }),
      },
      signal,
    );
  };

  it("refuses where its name leads to what another release built", async () => {
    await assert.rejects(ask(["shop-web"], "old"), REFUSED);
    await assert.rejects(ask([], "old"), REFUSED);
    await assert.rejects(ask([], undefined), REFUSED);
  });

  it("is content with the image that the release ran, whatever its name leads to", async () => {
    await ask(["shop-web", "old"], "old");
    await ask(["old"], "old");
  });

  it("goes by the name where nobody knows what ran, and where the container is there", async () => {
    await ask(["shop-web"], undefined);
    await ask(["shop-web"], "old", "start");
  });
});
