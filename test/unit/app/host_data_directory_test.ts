import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findHostDataDirectory } from "../../../src/app/host_data_directory.ts";
import { findOwnContainer } from "../../../src/app/own_container.ts";
import type { EngineClient, OwnContainer } from "../../../src/docker/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { type Files, systemFiles } from "../../../src/system/mod.ts";

const ID = "4711".repeat(16);
const CONTAINED =
  `1 2 0:1 / / rw - overlay overlay rw\n3 4 8:1 /var/lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/sda rw\n`;
const never = new AbortController().signal;

const files: Files = {
  ...systemFiles,
  readIfExists: (path) =>
    Promise.resolve(
      path === "/proc/self/cgroup" ? undefined : new TextEncoder().encode(CONTAINED),
    ),
};

/** Where a data directory lies for a process in a container that is inspected so, or on a host. */
const find = (dataDir: string, inspected?: object) =>
  findHostDataDirectory(() => Promise.resolve(inspected as OwnContainer), dataDir, never);

describe("findHostDataDirectory", () => {
  it("findHostDataDirectory() of a process on a host is the path itself", async () => {
    assert.equal(await find("/srv/data"), "/srv/data");
  });

  it("findHostDataDirectory() in a container is what the engine mounts there", async () => {
    const mounts = {
      container: { id: ID },
      mounts: [{ destination: "/data", source: "/var/lib/docker/volumes/d/_data" }],
    };
    assert.equal(await find("/data", mounts), "/var/lib/docker/volumes/d/_data");
  });

  it("findOwnContainer() asks nobody on a host", async () => {
    for (const text of [undefined, "", "1 2 0:1 / / rw - ext4 /dev/sda rw\n"]) {
      const readIfExists = (path: string) =>
        Promise.resolve(
          text === undefined || path === "/proc/self/cgroup"
            ? undefined
            : new TextEncoder().encode(text),
        );
      const parts = { files: { ...files, readIfExists }, engine: {} as EngineClient, places: [] };
      assert.equal(await findOwnContainer(parts, never), undefined);
    }
  });

  it("findOwnContainer() takes no container for ours that is only called like it", async () => {
    const named = { container: { id: "0815".repeat(16), name: ID }, mounts: [] };
    for (const inspected of [named, undefined]) {
      const engine = {
        inspectContainer: () => Promise.resolve(inspected),
        listContainers: () => Promise.resolve([]),
      } as unknown as EngineClient;
      assert.equal(await findOwnContainer({ files, engine, places: [] }, never), undefined);
    }
  });

  it("findHostDataDirectory() refuses a directory that is part of our container alone", async () => {
    const mounts = {
      container: { id: ID },
      mounts: [{ destination: "/other", source: "/srv" }],
    };
    await assert.rejects(find("/data", mounts), (error) => {
      assert.ok(isStackwrightError(error, "data_dir_unusable"));
      assert.match(error.message, /^DATA_DIR \/data is not on a volume: .*DATA_HOST_DIR/);
      return true;
    });
  });
});
