import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkImports, ROOMS } from "../../../scripts/check_imports.ts";

describe("checkImports()", () => {
  const allowed: readonly (readonly [file: string, source: string])[] = [
    ["main.ts", `import { main } from "./src/cli/mod.ts";`],
    ["src/app.ts", `import { serve } from "./serve/mod.ts"; import "./pipeline.ts";`],
    ["src/pipeline.ts", `import { plan } from "./plan/mod.ts";`],
    ["src/intake.ts", `import { runs } from "./record/runs.ts";`],
    ["src/deploy/mod.ts", `import "./apply.ts"; import "../docker/mod.ts"; import "node:path";`],
    ["src/config/mod.ts", `import { z } from "zod"; import { parse } from "yaml/util";`],
    ["src/system/mod.ts", `import "node:fs/promises"; Deno.pid;`],
    ["src/docker/transport.ts", `import { request } from "node:http";`],
    ["src/serve/listener.ts", `Bun.serve({});`],
    ["src/record/mod.ts", `import { DatabaseSync } from "node:sqlite";`],
    ["src/cli/mod.ts", `import p from "../../package.json" with { type: "json" };`],
  ];
  for (const [file, source] of allowed) {
    it(`accepts in ${file}: ${source}`, () => assert.deepEqual(rulesBroken(file, source), []));
  }

  const refused: readonly (readonly [file: string, source: string, rule: RegExp])[] = [
    ["main.ts", `import "./src/app.ts";`, /^main\.ts:1 main may not import app; .* cli$/],
    ["src/model/mod.ts", `\nexport * from "../system/mod.ts";`, /:2 model may not import system/],
    ["src/plan/mod.ts", `import type { A } from "../docker/a.ts";`, /may not import docker/],
    ["src/trigger/mod.ts", `await import("../deploy/mod.ts");`, /may not import deploy/],
    ["src/pipeline.ts", `import "./trigger/mod.ts";`, /pipeline may not import trigger/],
    ["src/intake.ts", `import "./pipeline.ts";`, /intake may not import pipeline/],
    ["src/app.ts", `import "./cli/mod.ts";`, /app may not import cli/],
    ["src/plan/mod.ts", `import { z } from "zod";`, /the package zod; it may import croner/],
    ["src/deploy/mod.ts", `import a from "npm:yaml@2";`, /the package yaml; it may import none/],
    ["src/deploy/mod.ts", `import "@a/b/c";`, /the package @a\/b;/],
    ["src/deploy/mod.ts", `import "node:fs";`, /only system\/.* may import node:fs; take a port/],
    ["src/docker/mod.ts", `import "node:net";`, /may import node:net/],
    ["src/cli/mod.ts", `Deno.exit(1);`, /may use Deno; take a port/],
    ["src/system/mod.ts", `import "node:sqlite";`, /only record may import node:sqlite/],
    ["src/api/mod.ts", `import "../../package.json";`, /api may not import package\.json/],
    ["src/plan/mod.ts", `import "../../test/fakes/a.ts";`, /plan may not import test\/fakes/],
    ["src/attic/mod.ts", "", /belongs to no room/],
    ["src/helpers.ts", "", /belongs to no room/],
  ];
  for (const [file, source, rule] of refused) {
    it(`refuses in ${file}: ${source.trim()}`, () => {
      const broken = rulesBroken(file, source);
      assert.equal(broken.length, 1, broken.join("\n"));
      assert.match(broken[0] ?? "", rule);
    });
  }

  it("asks every room for a mod.ts", () => {
    const broken = checkImports(new Map([["src/plan/decide.ts", ""], ["src/plan/due.ts", ""]]));
    assert.deepEqual(broken.map(({ file }) => file), ["src/plan/mod.ts"]);
  });

  it("names the rooms of a cycle once", () => {
    const broken = checkImports(
      new Map([
        ["src/model/mod.ts", `import "../config/mod.ts";`],
        ["src/config/mod.ts", `import "../settings/mod.ts";`],
        ["src/settings/mod.ts", `import "../model/mod.ts";`],
      ]),
    ).filter(({ rule }) => rule.includes("cycle"));
    assert.deepEqual(broken.map(({ file, rule }) => `${file}: ${rule}`), [
      "src/settings/mod.ts: closes a cycle of rooms: model -> config -> settings -> model",
    ]);
  });

  it("names the files of a cycle inside a room once, also where they import types alone", () => {
    const broken = checkImports(
      new Map([
        ["src/model/mod.ts", `export * from "./plan.ts";`],
        ["src/model/plan.ts", `import type { Run } from "./run.ts";`],
        ["src/model/run.ts", `import { plan } from "./plan.ts";`],
      ]),
    );
    assert.deepEqual(broken.map(({ file, line, rule }) => `${file}:${line} ${rule}`), [
      "src/model/run.ts:1 closes a cycle of files: " +
      "src/model/plan.ts -> src/model/run.ts -> src/model/plan.ts",
    ]);
  });

  it("has a table that itself allows no cycle", () => {
    const everyAllowedImport = Object.entries(ROOMS).map(([name, { rooms }]) =>
      [
        name === "main" ? "main.ts" : `src/${name}.ts`,
        rooms.map((to) => `import "./${name === "main" ? "src/" : ""}${to}.ts";`).join("\n"),
      ] as const
    );
    assert.deepEqual(checkImports(new Map(everyAllowedImport)), []);
  });
});

/** What checking one file reports, in a room that has its mod.ts. */
function rulesBroken(file: string, source: string): string[] {
  const module = file.replace(/[^/]+$/, "mod.ts");
  const sources = new Map(/^src\/\w+\//.test(file) ? [[module, ""]] : []).set(file, source);
  return checkImports(sources)
    .map(({ file, line, rule }) => `${file}:${line} ${rule}`)
    .filter((text, index, all) => all.indexOf(text) === index);
}
