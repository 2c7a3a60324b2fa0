import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors } from "../../../src/model/mod.ts";
import { logFailure } from "../../../src/serve/handler.ts";
import { refusalOf } from "../../../src/serve/problem.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("logFailure()", () => {
  it("has a trace of what failed, and none of what was not done in the client's time", () => {
    const told = (thrown: Error) => {
      const log = createRecordingLog();
      const { signal } = new AbortController();
      logFailure({ kind: "refusal", refusal: refusalOf(thrown), thrown }, { signal }, log);
      return log.lines.map(({ level, message, fields }) => [level, message, "trace" in fields]);
    };
    assert.deepEqual(told(errors.timeout("project shop: busy")), [
      ["warning", "a request was not done in time: project shop: busy", false],
    ]);
    assert.deepEqual(told(errors.engine_refused("no")), [["error", "request failed: no", true]]);
    assert.deepEqual(told(errors.conflict("held")), []);
  });
});
