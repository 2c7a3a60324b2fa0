import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { BodyBudget } from "../../../src/serve/body_budget.ts";
import { type Incoming, toRequest } from "../../../src/serve/wire_request.ts";

/** A message of a runtime, and what was done with it. */
class Message extends EventEmitter implements Incoming {
  flowing = false;
  constructor(
    readonly method: string,
    readonly url: string,
    readonly rawHeaders: readonly string[] = [],
  ) {
    super();
  }
  resume() {
    this.flowing = true;
  }
  send(...chunks: string[]) {
    for (const chunk of chunks) this.emit("data", new TextEncoder().encode(chunk));
  }
}

/** A request made of a message, with what its makers were asked for. */
function made(message: Message) {
  const asked: string[] = [];
  const request = toRequest(message, {
    signal: () => {
      asked.push("signal");
      return new AbortController().signal;
    },
    onRead: () => void asked.push("read"),
    cut: () => void asked.push("cut"),
  });
  return { request: request ?? assert.fail("no request"), asked };
}

describe("toRequest()", () => {
  const urls: [string, string][] = [
    ["/v1/health?x=1", "http://stackwright/v1/health?x=1"],
    ["/a%2Fb", "http://stackwright/a%2Fb"],
    ["//example.org/x", "http://stackwright//example.org/x"],
    ["http://example.org:80/v1/health", "http://stackwright/v1/health"],
    ["HTTPS://user@example.org", "http://stackwright/"],
    ["*", "http://stackwright/*"],
    ["", "http://stackwright/"],
    ["@example.org/x", "http://stackwright/@example.org/x"],
  ];
  for (const [url, expected] of urls) {
    it(`takes ${url || "nothing"} for ${expected}`, () => {
      assert.equal(made(new Message("GET", url)).request.url, expected);
    });
  }

  it("finds headers by their names in any case, several of one name joined", () => {
    const raw = ["X-One", " a ", "x-ONE", "b", "Two", "ü", "constructor", "c"];
    const { headers } = made(new Message("GET", "/", raw)).request;
    assert.deepEqual(["x-one", "TWO", "constructor", "toString"].map(headers.get), [
      "a, b",
      "ü",
      "c",
      null,
    ]);
  });

  const malformed = [["a b", "x"], ["", "x"], ["a", "x\ny"], ["a", "x\0"], ["a", "\u{1f600}"]];
  for (const header of malformed) {
    it(`throws for the header ${JSON.stringify(header)}`, () => {
      assert.throws(() => made(new Message("GET", "/", header)), TypeError);
    });
  }

  for (
    const hosts of [["a", "b"], ["a", "a"], ["a", ""], ["a b"], ["a/b"], ["a@b"], ["a?b"], ["ü"]]
  ) {
    it(`throws for ${hosts.length} hosts: ${JSON.stringify(hosts)}`, () => {
      const raw = hosts.flatMap((host, at) => [at === 0 ? "Host" : "host", host]);
      assert.throws(() => made(new Message("GET", "/", raw)), TypeError);
    });
  }

  for (
    const host of [
      "",
      "example.org",
      "EXAMPLE_1.org:8080",
      "[::1]:80",
      "xn--a-b.example",
      "1.2.3.4",
    ]
  ) {
    it(`takes a request for the host ${JSON.stringify(host)}`, () => {
      assert.equal(made(new Message("GET", "/", ["Host", host])).request.method, "GET");
    });
  }

  it("makes nothing of a tunnel", () => {
    const parts = {
      signal: () => assert.fail(),
      onRead: () => assert.fail(),
      cut: () => assert.fail(),
    };
    assert.equal(toRequest(new Message("CONNECT", "/"), parts), undefined);
  });

  it("asks for nothing before somebody wants it", () => {
    const { request, asked } = made(new Message("POST", "/"));
    assert.deepEqual(asked, []);
    assert.equal(request.signal.aborted, false);
    assert.deepEqual(asked, ["signal"]);
  });

  it("has the body that came, whole", async () => {
    const message = new Message("POST", "/");
    const { request, asked } = made(message);
    const bytes = request.bytes();
    assert.deepEqual([message.flowing, asked], [true, ["read"]]);
    message.send("ab", "c");
    message.emit("end");
    message.emit("close");
    assert.equal(new TextDecoder().decode(await bytes), "abc");
  });

  it("tells whoever counts what came, and keeps nothing of what is given up", async () => {
    const message = new Message("POST", "/");
    const budget = new BodyBudget(1000);
    const share = budget.open();
    const dropped: string[] = [];
    share.onDrop(({ code }) => dropped.push(code));
    const bytes = made(message).request.bytes(share);
    message.emit("data", new Uint8Array(new ArrayBuffer(64 * 1024), 0, 3));
    assert.ok(budget.bytes >= 3 && budget.bytes < 1000);
    message.send("x".repeat(2000), "y");
    assert.equal(budget.bytes, 0);
    assert.deepEqual(dropped, ["cancelled"]);
    message.emit("end");
    assert.equal((await bytes).length, 0);
  });

  it("has no body when the connection ends in its middle", async () => {
    for (const how of ["close", "error"]) {
      const message = new Message("POST", "/");
      const bytes = made(message).request.bytes();
      message.send("ab");
      message.emit(how, new Error("reset"));
      await assert.rejects(bytes, /the connection ended/);
    }
  });

  it("stops with the first piece beyond what is wanted, which says that there is more", async () => {
    const message = new Message("POST", "/");
    const bytes = made(message).request.bytes(undefined, 3);
    message.send("ab", "cd", "ef");
    assert.equal((await bytes).length, 4);
  });

  it("ends the connection of a body in tiny pieces, and of no other", () => {
    for (const [piece, ends] of [["x".repeat(511), ["cut"]], ["x".repeat(512), []]] as const) {
      const message = new Message("POST", "/");
      const { request, asked } = made(message);
      void request.bytes();
      message.send(...Array<string>(4100).fill(piece));
      assert.deepEqual(asked, ["read", ...ends]);
    }
  });

  it("keeps nothing of what still comes over a connection that it ended", () => {
    const message = new Message("POST", "/");
    const budget = new BodyBudget(1e9);
    const { request, asked } = made(message);
    void request.bytes(budget.open());
    message.send(...Array<string>(4097).fill("x"));
    assert.deepEqual(asked, ["read", "cut"]);
    const before = budget.bytes;
    message.send("y".repeat(1000));
    assert.equal(budget.bytes, before);
  });

  it("has no body with GET and HEAD", async () => {
    for (const method of ["GET", "HEAD"]) {
      const { request } = made(new Message(method, "/"));
      assert.equal((await request.bytes()).length, 0);
    }
  });
});
