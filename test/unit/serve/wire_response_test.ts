import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Outgoing, sendResponse } from "../../../src/serve/wire_response.ts";

/** Keeps what it is given. `stuckAfter` is the number of pieces after which nothing is taken in. */
function message({ stuckAfter = Infinity }: { readonly stuckAfter?: number } = {}) {
  const sent: string[] = [];
  const listeners = new Set<() => void>();
  let pieces = 0;
  const take = (what: string, done: () => void) => {
    sent.push(what);
    if (++pieces <= stuckAfter) done();
  };
  const outgoing: Outgoing = {
    writeHead: (status, headers) => sent.push(`${status} ${headers.join(" ")}`),
    write: (chunk, done) => take(`piece of ${chunk.length}`, done),
    end: (chunk, done) => take(`end ${chunk?.length ?? "-"}`, done),
    once: (_event, listener) => listeners.add(listener),
    off: (_event, listener) => listeners.delete(listener),
  };
  return { outgoing, sent, close: () => listeners.forEach((listener) => listener()), listeners };
}

const options = { stallMs: 60_000, last: false };
const typed = (body: string, status = 200) =>
  new Response(body, { status, headers: { "content-type": "a/b" } });

function events(...texts: readonly string[]): Response {
  const body = new ReadableStream({
    start(controller) {
      texts.forEach((text) => controller.enqueue(new TextEncoder().encode(text)));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

describe("sendResponse()", () => {
  const answers: [string, () => Response, boolean, string[]][] = [
    ["a text with its length", () => typed("héllo", 201), false, [
      "201 content-type a/b content-length 6",
      "end 6",
    ]],
    ["the last of a connection", () => typed("x"), true, [
      "200 content-type a/b connection close content-length 1",
      "end 1",
    ]],
    ["no body without a length", () => new Response(null, { status: 204 }), false, [
      "204 ",
      "end -",
    ]],
    ["an empty body with its length", () => typed(""), false, [
      "200 content-type a/b content-length 0",
      "end 0",
    ]],
    [
      "the true length instead of a wrong one",
      () => new Response("x", { headers: { "content-length": "9", "content-type": "a/b" } }),
      false,
      [
        "200 content-type a/b content-length 1",
        "end 1",
      ],
    ],
    [
      "several cookies one by one",
      () => new Response(null, { headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] }),
      false,
      [
        "200 set-cookie a=1 set-cookie b=2",
        "end -",
      ],
    ],
    ["much in pieces", () => new Response(new Uint8Array(150_000)), false, [
      "200 content-length 150000",
      "piece of 65536",
      "piece of 18928",
      "end 65536",
    ]],
    ["events as they come", () => events("a", "bc"), false, [
      "200 content-type text/event-stream",
      "piece of 1",
      "piece of 2",
      "end -",
    ]],
  ];
  for (const [what, response, last, expected] of answers) {
    it(`sends ${what}`, async () => {
      const { outgoing, sent, listeners } = message();
      await sendResponse(response(), outgoing, { ...options, last });
      // Runtimes write the parameter of the type differently.
      assert.deepEqual(
        sent.map((line) =>
          line.replace("; charset=UTF-8", ";charset=utf-8")
            .replace("charset=UTF-8", "charset=utf-8")
        ),
        expected,
      );
      assert.equal(listeners.size, 0);
    });
  }

  it("waits for nobody to say that what was taken at once was taken", async () => {
    const { outgoing, sent, listeners } = message({ stuckAfter: 0 });
    await sendResponse(typed("x"), { ...outgoing, writableFinished: true }, options);
    assert.deepEqual([sent.length, listeners.size], [2, 0]);
  });

  it("rejects when the client takes nothing in", async () => {
    const { outgoing } = message({ stuckAfter: 1 });
    const response = new Response(new Uint8Array(150_000));
    await assert.rejects(
      sendResponse(response, outgoing, { ...options, stallMs: 1 }),
      /nothing in/,
    );
  });

  it("rejects when the client goes away, and stops reading events", async () => {
    const { outgoing, close } = message({ stuckAfter: 1 });
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel: () => {
        cancelled = true;
      },
    });
    const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
    const sent = sendResponse(response, outgoing, options);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    await new Promise((resolve) => setTimeout(resolve, 0));
    close();
    await assert.rejects(sent, /went away/);
    assert.equal(cancelled, true);
  });
});
