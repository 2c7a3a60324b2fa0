import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { lendingImages } from "../../../src/prepare/lending_images.ts";
import { UNTOUCHED_IMAGES } from "../../../src/prepare/images.ts";
import type { WantedImages } from "../../../src/prepare/wanted_images.ts";
import { Shares } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const SIGNAL = new AbortController().signal;
const SLOT = { leave: () => {}, takeAgain: () => Promise.resolve() };
const OPTIONS = { args: {}, forceImagePull: false, noCache: false, quiet: false };

describe("lendingImages()", () => {
  it("says that a build waits for others, and nothing where it need not", async () => {
    const shares = new Shares(createFakeClock(), 1);
    const said: string[] = [];
    let end = () => {};
    const held = new Promise<boolean>((resolve) => end = () => resolve(true));
    const build = (name: string) => {
      const images = lendingImages(
        { ...UNTOUCHED_IMAGES, build: () => held.then(() => ({})) },
        shares.lender(SLOT, { source: "acme/shop", repository: "acme/shop" }, SIGNAL),
      );
      const wanted: WantedImages = {
        key: stackKey("", name),
        services: [{ name: "web", image: "web:1" }],
        call: {
          project: { name, directory: "/", files: [], envFiles: [], profiles: [] },
          variables: {},
        },
        timeoutSeconds: 1,
        progress: (text) => said.push(`${name}: ${text}`),
      };
      return images.build(wanted, OPTIONS, SIGNAL);
    };
    const builds = [build("one"), build("two")];
    await settle();
    assert.deepEqual(said, ["two: waiting for other builds before that of web"]);
    end();
    await Promise.all(builds);
  });
});
