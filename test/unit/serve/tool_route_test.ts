import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describedOperations } from "../../../src/api/operations.ts";
import { toolRoute } from "../../../src/serve/mcp/tool_route.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const call = (more: object, params: object = {}) => ({
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "list_deployments", ...params },
  ...more,
});

/** The answer of the tool server to a body. */
async function answerTo(
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const route = toolRoute({
    ...{ operations: describedOperations(), version: "0", clock: createFakeClock() },
    ...{ ids: { next: () => "1" }, log: createRecordingLog(), redactor: createRedactor() },
    meter: { count() {}, observe() {} },
  } as never);
  const answer = await route.answer({
    ...{
      headers: new Headers(headers),
      call: { signal: new AbortController().signal, log: createRecordingLog() },
      powers: new Set(["read"]),
      turn: () => Promise.resolve(),
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

const CLIENT = {
  "mcp-session-id": "1",
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

describe("the tool server with values nested deeper than the program's stack", () => {
  let deep: unknown = [];
  for (let depth = 0; depth < 200_000; depth++) deep = depth % 2 ? [deep] : { a: deep };
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" };
  const bodies = {
    "in place of a message": deep,
    "as the id": call({ id: deep }),
    "as the method": call({ method: deep }),
    "as the version": call({ jsonrpc: deep }),
    "as the parameters": call({ params: deep }),
    "as the name of a tool": call({}, { name: deep }),
    "as the arguments": call({}, { arguments: deep }),
    "in the arguments": call({}, { arguments: { context: deep } }),
    "as the token of progress": call({}, { _meta: { progressToken: deep } }),
    "as what is cancelled": { ...cancelled, params: { requestId: deep } },
    "as the reason": { ...cancelled, params: { requestId: 1, reason: deep } },
  };
  for (const [where, body] of Object.entries(bodies)) {
    it(`does not fail of them ${where}`, async () => {
      for (const each of [body, [body]]) {
        const { status, text } = await answerTo(each, CLIENT);
        assert.ok(status < 500, text);
        assert.doesNotMatch(text, /-32603/);
      }
    });
  }
});
