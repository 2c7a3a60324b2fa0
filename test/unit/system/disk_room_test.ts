import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireRoom } from "../../../src/system/disk_room.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const GIB = 1024 ** 3;

describe("requireRoom()", () => {
  const on = (free: number, total: number, use: Parameters<typeof requireRoom>[2]) => {
    const room = (path: string) =>
      Promise.resolve(
        path === "/data"
          ? { free: free * GIB, total: total * GIB, entries: { free: 5000, total: 100_000 } }
          : undefined,
      );
    return requireRoom({ ...systemFiles, room }, "/data/sources/x", use);
  };
  const cases = [
    [5, 100, { bytes: 0, isNew: true }, true],
    [1.9, 100, { bytes: 0, isNew: true }, false],
    [0.3, 20, { bytes: 0, isNew: true }, false],
    // A card of 8 GB with 300 MB.
    [0.28, 7.4, { bytes: 0, isNew: true }, true],
    [5, 10_000, { bytes: 0, isNew: true }, true],
    [0.9, 20, { bytes: 0, isNew: false }, true],
    [0.1, 20, { bytes: 0, isNew: false }, false],
    [5, 100, { bytes: 4 * GIB, isNew: false }, true],
    [4.1, 100, { bytes: 4 * GIB, isNew: false }, false],
  ] as const;
  for (const [free, total, use, passes] of cases) {
    it(`${passes ? "allows" : "refuses"} ${JSON.stringify(use)} with ${free} of ${total} GiB`, async () => {
      if (passes) return await on(free, total, use);
      await assert.rejects(on(free, total, use), {
        code: "data_dir_unusable",
        message:
          /^the disk of \/data\/sources\/x has no space left.*: \d+ MiB are free.* \d+ MiB stay free/,
      });
    });
  }

  it("keeps files free, too, unless the disk counts none", async () => {
    const ask = (total: number, entries: number, free = total / 20) => {
      const room = () =>
        Promise.resolve({ free: 5 * GIB, total: 100 * GIB, entries: { free, total } });
      return requireRoom({ room }, "/data", { bytes: 0, entries, isNew: false });
    };
    await ask(100_000, 4000);
    await ask(0, 1e9);
    // What CephFS and bcachefs tell, in Deno and in Bun.
    await ask(100_000, 4000, 2 ** 64);
    await ask(100_000, 4000, -1);
    // A share of a large disk is more than anybody needs.
    await ask(600_000_000, 4000, 1_000_000);
    await assert.rejects(ask(100_000, 4001), {
      code: "data_dir_unusable",
      message: /5000 files are free, and 4001 files would be written, and 1000 files stay free/,
    });
  });

  it("asks the disk of the nearest directory that is there, and lets pass what cannot be asked", async () => {
    await requireRoom(systemFiles, "/tmp/is/not/there", { bytes: 0, isNew: false });
    await assert.rejects(
      requireRoom(systemFiles, "/tmp/is/not/there", { bytes: 1e18, isNew: false }),
      { code: "data_dir_unusable" },
    );
    const room = () => Promise.resolve(undefined);
    await requireRoom({ ...systemFiles, room }, "/x", { bytes: 1e18, isNew: true });
  });
});
