import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refuseOutsideRoot, refuseOwnData } from "../../../../src/source/git/local_repository.ts";
import { parseRepositoryUrl } from "../../../../src/source/mod.ts";
import type { Files } from "../../../../src/system/mod.ts";

describe("a repository on this machine that this user may not look at", () => {
  const files = {
    realPath: (path: string) =>
      path.startsWith("/root") ? Promise.reject(new Error("EACCES")) : Promise.resolve(path),
    stat: () => Promise.resolve(undefined),
  } as unknown as Files;
  const hidden = parseRepositoryUrl("/root/repository");

  it("is left to git, which says so", async () => {
    await refuseOwnData(files, hidden, ["/data"]);
    await refuseOutsideRoot(files, hidden, "/srv");
  });

  it("is refused in the data directory that a plan borrows from", async () => {
    const url = parseRepositoryUrl("/data/sources/x");
    await assert.rejects(refuseOwnData(files, url, ["/tmp/plan", "/data"]), { code: "forbidden" });
  });

  it("is still refused in the data directory", async () => {
    const url = parseRepositoryUrl("/root/data/sources/x");
    await assert.rejects(
      refuseOwnData({ ...files, realPath: () => Promise.resolve("/root/data") }, url, [
        "/root/data",
      ]),
      {
        code: "forbidden",
      },
    );
  });
});
