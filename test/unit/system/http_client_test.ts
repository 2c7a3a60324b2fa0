import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { readBody } from "../../../src/system/http_client.ts";
import {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  proxyFor,
} from "../../../src/system/mod.ts";
import { type JsonServer, startJsonServer } from "../../fakes/json_server.ts";

const SIGNAL = new AbortController().signal;

describe("readBody()", () => {
  it("gives up an answer in thousands of tiny pieces, and no other", async () => {
    const bodyOf = (size: number) => {
      let left = 20_000;
      const pull = (to: ReadableStreamDefaultController) =>
        left-- > 0 ? to.enqueue(new Uint8Array(size)) : to.close();
      return new Response(new ReadableStream({ pull }));
    };
    const request = { method: "GET" as const, url: "http://there.example/", headers: {} };
    await assert.rejects(readBody(bodyOf(1), request, 1e6), /more than 16384 tiny pieces/);
    assert.equal((await readBody(bodyOf(40), request, 1e6)).length, 800_000);
  });
});

describe("HttpClient.send()", () => {
  it("gives status, headers and body of any answer, and sends what it was given", async () => {
    await withServer(async ({ server, client }) => {
      server.fail({ status: 418, text: "short", headers: { "x-kind": "pot" } }, { times: 1 });
      const answer = await client.send({
        method: "PUT",
        url: `${server.origin}/a/b?c=d`,
        headers: { "x-token": "t" },
        body: "text",
      }, SIGNAL);
      assert.deepEqual([answer.status, answer.header("x-kind"), answer.body], [
        418,
        "pot",
        "short",
      ]);
      assert.equal(answer.header("x-none"), undefined);
      const [seen] = server.requests;
      assert.deepEqual(
        [seen?.method, seen?.url.pathname, seen?.url.search, seen?.headers["x-token"], seen?.body],
        ["PUT", "/a/b", "?c=d", "t", "text"],
      );
    });
  });

  it("follows a redirect of GET on the same origin, with its headers", async () => {
    await withServer(async ({ server, client }) => {
      server.fail({ status: 302, headers: { location: "/there?x=1" } }, { path: /^\/here$/ });
      const answer = await get(client, `${server.origin}/here`, { "x-token": "t" });
      assert.equal(answer.status, 200);
      assert.equal(server.requests[1]?.url.pathname, "/there");
      assert.equal(server.requests[1]?.headers["x-token"], "t");
    });
  });

  it("follows no redirect to another port, of another method, without end, or to nowhere", async () => {
    await withServer(async ({ server, client }) => {
      const other = await startJsonServer(() => ({ status: 200 }));
      try {
        for (
          const [location, method, reason] of [
            [`${other.origin}/`, "GET", /redirects to http:\/\/127\.0\.0\.1:\d+, which is not/],
            ["/again", "GET", /redirects more than 5 times/],
            ["/there", "POST", /redirects a POST, which is not followed/],
            ["http://[", "GET", /redirects to no URL/],
          ] as const
        ) {
          server.fail({ status: 307, headers: { location } });
          const request = { method, url: `${server.origin}/secret/path`, headers: {} };
          await assert.rejects(client.send(request, SIGNAL), failure(reason));
        }
        assert.deepEqual(other.requests, []);
      } finally {
        await other.close();
      }
    });
  });

  it("refuses a body that is too long, also when it does not say so before", async () => {
    await withServer(async ({ server, client }) => {
      server.fail({ status: 200, text: "x".repeat(1000) });
      assert.equal((await get(client, server.origin)).body.length, 1000);
      server.fail({ status: 200, text: "x".repeat(1001) });
      await assert.rejects(get(client, server.origin), failure(/has more than 1000 bytes/));
    }, { maxBytes: 1000 });
  });

  it("asks for no compressed answer, and refuses one: kilobytes may become gigabytes", async () => {
    const asked: unknown[] = [];
    const bombs = {
      br: brotliCompressSync(Buffer.alloc(8 * 1024 * 1024)),
      gzip: gzipSync(Buffer.alloc(8 * 1024 * 1024)),
    };
    const server = createServer(({ headers, url }, response) => {
      asked.push(headers["accept-encoding"]);
      const [encoding, bomb] = url === "/br" ? ["br", bombs.br] : ["gzip", bombs.gzip];
      response.writeHead(200, { "content-encoding": encoding }).end(bomb);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    const client = createHttpClient({ maxBytes: 1024 * 1024 });
    try {
      for (const kind of Object.keys(bombs)) {
        const url = `http://127.0.0.1:${port}/${kind}`;
        const sent = client.send({ method: "GET", url, headers: {} }, SIGNAL);
        await assert.rejects(sent, /its answer is compressed/);
      }
    } finally {
      client.close();
      await new Promise((closed) => server.close(closed));
    }
    assert.deepEqual(asked, ["identity", "identity"]);
  });

  it("keeps a body that comes byte by byte as one text", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "transfer-encoding": "chunked" });
      // By the socket, because the server would join them.
      response.flushHeaders();
      response.socket?.end("1\r\nx\r\n".repeat(2000) + "0\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = createHttpClient();
    try {
      const { port } = server.address() as AddressInfo;
      const { bytes, body } = await get(client, `http://127.0.0.1:${port}`);
      assert.equal(body, "x".repeat(2000));
      assert.ok((bytes?.buffer.byteLength ?? 0) <= 2 * 2000);
    } finally {
      client.close();
      server.close();
    }
  });

  it("gives up when there is no answer in time", async () => {
    await withServer(async ({ server, client }) => {
      server.fail("hang");
      await assert.rejects(get(client, `${server.origin}/secret`), (error: unknown) => {
        assert.ok(isStackwrightError(error, "timeout"));
        assert.match(error.message, /^GET http:\S+ did not answer within 0.2 seconds$/);
        return true;
      });
    }, { timeoutMs: 200 });
  });

  it("ends with the reason of its signal", async () => {
    await withServer(async ({ client }) => {
      const reason = new Error("the end");
      const sent = client.send(
        { method: "GET", url: "http://127.0.0.1:1", headers: {} },
        AbortSignal.abort(reason),
      );
      await assert.rejects(sent, { message: "the end" });
    });
  });

  it("names the origin and nothing else of an address that cannot be reached", async () => {
    await withServer(async ({ client }) => {
      const sent = get(client, "http://127.0.0.1:1/secret/path?token=hidden");
      await assert.rejects(sent, (error: unknown) => {
        assert.ok(isStackwrightError(error, "http_failed"));
        assert.match(error.message, /^GET http:\/\/127\.0\.0\.1:1: \S/);
        assert.ok(!/hidden|secret/.test(error.message), error.message);
        return true;
      });
    });
  });

  it("trusts the certificates it is given, and no others", async () => {
    const tls = await makeCertificate();
    const server = await startJsonServer(() => ({ status: 200, text: "safe" }), tls);
    const trusting = createHttpClient({ caCertificates: tls.cert });
    const strict = createHttpClient();
    try {
      assert.equal((await get(trusting, server.origin)).body, "safe");
      await assert.rejects(get(strict, server.origin), failure(/^GET https:\/\/127/));
    } finally {
      trusting.close();
      strict.close();
      await server.close();
    }
  });

  it("goes through a proxy for http and https, with its login", async () => {
    const proxy = await startProxy();
    const through = { http: `http://bob:p%40ss@127.0.0.1:${proxy.port}`, noProxy: ["direct.test"] };
    const client = createHttpClient({ proxy: through, timeoutMs: 5000 });
    try {
      const answer = await get(client, "http://store.test/path");
      assert.equal(answer.body, "by proxy");
      // There is no such host: that the proxy was asked is what counts.
      await assert.rejects(
        get(client, "https://store.test/path"),
        failure(/https:\/\/store\.test/),
      );
      assert.deepEqual(proxy.asked, ["GET http://store.test/path", "CONNECT store.test:443"]);
      assert.equal(proxy.logins[0], `Basic ${btoa("bob:p@ss")}`);
    } finally {
      client.close();
      await proxy.close();
    }
  });
});

describe("proxyFor()", () => {
  const proxy = {
    http: "http://p:1",
    https: "http://s:2",
    noProxy: [".corp.test", "a.test", "b.test:8443"],
  };
  const rows: readonly (readonly [string, HttpClientOptions["proxy"], string | undefined])[] = [
    ["http://x.test", proxy, "http://p:1"],
    ["https://x.test", proxy, "http://s:2"],
    ["https://x.test", { http: "http://p:1", noProxy: [] }, "http://p:1"],
    ["https://x.test", { https: "http://s:2", noProxy: ["*"] }, undefined],
    ["http://x.test", { https: "http://s:2", noProxy: [] }, undefined],
    ["https://x.corp.test", proxy, undefined],
    ["https://a.test", proxy, undefined],
    ["https://sub.a.test", proxy, undefined],
    ["https://nota.test", proxy, "http://s:2"],
    ["https://b.test:8443", proxy, undefined],
    ["https://b.test", proxy, "http://s:2"],
    ["http://localhost:80", proxy, undefined],
    ["http://127.0.0.9", proxy, undefined],
    ["http://[::1]:80", proxy, undefined],
    ["http://x.test", undefined, undefined],
  ];
  for (const [url, options, expected] of rows) {
    it(`chooses ${expected} for ${url} with ${JSON.stringify(options)}`, () => {
      assert.equal(proxyFor(new URL(url), options), expected);
    });
  }
});

async function withServer(
  work: (parts: { server: JsonServer; client: HttpClient }) => Promise<void>,
  options: HttpClientOptions = {},
): Promise<void> {
  const server = await startJsonServer(() => ({ status: 200, value: {} }));
  const client = createHttpClient({ timeoutMs: 5000, ...options });
  try {
    await work({ server, client });
  } finally {
    client.close();
    await server.close();
  }
}

function get(client: HttpClient, url: string, headers: Record<string, string> = {}) {
  return client.send({ method: "GET", url, headers }, SIGNAL);
}

function failure(reason: RegExp) {
  return (error: unknown) => {
    assert.ok(isStackwrightError(error, "http_failed"), String(error));
    assert.match(error.message, reason);
    assert.ok(!error.message.includes("secret/path"), error.message);
    return true;
  };
}

async function makeCertificate(): Promise<{ key: string; cert: string }> {
  const directory = await mkdtemp(join(tmpdir(), "swt-tls-"));
  try {
    const [key, cert] = [join(directory, "key"), join(directory, "cert")];
    await promisify(execFile)("openssl", [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
      ...["-keyout", key, "-out", cert, "-subj", "/CN=127.0.0.1"],
      ...[
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
      ],
    ]);
    return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A proxy that answers requests itself and refuses tunnels. */
async function startProxy() {
  const asked: string[] = [];
  const logins: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    logins.push(request.headers["proxy-authorization"]);
    response.end("by proxy");
  });
  server.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    logins.push(request.headers["proxy-authorization"]);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    logins,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
