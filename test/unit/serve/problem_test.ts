import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ERROR_CODES,
  type ErrorCode,
  requestError,
  StackwrightError,
} from "../../../src/model/mod.ts";
import { refusalOf } from "../../../src/serve/problem.ts";

/** Every code whose status is not 500. */
const STATUSES: Partial<Record<ErrorCode, number>> = {
  bad_request: 400,
  cancelled: 503,
  conflict: 409,
  forbidden: 403,
  not_found: 404,
  overloaded: 503,
  payload_too_large: 413,
  shutting_down: 503,
  unauthorized: 401,
  unsupported: 409,
};

describe("refusalOf()", () => {
  for (const code of ERROR_CODES) {
    const status = STATUSES[code] ?? 500;
    it(`gives ${code} the status ${status}, and the text to either field`, () => {
      const refusal = refusalOf(new StackwrightError(code, "the text"));
      assert.equal(refusal.status, status);
      if (code === "internal") assert.deepEqual(refusal, { status, error: "internal error" });
      else if (status === 500) assert.equal(refusal.content, "the text");
      else if (code === "overloaded") {
        assert.deepEqual(refusal, { status, error: "the text", retryAfter: 60 });
      } else assert.deepEqual(refusal, { status, error: "the text" });
    });
  }

  it("shows every problem as the detail, without the name of the input", () => {
    const problems = [
      { file: "request body", path: "[0].url", message: "expected a repository URL" },
      { file: "request body", message: "expected less" },
    ];
    const refusal = refusalOf(new StackwrightError("bad_request", "invalid", { problems }));
    const content = "[0].url: expected a repository URL; expected less";
    assert.deepEqual(refusal, { status: 400, error: "invalid", content });
  });

  for (const thrown of [new TypeError("x of undefined"), "text", undefined]) {
    it(`shows nothing of ${String(thrown)}`, () => {
      assert.deepEqual(refusalOf(thrown), { status: 500, error: "internal error" });
    });
  }
});

describe("requestError()", () => {
  it("becomes a stable text and a detail", () => {
    const refusal = refusalOf(requestError("invalid parameter: x", "it must be y"));
    const expected = { status: 400, error: "invalid parameter: x", content: "it must be y" };
    assert.deepEqual(refusal, expected);
  });
});
