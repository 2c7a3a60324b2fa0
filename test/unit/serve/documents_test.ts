import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { documentRoutes } from "../../../src/serve/documents.ts";
import type { Answer } from "../../../src/serve/envelope.ts";

describe("a file that the pages of the documents load", () => {
  it("is made once, and again where that failed", async () => {
    const made: string[] = [];
    const file: Answer = { kind: "refusal", refusal: { status: 409, error: "stands for a file" } };
    const make = () => {
      made.push(made.length === 0 ? "fails" : "works");
      return made.length === 1 ? Promise.reject(new Error("no memory")) : Promise.resolve(file);
    };
    const routes = documentRoutes({ rest: {}, webhooks: {} }, { "page.js": make });
    const route = routes.find(({ path }) => path.startsWith("/docs/assets/"));
    assert.ok(route);
    const ask = async () =>
      await route.answer(
        { params: { name: "page.js" } } as unknown as Parameters<
          typeof route.answer
        >[0],
      );
    await assert.rejects(ask(), /no memory/);
    assert.equal(await ask(), file);
    assert.equal(await ask(), file);
    assert.deepEqual(made, ["fails", "works"]);
  });
});
