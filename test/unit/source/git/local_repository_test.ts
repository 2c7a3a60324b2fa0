import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refuseOutsideRoot, refuseOwnData } from "../../../../src/source/git/local_repository.ts";
import { parseRepositoryUrl } from "../../../../src/source/mod.ts";
import type { Files } from "../../../../src/system/mod.ts";

describe("a directory on this machine from which git is led elsewhere", () => {
  const written = (texts: Readonly<Record<string, string>>) =>
    ({
      realPath: (path: string) => Promise.resolve(path),
      readPlain: (path: string) => {
        const text = texts[path];
        const data = new TextEncoder().encode(text);
        return Promise.resolve(text === undefined ? undefined : { data, mode: 0o644 });
      },
    }) as unknown as Files;
  const url = parseRepositoryUrl("/srv/shop");

  it("is refused where that is the data directory", async () => {
    for (
      const texts of [
        { "/srv/shop/.git": "gitdir: /data/sources/x/mirror/y\n" },
        { "/srv/shop/.git": "gitdir: ../../data/sources/x/mirror/y" },
        { "/srv/shop.git": "gitdir: ../data/x\r\n" },
        { "/srv/shop": "gitdir: /data/x" },
        { "/srv/shop/.git": "gitdir: ../own", "/srv/own/commondir": "../../data/x\n" },
        { "/srv/shop/.git/commondir": "/data/x\n" },
        { "/srv/shop/commondir": "../../data/x\n" },
      ]
    ) {
      await assert.rejects(refuseOwnData(written(texts), url, ["/data"]), {
        code: "forbidden",
        message: /DATA_DIR\), where its \.git file or commondir leads, which is no source/,
      }, JSON.stringify(texts));
    }
  });

  it("is a source where that is another place, as for a linked checkout", async () => {
    const git = "/srv/main/.git/worktrees/shop";
    const texts = { "/srv/shop/.git": `gitdir: ${git}\n`, [`${git}/commondir`]: "../..\n" };
    await refuseOwnData(written(texts), url, ["/data", "/srv/mai"]);
    await assert.rejects(refuseOwnData(written(texts), url, ["/srv/main"]), { code: "forbidden" });
    await assert.rejects(refuseOwnData(written({}), url, ["/srv"]), {
      message: /DATA_DIR\), which/,
    });
  });
});

describe("a repository on this machine that this user may not look at", () => {
  const files = {
    realPath: (path: string) =>
      path.startsWith("/root") ? Promise.reject(new Error("EACCES")) : Promise.resolve(path),
    stat: () => Promise.resolve(undefined),
    readPlain: () => Promise.resolve(undefined),
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
