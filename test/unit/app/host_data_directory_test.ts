import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findHostDataDirectory } from "../../../src/app/host_data_directory.ts";
import { findOwnContainer } from "../../../src/app/own_container.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { type Files, systemFiles } from "../../../src/system/mod.ts";

const ID = "4711".repeat(16);
const CONTAINED =
  `1 2 0:1 / / rw - overlay overlay rw\n3 4 8:1 /var/lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/sda rw\n`;
const never = new AbortController().signal;

/** Where a data directory lies, as found by a process with this mount table. */
async function find(
  dataDir: string,
  mountInfo: string | undefined,
  inspected: unknown = { container: { id: ID }, mounts: [] },
): Promise<{ found: string; asked: readonly string[] }> {
  const asked: string[] = [];
  const files: Files = {
    ...systemFiles,
    readIfExists: (path) => {
      if (path === "/proc/self/cgroup") return Promise.resolve(undefined);
      assert.equal(path, "/proc/self/mountinfo");
      return Promise.resolve(
        mountInfo === undefined ? undefined : new TextEncoder().encode(mountInfo),
      );
    },
  };
  const engine = {
    inspectContainer: (id: string) => {
      asked.push(id);
      return Promise.resolve(inspected);
    },
    listContainers: () => Promise.resolve([]),
  } as unknown as Engine;
  return { found: await findHostDataDirectory({ files, engine }, dataDir, never), asked };
}

describe("findHostDataDirectory", () => {
  it("findHostDataDirectory() of a process on a host is the path itself, and nobody is asked", async () => {
    for (const mountInfo of [undefined, "", "1 2 0:1 / / rw - ext4 /dev/sda rw\n"]) {
      assert.deepEqual(await find("/srv/data", mountInfo), { found: "/srv/data", asked: [] });
    }
  });

  it("findHostDataDirectory() in a container is what the engine mounts there", async () => {
    const mounts = {
      container: { id: ID },
      mounts: [{ destination: "/data", source: "/var/lib/docker/volumes/d/_data" }],
    };
    assert.deepEqual(await find("/data", CONTAINED, mounts), {
      found: "/var/lib/docker/volumes/d/_data",
      asked: [ID],
    });
  });

  it("findHostDataDirectory() takes the path as it is in a container of another engine", async () => {
    assert.equal((await find("/data", CONTAINED, undefined)).found, "/data");
  });

  it("findOwnContainer() takes no container for ours that is only called like it", async () => {
    const named = {
      container: { id: "0815".repeat(16), name: ID },
      mounts: [{ destination: "/data", source: "/of/another" }],
    };
    assert.equal((await find("/data", CONTAINED, named)).found, "/data");
    const files = { readIfExists: () => Promise.resolve(new TextEncoder().encode(CONTAINED)) };
    const engine = { inspectContainer: () => Promise.resolve(named) } as unknown as Engine;
    assert.equal(await findOwnContainer({ files, engine }, never), undefined);
  });

  it("findHostDataDirectory() refuses a directory that is part of our container alone", async () => {
    const mounts = {
      container: { id: ID },
      mounts: [{ destination: "/other", source: "/srv" }],
    };
    await assert.rejects(find("/data", CONTAINED, mounts), (error) => {
      assert.ok(isStackwrightError(error, "data_dir_unusable"));
      assert.match(error.message, /^DATA_DIR \/data is not on a volume: .*DATA_HOST_DIR/);
      return true;
    });
  });
});
