import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scanImports } from "../../../scripts/lib/import_scanner.ts";

describe("scanImports()", () => {
  const finds: readonly (readonly [title: string, source: string, expected: string[]])[] = [
    ["a default and a named import", `import a, { b as c } from "x";`, ["x:1"]],
    ["an import over several lines", `import {\n  a,\n  b,\n} from './x.ts';`, ["./x.ts:4"]],
    ["a namespace import", `import * as a from "x";`, ["x:1"]],
    ["a type import", `import type { A } from "x";`, ["x:1"]],
    ["an import for its effect", `import "x";`, ["x:1"]],
    ["a JSON import", `import p from "../p.json" with { type: "json" };`, ["../p.json:1"]],
    ["a dynamic import", `const a = await import("x");`, ["x:1"]],
    ["an import in a type", `let a: typeof import("x");`, ["x:1"]],
    ["export star", `export * from "x";`, ["x:1"]],
    ["export star as", `export * as a from "x";`, ["x:1"]],
    ["named exports", `export { a, type B } from "x";\nexport type { C } from "y";`, [
      "x:1",
      "y:2",
    ]],
    ["two statements without semicolons", `import a from "x"\nimport b from "y"`, ["x:1", "y:2"]],
    ["an import behind a regular expression", `const r = /["']/;\nimport "x";`, ["x:2"]],
    ["an import behind a division", `const r = 1 / 2; const s = "/";\nimport "x";`, ["x:2"]],
    ["an import behind a nested template", "const t = `a${`b${{}}`}'`;\nimport 'x';", ["x:2"]],
    ["an import inside a template's expression", "const t = `${await import('x')}`;", ["x:1"]],
  ];
  for (const [title, source, expected] of finds) {
    it(`finds ${title}`, () => {
      const found = scanImports(source).imports.map(({ text, line }) => `${text}:${line}`);
      assert.deepEqual(found, expected);
    });
  }

  const ignores: readonly (readonly [title: string, source: string])[] = [
    ["a line comment", `// import "x";`],
    ["a block comment", `/* import a from "x";\n */`],
    ["a string", `const s = 'import "x"';`],
    ["a string with an escaped quote", `const s = "\\" import 'x'";`],
    ["a template", "const s = `import 'x'`;"],
    ["a regular expression", `const r = /import "x"/;`],
    ["import.meta", `const u = import.meta.url; const from = "x";`],
    ["a member called import", `a.import("x");`],
    ["an export without from", `export { a };\nconst from = "x";`],
    ["an exported value", `export const from = "x";`],
  ];
  for (const [title, source] of ignores) {
    it(`finds nothing in ${title}`, () => assert.deepEqual(scanImports(source).imports, []));
  }

  it("finds the runtimes' globals, not members or text of that name", () => {
    const source = `Deno.exit();\nglobalThis.Bun;\na.Deno;\n"Deno";\n// Bun\ntypeof Bun;`;
    const found = scanImports(source).globals.map(({ text, line }) => `${text}:${line}`);
    assert.deepEqual(found, ["Deno:1", "Bun:2", "Bun:6"]);
  });
});
