import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { EXIT } from "../../../src/cli/io.ts";
import { run } from "./command_line.ts";

/** Runs `work` with the port of a server that gives every request the same answer. */
async function withServer(
  answer: { readonly status: number; readonly body: string },
  work: (port: number, asked: readonly string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.host}`);
    response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work((server.address() as AddressInfo).port, asked);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

describe("stackwright healthcheck", () => {
  const answers: [number, string, number, string, string][] = [
    [200, '{"content":"healthy"}', EXIT.ok, "healthy\n", ""],
    [503, '{"error":"engine down"}\n', EXIT.failed, "", 'unhealthy: {"error":"engine down"}\n'],
    [500, "", EXIT.failed, "", "unhealthy: HTTP 500\n"],
    [404, "", EXIT.failed, "", "unhealthy: HTTP 404\n"],
    [204, "", EXIT.failed, "", "unhealthy: HTTP 204\n"],
  ];
  for (const [status, body, code, out, err] of answers) {
    it(`healthcheck exits ${code} when the service answers ${status}`, async () => {
      await withServer({ status, body }, async (port, asked) => {
        const env = { HTTP_PORT: String(port) };
        assert.deepEqual(await run(["healthcheck"], { env }), { code, out, err });
        const json = await run(["healthcheck", "--json"], { env });
        assert.deepEqual([json.code, json.err], [code, ""]);
        assert.deepEqual(JSON.parse(json.out), { healthy: code === EXIT.ok, status, body });
        const question = `GET /v1/health localhost:${port}`;
        assert.deepEqual(asked, [question, question]);
      });
    });
  }

  it("healthcheck reads no more than the start of a long answer", async () => {
    await withServer({ status: 503, body: "x".repeat(100_000) }, async (port) => {
      const { out } = await run(["healthcheck", "--json"], { env: { HTTP_PORT: String(port) } });
      assert.equal(JSON.parse(out).body.length, 4096);
    });
  });

  it("healthcheck exits 1 and says what was asked when nobody listens", async () => {
    let free = 0;
    await withServer({ status: 200, body: "" }, (port) => {
      free = port;
      return Promise.resolve();
    });
    const env = { HTTP_PORT: String(free) };
    const { code, out, err } = await run(["healthcheck"], { env });
    assert.deepEqual([code, out], [EXIT.failed, ""]);
    assert.ok(err.startsWith(`stackwright: GET http://localhost:${free}/v1/health failed: `), err);
    assert.match(err, /is Stackwright running\?\n$/);
    const json = await run(["healthcheck", "--json"], { env });
    assert.equal(json.code, EXIT.failed);
    assert.equal(JSON.parse(json.err).error.code, "unhealthy");
  });

  it("healthcheck speaks HTTPS when the service does", async () => {
    await withServer({ status: 200, body: "" }, async (port, asked) => {
      const env = {
        HTTP_PORT: String(port),
        HTTP_TLS_CERT_FILE: "/c",
        HTTP_TLS_KEY_FILE: "/k",
      };
      const { code, err } = await run(["healthcheck"], { env });
      assert.equal(code, EXIT.failed);
      assert.match(err, /GET https:\/\/localhost/);
      assert.deepEqual(asked, []);
    });
  });
});
