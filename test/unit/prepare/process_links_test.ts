import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { diskMounts } from "../../../src/deploy/disk_places.ts";
import { leadsThroughProcess } from "../../../src/prepare/process_links.ts";
import type { FileInfo } from "../../../src/system/mod.ts";

/** A disk on which everything is there, with these links. */
function disk(links: Readonly<Record<string, string>>, isThere = (_path: string) => true) {
  let looks = 0;
  const files = {
    stat: (path: string) => {
      looks++;
      const kind = path in links ? "symlink" : "directory";
      return Promise.resolve(isThere(path) ? { kind } as FileInfo : undefined);
    },
    readLink: (path: string) => Promise.resolve(links[path]),
  };
  return { files, looks: () => looks };
}

/** `/proc`, one of a directory that programs take for the root, and a mount of one and of a part of it. */
const mounts = diskMounts([
  "21 1 254:0 / / rw shared:1 - ext4 /dev/vda rw",
  "22 21 0:21 / /proc rw,nosuid shared:2 master:1 - proc proc rw",
  "23 21 0:77 / /srv/jail/proc rw - proc none rw",
  "24 21 0:21 / /srv/bound rw - proc proc rw",
  "25 21 0:21 /self /srv/part rw - proc proc rw",
  "26 21 254:0 /proc /srv/plain rw - ext4 /dev/vda rw",
].join("\n"));

describe("leadsThroughProcess()", () => {
  const links = {
    "/v/cwd": "/proc/self/cwd",
    "/v/deep": "../v/./cwd",
    "/v/proc": "/proc",
    "/v/open": "/dev/fd/3",
    "/v/mounts": "/proc/self/mounts",
    "/v/round": "round",
    "/proc/self": "4711",
    "/var/run": "/run",
    "/run/up": "../v",
    "/v/bound": "/srv/bound",
  };
  for (
    const path of ["/v/cwd", "/v/cwd/var", "/v/deep/x", "/v/proc/self/root/x", "/v/open"]
      .concat("/v/proc/1/task/1/fd", "/var/run/up/cwd", "/proc/thread-self/root")
      .concat("/srv/jail/proc/self/cwd/x", "/v/bound/1/root", "/srv/part/task/1/cwd")
  ) {
    it(`is true for ${path}`, async () => {
      assert.equal(await leadsThroughProcess(disk(links).files, mounts, path), true);
    });
  }
  for (
    const path of ["/", "/v", "/v/mounts", "/proc", "/var/run/docker.sock", "/v/round/x"]
      .concat("/srv/bound", "/srv/jail/proc/self/mounts", "/srv/plain/self/cwd")
  ) {
    it(`is false for ${path}`, async () => {
      assert.equal(await leadsThroughProcess(disk(links).files, mounts, path), false);
    });
  }

  it("looks for nothing below what is not there", async () => {
    const { files, looks } = disk({}, (path) => path === "/a");
    assert.equal(await leadsThroughProcess(files, mounts, `/a${"/b".repeat(2000)}`), false);
    assert.equal(looks(), 2);
  });
});
