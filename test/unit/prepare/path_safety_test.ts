import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PrepareParts } from "../../../src/prepare/parts.ts";
import { requireSafeModel } from "../../../src/prepare/path_safety.ts";
import type { Target } from "../../../src/prepare/target.ts";

const OWN = "0123456789abcdef".repeat(4);
const OTHER = "fedcba9876543210".repeat(4);
/** What the kernel says of the mounts of a container. */
const IN_A_CONTAINER = `9 8 0:1 /var/lib/docker/containers/${OWN}/hostname /etc/hostname rw - ext4`;

describe("requireSafeModel()", () => {
  const check = (
    web: Record<string, unknown>,
    mountInfo: string,
    { rest = {}, more = {} }: { rest?: Record<string, unknown>; more?: Partial<Target> } = {},
  ) => {
    const ids = new Map([["stackwright", OWN], [OWN.slice(0, 12), OWN], ["db", OTHER]]);
    const parts = {
      files: {
        readIfExists: () => Promise.resolve(new TextEncoder().encode(mountInfo)),
        realPath: (path: string) => Promise.resolve(path),
      },
      host: {
        dataDir: "/data",
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
        await assert.rejects(check({ [key]: `container:${name}` }, IN_A_CONTAINER), {
          code: "path_escapes",
          message:
            `deployment shop: service web: ${key}: the container ${name} is Stackwright itself, ` +
            "whose processes and network no deployment may share",
        });
      });
    }
  }

  it("has nothing against other containers, or where this process runs in none", async () => {
    await check({ network_mode: "container:db", pid: "container:missing" }, IN_A_CONTAINER);
    await check({ network_mode: "container:stackwright" }, "9 8 0:1 / / rw - ext4");
    await check({ network_mode: "host", pid: "service:db" }, IN_A_CONTAINER);
  });

  for (const kind of ["configs", "secrets"]) {
    for (const file of ["/etc/shadow", "/proc/self/environ", "/root/.docker/config.json"]) {
      it(`refuses ${kind} from ${file} for a swarm, which this process would read`, async () => {
        const more = { swarm: {} } as unknown as Partial<Target>;
        const rest = { [kind]: { s: { file } } };
        await assert.rejects(check({}, "", { rest, more }), {
          code: "path_escapes",
          message: new RegExp(`^deployment shop: ${kind}\\.s leads out of the repository`),
        });
        await check({}, "", { rest: { [kind]: { s: { file: "/tree/a" } } }, more });
        // The engine mounts it, as its author chose.
        await check({}, "", { rest: { [kind]: { s: { file: "/etc/shadow" } } } });
      });
    }
  }
});
