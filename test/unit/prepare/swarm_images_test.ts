import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Distribution } from "../../../src/docker/swarm.ts";
import { isStackwrightError, type ReleaseService, stackKey } from "../../../src/model/mod.ts";
import { resolveImages } from "../../../src/prepare/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const signal = new AbortController().signal;

async function resolve(
  image: string,
  answer: Distribution,
  { known = {}, isHere = false }: {
    readonly known?: Readonly<Record<string, string>>;
    readonly isHere?: boolean;
  } = {},
) {
  const asked: string[] = [];
  const parts = {
    log: createRecordingLog(),
    host: {
      engine: { imageId: () => Promise.resolve(isHere ? "sha256:1" : undefined) },
      images: {
        distribution: (reference: string) => {
          asked.push(reference);
          return Promise.resolve(answer);
        },
      },
    },
  };
  const services = ["web", "worker"].map((name) => ({ name, image }) as ReleaseService);
  const release = { key: stackKey("", "shop"), services };
  const found = await resolveImages(
    parts as unknown as Parameters<typeof resolveImages>[0],
    { release, services: ["web", "worker"], known },
    signal,
  );
  return { found, asked, warnings: parts.log.lines.length };
}

describe("resolveImages()", () => {
  it("asks once for each image, and names what the registry has now", async () => {
    const { found, asked } = await resolve("app:1", { kind: "found", digest: "sha256:aa" });
    assert.deepEqual(found, { web: "app:1@sha256:aa", worker: "app:1@sha256:aa" });
    assert.deepEqual(asked, ["app:1"]);
  });

  it("takes an image without a tag for the latest", async () => {
    const { found } = await resolve("host:5000/app", { kind: "found", digest: "sha256:aa" });
    assert.equal(found["web"], "host:5000/app:latest@sha256:aa");
  });

  it("asks nobody for an image that is named by its digest", async () => {
    const { found, asked } = await resolve("app@sha256:bb", { kind: "refused", why: "" });
    assert.equal(found["web"], "app@sha256:bb");
    assert.deepEqual(asked, []);
  });

  it("fails for an image that its registry does not have, before anything is touched", async () => {
    await assert.rejects(
      resolve("app:1", { kind: "refused", why: "manifest unknown" }),
      (error) =>
        isStackwrightError(error, "pull_failed") &&
        /service web: .*app:1.*manifest unknown\. Nothing was changed/.test(error.message),
    );
  });

  it("runs an image by its name that only this node has, and says so", async () => {
    const { found, warnings } = await resolve("app:1", { kind: "refused", why: "no" }, {
      isHere: true,
    });
    assert.deepEqual(found, { web: "app:1", worker: "app:1" });
    assert.equal(warnings, 1, "once for an image, however many services have it");
  });

  it("has nothing to warn of where the registry was not to be asked", async () => {
    const { warnings } = await resolve("app:1", { kind: "unknown", why: "" });
    assert.equal(warnings, 0);
  });

  it("stays with what was found before while the registry is away", async () => {
    const { found } = await resolve("app:1", { kind: "unknown", why: "away" }, {
      known: { web: "app:1@sha256:old", worker: "app:0@sha256:older" },
    });
    assert.deepEqual(found, { web: "app:1@sha256:old", worker: "app:1" });
  });
});
