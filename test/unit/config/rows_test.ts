import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { parseDeployments } from "../../../src/config/mod.ts";
import { deploymentSchema } from "../../../src/config/deployment_schema.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { ignoredFields, requireSupported } from "../../../src/plan/mod.ts";
import { ELSEWHERE } from "../../flow/configuration_rows/elsewhere.ts";
import { ROWS } from "../../flow/configuration_rows/rows.ts";
import { IGNORED, UNSUPPORTED } from "../../flow/configuration_rows/rows_refused.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Every key a schema knows, by its dotted path; lists and maps of free names add nothing to it. */
function keysOf(schema: unknown, path: readonly string[] = []): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return keysOf(schema.unwrap(), path);
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => keysOf(each, path));
  if (schema instanceof z.ZodArray) return keysOf(schema.element, path);
  if (schema instanceof z.ZodRecord) return keysOf(schema.valueType, path);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const key = [...path, name];
    return [key.join("."), ...keysOf(field, key)];
  });
}

const keys = keysOf(deploymentSchema);
const covered = new Set([...ROWS, ...ELSEWHERE].flatMap((each) => each.covers));

/** Sections whose every row and rule the tables are about. */
const SECTIONS = [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `interface.md §2.${number}`),
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((number) => `deploy.md §1.${number}`),
  ...[1, 2, 3, 4, 5].map((number) => `deploy.md §2.${number}`),
];

/** Whether a rule is of a section; `§2.10` is not in `§2.1`. */
function isIn(rule: string, section: string): boolean {
  return rule === section || rule.startsWith(`${section} `);
}

describe("the rows of the deployment configuration", () => {
  it("keysOf() finds nested keys in unions, lists and maps", () => {
    for (const key of ["auto_discovery.depth", "oci.keyless_identities.issuer", "build.args"]) {
      assert.ok(keys.includes(key), key);
    }
    assert.ok(keys.includes("external_secrets.store_ref"));
    assert.equal(new Set(keys).size, keys.length);
  });

  for (const key of keys) {
    it(`${key} has a row, or a test elsewhere, that fails when it is ignored`, () => {
      assert.ok(covered.has(key), `add a row that covers ${key} to test/flow/configuration_rows`);
    });
  }

  for (const section of SECTIONS) {
    it(`${section} has rows`, () => {
      const of = [...ROWS, ...ELSEWHERE].filter(({ rule }) =>
        rule.split("; ").some((each) => isIn(each, section))
      );
      assert.ok(of.length > 0, `add a row with the rule ${section}`);
    });
  }

  it("no row covers a key that is not there", () => {
    assert.deepEqual([...covered].filter((key) => !keys.includes(key)), []);
  });

  it("every row has steps and a title of its own", () => {
    const titles = ROWS.map((row) => `${row.rule}: ${row.title}`);
    assert.equal(new Set(titles).size, titles.length);
    for (const row of ROWS) assert.ok(row.steps.length > 0, row.title);
  });

  for (const { file, title } of ELSEWHERE) {
    it(`${file} has the test "${title}"`, async () => {
      assert.ok((await readFile(join(ROOT, file), "utf8")).includes(title));
    });
  }

  for (const [key, written] of Object.entries(IGNORED)) {
    it(`ignoredFields() says what is not done for ${key}, and it is deployed`, () => {
      const [found] = parseDeployments(`name: shop\n${written}\n`, { file: "f", trusted: true });
      assert.ok(found);
      assert.match(
        ignoredFields(found.deployment, found.given).join(),
        /not act on reconciliation|no signature/,
      );
      requireSupported(found.deployment);
      assert.ok(keys.includes(key), key);
    });
  }

  for (const [key, written] of Object.entries(UNSUPPORTED)) {
    it(`requireSupported() refuses ${key} by the name of its field`, () => {
      const [found] = parseDeployments(`name: shop\n${written}\n`, { file: "f", trusted: true });
      assert.ok(found);
      assert.throws(
        () => requireSupported(found.deployment),
        (error) => isStackwrightError(error, "unsupported"),
      );
      assert.ok(keys.includes(key), key);
    });
  }
});
