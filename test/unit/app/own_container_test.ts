import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findOwnContainer } from "../../../src/app/own_container.ts";
import type { Engine } from "../../../src/docker/mod.ts";

const SIDECAR = "4711".repeat(16);
const OURS = "0815".repeat(16);
const never = new AbortController().signal;
const VOLUME = "/var/lib/docker/volumes/sw/_data";

/** A process that joined the network of a sidecar, on an engine with these containers beside it. */
async function find(containers: readonly object[], groups = "0::/\n") {
  const mountInfo = "1 2 0:1 / / rw - overlay overlay rw\n" +
    `3 4 8:1 /var/lib/docker/containers/${SIDECAR}/hosts /etc/hosts rw - ext4 /dev/sda rw\n` +
    `5 4 8:1 ${VOLUME} /data rw - ext4 /dev/sda rw\n`;
  const files = {
    readIfExists: (path: string) =>
      Promise.resolve(new TextEncoder().encode(path.endsWith("cgroup") ? groups : mountInfo)),
  };
  const all = containers as { container: { id: string }; mounts?: object[] }[];
  const engine = {
    inspectContainer: (id: string) =>
      Promise.resolve(all.find(({ container }) => container.id === id)),
    listContainers: () => Promise.resolve(all.map(({ container }) => container)),
  } as unknown as Engine;
  return (await findOwnContainer({ files, engine }, never))?.container.id;
}

const sidecar = { container: { id: SIDECAR, name: "vpn" }, mounts: [] };
const mounts = [{ kind: "volume", name: "sw", source: VOLUME, destination: "/data" }];
const ours = { container: { id: OURS, name: "ours", joins: SIDECAR }, mounts };

describe("findOwnContainer() of a process in the network of another container", () => {
  it("finds the one that joined it, and not the one whose files lie in /etc", async () => {
    assert.equal(await find([sidecar, ours]), OURS);
    const beside = { container: { id: "b".repeat(64), joins: SIDECAR }, mounts: [] };
    assert.equal(await find([sidecar, beside, ours]), OURS);
  });

  it("finds it by way of one that joined before", async () => {
    const between = { container: { id: "c".repeat(64), joins: SIDECAR }, mounts: [] };
    const last = { ...ours, container: { ...ours.container, joins: "c".repeat(64) } };
    assert.equal(await find([sidecar, last, between]), OURS);
  });

  it("asks the control group first", async () => {
    const bare = { ...ours, mounts: [] };
    assert.equal(await find([sidecar, bare], `0::/system.slice/docker-${OURS}.scope\n`), OURS);
  });

  it("says which cannot be told apart", async () => {
    const twin = { container: { id: "d".repeat(64), name: "twin", joins: SIDECAR }, mounts };
    await assert.rejects(find([sidecar, ours, twin]), {
      code: "settings_invalid",
      message: /cannot be told: vpn, ours, twin share a network and have the same mounts/,
    });
  });
});
