import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  credentialHelper,
  helperConfiguration,
  registryAuth,
} from "../../../../src/deploy/swarm/registry_auth.ts";

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

  it("is padded, whatever the length of the credentials", () => {
    for (const user of ["a", "ab", "abc"]) {
      const configuration = JSON.stringify({ auths: { "r.example": { auth: btoa(`${user}:w`) } } });
      assert.equal(registryAuth(configuration, "r.example/a").length % 4, 0);
    }
  });

  it("is nothing without a configuration, or with one that cannot be read", () => {
    assert.equal(registryAuth(undefined, "app"), "");
    assert.equal(registryAuth("{", "app"), "");
  });
});

describe("credentialHelper()", () => {
  const helper = (configuration: Record<string, unknown>, image: string) =>
    credentialHelper(JSON.stringify(configuration), image);

  it("is the one of the registry, else that of all of them", () => {
    const both = { credHelpers: { "r.example": "cloud" }, credsStore: "desktop" };
    const cloud = { program: "docker-credential-cloud", server: "r.example" };
    assert.deepEqual(helper(both, "r.example/a"), cloud);
    const hub = { program: "docker-credential-desktop", server: "https://index.docker.io/v1/" };
    assert.deepEqual(helper(both, "me/app"), hub);
    assert.equal(helper({ credHelpers: both.credHelpers }, "other.example/a"), undefined);
    assert.equal(helper({ credsStore: "../evil" }, "me/app"), undefined);
  });

  it("answers with a password or with a token, as the configuration would have it", () => {
    const asked = { program: "docker-credential-cloud", server: "r.example" };
    const answer = (words: Record<string, string>) =>
      decoded(registryAuth(helperConfiguration(JSON.stringify(words), asked), "r.example/a"));
    assert.deepEqual(answer({ Username: "me", Secret: "word" }), {
      username: "me",
      password: "word",
      serveraddress: "r.example",
    });
    assert.deepEqual(answer({ Username: "<token>", Secret: "word" }), {
      username: "",
      identitytoken: "word",
      serveraddress: "r.example",
    });
    assert.equal(answer({}), "");
    assert.equal(helperConfiguration("credentials not found in native keychain", asked), undefined);
  });
});
