import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PrepareParts } from "../../../src/prepare/parts.ts";
import { requireSafeModel } from "../../../src/prepare/path_safety.ts";
import type { Target } from "../../../src/prepare/target.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const OWN = "0123456789abcdef".repeat(4);
const OTHER = "fedcba9876543210".repeat(4);

describe("requireSafeModel()", () => {
  const check = (
    web: Record<string, unknown>,
    own: string | undefined,
    { rest = {}, more = {} }: { rest?: Record<string, unknown>; more?: Partial<Target> } = {},
  ) => {
    const ids = new Map([["stackwright", OWN], [OWN.slice(0, 12), OWN], ["db", OTHER]]);
    const parts = {
      log: createRecordingLog(),
      files: {
        realPath: (path: string) => Promise.resolve(path),
      },
      host: {
        dataDir: "/data",
        own: () => Promise.resolve(own === undefined ? undefined : { id: own }),
        engine: {
          inspectContainer: (name: string) =>
            Promise.resolve(ids.has(name) ? { container: { id: ids.get(name) } } : undefined),
        },
      },
      options: { protectedPaths: [] },
    } as unknown as PrepareParts;
    const target = { key: { context: "default", name: "shop" }, ...more } as Target;
    const signal = new AbortController().signal;
    return requireSafeModel(parts, target, { services: { web }, ...rest }, "/tree", signal);
  };

  for (const key of ["network_mode", "pid", "ipc"]) {
    for (const name of ["stackwright", OWN.slice(0, 12)]) {
      it(`refuses ${key} of the container that this process runs in, called ${name}`, async () => {
        await assert.rejects(check({ [key]: `container:${name}` }, OWN), {
          code: "path_escapes",
          message:
            `deployment shop: service web: ${key}: the container ${name} is Stackwright itself, ` +
            "whose processes and network no deployment may share",
        });
      });
    }
  }

  it("has nothing against other containers, or where this process runs in none", async () => {
    await check({ network_mode: "container:db", pid: "container:missing" }, OWN);
    await check({ network_mode: "container:stackwright" }, undefined);
    await check({ network_mode: "host", pid: "service:db" }, OWN);
  });

  for (const kind of ["configs", "secrets"]) {
    for (const file of ["/etc/shadow", "/proc/self/environ", "/root/.docker/config.json"]) {
      it(`refuses ${kind} from ${file} for a swarm, which this process would read`, async () => {
        const more = { swarm: {} } as unknown as Partial<Target>;
        const rest = { [kind]: { s: { file } } };
        await assert.rejects(check({}, undefined, { rest, more }), {
          code: "path_escapes",
          message: new RegExp(`^deployment shop: ${kind}\\.s leads out of the repository`),
        });
        await check({}, undefined, { rest: { [kind]: { s: { file: "/tree/a" } } }, more });
        // The engine mounts it, as its author chose.
        await check({}, undefined, { rest: { [kind]: { s: { file: "/etc/shadow" } } } });
      });
    }
  }
});
