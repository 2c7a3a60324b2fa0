import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ignoredUses, type TreeUse } from "../../../src/compose/mod.ts";

describe("ignoredUses()", () => {
  const uses = Array.from({ length: 5000 }, (_, at): TreeUse => ({
    service: "web",
    kind: "bind",
    item: `/data/${at}`,
    path: `${at}`,
    writable: false,
    required: true,
  }));
  const of = (ignore: string) =>
    ignoredUses({
      services: { web: { labels: { "cd.doco.deployment.recreate.ignore": ignore } } },
    }, uses);

  it("names a few of the mounts that there are, not all of them in each warning", () => {
    const { warnings } = of("bindMounts: [/a, /b]");
    assert.equal(warnings.length, 2);
    for (const each of warnings) {
      assert.match(each, /there is \/data\/0, .*\/data\/19, 4980 more; it has no effect$/);
    }
  });

  it("tells of a few of the names that mean nothing, however many there are", () => {
    const names = Array.from({ length: 200 }, (_, at) => `/a${at}`).join(", ");
    assert.equal(of(`{bindMounts: [${names}], configs: [${names}]}`).warnings.length, 21);
  });

  it("refuses more signs in the labels of all services than are parsed at once", () => {
    const ignore = `{bindMounts: [${Array.from({ length: 150 }, (_, at) => `/data/${at}`)}]}`;
    const services = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [
          `s${at}`,
          { labels: { "cd.doco.deployment.recreate.ignore": ignore } },
        ]),
      );
    assert.equal(ignoredUses({ services: services(100) }, uses).uses.size, 0);
    assert.throws(
      () => ignoredUses({ services: services(140) }, uses),
      /the labels .*recreate\.ignore of all services have more than 20000 signs/,
    );
  });

  it("takes a slash at the end of a path for none", () => {
    const found = of("bindMounts: [/data/7//, /data/8]");
    assert.deepEqual([...found.uses].map(({ item }) => item), ["/data/7", "/data/8"]);
    assert.deepEqual(found.warnings, []);
  });
});
