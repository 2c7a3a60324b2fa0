import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startJsonServer } from "../fakes/json_server.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, label, pollTo } from "./steps.ts";

describe("external secrets", () => {
  it("of a webhook store reach the containers, with the fields of the reference", async () => {
    const server = await startJsonServer(({ url, headers }) => ({
      status: headers["authorization"] === "Bearer store-token" ? 200 : 401,
      value: { value: `${url.pathname}${url.search}` },
    }));
    const stores = [
      "stores:",
      "  vault:",
      `    url: ${server.origin}/items/{{ .remote_ref.item | urlencode }}?v={{ .remote_ref.v }}`,
      '    headers: {Authorization: "Bearer {{ .auth.token }}"}',
      "    json_path: value",
      "  other:",
      `    url: ${server.origin}/other`,
      '    headers: {Authorization: "Bearer {{ .auth.token }}"}',
      "    json_path: value",
      "",
    ].join("\n");
    try {
      await inWorld("fake", async (world) => {
        const labels = { "test.a": "$A", "test.b": "$B", "test.c": "$C" };
        const files = { "compose.yaml": composeFile({ web: service({ labels }) }) };
        const shop = (v: string) => ({ store_ref: "vault", remote_ref: { item: "a shop", v } });
        const rest = { B: shop("2"), C: { store_ref: "other", remote_ref: null } };
        await commit(world, files, { external_secrets: { A: shop("1.10"), ...rest } });
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "test.a"), "/items/a+shop?v=1.10");
        assert.equal(await label(world, "web", "test.b"), "/items/a+shop?v=2");
        assert.equal(await label(world, "web", "test.c"), "/other");

        await commit(world, {}, { external_secrets: { A: { store_ref: "gone" }, ...rest } });
        const failed = await pollTo(world, "failed");
        assert.match(failed.message ?? "", /from webhook: A: there is no store gone/);
        await commit(world, {}, {
          external_secrets: { A: { store_ref: "vault", remote_ref: { v: "1" } }, ...rest },
        });
        const lacking = await pollTo(world, "failed");
        assert.match(lacking.message ?? "", /A: remote_ref lacks what store vault needs: item/);
        assert.equal(await label(world, "web", "test.a"), "/items/a+shop?v=1.10");
      }, {
        SECRET_PROVIDER: "webhook",
        SECRET_PROVIDER_WEBHOOK_STORES: stores,
        SECRET_PROVIDER_AUTH_TOKEN: "store-token",
      });
    } finally {
      await server.close();
    }
  });
});
