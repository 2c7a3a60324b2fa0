import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describedOperations } from "../../../src/api/operations.ts";
import { toolRoute } from "../../../src/serve/mcp/tool_route.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const call = (more: object, params: object = {}) => ({
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "list_deployments", ...params },
  ...more,
});

/** The answer of the tool server to a body. */
async function answerTo(body: unknown): Promise<{ status: number; text: string }> {
  const route = toolRoute({
    ...{ operations: describedOperations(), version: "0", clock: createFakeClock() },
    ...{ ids: { next: () => "1" }, log: createRecordingLog() },
  } as never);
  const answer = await route.answer({
    ...{
      headers: new Headers(),
      call: {},
      powers: new Set(),
      readJson: () => Promise.resolve(body),
    },
  } as never);
  assert.equal(answer.kind, "made");
  const { response } = answer as { response: Response };
  return { status: response.status, text: await response.text() };
}

describe("the tool server with more members than any client sends", () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`x${at}`, 1]));
  const bodies = {
    "in a message": call(many),
    "in its parameters": call({}, many),
    "in the arguments of a tool": call({}, { arguments: many }),
    "about a call": call({}, { _meta: many }),
    "in many messages": Array.from({ length: 2000 }, () => call({})),
  };
  for (const [where, body] of Object.entries(bodies)) {
    it(`refuses them ${where}, before they are looked at`, async () => {
      for (const each of Array.isArray(body) ? [body] : [body, [body]]) {
        const { status, text } = await answerTo(each);
        assert.deepEqual([status, JSON.parse(text).error.code], [400, -32600]);
        assert.ok(text.length < 300);
      }
    });
  }

  it("does not take the characters of a text for members", async () => {
    const { text } = await answerTo({ ...call({}), params: "x".repeat(10_000) });
    assert.doesNotMatch(text, /members/);
  });
});
