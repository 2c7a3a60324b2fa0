import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, utimes, writeFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:net";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { after, before, describe, it } from "node:test";
import { createServer, type Handler, type ServerOptions } from "../../src/serve/mod.ts";
import { type Files, systemClock, systemFiles } from "../../src/system/mod.ts";
import { healthTarget, probe } from "../../src/system/http_probe.ts";
import { settle } from "../fakes/fake_clock.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { rawClient } from "./raw_client.ts";

const ok: Handler = () => Promise.resolve(new Response("ok"));

function start(options: Partial<ServerOptions> = {}) {
  return createServer({
    handler: ok,
    port: 0,
    hostname: "127.0.0.1",
    clock: systemClock,
    log: createRecordingLog(),
    ...options,
  });
}

/** Common name of the certificate a new connection sees, and the body of the answer. */
function ask(port: number): Promise<{ readonly name: string; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, rejectUnauthorized: false, agent: false } as const;
    const sent = request(options, (response) => {
      const name = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
      let body = "";
      response.on("data", (text) => body += text);
      response.on("end", () => resolve({ name, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/**
 * Resolves when a certificate of this name is served. There is a moment without a listener on Bun, and
 * another one when the files are found changed once more.
 */
async function served(port: number, wanted: string): Promise<void> {
  let seen = "";
  while (seen !== wanted) seen = await ask(port).then(({ name }) => name, () => seen);
}

describe("createServer()", () => {
  it("answers on the port it names, telling who asks", async () => {
    const remotes: string[] = [];
    const server = await start({
      handler: (_request, { remote }) => {
        remotes.push(remote);
        return Promise.resolve(new Response("hello"));
      },
    });
    assert.equal(await (await fetch(server.url)).text(), "hello");
    assert.deepEqual(remotes, ["127.0.0.1"]);
    assert.equal(server.url, `http://127.0.0.1:${server.port}`);
    assert.equal(server.address, server.url);
    await server.shutdown(1_000);
  });

  it("says where it listens, and where it is reached", async () => {
    const every = await start({ hostname: "0.0.0.0" });
    assert.equal(every.address, `http://0.0.0.0:${every.port}`);
    assert.equal(every.url, `http://127.0.0.1:${every.port}`);
    assert.equal(await (await fetch(every.url)).text(), "ok");
    await every.shutdown(1_000);
  });

  it("refuses an address that this machine has not", async () => {
    await assert.rejects(start({ hostname: "192.0.2.1" }), {
      name: "StackwrightError",
      message: /^could not listen on 192\.0\.2\.1:0: .*address/,
    });
  });

  it("refuses a port that is taken, saying which", async () => {
    const other = createPlainServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as { port: number };
    await assert.rejects(start({ port }), (error: Error & { code?: string }) => {
      assert.equal(error.code, "address_unusable");
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}`));
      return true;
    });
    other.close();
  });

  it("shutdown() lets a request under way finish and accepts no other", async () => {
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const server = await start({
      handler: async () => {
        begun.resolve();
        await gate.promise;
        return new Response("late");
      },
    });
    const answer = fetch(server.url, { headers: { connection: "close" } });
    await begun.promise;
    const ended = server.shutdown(60_000);
    await settle();
    await assert.rejects(fetch(server.url, { headers: { connection: "close" } }));
    gate.resolve();
    assert.equal(await (await answer).text(), "late");
    await Promise.all([ended, server.shutdown(0)]);
  });

  it("shutdown() ends kept connections: the idle at once, the others after their answer", async () => {
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const server = await start({
      handler: async ({ url }) => {
        if (!url.endsWith("/wait")) return new Response("early");
        begun.resolve();
        await gate.promise;
        return new Response("late");
      },
    });
    const [idle, fresh, busy] = await Promise.all([1, 2, 3].map(() => rawClient(server)));
    assert.ok(idle !== undefined && fresh !== undefined && busy !== undefined);
    idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await idle.until(/early$/);
    busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    await begun.promise;
    const ended = server.shutdown(60_000);
    await idle.closed;
    gate.resolve();
    assert.match(await busy.closed, /connection: close\r\n[^]*late$/i);
    await ended;
    // Bun tells nobody of a connection by which nothing came; it ends with the process.
    if (!("Bun" in globalThis)) await fresh.closed;
  });

  it("keeps a connection for several requests, sent one after the other or at once", async () => {
    const server = await start({
      handler: async (request) =>
        new Response(
          `${new URL(request.url).pathname}=${new TextDecoder().decode(await request.bytes())};`,
        ),
    });
    const client = await rawClient(server);
    const post = (path: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    client.send(post("/a", "1"));
    await client.until(/a=1;$/);
    client.send(post("/b", "22") + post("/c", "333"));
    const text = await client.until(/c=333;$/);
    assert.match(text, /b=22;HTTP\/1\.1 200/);
    client.destroy();
    await server.shutdown(1_000);
  });

  it("aborts the signal of a request whose client goes away, and of no other", async () => {
    const aborted: string[] = [];
    const begun = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const server = await start({
      handler: async ({ url, signal }) => {
        signal.addEventListener("abort", () => {
          aborted.push(new URL(url).pathname);
          gone.resolve();
        });
        if (url.endsWith("/gone")) {
          begun.resolve();
          await gone.promise;
        }
        return new Response("ok");
      },
    });
    assert.equal(await (await fetch(`${server.url}/stays`)).text(), "ok");
    const client = await rawClient(server);
    client.send("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n");
    await begun.promise;
    client.destroy();
    await gone.promise;
    await server.shutdown(1_000);
    assert.deepEqual(aborted, ["/gone"]);
  });

  it("sends events as they come", async () => {
    const gate = Promise.withResolvers<void>();
    const server = await start({
      handler: () => {
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
            await gate.promise;
            controller.enqueue(new TextEncoder().encode("data: 2\n\n"));
            controller.close();
          },
        });
        const headers = { "content-type": "text/event-stream" };
        return Promise.resolve(new Response(body, { headers }));
      },
    });
    const client = await rawClient(server);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert.doesNotMatch(await client.until(/data: 1\n/), /data: 2/);
    gate.resolve();
    await client.until(/data: 2\n[^]*\r\n0\r\n\r\n$/);
    client.destroy();
    await server.shutdown(1_000);
  });

  it("answers HEAD with the headers alone", async () => {
    const server = await start({ handler: () => Promise.resolve(new Response("body")) });
    const client = await rawClient(server);
    client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const text = await client.until(/body$/);
    assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 2);
    assert.equal(text.match(/body/g)?.length, 1);
    client.destroy();
    await server.shutdown(1_000);
  });

  it("shutdown() goes on without requests that outlast the grace period", async () => {
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<Response>();
    const log = createRecordingLog();
    const server = await start({
      log,
      handler: () => {
        begun.resolve();
        return gate.promise;
      },
    });
    const answer = fetch(server.url).then((response) => response.text()).catch(() => "cut");
    await begun.promise;
    await server.shutdown(10);
    assert.deepEqual(log.lines.map(({ level }) => level), ["warning"]);
    gate.resolve(new Response("late"));
    await answer;
  });
});

describe("createServer() with TLS", () => {
  let directory = "";
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "swt-tls-"));
    for (const name of ["one", "two"]) {
      execFileSync("openssl", [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
        ...["-keyout", join(directory, `${name}.key`), "-out", join(directory, `${name}.crt`)],
        ...["-subj", `/CN=${name}`, "-days", "2"],
      ], { stdio: "ignore" });
    }
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const files = (certificate: string, key: string) => ({
    certFile: join(directory, certificate),
    keyFile: join(directory, key),
    files: systemFiles,
    checkEveryMs: 5,
  });
  const install = async (name: string) => {
    await copyFile(join(directory, `${name}.crt`), join(directory, "used.crt"));
    await copyFile(join(directory, `${name}.key`), join(directory, "used.key"));
  };

  it("serves a new pair on the same port after the files changed, keeping requests", async () => {
    await install("one");
    const gate = Promise.withResolvers<void>();
    let waiting = false;
    const handler: Handler = async () => {
      if (!waiting) {
        waiting = true;
        await gate.promise;
      }
      return new Response("ok");
    };
    const server = await start({ handler, tls: files("used.crt", "used.key") });
    const slow = ask(server.port);
    while (!waiting) await settle();
    await install("two");
    await served(server.port, "two");
    gate.resolve();
    assert.deepEqual(await slow, { name: "one", body: "ok" });
    await server.shutdown(1_000);
  });

  it("keeps the old pair while the new one is not usable, and says so", async () => {
    await install("one");
    const log = createRecordingLog();
    const server = await start({ log, tls: files("used.crt", "used.key") });
    await writeFile(join(directory, "used.crt"), "no certificate at all");
    while (log.lines.length === 0) await settle();
    assert.equal(log.lines[0]?.level, "warning");
    assert.equal((await ask(server.port)).name, "one");
    await install("two");
    while (!log.lines.some(({ level }) => level === "info")) await settle();
    await served(server.port, "two");
    await server.shutdown(1_000);
  });

  it("exchanges a pair once that is still being written when it is read", async () => {
    await install("one");
    const log = createRecordingLog();
    const used = files("used.crt", "used.key");
    let [installed, touched, looks] = [false, false, 0];
    const watched: Files = {
      ...systemFiles,
      async readIfExists(path, mostBytes) {
        const bytes = await systemFiles.readIfExists(path, mostBytes);
        if (installed && !touched && path === used.keyFile) {
          touched = true;
          await utimes(path, 1, 1);
        }
        return bytes;
      },
      async realPath(path) {
        if (path === used.certFile) looks++;
        return await systemFiles.realPath(path);
      },
    };
    const server = await start({ log, tls: { ...used, files: watched } });
    installed = true;
    await install("two");
    const exchanges = () => log.lines.filter(({ level }) => level === "info").length;
    while (!touched || exchanges() === 0) await settle();
    const before = looks;
    while (looks < before + 4) await settle();
    assert.equal(exchanges(), 1);
    await server.shutdown(1_000);
  });

  const broken: [string, string, RegExp][] = [
    ["missing.crt", "one.key", /HTTP_TLS_CERT_FILE: there is no file .*missing\.crt/],
    ["one.crt", "missing.key", /HTTP_TLS_KEY_FILE: there is no file .*missing\.key/],
    ["one.key", "one.key", /one\.key holds no usable PEM certificate/],
    ["one.crt", "one.crt", /one\.crt holds no usable PEM private key/],
    ["one.crt", "two.key", /two\.key does not belong to the certificate in .*one\.crt/],
  ];
  it("names the setting of a file that it may not look at", async () => {
    const refuse = () => Promise.reject(new Error("EACCES: permission denied"));
    const closed = { ...systemFiles, realPath: refuse, readIfExists: refuse };
    await assert.rejects(start({ tls: { ...files("one.crt", "one.key"), files: closed } }), {
      code: "settings_invalid",
      message: /^HTTP_TLS_CERT_FILE: .*one\.crt cannot be read: EACCES: permission denied/,
    });
  });

  for (const [certificate, key, pattern] of broken) {
    it(`refuses ${certificate} with ${key}`, async () => {
      await assert.rejects(start({ tls: files(certificate, key) }), (error: Error) => {
        assert.match(error.message, pattern);
        return true;
      });
    });
  }

  it("probe() asks it without verifying the certificate", async () => {
    const paths: string[] = [];
    const server = await start({
      handler: ({ url }) => {
        paths.push(new URL(url).pathname);
        return Promise.resolve(new Response("fine", { status: 503 }));
      },
      tls: files("two.crt", "two.key"),
    });
    const result = await probe(healthTarget({ port: server.port, tls: true }));
    assert.deepEqual([result, paths], [{ status: 503, body: "fine" }, ["/v1/health"]]);
    await server.shutdown(1_000);
  });
});

describe("probe()", () => {
  it("asks a plain server", async () => {
    const server = await start();
    const result = await probe(healthTarget({ port: server.port, tls: false }));
    assert.deepEqual(result, { status: 200, body: "ok" });
    await server.shutdown(1_000);
  });

  it("is unhealthy when nobody listens", async () => {
    const server = await start();
    await server.shutdown(1_000);
    await assert.rejects(probe(healthTarget({ port: server.port, tls: false })), {
      code: "unhealthy",
    });
  });

  it("gives up on a server that does not answer", async () => {
    const gate = Promise.withResolvers<Response>();
    const server = await start({ handler: () => gate.promise });
    const target = { ...healthTarget({ port: server.port, tls: false }), timeoutMs: 20 };
    await assert.rejects(probe(target), { code: "timeout" });
    gate.resolve(new Response("late"));
    await server.shutdown(1_000);
  });
});
