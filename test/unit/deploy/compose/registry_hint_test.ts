import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { registryHint, registryOf } from "../../../../src/deploy/mod.ts";

const PATH = "/root/.docker/config.json";
const IMAGE = "registry.example:5000/team/app:1";
const DENIED = "Error response from daemon: Head: no basic auth credentials";
const hint = (configuration: unknown, failure = DENIED, images = [IMAGE]) =>
  registryHint(failure, images, {
    path: PATH,
    text: configuration === undefined
      ? undefined
      : typeof configuration === "string"
      ? configuration
      : JSON.stringify(configuration),
  });

describe("registryOf()", () => {
  for (
    const [image, registry] of [
      ["nginx", "docker.io"],
      ["team/app:1", "docker.io"],
      ["docker.io/library/nginx", "docker.io"],
      ["index.docker.io/library/nginx", "docker.io"],
      ["ghcr.io/o/r:1", "ghcr.io"],
      ["localhost/app", "localhost"],
      ["127.0.0.1:5000/app@sha256:00", "127.0.0.1:5000"],
      ["app:1.2", "docker.io"],
      ["host:5000/app", "host:5000"],
      ["Evil/app", "Evil"],
    ] as const
  ) {
    it(`registryOf() finds ${registry} in ${image}`, () => {
      assert.equal(registryOf(image), registry);
    });
  }
});

describe("registryHint()", () => {
  for (
    const [what, configuration, says] of [
      ["there is no file", undefined, /there is no \/root\/.docker\/config\.json/],
      ["the file is broken", "{", /not valid JSON/],
      ["the file says nothing", {}, /no entry for it; run 'docker login registry\.example:5000'/],
      ["another registry has credentials", { auths: { "x.example": { auth: "a" } } }, /no entry/],
      ["there are credentials", {
        auths: { "registry.example:5000": { auth: "c2VjcmV0" } },
      }, /has credentials for it, which are wrong/],
      ["there are credentials under a URL", {
        auths: { "https://registry.example:5000/v2/": { auth: "c2VjcmV0" } },
      }, /has credentials for it/],
      ["the entry is empty", { auths: { "registry.example:5000": {} } }, /holds no credentials/],
      ["a helper answers for it", {
        auths: { "registry.example:5000": { auth: "c2VjcmV0" } },
        credHelpers: { "registry.example:5000": "vault" },
      }, /docker-credential-vault/],
      ["a store answers for all", { credsStore: "pass" }, /docker-credential-pass/],
    ] as const
  ) {
    it(`registryHint() tells what is there when ${what}`, () => {
      const text = hint(configuration);
      assert.match(text, /^registry\.example:5000 refused: /);
      assert.match(text, says);
      assert.ok(!text.includes("c2VjcmV0"));
    });
  }

  it("registryHint() finds the entry of Docker Hub under its old name", () => {
    const auths = { "https://index.docker.io/v1/": { auth: "c2VjcmV0" } };
    const text = hint({ auths }, "pull access denied for team/app", ["team/app:1"]);
    assert.match(text, /^docker\.io refused: .* has credentials/);
  });

  it("registryHint() speaks of the registry that the failure names, when it names one", () => {
    const images = ["a.example/x", "b.example/y"];
    assert.match(
      hint({}, "unauthorized: b.example", images),
      /^b\.example refused[^;]*; run[^;]*$/,
    );
    assert.match(hint({}, "unauthorized", images), /a\.example refused.*; b\.example refused/);
  });

  it("registryHint() is silent about failures that have nothing to do with credentials", () => {
    for (const failure of ["connection refused", "manifest unknown", "i/o timeout"]) {
      assert.equal(hint({}, failure), "");
    }
  });
});
