import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Answer, toResponse } from "../../../src/serve/envelope.ts";
import { createRedactor, stackAsOwner } from "../../../src/system/mod.ts";

const SECRET = 'pass"word\\';

function respond(answer: Answer, method = "GET"): Promise<Response> {
  const redactor = createRedactor();
  redactor.add(SECRET);
  return toResponse(answer, { method, requestId: "request-1", redactor });
}

describe("toResponse()", () => {
  const rows: [string, Answer, number, unknown][] = [
    [
      "content with the id of the request",
      { kind: "content", status: 200, content: [] },
      200,
      { content: [], job_id: "request-1" },
    ],
    [
      "content with the id of its run",
      { kind: "content", status: 202, content: "started", jobId: "run-1" },
      202,
      { content: "started", job_id: "run-1" },
    ],
    [
      "a body without envelope",
      { kind: "plain", status: 503, body: { details: "unhealthy" } },
      503,
      { details: "unhealthy" },
    ],
    [
      "a refusal without detail",
      { kind: "refusal", refusal: { status: 404, error: "not found" } },
      404,
      { error: "not found" },
    ],
    [
      "a refusal about a run",
      {
        kind: "refusal",
        refusal: { status: 500, error: "no", content: "because" },
        jobId: "run-1",
      },
      500,
      { error: "no", content: "because", job_id: "run-1" },
    ],
  ];
  for (const [name, answer, status, body] of rows) {
    it(`writes ${name}`, async () => {
      const response = await respond(answer);
      assert.equal(response.status, status);
      assert.deepEqual(await response.json(), body);
      assert.equal(response.headers.get("x-request-id"), "request-1");
      assert.equal(response.headers.get("cache-control"), "no-store");
    });
  }

  it("masks the ordinary words of the stack that it is about alone", async () => {
    const redactor = createRedactor();
    redactor.add("complete", stackAsOwner({ context: "default", name: "shop" }));
    const said = async (name: string | undefined) => {
      const about = name === undefined ? {} : { about: stackAsOwner({ context: "default", name }) };
      const answer = { kind: "content", status: 200, content: "complete", ...about } as const;
      const response = await toResponse(answer, { method: "GET", requestId: "r", redactor });
      return (await response.json()).content;
    };
    assert.deepEqual(await Promise.all(["shop", "blog", undefined].map(said)), [
      "***",
      "complete",
      "complete",
    ]);
  });

  it("redacts texts at any depth and stays JSON", async () => {
    const content = { list: [{ text: `say ${SECRET} twice ${SECRET}` }], count: 3, none: null };
    const response = await respond({ kind: "content", status: 200, content });
    const expected = { list: [{ text: "say *** twice ***" }], count: 3, none: null };
    assert.deepEqual((await response.json()).content, expected);
  });

  it("shows as escapes what steers a terminal or reorders text", async () => {
    const content = "a\u001b[31m b\u009b31m c\u202e";
    const text = await (await respond({ kind: "content", status: 200, content })).text();
    assert.match(text, /a\\u001b\[31m b\\u009b31m c\\u202e/);
    assert.equal(JSON.parse(text).content, content);
  });

  it("stays JSON where a mask could swallow the end of a text", async () => {
    const content = 'see https://example.org/?token=abc"';
    const response = await respond({ kind: "content", status: 200, content });
    assert.equal((await response.json()).content, 'see https://example.org/?token=***"');
  });

  it("answers HEAD with headers only", async () => {
    const response = await respond({ kind: "plain", status: 200, body: { a: 1 } }, "HEAD");
    assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(await response.text(), "");
  });

  it("names the methods of a path in Allow", async () => {
    const refusal = { status: 405, error: "invalid http method" };
    const response = await respond({ kind: "refusal", refusal, allow: ["GET", "HEAD"] });
    assert.equal(response.headers.get("allow"), "GET, HEAD");
  });
});
