import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hostPath, ownContainerId } from "../../../src/docker/own_mounts.ts";

const ID = "0123456789abcdef".repeat(4);

describe("ownContainerId", () => {
  const table: [string, string, string | undefined][] = [
    ["a host", "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n", undefined],
    ["nothing", "", undefined],
    [
      "a container of Docker",
      `9 8 8:1 /var/lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n`,
      ID,
    ],
    [
      "a container with the files of the one around it below",
      `7 6 8:1 /var/lib/docker/containers/${
        "f".repeat(64)
      }/hosts /etc/hosts ro - ext4 /dev/sda1 rw\n` +
      `9 8 8:1 /var/lib/docker/containers/${ID}/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n`,
      ID,
    ],
    [
      "a container with its own root for data",
      `9 8 8:1 /srv/engine/containers/${ID}/resolv.conf /etc/resolv.conf rw - ext4 /dev/sda1 rw\n`,
      ID,
    ],
    [
      "a container whose hosts file comes first",
      `9 8 8:1 /d/${ID}/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n`,
      ID,
    ],
    [
      "a shorter id",
      `9 8 8:1 /d/${ID.slice(1)}/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n`,
      undefined,
    ],
    [
      "an overlay of the host's other containers",
      `9 8 0:5 / /var/lib/docker/overlay2/${ID}/merged rw - overlay overlay rw\n`,
      undefined,
    ],
    [
      "a container whose hosts file was replaced",
      `9 8 8:1 /d/${ID}/hosts//deleted /etc/hosts rw - ext4 /dev/sda1 rw\n`,
      ID,
    ],
    [
      "a host with a volume whose device somebody calls like that",
      `9 8 0:5 / /var/lib/docker/volumes/v/_data rw - tmpfs /${ID}/hostname rw\n`,
      undefined,
    ],
    [
      "a host with a volume that leads to a directory like that",
      `9 8 8:1 /srv/${ID}/hosts /var/lib/docker/volumes/v/_data rw shared:5 - ext4 /dev/sda1 rw\n`,
      undefined,
    ],
    [
      "a container beside whose own files is a volume like that",
      `9 8 8:1 /d/${ID}/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n` +
      `9 8 0:5 / /srv/v rw - tmpfs /${"f".repeat(64)}/hostname\r0\u20280 rw\n`,
      ID,
    ],
    ["another file there", `9 8 8:1 /d/${ID}/hostnames /x rw - ext4 /dev/sda1 rw\n`, undefined],
  ];
  for (const [what, mountInfo, id] of table) {
    it(`ownContainerId() is ${id === undefined ? "undefined" : "the id"} for ${what}`, () => {
      assert.equal(ownContainerId(mountInfo), id);
    });
  }
});

describe("hostPath", () => {
  const mounts = [
    { destination: "/data", source: "/srv/data" },
    { destination: "/data/deep", source: "/mnt/deep" },
    { destination: "/dat", source: "/wrong" },
  ];
  const table: [string, string | undefined][] = [
    ["/data", "/srv/data"],
    ["/data/a/b", "/srv/data/a/b"],
    ["/data/deep", "/mnt/deep"],
    ["/data/deep/a", "/mnt/deep/a"],
    ["/data/deeper", "/srv/data/deeper"],
    ["/database", undefined],
    ["/", undefined],
    ["/other", undefined],
  ];
  for (const [directory, expected] of table) {
    it(`hostPath() of ${directory} is ${expected}, whatever the order of the mounts`, () => {
      assert.equal(hostPath(directory, mounts), expected);
      assert.equal(hostPath(directory, [...mounts].reverse()), expected);
    });
  }

  it("hostPath() is undefined without mounts", () => {
    assert.equal(hostPath("/data", []), undefined);
  });
});
