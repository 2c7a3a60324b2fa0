import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { type Incoming, toRequest } from "../../../src/serve/wire_request.ts";

/** A message whose bytes a test lets come. */
class Message extends EventEmitter {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  flowing = true;
  constructor(method: string, url = "/", rawHeaders: readonly string[] = []) {
    super();
    this.method = method;
    this.url = url;
    this.rawHeaders = rawHeaders;
  }
  pause() {
    this.flowing = false;
  }
  resume() {
    this.flowing = true;
  }
}

function make(message: Message, onRead: () => void = () => {}): Request {
  const request = toRequest(message as Incoming, { signal: new AbortController().signal, onRead });
  assert.ok(request !== undefined);
  return request;
}

describe("toRequest()", () => {
  const addresses: [string, string][] = [
    ["/v1/health?x=1", "http://stackwright/v1/health?x=1"],
    ["/a%2Fb", "http://stackwright/a%2Fb"],
    ["//example.org/x", "http://stackwright//example.org/x"],
    ["http://example.org:80/v1/health", "http://stackwright/v1/health"],
    ["HTTPS://user@example.org", "http://stackwright/"],
    ["*", "http://stackwright/*"],
    ["", "http://stackwright/"],
    ["@example.org/x", "http://stackwright/@example.org/x"],
  ];
  for (const [url, expected] of addresses) {
    it(`gives ${url || "nothing"} the address ${expected}`, () => {
      assert.equal(make(new Message("GET", url)).url, expected);
    });
  }

  it("keeps every header, and several of a name", () => {
    const { headers } = make(
      new Message("GET", "/", ["X-One", "1", "X-Two", "a", "x-two", "b", "Host", "evil"]),
    );
    assert.deepEqual([...headers], [["host", "evil"], ["x-one", "1"], ["x-two", "a, b"]]);
  });

  it("throws for a header that is none", () => {
    assert.throws(() => make(new Message("GET", "/", ["X", "a\nb"])), TypeError);
  });

  for (const method of ["CONNECT", "TRACE", "track"]) {
    it(`makes nothing of ${method}`, () => {
      const parts = { signal: new AbortController().signal, onRead: () => {} };
      assert.equal(toRequest(new Message(method) as Incoming, parts), undefined);
    });
  }

  it("has no body for GET and HEAD", () => {
    for (const method of ["GET", "HEAD"]) assert.equal(make(new Message(method)).body, null);
  });

  it("lets bytes come only when they are asked for", async () => {
    let asked = 0;
    const message = new Message("POST");
    const request = make(message, () => asked++);
    assert.deepEqual([message.flowing, asked], [false, 0]);
    const reader = request.body?.getReader();
    for (const text of ["ab", "c"]) {
      const next = reader?.read();
      await Promise.resolve();
      assert.equal(message.flowing, true);
      message.emit("data", new TextEncoder().encode(text));
      assert.equal(message.flowing, false);
      assert.equal(new TextDecoder().decode((await next)?.value), text);
    }
    const end = reader?.read();
    message.emit("end");
    assert.equal((await end)?.done, true);
    assert.equal(asked, 1);
  });

  for (const event of ["close", "error"]) {
    it(`breaks the body on ${event} before its end`, async () => {
      const message = new Message("POST");
      const text = make(message).text();
      message.emit("data", new TextEncoder().encode("ab"));
      message.emit(event);
      await assert.rejects(text, /connection ended/);
    });
  }

  it("takes a close after the end for what it is", async () => {
    const message = new Message("POST");
    const text = make(message).text();
    message.emit("data", new TextEncoder().encode("ab"));
    message.emit("end");
    message.emit("close");
    assert.equal(await text, "ab");
  });

  it("lets go by what a reader no longer wants", async () => {
    const message = new Message("POST");
    const request = make(message);
    await request.body?.cancel();
    assert.equal(message.flowing, true);
    message.emit("data", new TextEncoder().encode("ab"));
    assert.equal(message.flowing, true);
    message.emit("end");
  });
});
