import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { groupContainerId, hasOurRoot } from "../../../src/docker/own_container.ts";

const ID = "0123456789abcdef".repeat(4);
const OTHER = "f".repeat(64);
const LAYERS = "/var/lib/docker/overlay2";

const root = (upper: string) =>
  `235 135 0:41 / / rw,relatime - overlay overlay rw,lowerdir=${LAYERS}/l/A:${LAYERS}/l/B,upperdir=${upper},workdir=w\n`;

describe("groupContainerId()", () => {
  const table: [what: string, mounts: string, groups: string, id: string | undefined][] = [
    ["a host", "", "0::/system.slice/stackwright.service\n", undefined],
    ["control groups v1", "", `9:cpu:/docker/${ID}\n0::/docker/${ID}\n`, ID],
    ["control groups v2 of systemd", "", `0::/system.slice/docker-${ID}.scope\n`, ID],
    ["a container in a container", "", `0::/docker/${OTHER}/docker/${ID}\n`, ID],
    ["a namespace of its own", "", "0::/\n", undefined],
    [
      "the mounts of its groups",
      `241 240 0:29 /docker/${ID} /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n`,
      "0::/\n",
      ID,
    ],
    [
      "a host with a volume that leads to a container's group",
      `9 8 0:5 /docker/${ID} /var/lib/docker/volumes/v/_data rw - cgroup2 cgroup2 rw\n`,
      "0::/\n",
      undefined,
    ],
  ];
  for (const [what, mounts, groups, id] of table) {
    it(`is ${id === undefined ? "undefined" : "the id"} for ${what}`, () => {
      assert.equal(groupContainerId({ mounts, groups }), id);
    });
  }
});

describe("hasOurRoot()", () => {
  const has = (upperDirectory: string, mounts: string) =>
    hasOurRoot({ upperDirectory }, { mounts, groups: "" });

  it("compares the container's own layer, also where the engine shortened its path", () => {
    assert.equal(has(`${LAYERS}/x/diff`, root(`${LAYERS}/x/diff`)), true);
    assert.equal(has(`${LAYERS}/x/diff`, root("x/diff")), true);
    assert.equal(has(`${LAYERS}/y/diff`, root(`${LAYERS}/x/diff`)), false);
    assert.equal(has(`${LAYERS}/y/diff`, "1 2 0:1 / / rw - ext4 /dev/sda rw\n"), undefined);
    assert.equal(hasOurRoot({}, { mounts: root("/x"), groups: "" }), undefined);
  });
});
