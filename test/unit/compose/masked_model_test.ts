import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maskedModel } from "../../../src/compose/mod.ts";
import type { ComposeModel } from "../../../src/model/mod.ts";

const MODEL = {
  name: "shop",
  services: {
    web: {
      image: "web:1",
      command: ["run", "--url=postgres://u:canary$$1@db"],
      environment: { DB_URL: "postgres://u:canary$$1@db", PASSWORD: "other", PLAIN: "word", N: 12 },
      labels: { "canary-line": "x" },
    },
  },
  configs: { main: { content: "whole text" } },
} as unknown as ComposeModel;

describe("maskedModel()", () => {
  const digest = (text: string) => `${text.length}`.padStart(8, "0");

  it("hides every text with a secret in it, also where compose doubled its dollar", () => {
    const text = maskedModel(MODEL, { digest, secrets: ["canary$1", "canary-line", "12"] });
    const { services } = JSON.parse(text);
    assert.deepEqual(services.web, {
      command: ["run", "*** (00000031)"],
      environment: {
        DB_URL: "*** (00000025)",
        N: "*** (00000002)",
        PASSWORD: "*** (00000005)",
        PLAIN: "word",
      },
      image: "web:1",
      labels: { "*** (00000011)": "x" },
    });
    assert.ok(!text.includes("canary"));
  });

  it("hides what sounds secret and the content of configs without knowing any secret", () => {
    const { services, configs } = JSON.parse(maskedModel(MODEL, { digest }));
    assert.equal(services.web.environment.PASSWORD, "*** (00000005)");
    assert.equal(services.web.environment.PLAIN, "word");
    assert.equal(configs.main.content, "*** (00000010)");
  });

  it("takes a very short secret only as a whole", () => {
    const { services } = JSON.parse(maskedModel(MODEL, { digest, secrets: ["w", "wor", "word"] }));
    assert.equal(services.web.image, "web:1");
    assert.equal(services.web.environment.PLAIN, "*** (00000004)");
  });
});
