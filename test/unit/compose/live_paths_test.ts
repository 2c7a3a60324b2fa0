import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { livePaths, type TreeUse } from "../../../src/compose/mod.ts";

const use = (path: string, writable: boolean): TreeUse => ({
  service: "web",
  kind: "bind",
  item: "",
  path,
  writable,
  required: false,
});

describe("livePaths()", () => {
  const paths = [".", "a", "a/b", "a/b/c", "a-b", "a-b/c", "a.b", "ab", "ab/c", "b", "a/c", "ä/b"];
  const overlaps = (one: string, other: string) =>
    one === other || one === "." || other === "." || one.startsWith(`${other}/`) ||
    other.startsWith(`${one}/`);

  it("finds what is one of the written paths, around one or inside of one, and nothing else", () => {
    for (const one of paths) {
      for (const other of paths) {
        const written = [one, other];
        const uses = [
          ...paths.map((each) => use(each, false)),
          ...written.map((each) => use(each, true)),
        ];
        const live = livePaths(uses, new Set(), () => true);
        for (const each of paths) {
          const expected = written.some((other) => overlaps(each, other));
          assert.equal(live.isLive(each), expected, `${each} beside ${written.join(" and ")}`);
        }
      }
    }
  });

  it("knows what nobody can put anything in: what is not there and only read", () => {
    const missing = ["nowhere.conf", "data/in", "data", "cache"];
    const uses = [
      use("nowhere.conf", false),
      use("there.conf", false),
      use("data/in", false),
      use("data", true),
      use("cache", true),
    ];
    const live = livePaths(uses, new Set(), (path) => !missing.includes(path));
    assert.deepEqual(live.unfilled.map(({ path }) => path), ["nowhere.conf"]);
  });

  it("knows which of those a file is meant by, which no container can make", () => {
    const uses = [
      { ...use("web/app.conf", true), item: "/etc/app.conf" },
      { ...use("data.d", true), item: "/data" },
      { ...use("there.conf", true), item: "/etc/there.conf" },
      { ...use("data", true), item: "/data" },
    ];
    const live = livePaths(uses, new Set(), (path) => path === "there.conf");
    assert.deepEqual(live.unfilled.map(({ path }) => path), ["web/app.conf"]);
    assert.equal(live.isLive("web/app.conf"), true);
  });

  it("has none where nothing is written", () => {
    const live = livePaths(paths.map((each) => use(each, false)), new Set(), () => true);
    assert.deepEqual(live.tracked, []);
  });

  it("finds them among fifty thousand, none of which is compared with every other", () => {
    const written = Array.from({ length: 25_000 }, (_, at) => use(`w/${at}/data`, true));
    const read = Array.from({ length: 25_000 }, (_, at) => use(`r/${at}/data`, false));
    const live = livePaths([...written, ...read], new Set(), () => true);
    assert.equal(live.tracked.length, written.length);
  });
});
