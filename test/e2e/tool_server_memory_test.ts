/** Memory of the whole process, of which its own heap does not show all. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { describe, it } from "node:test";
import { malformedMessages } from "../fakes/malformed_messages.ts";
import { DENO_PROGRAM } from "./service_process.ts";
import { KEY, withToolService } from "./tool_service.ts";

/** `MALFORMED_MESSAGES` says another number. */
const MESSAGES = Number(process.env["MALFORMED_MESSAGES"] ?? 5000);
/** More than a collector leaves for later, and less than if each message kept a buffer. */
const MOST_GROWTH = 64 * 1024 ** 2;
const NO_PROC = existsSync("/proc/self/status") ? false : "NOT MEASURED: there is no /proc here";

describe("the memory of the tool server", () => {
  it(`stays what it was after ${MESSAGES} malformed messages`, { skip: NO_PROC }, async () => {
    const environment = { DOCKER_HOST: "unix:///nobody/engine.sock" };
    await withToolService(DENO_PROGRAM, environment, async ({ service, address }) => {
      const send = async (seed: number, count: number) => {
        for (const body of malformedMessages(seed, count)) {
          const response = await fetch(address, {
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
    });
  });
});

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
