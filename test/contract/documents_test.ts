import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openApiDocuments } from "../../src/app/documents.ts";
import { startHttpService } from "./http_service.ts";
import { requireValidDocument } from "./openapi_check.ts";

const documents = openApiDocuments("1.2.3");

describe("openApiDocuments()", () => {
  for (const [name, document] of Object.entries(documents)) {
    it(`makes a ${name} document that the published schema of OpenAPI 3.2 accepts`, async () => {
      await requireValidDocument(document);
    });
  }

  it("is refused by that schema when it is damaged: the check can fail", async () => {
    await assert.rejects(requireValidDocument({ ...documents.rest, paths: { "no-slash": 1 } }));
  });

  it("has parameters with their defaults and descriptions", () => {
    const paths = documents.rest["paths"] as Record<string, Record<string, unknown>>;
    const runs = paths["/v1/api/runs"]?.["get"] as { parameters: unknown[] };
    assert.deepEqual(runs.parameters[0], {
      name: "limit",
      in: "query",
      description: "At most 200 are listed.",
      schema: { default: 50, type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    });
  });
});

describe("the routes of the documents", () => {
  it("exist only when asked for, and only for GET and HEAD", async () => {
    const closed = await startHttpService();
    const open = await startHttpService({ documents: true, apiSecret: "" });
    try {
      for (const path of ["/openapi/rest.json", "/openapi/webhooks.json", "/docs/", "/docs"]) {
        assert.equal((await closed.open(path)).status, 404);
        const answer = await open.open(path, { redirect: "manual" });
        assert.equal(answer.status, path === "/docs" ? 308 : 200, path);
        await answer.body?.cancel();
        assert.equal((await open.open(path, { method: "POST" })).status, 405);
      }
      assert.deepEqual(await (await open.open("/openapi/rest.json")).json(), documents.rest);
      assert.equal((await open.open("/docs/assets/other.js")).status, 404);
    } finally {
      await closed.stop();
      await open.stop();
    }
  });
});
