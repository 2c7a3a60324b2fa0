import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UNTOUCHED_IMAGES } from "../../../src/prepare/images.ts";
import { prepareImages } from "../../../src/prepare/prepare_images.ts";
import { stackKey } from "../../../src/model/mod.ts";

const signal = new AbortController().signal;
const TELLING = { code: "unsupported", message: /has the label stackwright\.job\.run/ };

describe("prepareImages()", () => {
  /** Prepares a service whose hook runs an image that has a label of ours on the engine now. */
  const prepare = async (
    images: typeof UNTOUCHED_IMAGES,
    { definition = {}, builds = false, forceImagePull = false },
  ) => {
    const hook = builds ? {} : { image: "hook" };
    const build = builds ? { build: { context: "." } } : {};
    const web = { image: "web", ...build, pre_start: [hook], ...definition };
    const model = { services: { web } };
    const engine = {
      imageId: (image: string) => Promise.resolve(`id of ${image}`),
      imageLabels: () => Promise.resolve({ "stackwright.job.run": "1" }),
      imageListed: () => Promise.resolve({ id: "sha256:there", labels: 0, all: 0 }),
      findNetworks: () => Promise.resolve([]),
      findVolumes: () => Promise.resolve([]),
      inspectContainer: () => Promise.resolve(undefined),
    };
    const key = stackKey("", "shop");
    const services = [{
      ...{ name: "web", image: "web", builds, expectation: { replicas: 1 } },
      ...(builds ? {} : { sideImages: ["hook"] }),
    }];
    const invocation = { variables: {}, envFiles: [], profiles: [], files: [] };
    const prepared = { release: { key, model, services, invocation }, tree: "/t", rendered: model };
    const deployment = { timeoutSeconds: 1, forceImagePull, build: { args: {} } };
    const plan = { services: [{ name: "web", action: "create" }] };
    const imagesAhead = new Map<string, Set<string>>();
    const digest = (text: string) => text;
    const parts = { host: { engine, images }, key: { digest }, imagesAhead };
    const source = { name: "h/o/r" };
    const place = { configuration: { source }, revision: { source } };
    await prepareImages(
      parts as unknown as Parameters<typeof prepareImages>[0],
      { key, deployment, progress: () => {}, ...place } as unknown as Parameters<
        typeof prepareImages
      >[1],
      prepared as unknown as Parameters<typeof prepareImages>[2],
      { plan, observed: { containers: [] } } as unknown as Parameters<typeof prepareImages>[3],
      signal,
    );
    return imagesAhead;
  };
  const fetched = { ...UNTOUCHED_IMAGES, build: () => Promise.resolve({}) };

  it("refuses a hook by the image that its release runs", async () => {
    await assert.rejects(prepare(fetched, { forceImagePull: true }), TELLING);
    await assert.rejects(prepare(UNTOUCHED_IMAGES, {}), TELLING);
    const never = { definition: { pull_policy: "never" }, forceImagePull: true };
    await assert.rejects(prepare(UNTOUCHED_IMAGES, never), TELLING);
  });

  it("notes what it found and fetched, before it builds", async () => {
    const noted = await prepare(UNTOUCHED_IMAGES, { forceImagePull: true });
    assert.deepEqual(noted, new Map([["default/shop", new Set(["sha256:there", "id of hook"])]]));
  });

  it("plans a hook whose image the release pulls or builds, whatever has its name now", async () => {
    await prepare(UNTOUCHED_IMAGES, { forceImagePull: true });
    await prepare(UNTOUCHED_IMAGES, { definition: { pull_policy: "always" } });
    await prepare(UNTOUCHED_IMAGES, { builds: true });
  });
});
