import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { handedOver } from "../../../src/compose/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

const NONE: ReadonlySet<string> = new Set();

describe("what compose is handed", () => {
  it("has nothing that leads compose elsewhere, as releases of earlier versions may", () => {
    const web = { image: "a", command: null, labels: { a: "b" }, scale: 2 };
    const followed = {
      extends: { file: "/trees/4f1c/o.yml", service: "s2" },
      env_file: [{ path: "/etc/shadow" }],
      label_file: ["/etc/shadow"],
      develop: { watch: [] },
      profiles: ["p"],
      "x-note": { extends: { file: "/o.yml" } },
    };
    const model = {
      name: "shop",
      "x-note": 1,
      services: { web: { ...web, ...followed } },
      networks: { default: { name: "shop_default" } },
      volumes: {},
    };
    assert.deepEqual(handedOver(model, NONE), {
      name: "shop",
      services: { web },
      networks: { default: { name: "shop_default" } },
      volumes: {},
    });
  });

  it("has no key that is not known, unless it says nothing", () => {
    const web = { image: "a" };
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ include: ["/o.yml"], services: { web } }, /handed include,/],
      [{ models: { m: {} }, services: { web } }, /handed models,/],
      [{ services: { web: { ...web, reads_file: "/x" } } }, /service web: reads_file,/],
      [{ services: { web: { ...web, provider: { type: "/x" } } } }, /service web: provider,/],
      [{ services: { web: { ...web, models: { m: null } } } }, /service web: models,/],
      [{ services: { web: { ...web, use_api_socket: true } } }, /service web: use_api_socket,/],
      [{ services: { web: { build: { context: "/c", env_file: "/x" } } } }, /web: build env_file,/],
      [{ secrets: { s: { command: "id" } } }, /secrets\.s: command,/],
      [{ configs: { c: { url: "http://h" } } }, /configs\.c: url,/],
    ];
    for (const [model, says] of refused) {
      assert.throws(() => handedOver(model as Record<string, unknown>, NONE), (error) => {
        assert.ok(isStackwrightError(error, "unsupported"), String(error));
        assert.match(error.message, says);
        return true;
      });
    }
    const empty = { models: {}, services: { web: { ...web, reads_file: null, models: {} } } };
    assert.deepEqual(handedOver(empty, NONE), { services: { web } });
  });

  it("has no name without a value that compose would find one for", () => {
    const environment = { A: "1", GIT_DIR: null, UNSET: null };
    const build = { context: "/c", args: { A: "1", UNSET: null }, "x-bake": {} };
    const given = new Set(["GIT_DIR", "A"]);
    assert.deepEqual(handedOver({ services: { web: { environment, build } } }, given), {
      services: {
        web: { environment: { A: "1", UNSET: null }, build: { context: "/c", args: { A: "1" } } },
      },
    });
    const listed = { environment: ["A=1", "GIT_DIR", "UNSET"], build: { args: ["A=1", "UNSET"] } };
    assert.deepEqual(handedOver({ services: { web: listed } }, given), {
      services: { web: { environment: ["A=1", "UNSET"], build: { args: ["A=1"] } } },
    });
  });
});
