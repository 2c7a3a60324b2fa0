import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";

const ROOT = join(import.meta.dirname ?? "", "../../..");

/** What a piece of shell prints that may use the functions of scripts/engine. */
function withFunctions(piece: string): string {
  const functions = readFileSync(join(ROOT, "scripts/engine"), "utf8").replace(/^main "\$@"$/m, "");
  const env = { ...process.env, STACKWRIGHT_ROOT: ROOT };
  return execFileSync("sh", ["-c", `${functions}\n${piece}`, join(ROOT, "scripts/engine")], {
    encoding: "utf8",
    env,
  });
}

describe("scripts/engine", () => {
  it("takes a child for alive before it has become the engine", () => {
    assert.equal(withFunctions('sleep 60 & is_alive "$!" && echo alive; kill "$!"'), "alive\n");
  });

  it("takes a process that ended for gone", () => {
    const piece = `true & ended=$!; wait "$ended"; is_alive "$ended" || echo gone`;
    assert.equal(withFunctions(piece), "gone\n");
  });
});
