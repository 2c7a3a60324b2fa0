import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectTo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  createMetricsHandler,
  createServer,
  type Handler,
  type Server,
  SERVER_LIMITS,
  type ServerLimits,
} from "../../src/serve/mod.ts";
import { systemClock, systemFiles } from "../../src/system/mod.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { type RawClient, rawClient } from "./raw_client.ts";
import { longestStretch } from "../unit/processor_time.ts";

const LIMITS: Partial<ServerLimits> = {
  headersMs: 150,
  requestMs: 300,
  idleMs: 100,
  stallMs: 100,
  lingerMs: 50,
  checkEveryMs: 20,
};
const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const isBun = "Bun" in globalThis;

/** Reads what it is sent and says how long it was. */
const measure: Handler = async (request) => {
  const body = new TextDecoder().decode(await request.bytes());
  return new Response(`took ${body.length}`);
};

/** What a new client is answered. On a slow machine it is late itself, and cut: it tries again then. */
async function answerOf(place: Parameters<typeof rawClient>[0]): Promise<string> {
  for (let tries = 1;; tries++) {
    try {
      return await once(await rawClient(place));
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

describe("a server", () => {
  let directory = "";
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "swt-slow-"));
    execFileSync("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-keyout", join(directory, "key"), "-out", join(directory, "crt")],
      ...["-subj", "/CN=slow", "-days", "2"],
    ], { stdio: "ignore" });
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const withServer = async (
    options: { handler?: Handler; limits?: Partial<ServerLimits>; tls?: boolean },
    check: (server: Server, connect: () => Promise<RawClient>) => Promise<void>,
  ) => {
    const { tls = false } = options;
    const pair = { certFile: join(directory, "crt"), keyFile: join(directory, "key") };
    const server = await createServer({
      handler: options.handler ?? measure,
      port: 0,
      hostname: "127.0.0.1",
      clock: systemClock,
      log: createRecordingLog(),
      limits: { ...LIMITS, ...options.limits },
      ...(tls ? { tls: { ...pair, files: systemFiles } } : {}),
    });
    try {
      await check(server, () => rawClient({ port: server.port, tls }));
      assert.match(await answerOf({ port: server.port, tls }), /took 0$/);
    } finally {
      await server.shutdown(10_000);
    }
  };

  for (const tls of [false, true]) {
    const kind = tls ? "HTTPS" : "HTTP";
    const slow: [string, (client: RawClient) => void, RegExp][] = [
      ["sends nothing at all", () => {}, /^(HTTP\/1\.1 408 [^]*)?$/],
      ["sends its headers byte by byte", (client) => {
        client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
        client.drip("a", 20);
      }, /^HTTP\/1\.1 408 /],
      [
        "never ends its headers",
        (client) => client.send("GET / HTTP/1.1\r\nHost: x\r\n"),
        /^HTTP\/1\.1 408 /,
      ],
      ["sends its body byte by byte", (client) => {
        client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n");
        client.drip("a", 20);
      }, /^$/],
      ["sends chunks of a byte", (client) => {
        client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.drip("1\r\na\r\n", 20);
      }, /^$/],
      [
        "never sends its body",
        (client) => client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"),
        /^$/,
      ],
      ["waits for the word to go on and then sends nothing", (client) =>
        client.send(
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
        ), /^HTTP\/1\.1 100 Continue\r\n\r\n$/],
      ["keeps a connection without using it", (client) => client.send(GET), /took 0$/],
    ];
    for (const [what, act, answer] of slow) {
      it(`closes a connection of ${kind} that ${what}`, () =>
        withServer({ tls }, async (_server, connect) => {
          const client = await connect();
          act(client);
          assert.match(await client.closed, answer);
        }));
    }
  }

  it("closes a connection that sends many requests at once, which nobody would have a turn beside", async () => {
    let served = 0;
    const handler: Handler = () => {
      served++;
      return Promise.resolve(new Response("took 0"));
    };
    await withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      client.send(GET.repeat(3000));
      await client.closed;
      assert.ok(served < 1000, String(served));
    });
  });

  it("makes nothing of what such connections send besides, whether or not it names a host", async () => {
    const expecting = "GET / HTTP/1.1\r\nHost: x\r\nExpect: a\r\n\r\n";
    for (const request of [GET, "GET / HTTP/1.1\r\n\r\n", expecting]) {
      await withServer({}, async (_server, connect) => {
        const clients = await Promise.all(Array.from({ length: 24 }, () => connect()));
        const longest = await longestStretch(async () => {
          for (const client of clients) client.send(request.repeat(3000));
          await Promise.all(clients.map((client) => client.closed));
        });
        // It was four seconds.
        assert.ok(longest < 1500, `${longest} ms in one go`);
      });
    }
  });

  it("closes a connection of which more and more requests wait, however slowly they come", () => {
    const gate = Promise.withResolvers<void>();
    const handler: Handler = async ({ url }) => {
      if (url.endsWith("/wait")) await gate.promise;
      return new Response("took 0");
    };
    return withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      let isClosed = false;
      void client.closed.then(() => isClosed = true);
      let sent = 0;
      for (; !isClosed && sent < 500; sent++) {
        client.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      gate.resolve();
      assert.ok(sent > 20 && sent < 500, String(sent));
    });
  });

  // Bun has no way to do it.
  if (!isBun) {
    it("reads a connection that sends much in pieces, between which others have their turn", () =>
      withServer({ limits: SERVER_LIMITS }, async ({ port }, connect) => {
        const client = await connect();
        const pieces = await stopsOf(port, async () => {
          client.send("\r\n".repeat(1024 * 1024));
          client.end();
          await client.closed;
        });
        assert.ok(pieces >= 10, `${pieces} pieces of 2 MiB`);
      }));
  }

  it("answers a few requests that are sent at once, in their order", () =>
    withServer({}, async (_server, connect) => {
      const client = await connect();
      client.send(GET.repeat(20));
      await client.until(/(?:took 0[^]*){20}$/);
      client.destroy();
    }));

  const broken: [string, string, RegExp][] = [
    ["garbage", "\x00\x01\x02 what is this\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["TLS where there is none", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", /^HTTP\/1\.1 400 /],
    ["no host", "GET / HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["two equal hosts", "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
      /^HTTP\/1\.1 400 /,
    ],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
    ...["xchunked", "identity", "chunked;q=1", "chunked, gzip"].map((coding) =>
      [
        `a body coded as ${coding}`,
        `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n` +
        "0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        /^(?:HTTP\/1\.1 400 (?![^]*HTTP\/1\.1)[^]*)?$/,
      ] as [string, string, RegExp]
    ),
    [
      "a length that is none",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\na",
      /^HTTP\/1\.1 400 /,
    ],
    [
      "a header that is too large",
      `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(SERVER_LIMITS.headerBytes)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      "an address that is too large",
      `GET /${"a".repeat(SERVER_LIMITS.headerBytes)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      "headers without end",
      `GET / HTTP/1.1\r\nHost: x\r\n${"X-Flood: 1\r\n".repeat(20_000)}`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      "a tunnel",
      "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n",
      /^(HTTP\/1\.1 400 [^]*)?$/,
    ],
    [
      "chunks that are none",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
      /^(HTTP\/1\.1 400 [^]*)?$/,
    ],
    [
      "a chunk that is longer than it says",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhello\r\n0\r\n\r\n",
      /^(HTTP\/1\.1 400 [^]*)?$/,
    ],
  ];
  for (const [what, bytes, answer] of broken) {
    it(`closes a connection on which ${what} came`, () =>
      withServer({}, async (_server, connect) => {
        const client = await connect();
        client.send(new TextEncoder().encode(bytes));
        assert.match(await client.closed, answer);
      }));
  }

  it("closes a connection on which a body ended early, and tells the reader", () => {
    const read: string[] = [];
    const handler: Handler = async (request) => {
      const end = await measure(request, { remote: "" }).catch(() => "broken");
      if (end === "broken") read.push(end);
      return end instanceof Response ? end : new Response("broken");
    };
    return withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nabc");
      client.end();
      await client.closed;
      assert.deepEqual(read, ["broken"]);
    });
  });

  it("takes what follows a body for the next request, which it is not", () =>
    withServer({}, async (_server, connect) => {
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcdef\r\n\r\n");
      const text = await client.closed;
      assert.doesNotMatch(text, /took [^3]/);
    }));

  it("refuses a request with too many headers, and goes on with its connection", () =>
    withServer({}, async (_server, connect) => {
      const client = await connect();
      client.send(`GET / HTTP/1.1\r\nHost: x\r\n${"X: 1\r\n".repeat(SERVER_LIMITS.headers)}\r\n`);
      await client.until(/^HTTP\/1\.1 431 [^]*\r\n\r\n/);
      client.destroy();
    }));

  it("hands over methods that no route has, so that the answer can say which there are", () => {
    const methods: string[] = [];
    const handler: Handler = ({ method }) => {
      methods.push(method);
      return Promise.resolve(new Response("took 0", { status: 405, headers: { Allow: "GET" } }));
    };
    return withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      client.send("TRACE / HTTP/1.1\r\nHost: x\r\n\r\n");
      assert.match(await client.until(/took 0$/), /^HTTP\/1\.1 405 [^]*\r\nallow: GET\r\n/i);
      assert.deepEqual(methods, ["TRACE"]);
      client.destroy();
    });
  });

  it("does not ask for a body that nobody wants", () => {
    const handler: Handler = ({ method }) =>
      Promise.resolve(new Response("took 0", { status: method === "POST" ? 401 : 200 }));
    return withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      client.send(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
      );
      // Nobody knows whether the body still comes, so the connection is of no more use.
      assert.match(await client.closed, /^HTTP\/1\.1 401 /);
    });
  });

  it("cuts a client that takes in nothing of its answer", () => {
    const gone = Promise.withResolvers<void>();
    const handler: Handler = ({ url, signal }) => {
      if (!url.endsWith("/much")) return Promise.resolve(new Response("took 0"));
      signal.addEventListener("abort", () => gone.resolve());
      return Promise.resolve(new Response(new Uint8Array(64 * 1024 * 1024)));
    };
    return withServer({ handler }, async ({ port }) => {
      const { connect } = await import("node:net");
      const socket = connect({ host: "127.0.0.1", port });
      socket.pause();
      socket.on("error", () => {});
      socket.write("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
      await gone.promise;
      socket.destroy();
    });
  });

  it("does not cut a client that only waits for its answer", () => {
    const gate = Promise.withResolvers<void>();
    const handler: Handler = async (request) => {
      const { body } = await measure(request, { remote: "" });
      await gate.promise;
      return new Response(body);
    };
    return withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
      // Others that are late are cut in the meantime.
      for (let time = 0; time < 2; time++) await (await connect()).closed;
      gate.resolve();
      await client.until(/took 3$/);
      client.destroy();
    });
  });

  it("answers while more connections than it has room for do nothing", () =>
    withServer({ limits: SERVER_LIMITS }, async (_server, connect) => {
      const idle: RawClient[] = [];
      while (idle.length < SERVER_LIMITS.connections + 100) {
        idle.push(...await Promise.all(Array.from({ length: 100 }, connect)));
      }
      await Promise.all(idle.slice(0, 100).map(({ closed }) => closed));
      assert.match(await once(await connect()), /took 0$/);
      idle.forEach((client) => client.destroy());
    }));

  it("answers while as many bodies as it has room for do not come", () =>
    withServer({ limits: { ...SERVER_LIMITS, connections: 20 } }, async (_server, connect) => {
      const slow = await Promise.all(Array.from({ length: 20 }, connect));
      for (const client of slow) {
        client.send(
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
        );
      }
      await Promise.all(slow.map((client) => client.until(/100 Continue/)));
      assert.match(await once(await connect()), /took 0$/);
      slow.forEach((client) => client.destroy());
    }));

  it("answers what one connection asks one by one", () => {
    let [active, most] = [0, 0];
    const handler: Handler = async () => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setImmediate(resolve));
      active--;
      return new Response("took 0");
    };
    return withServer({ handler }, async (_server, connect) => {
      const client = await connect();
      client.send(GET.repeat(20));
      await client.until(/^(?:HTTP[^]*?took 0){20}$/);
      assert.equal(most, 1);
      client.destroy();
    });
  });

  const large = new Uint8Array(16 * 1024 * 1024);
  const text = "m 1\n".repeat(large.length / 4);
  const metrics = { contentType: "text/plain", text: () => Promise.resolve(text) };
  const restless = { ...systemClock, sleep: () => Promise.resolve() };
  const kinds: [string, Handler][] = [
    ["answer", () => Promise.resolve(new Response(large))],
    ["text of metrics", createMetricsHandler(metrics, restless, new AbortController().signal)],
  ];
  for (const [kind, answer] of kinds) {
    it(`gives up the ${kind} that waits the longest when all that wait are too much`, () => {
      const begun: AbortSignal[] = [];
      let told = Promise.withResolvers<void>();
      const handler: Handler = (request, peer) => {
        if (!request.url.endsWith("/metrics")) return Promise.resolve(new Response("took 0"));
        begun.push(request.signal);
        told.resolve();
        return answer(request, peer);
      };
      const limits = { stallMs: 60_000, answerBytes: 2.5 * large.length };
      return withServer({ handler, limits }, async ({ port }, connect) => {
        const deaf: Socket[] = [];
        while (deaf.length < 3) {
          told = Promise.withResolvers();
          // Without a listener nothing is read, and this is more than the system takes for it.
          const socket = connectTo({ host: "127.0.0.1", port });
          socket.on("error", () => {});
          deaf.push(socket);
          socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
          await told.promise;
        }
        const [first, ...others] = begun;
        assert.ok(first !== undefined);
        if (!first.aborted) {
          await new Promise((resolve) => first.addEventListener("abort", resolve, { once: true }));
        }
        assert.deepEqual(others.map(({ aborted }) => aborted), [false, false]);
        assert.match(await once(await connect()), /took 0$/);
        deaf.forEach((socket) => socket.destroy());
      });
    });
  }

  it("closes connections only beyond those that wait for an answer", () => {
    const gate = Promise.withResolvers<void>();
    const handler: Handler = async ({ url }) => {
      if (url.endsWith("/wait")) await gate.promise;
      return new Response("took 0");
    };
    return withServer({ handler, limits: { connections: 2 } }, async (_server, connect) => {
      const begun = await Promise.all([connect(), connect()]);
      for (const client of begun) client.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
      let refused = 0;
      // The requests may come after the connection that finds no room.
      while (refused === 0) {
        const client = await connect().catch(() => undefined);
        client?.send(GET);
        const text = await client?.until(/took 0$/).catch(() => "");
        if ((text ?? "") === "") refused++;
        client?.destroy();
      }
      gate.resolve();
      for (const client of begun) {
        await client.until(/took 0$/);
        client.destroy();
      }
    });
  });

  it("closes the connection that has been taking in its answer the longest before it refuses one", () => {
    const handler: Handler = ({ url }) =>
      Promise.resolve(new Response(url.endsWith("/large") ? large : "took 0"));
    const limits = { connections: 2, stallMs: 60_000 };
    return withServer({ handler, limits }, async ({ port }, connect) => {
      const deaf = await Promise.all([1, 2].map(async () => {
        const socket = connectTo({ host: "127.0.0.1", port });
        socket.on("error", () => {});
        socket.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
        await new Promise((resolve) => socket.once("readable", resolve));
        return socket;
      }));
      assert.match(await once(await connect()), /took 0$/);
      deaf.forEach((socket) => socket.destroy());
    });
  });

  // Bun tells nobody of a connection before its handshake is over, so nothing can close it.
  if (!isBun) {
    it("closes connections that never finish the handshake of TLS", () =>
      withServer({ tls: true }, async ({ port }) => {
        const silent = await rawClient({ port });
        const slow = await rawClient({ port });
        slow.send(new Uint8Array([0x16, 3, 1, 2, 0, 1]));
        slow.drip("\x00", 20);
        await Promise.all([silent.closed, slow.closed]);
      }));
  }
});

async function once(client: RawClient): Promise<string> {
  client.send(GET);
  const text = await client.until(/took \d+$/);
  client.destroy();
  return text;
}

/** How often the runtime was told to stop reading a connection while something was done. */
async function stopsOf(port: number, work: () => Promise<void>): Promise<number> {
  const socket = connectTo({ host: "127.0.0.1", port });
  await new Promise((resolve) => socket.once("connect", resolve));
  let reader = (socket as unknown as { readonly _handle: { readStop(): unknown } })._handle;
  while (!Object.hasOwn(reader, "readStop")) reader = Object.getPrototypeOf(reader);
  socket.destroy();
  const { readStop } = reader;
  let stops = 0;
  reader.readStop = function () {
    stops++;
    return readStop.call(this);
  };
  try {
    await work();
  } finally {
    reader.readStop = readStop;
  }
  return stops;
}
