import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { holdsOurs } from "../../../src/deploy/holds_ours.ts";

describe("holdsOurs()", () => {
  const files = { realPath: (path: string) => Promise.resolve(path) };
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
  ];
  for (const [path, expected] of cases) {
    it(`${expected ? "knows" : "leaves out"} ${path}`, async () => {
      assert.equal(await holdsOurs(files, ours, path), expected);
    });
  }
});
