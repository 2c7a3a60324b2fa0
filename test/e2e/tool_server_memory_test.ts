/** Memory of the whole process, of which its own heap does not show all. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { freePort } from "../fakes/free_port.ts";
import { malformedMessages } from "../fakes/malformed_messages.ts";
import { DENO_PROGRAM, ServiceProcess } from "./service_process.ts";

/** `MALFORMED_MESSAGES` says another number. */
const MESSAGES = Number(process.env["MALFORMED_MESSAGES"] ?? 5000);
const KEY = "key-of-the-tool-server";
/** More than a collector leaves for later, and less than if each message kept a buffer. */
const MOST_GROWTH = 64 * 1024 ** 2;
const NO_PROC = existsSync("/proc/self/status") ? false : "NOT MEASURED: there is no /proc here";

describe("the memory of the tool server", () => {
  it(`stays what it was after ${MESSAGES} malformed messages`, { skip: NO_PROC }, async () => {
    const directory = await mkdtemp(join(tmpdir(), "stackwright-memory-"));
    const port = await freePort();
    const service = new ServiceProcess(DENO_PROGRAM, ["serve"], {
      DATA_DIR: join(directory, "data"),
      DOCKER_HOST: `unix://${directory}/nobody.sock`,
      API_SECRET: KEY,
      MCP_ENABLED: "true",
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(port),
      METRICS_PORT: String(await freePort()),
    });
    try {
      await service.until(() => service.stderr.includes("listening on"));
      const send = async (seed: number, count: number) => {
        for (const body of malformedMessages(seed, count)) {
          const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
            method: "POST",
            headers: {
              "x-api-key": KEY,
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
            },
            body,
          });
          await response.text();
          assert.ok([200, 202, 400].includes(response.status), `${response.status}: ${body}`);
        }
        return residentBytes(service.pid ?? 0);
      };
      const sizes: number[] = [];
      for (let round = 1; round <= 4; round++) sizes.push(await send(round, MESSAGES / 4));
      // Garbage is collected when there is some: the least of several looks tells what is kept.
      const [before, after] = [Math.min(...sizes.slice(0, 2)), Math.min(...sizes.slice(2))];
      assert.ok(after - before < MOST_GROWTH, `resident bytes: ${sizes.join(", ")}`);
    } finally {
      await service.stop();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
