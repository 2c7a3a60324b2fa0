import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serviceOf, textMapAt } from "../../../src/compose/mod.ts";
import type { WrittenResource } from "../../../src/config/compose_paths.ts";
import type { ComposeCall } from "../../../src/deploy/mod.ts";
import { errors } from "../../../src/model/mod.ts";
import { besideModel, type Declared, DeclaredParts } from "../../../src/prepare/declared_parts.ts";
import type { PrepareParts } from "../../../src/prepare/parts.ts";

const NO_SIGNAL = new AbortController().signal;
const KEY = { context: "default", name: "shop" };

describe("DeclaredParts", () => {
  it("has those of the files and of what they include, in a circle, too, and no others", () => {
    const declared = new DeclaredParts();
    declared.noteFile("a", { services: ["web"], resources: [], reset: [] });
    declared.noteFile("b", { services: ["db", "web"], resources: [], reset: [] });
    declared.noteFile("c", { services: ["job"], resources: [], reset: [] });
    declared.noteFile("extended", { services: ["base"], resources: [], reset: [] });
    declared.noteIncluded("a", ["b", "missing"]);
    declared.noteIncluded("a", ["c"]);
    declared.noteIncluded("c", ["a"]);
    assert.deepEqual([...declared.in(["a"]).services].sort(), ["db", "job", "web"]);
    assert.deepEqual([...declared.in(["b"]).services], ["db", "web"]);
  });

  it("leaves out services that a later file takes back, also included ones, and has what comes after", () => {
    const declared = new DeclaredParts();
    declared.noteFile("base", { services: ["app", "db"], resources: [], reset: [] });
    declared.noteFile("side", { services: ["tool"], resources: [], reset: [] });
    declared.noteFile("over", { services: [], resources: [], reset: ["db", "tool"] });
    declared.noteIncluded("base", ["side"]);
    assert.deepEqual([...declared.in(["base", "over"]).services], ["app"]);
    assert.deepEqual([...declared.in(["over", "base"]).services], ["app", "db", "tool"]);
  });

  it("has networks and volumes as the last file that says something of one has it", () => {
    const declared = new DeclaredParts();
    const file = { services: [], reset: [] };
    const data = { kind: "volumes", key: "data" } as const;
    const net = { kind: "networks", key: "data" } as const;
    declared.noteFile("base", {
      ...file,
      resources: [{ ...data, name: "a", external: true }, net],
    });
    declared.noteFile("over", { ...file, resources: [{ ...data, name: "b" }] });
    assert.deepEqual(declared.in(["base", "over"]).resources, [
      { ...data, name: "b", external: true },
      net,
    ]);
  });
});

describe("besideModel()", () => {
  const model = { services: { web: {} }, volumes: { used: { name: "x" } } };
  const project = { name: "shop", directory: "/", files: [], envFiles: [], profiles: [] };
  /** What stands beside the model, where compose knows `$N` alone. */
  const beside = (services: Iterable<string>, resources: Declared["resources"] = []) => {
    const render = (call: ComposeCall) => {
      const texts = textsIn(call);
      if (!texts.every((each) => each === "$N")) throw errors.render_failed("no such variable");
      const labels = Object.fromEntries(texts.map((_, at) => [`p${at}`, "n"]));
      return Promise.resolve({ services: { texts: { labels } } });
    };
    const parts = { host: { compose: { render } } } as unknown as PrepareParts;
    const declared = { services: new Set(services), resources };
    return besideModel(parts, { key: KEY, model, project, variables: {} }, declared, NO_SIGNAL);
  };
  const textsIn = ({ model }: ComposeCall) =>
    Object.values(textMapAt(serviceOf(model ?? {}, "texts"), "labels"));
  const volume = (key: string, more: Partial<WrittenResource> = {}) =>
    ({ kind: "volumes", key, ...more }) as const;

  it("tells services that the model does not have, without what is no name of one", async () => {
    const { inactive } = await beside(["web", "toString", "db", "<<", "", "a b"]);
    assert.deepEqual(inactive, ["db", "toString"]);
  });

  it("tells networks and volumes that the model does not have, by their names on the engine", async () => {
    const all = [
      volume("used"),
      volume("data"),
      volume("named", { name: "other" }),
      volume("ours", { name: "$N" }),
      volume("theirs", { external: true }),
      volume("long", { name: "x".repeat(256) }),
      { kind: "networks", key: "n", external: false } as const,
    ];
    assert.deepEqual(await beside(["web"], all), {
      inactive: [],
      unused: {
        networks: { n: { name: "shop_n" } },
        volumes: {
          data: { name: "shop_data" },
          named: { name: "other" },
          ours: { name: "n" },
          theirs: { name: "theirs", external: true },
        },
      },
    });
  });

  it("has the network of inactive services that name none, and nothing where there is nothing", async () => {
    const { unused } = await beside(["web", "db"]);
    assert.deepEqual(unused, { networks: { default: { name: "shop_default" } }, volumes: {} });
    assert.deepEqual(await beside(["web"], [volume("used")]), { inactive: [] });
  });

  it("takes a name whose variables are not known as it is written", async () => {
    const { unused } = await beside(["web"], [volume("a", { name: "${M?}" })]);
    assert.deepEqual(unused, { networks: {}, volumes: { a: { name: "${M?}" } } });
  });

  it("refuses more than a model may have", async () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`);
    assert.equal((await beside(names(500))).inactive.length, 500);
    await assert.rejects(beside(names(501)), {
      code: "config_invalid",
      message: /^deployment shop: 501 services .* not active, the most is 500$/,
    });
    const volumes = (count: number) => names(count).map((each) => volume(each));
    await beside(["web"], volumes(2000));
    await assert.rejects(beside(["web"], volumes(2001)), {
      message: /^deployment shop: 2001 networks and volumes .*, the most is 2000$/,
    });
  });
});
