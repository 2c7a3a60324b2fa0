import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { colouredDiff, seesColours } from "../../../src/cli/colours.ts";
import { plainModel } from "../../../src/config/plain_model.ts";

const MODEL = {
  name: "shop",
  networks: {
    default: { ipam: {}, labels: { "stackwright.manager": "stackwright" }, name: "shop_default" },
  },
  services: {
    web: {
      command: null,
      image: "nginx:1",
      labels: {
        "stackwright.digest": "2d13a1ee",
        "com.docker.swarm.service.id": "",
        "stackwright.deployment": "shop",
        "stackwright.deployment.one_shot": "true",
        mine: "yes",
      },
      networks: { default: null },
      volumes: [{
        bind: { create_host_path: true },
        read_only: true,
        source: "/var/lib/stackwright/releases/default/shop/current/conf/x",
        target: "/x",
        type: "bind",
      }, { type: "volume", source: "data", target: "/data", volume: { nocopy: true } }],
    },
  },
};

describe("plainModel()", () => {
  it("says what its author wrote, as YAML", () => {
    assert.equal(
      plainModel(JSON.stringify(MODEL)),
      `name: shop
services:
  web:
    image: nginx:1
    labels:
      stackwright.deployment.one_shot: "true"
      mine: yes
    volumes:
      - ./conf/x:/x:ro
      - type: volume
        source: data
        target: /data
        volume:
          nocopy: true
`,
    );
  });

  it("keeps a network that says something, and text that is no model", () => {
    const model = { name: "a", networks: { default: { name: "a_default", internal: true } } };
    assert.match(plainModel(JSON.stringify(model)), /internal: true/);
    assert.equal(plainModel(""), "");
    assert.equal(plainModel("no model"), "no model");
  });

  it("leaves a model of more than a mebibyte as it is", () => {
    const large = JSON.stringify({
      name: "shop",
      services: { web: { command: ["x".repeat(1 << 20)] } },
    });
    assert.equal(plainModel(large), large);
  });
});

describe("colours", () => {
  it("are for terminals that know them, and for nobody who says NO_COLOR", () => {
    assert.equal(seesColours(true, {}), true);
    assert.equal(seesColours(false, {}), false);
    assert.equal(seesColours(true, { NO_COLOR: "1" }), false);
    assert.equal(seesColours(true, { NO_COLOR: "" }), true);
    assert.equal(seesColours(true, { TERM: "dumb" }), false);
  });

  it("change nothing but colours", () => {
    const diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n";
    assert.equal(colouredDiff(diff, {}), diff);
    const coloured = colouredDiff(diff, { colours: true });
    assert.ok(coloured.includes("\u001b[32m+y\u001b[0m"));
    // deno-lint-ignore no-control-regex -- colours are control characters
    assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ""), diff);
  });
});
