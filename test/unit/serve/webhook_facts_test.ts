import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WEBHOOK_SENDERS } from "../../../src/serve/mod.ts";

describe("what documents say of webhooks", () => {
  it("has each security header once", () => {
    const headers = WEBHOOK_SENDERS.map(({ securityHeader }) => securityHeader.toLowerCase());
    assert.equal(new Set(headers).size, headers.length);
  });

  it("says how each sender proves itself", () => {
    const scheme = (name: string) => WEBHOOK_SENDERS.find(({ provider }) => provider === name);
    assert.equal(scheme("Azure DevOps")?.scheme, "basic");
    assert.match(scheme("GitHub")?.description ?? "", /HMAC-SHA256.*sha256=/);
    assert.match(scheme("Gitea")?.description ?? "", /hexadecimal\.$/);
    assert.equal(scheme("GitLab")?.description, "The webhook secret.");
  });
});
