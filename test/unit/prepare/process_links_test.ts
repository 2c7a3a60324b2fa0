import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
  };
  for (
    const path of ["/v/cwd", "/v/cwd/var", "/v/deep/x", "/v/proc/self/root/x", "/v/open"]
      .concat("/v/proc/1/task/1/fd", "/var/run/up/cwd", "/proc/thread-self/root")
  ) {
    it(`is true for ${path}`, async () => {
      assert.equal(await leadsThroughProcess(disk(links).files, path), true);
    });
  }
  for (const path of ["/", "/v", "/v/mounts", "/proc", "/var/run/docker.sock", "/v/round/x"]) {
    it(`is false for ${path}`, async () => {
      assert.equal(await leadsThroughProcess(disk(links).files, path), false);
    });
  }

  it("looks for nothing below what is not there", async () => {
    const { files, looks } = disk({}, (path) => path === "/a");
    assert.equal(await leadsThroughProcess(files, `/a${"/b".repeat(2000)}`), false);
    assert.equal(looks(), 2);
  });
});
