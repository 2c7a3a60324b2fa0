import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { COMMANDS } from "../../../src/cli/commands.ts";

const SRC = fileURLToPath(new URL("../../../src", import.meta.url));

/** Packages from npm, and our own files, that load when a file of src/ does. */
function loaded(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, "utf8")
    .matchAll(/^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm);
  for (const [statement, specifier = ""] of imports) {
    const names = /\{([^}]*)\}/.exec(statement)?.[1]?.split(",").map((each) => each.trim());
    // Of an import of nothing but types nothing is left.
    if (names?.filter((each) => each !== "").every((each) => each.startsWith("type "))) continue;
    if (specifier.startsWith(".")) loaded(join(dirname(file), specifier), seen);
    else if (!specifier.startsWith("node:")) seen.add(specifier);
  }
  return seen;
}

const packages = (file: string) =>
  [...loaded(join(SRC, file))].filter((each) => !each.startsWith("/")).sort();

describe("the list of commands", () => {
  for (const { name, load } of COMMANDS) {
    it(`loads ${name}, whose help says how it is used`, async () => {
      assert.match((await load()).help, new RegExp(`^Usage: stackwright ${name}\\b`));
    });
  }

  for (const { name, load, options = [], ofStack = false } of COMMANDS) {
    it(`has the options of ${name} that its help shows, for completion`, async () => {
      const [usage = ""] = (await load()).help.split("\n\n");
      const shown = [...usage.matchAll(/--([a-z-]+)/g)].map(([, option]) => option);
      const own = shown.filter((option) => option !== "json").sort();
      assert.deepEqual([...options].sort(), own);
      assert.equal(ofStack, /[<[]stack[>\]]/.test(usage));
    });
  }

  it("needs no package, nor do the version and the health check", () => {
    assert.deepEqual(packages("cli/mod.ts"), []);
    assert.deepEqual(packages("cli/version_command.ts"), []);
    assert.deepEqual(packages("cli/completion_command.ts"), []);
    assert.ok(!packages("cli/healthcheck_command.ts").includes("zod"));
    assert.ok(packages("cli/serve_command.ts").includes("zod"), "this test sees what is loaded");
  });

  it("leaves to the first encrypted file what decrypts it", () => {
    assert.ok(!packages("cli/serve_command.ts").includes("age-encryption"));
  });
});
