import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetricsHandler } from "../../../src/serve/mod.ts";

const handler = createMetricsHandler({
  contentType: "text/plain; version=0.0.4",
  text: () => Promise.resolve("x 1\n"),
});
const ask = (method: string, path: string) =>
  handler(new Request(`http://localhost:9120${path}`, { method }), { remote: "" });

describe("createMetricsHandler()", () => {
  it("answers GET /metrics and nothing else", async () => {
    const answer = await ask("GET", "/metrics");
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4");
    assert.equal(await answer.text(), "x 1\n");
    assert.equal(await (await ask("HEAD", "/metrics")).text(), "");
    assert.equal((await ask("GET", "/")).status, 404);
    const wrong = await ask("POST", "/metrics");
    assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD"]);
  });
});
