import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FileInfo } from "../../../src/system/mod.ts";
import { holdsOurs } from "../../../src/deploy/holds_ours.ts";

describe("holdsOurs()", () => {
  // What is seen at /mnt/two is /var/lib, and at /mnt/key the directory of a key.
  const idOf = (path: string) =>
    path.replace(/^\/mnt\/two(?=\/|$)/, "/var/lib").replace(/^\/mnt\/key(?=\/|$)/, "/etc/sw");
  const files = {
    realPath: (path: string) => Promise.resolve(path),
    stat: (path: string) => Promise.resolve({ id: idOf(path) } as FileInfo),
  };
  const ours = {
    dataDir: "/var/lib/stackwright",
    protectedPaths: ["/etc/sw/key", "/root/.docker/contexts"],
  };
  const cases: readonly (readonly [string, boolean])[] = [
    ["/var/lib/stackwright", true],
    ["/var/lib", true],
    ["/var/lib/stackwright/sources/x", true],
    ["/var/lib/stackwright/other/data", false],
    ["/etc/sw/key", true],
    ["/etc/sw", true],
    ["/", true],
    ["/root/.docker", true],
    ["/root/.docker/contexts/a", true],
    ["/proc/1", true],
    ["/sys", true],
    ["/dev/shm", true],
    ["/srv/shop/data", false],
    ["/mnt/two", true],
    ["/mnt/two/stackwright", true],
    ["/mnt/two/stackwright/state.db", true],
    ["/mnt/two/stackwright/sources/x", true],
    ["/mnt/two/stackwright/other/data", false],
    ["/mnt/two/shop", false],
    ["/mnt/key", true],
    ["/mnt/key/key", true],
    ["/mnt/key/other", false],
  ];
  for (const [path, expected] of cases) {
    it(`${expected ? "knows" : "leaves out"} ${path}`, async () => {
      assert.equal(await holdsOurs(files, ours, path), expected);
    });
  }
});
