import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { it } from "node:test";
import { ownEnvironment } from "../../../src/cli/own_environment.ts";
import { createHttpClient } from "../../../src/system/mod.ts";

it("ownEnvironment() keeps the runtime from sending requests to this machine to a proxy", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end("yes");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY"];
  for (const name of names) process.env[name] = `${origin}/proxy`;
  const client = createHttpClient({ proxy: { http: origin, noProxy: [] } });
  const env = ownEnvironment();
  assert.deepEqual(names.map((name) => env[name]), names.map(() => `${origin}/proxy`));
  assert.deepEqual(names.map((name) => process.env[name]), names.map(() => undefined));
  const headers = { authorization: "Bearer token" };
  await client.send(
    { method: "GET", url: `${origin}/secret`, headers },
    new AbortController().signal,
  );
  assert.deepEqual(asked, ["/secret"]);
  client.close();
  await new Promise((resolve) => server.close(resolve));
});
