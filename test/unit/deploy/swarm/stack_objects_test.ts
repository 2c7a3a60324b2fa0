import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ObjectParts,
  wantedObjects,
  wantedStackNetworks,
} from "../../../../src/deploy/swarm/stack_objects.ts";
import { COMPOSE_LABELS, isStackwrightError, LABELS } from "../../../../src/model/mod.ts";

function parts(content = "hello world\n"): ObjectParts {
  return {
    stack: "myapp",
    contentOf: () => new TextEncoder().encode(content),
    digest: () => "0123456789abcdef",
    sources: { repository: "host/me/app", configuration: "host/me/conf" },
  };
}

describe("wantedObjects()", () => {
  it("names a config by the content of its file, as `sha256sum` shows it", () => {
    const model = { configs: { "db-settings": { file: "/a" } } };
    const [found] = wantedObjects(model, parts());
    assert.equal(found?.name, "myapp_db-settings_a948904f");
    assert.equal(found?.body?.Labels["stackwright.name"], "myapp_db-settings");
    assert.equal(atob(found?.body?.Data ?? ""), "hello world\n");
  });

  it("names a secret by a keyed digest, and keeps a name that was chosen", () => {
    const model = { secrets: { key: { name: "chosen", environment: "KEY" } } };
    const [found] = wantedObjects(model, parts());
    assert.equal(found?.name, "chosen_01234567");
  });

  it("says whose it is, whatever its author says", () => {
    const forged = Object.fromEntries(
      [...Object.values(LABELS), ...Object.values(COMPOSE_LABELS), "com.docker.stack.namespace"]
        .map((each) => [each, "forged"]),
    );
    const model = { secrets: { key: { file: "/a", labels: { mine: "kept", ...forged } } } };
    const labels = wantedObjects(model, parts())[0]?.body?.Labels ?? {};
    assert.deepEqual(labels, {
      mine: "kept",
      "stackwright.manager": "stackwright",
      "stackwright.deployment": "myapp",
      "stackwright.name": "myapp_key",
      "stackwright.source.name": "host/me/app",
      "stackwright.source.configuration": "host/me/conf",
      "com.docker.stack.namespace": "myapp",
    });
  });

  it("leaves an external one to whoever made it", () => {
    const model = { configs: { theirs: { name: "their-config", external: true } } };
    assert.deepEqual(wantedObjects(model, parts()), [
      { kind: "configs", key: "theirs", name: "their-config" },
    ]);
  });

  const refused:
    readonly (readonly [title: string, content: string, name: string, told: RegExp])[] = [
      ["an empty one", "", "a", /configs\.x: it is empty/],
      ["a name that is too long", "a", "n".repeat(56), /has 56 characters; a swarm takes 64/],
      ["one that is too large", "a".repeat(1_024_001), "a", /has 1024001 bytes/],
    ];
  for (const [title, content, name, told] of refused) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => wantedObjects({ configs: { x: { name, content } } }, parts(content)),
        (error) => isStackwrightError(error, "unsupported") && told.test(error.message),
      );
    });
  }
});

describe("wantedStackNetworks()", () => {
  it("wants networks of all nodes, with the stack's label and none of compose", () => {
    const networks = { default: { name: "myapp_default" }, near: { name: "n", driver: "macvlan" } };
    const [first, second] = wantedStackNetworks({ name: "myapp", networks }, "1.45", "myapp");
    assert.equal(first?.body.Driver, "overlay");
    assert.deepEqual(first?.body.Labels, { "com.docker.stack.namespace": "myapp" });
    assert.equal(second?.body.Driver, "macvlan");
  });
});
