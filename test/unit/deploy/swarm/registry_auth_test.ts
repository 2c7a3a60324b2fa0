import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { registryAuth } from "../../../../src/deploy/swarm/registry_auth.ts";

const auth = btoa("me:word");
const decoded = (text: string) =>
  text === "" ? "" : JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));

describe("registryAuth()", () => {
  it("is what the client's configuration has for the registry of an image", () => {
    const configuration = JSON.stringify({ auths: { "registry.example:5000": { auth } } });
    assert.deepEqual(decoded(registryAuth(configuration, "registry.example:5000/a/b:1")), {
      username: "me",
      password: "word",
      serveraddress: "registry.example:5000",
    });
    assert.equal(registryAuth(configuration, "other.example/a"), "");
    assert.equal(registryAuth(configuration, "app:1"), "");
  });

  it("knows the hub by the address that logging in notes", () => {
    const configuration = JSON.stringify({
      auths: { "https://index.docker.io/v1/": { auth, identitytoken: "token" } },
    });
    assert.deepEqual(decoded(registryAuth(configuration, "me/app")), {
      username: "me",
      identitytoken: "token",
      serveraddress: "https://index.docker.io/v1/",
    });
  });

  it("of the hub goes to no host, as which an engine reads capital letters", () => {
    const configuration = JSON.stringify({ auths: { "https://index.docker.io/v1/": { auth } } });
    assert.equal(registryAuth(configuration, "Evil/app:1"), "");
    assert.equal(registryAuth(configuration, "localhost/app:1"), "");
  });

  it("is nothing without a configuration, or with one that cannot be read", () => {
    assert.equal(registryAuth(undefined, "app"), "");
    assert.equal(registryAuth("{", "app"), "");
  });
});
