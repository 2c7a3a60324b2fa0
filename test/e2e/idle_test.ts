import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { freePort } from "../fakes/free_port.ts";
import { BUN_PROGRAM, DENO_PROGRAM, executables, ServiceProcess } from "./service_process.ts";

/** A timer of ten milliseconds makes a hundred. */
const MOST_WAKEUPS_A_SECOND = 30;
const SECONDS = 30;

/** How often the main thread of a process went to sleep so far. */
async function sleeps(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/task/${pid}/status`, "utf8");
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
}

describe("a service that has nothing to do", () => {
  for (const program of [DENO_PROGRAM, BUN_PROGRAM, ...executables()]) {
    it(`sleeps: ${program.title}`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "stackwright-idle-"));
      const engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
      const service = new ServiceProcess(program, ["serve"], {
        DATA_DIR: join(directory, "data"),
        DOCKER_HOST: engine.host,
        HTTP_PORT: String(await freePort()),
        METRICS_PORT: String(await freePort()),
        API_SECRET: "secret-of-the-idle-service",
        WEBHOOK_SECRET: "secret-of-the-idle-webhooks",
      });
      try {
        await service.until(() => service.stderr.includes("listening on"));
        const pid = service.pid ?? 0;
        const seen: number[] = [];
        // Runtimes collect and compile for a while after a start: one quiet second is enough.
        while (seen.length < SECONDS && !seen.some((count) => count <= MOST_WAKEUPS_A_SECOND)) {
          const before = await sleeps(pid);
          await setTimeout(1000);
          seen.push(await sleeps(pid) - before);
        }
        assert.ok(Math.min(...seen) <= MOST_WAKEUPS_A_SECOND, `woke up ${seen} times`);
      } finally {
        await service.stop();
        await engine.close();
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});
