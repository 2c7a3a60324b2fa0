import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireSameVolumes } from "../../../src/deploy/mod.ts";

const nfs = { type: "nfs", o: "addr=canary-host,rw", device: ":/data" };

function check(
  wanted: Readonly<Record<string, unknown>>,
  made: { readonly driver?: string; readonly options?: Readonly<Record<string, string>> },
): void {
  const volume = { id: "shop_data", name: "shop_data", driver: "local", labels: {}, ...made };
  const volumes = { data: { name: "shop_data", ...wanted } };
  requireSameVolumes({ name: "shop", services: {}, volumes }, [volume]);
}

describe("requireSameVolumes()", () => {
  const same: readonly (readonly [string, Parameters<typeof check>])[] = [
    ["no options at all", [{}, {}]],
    ["the default driver by its name", [{ driver: "local" }, { options: {} }]],
    ["equal options", [{ driver_opts: nfs }, { options: nfs }]],
    ["a number that is the same text", [{ driver_opts: { n: 5 } }, { options: { n: "5" } }]],
    ["an option with a dollar", [{ driver_opts: { o: "a$$b" } }, { options: { o: "a$b" } }]],
    ["an external volume", [{ external: true, driver: "other" }, { options: nfs }]],
    ["a volume of another name", [{ name: "shop_new", driver: "other" }, { options: nfs }]],
    ["other labels", [{ labels: { a: "b" } }, {}]],
  ];
  for (const [title, parts] of same) {
    it(`lets ${title} be`, () => check(...parts));
  }

  const other: readonly (readonly [string, Parameters<typeof check>])[] = [
    ["driver", [{ driver: "vieux" }, {}]],
    ["driver_opts.o", [{ driver_opts: { ...nfs, o: "addr=canary-new" } }, { options: nfs }]],
    ["driver_opts.device, driver_opts.o, driver_opts.type", [{}, { options: nfs }]],
    ["driver, driver_opts.x", [{ driver: "v", driver_opts: { x: "canary" } }, {}]],
  ];
  it("names few of the options that an engine tells of", () => {
    const names = Array.from({ length: 5000 }, (_, at) => [`${at}${"y".repeat(4000)}`, "x"]);
    assert.throws(
      () => check({}, { options: Object.fromEntries(names) }),
      ({ message }: Error) => message.length < 30_000 && message.includes("and 4980 more, and"),
    );
  });

  for (const [changed, parts] of other) {
    it(`refuses another ${changed}, without a value`, () => {
      assert.throws(() => check(...parts), (error: Error & { code?: string }) => {
        assert.equal(error.code, "conflict");
        assert.ok(error.message.includes(`shop_data exists with another ${changed}, and`));
        assert.doesNotMatch(error.message, /canary/);
        return true;
      });
    });
  }
});
