import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
/** What stands instead of a test where there is nothing to test. */
const NO_TEST = /^Not applicable/;

const text = await readFile(join(ROOT, "docs/design-traps.md"), "utf8");
const rows = text.split("\n").filter((line) => line.startsWith("|")).map(cells)
  .filter(([first = ""]) => first !== "Trap" && !/^-+$/.test(first));

describe("docs/design-traps.md", () => {
  it("has a table of four columns", () => {
    assert.ok(rows.length > 30, `only ${rows.length} rows`);
    for (const row of rows) assert.equal(row.length, 4, row.join(" | "));
  });

  for (const [trap = "", answer = "", file = "", name = ""] of rows) {
    it(`names a test that exists for: ${trap}`, async () => {
      if (NO_TEST.test(answer)) return assert.deepEqual([file, name], ["", ""]);
      assert.ok(existsSync(join(ROOT, file)), `${file} does not exist`);
      const source = await readFile(join(ROOT, file), "utf8");
      assert.ok(source.includes(`"${name}"`), `${file} has no test "${name}"`);
    });
  }

  it("names every test of the files that exist for it", async () => {
    const named = new Set(rows.map(([, , file, name]) => `${file}: ${name}`));
    for (const file of ["design_traps_test.ts", "design_traps_time_test.ts"]) {
      const path = `test/flow/${file}`;
      const source = await readFile(join(ROOT, path), "utf8");
      const tests = [...source.matchAll(/\bit\("([^"]+)"/g)].map((match) => match[1] ?? "");
      assert.ok(tests.length > 5, path);
      for (const test of tests) assert.ok(named.has(`${path}: ${test}`), `${path}: ${test}`);
    }
  });
});

/** The cells of a row of a table. */
function cells(line: string): string[] {
  return line.split("|").slice(1, -1).map((cell) => cell.trim());
}
