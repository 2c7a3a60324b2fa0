import assert from "node:assert/strict";
import { describe, it } from "node:test";
import examplesOf from "@octokit/webhooks-examples/api.github.com/index.json" with { type: "json" };
import { sourceLocation } from "../../../../src/source/mod.ts";
import { createLocate, deliveryOf, readWebhook } from "../../../../src/trigger/mod.ts";
import { signed } from "../../../fakes/webhook_requests.ts";
import type { WebhookDelivery } from "../../../../src/model/mod.ts";

const SECRET = "it's a secret to everybody";
const events = examplesOf as readonly {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}[];

const locate = createLocate({
  rewrite: () => undefined,
  allowLocal: false,
  nameOf: (url) => sourceLocation("git", url).name,
  hasSshKey: () => false,
  agree: () => true,
  configured: () => undefined,
});

function deliver(event: string, payload: unknown): WebhookDelivery {
  const { headers, body } = signed("github", { event, payload, secret: SECRET });
  const request = { headers: new Headers(headers), body: new TextEncoder().encode(body) };
  return deliveryOf(readWebhook(request, SECRET).event, "", { locate });
}

describe("the examples that GitHub's community published", () => {
  it("are there", () => {
    assert.ok(events.length > 50);
    for (const name of ["push", "create", "delete", "ping"]) {
      assert.ok(events.some((each) => each.name === name && each.examples.length > 0), name);
    }
  });

  for (const { name, examples } of events) {
    for (const [index, payload] of examples.entries()) {
      it(`${name} ${index} asks for its reference, or is skipped with a reason`, () => {
        const delivery = deliver(name, payload);
        const isPush = name === "push" || name === "create";
        if (!isPush || payload["deleted"] === true) {
          assert.ok(delivery.kind === "skip");
          const reason = name === "ping"
            ? /^ping received/
            : name === "delete" || isPush
            ? /^branch or tag deletion/
            : new RegExp(`^${name} event received`);
          assert.match(delivery.message, reason);
          return;
        }
        assert.ok(delivery.kind === "deploy");
        const [source] = delivery.sources;
        const repository = payload["repository"] as Record<string, unknown>;
        assert.equal(source?.url, repository["clone_url"]);
        const ref = String(payload["ref"]);
        const full = name === "create" ? `refs/tags/${ref}` : ref;
        assert.equal(source?.reference, full);
      });
    }
  }
});
