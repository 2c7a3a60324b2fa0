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
  const check = (web: Record<string, unknown>, mountInfo: string) => {
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
    const target = { key: { context: "default", name: "shop" } } as Target;
    const signal = new AbortController().signal;
    return requireSafeModel(parts, target, { services: { web } }, "/tree", signal);
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
});
