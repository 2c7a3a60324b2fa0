import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { imageContent } from "../../../src/docker/images.ts";
import type { Json } from "../../../src/docker/json.ts";

type JsonObject = Readonly<Record<string, Json>>;

const manifest = (id: string, platform?: JsonObject, more: JsonObject = {}): Json => ({
  ID: id,
  Kind: "image",
  Available: true,
  ...(platform === undefined ? {} : { ImageData: { Platform: platform } }),
  ...more,
});
const AMD64 = { os: "linux", architecture: "amd64" };
const ARM64 = { os: "linux", architecture: "arm64", variant: "v8" };
const ARM7 = { os: "linux", architecture: "arm", variant: "v7" };
const ATTESTATION = manifest("sha256:said", undefined, { Kind: "attestation" });

describe("imageContent()", () => {
  const table: readonly {
    readonly what: string;
    readonly manifests?: readonly Json[];
    readonly platform?: string;
    readonly expected: string;
  }[] = [
    { what: "an image of the classic store", expected: "sha256:index" },
    { what: "no manifests", manifests: [], expected: "sha256:index" },
    {
      what: "what was built, with what is said about it",
      manifests: [manifest("sha256:a", AMD64), ATTESTATION],
      expected: "sha256:a",
    },
    {
      what: "what was built, of no platform",
      manifests: [ATTESTATION, manifest("sha256:a")],
      expected: "sha256:a",
    },
    {
      what: "one of several platforms",
      manifests: [manifest("sha256:b", ARM64), manifest("sha256:a", AMD64)],
      expected: "sha256:a",
    },
    {
      what: "one of several platforms, of which only another is here",
      manifests: [
        manifest("sha256:b", ARM64),
        manifest("sha256:a", AMD64, { Available: false }),
      ],
      expected: "sha256:b",
    },
    {
      what: "several other platforms",
      manifests: [manifest("sha256:b", ARM64), manifest("sha256:c", ARM7)],
      expected: "sha256:index",
    },
    {
      what: "the platform that is asked for",
      manifests: [manifest("sha256:a", AMD64), manifest("sha256:b", ARM64)],
      platform: "linux/arm64",
      expected: "sha256:b",
    },
    {
      what: "the platform in other words",
      manifests: [manifest("sha256:a", AMD64), manifest("sha256:b", ARM64)],
      platform: "Linux/aarch64/v8",
      expected: "sha256:b",
    },
    {
      what: "a variant",
      manifests: [manifest("sha256:c", { ...ARM7, variant: "v6" }), manifest("sha256:d", ARM7)],
      platform: "linux/arm/v7",
      expected: "sha256:d",
    },
  ];
  for (const { what, manifests, platform = "", expected } of table) {
    it(`is ${expected} for ${what}`, () => {
      const answer = {
        Id: "sha256:index",
        Os: "linux",
        Architecture: "amd64",
        Manifests: manifests,
      };
      assert.equal(imageContent(answer, platform), expected);
    });
  }
});
