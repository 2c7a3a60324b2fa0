import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { parseDeployments } from "../../../src/config/mod.ts";
import { type Random, randomFrom } from "../../fakes/random.ts";

const SEEDS = [
  "name: web\ntimeout: 3m\nbuild:\n  args: {A: 1, B: 'x'}\n  no_cache: true\ngit_depth: 2\n",
  "x: &a {A: 1}\n---\nname: shop\nenvironment:\n  <<: *a\n  B: |\n    two\n    lines\n",
  '{"name": "j", "destroy": {"enabled": true}, "profiles": ["a", "b"], "retry": {"limit": 0}}\n',
  "name: a\nexternal_secrets:\n  K: {store_ref: s, remote_ref: {k: v}}\nreconciliation: false\n" +
  "oci:\n  keyless_identities:\n    - {issuer: i, subject: s}\n",
  "# c\n---\nname: a\nwebhook_filter: '^(main|v\\d+)$'\ncompose_files: [a.yaml, b/c.yaml]\n---\nname: b\n",
];
const PIECES = [..."\n\t :-[]{}&*!|>'\"%@`#?,~\\\0\ud800é"].concat([
  "<<: *a",
  "&a ",
  "*a ",
  "---\n",
  "...\n",
  "!!binary ",
  "!!int ",
  "%YAML 1.1\n---\n",
  "__proto__: 1\n",
  "name: a\n",
  "- ",
  "  ",
  "null",
  "1e999",
  "(".repeat(50),
  "[".repeat(80),
]);

function mutate(text: string, random: Random): string {
  const at = random(text.length + 1);
  const length = random(12);
  const piece = PIECES[random(PIECES.length)] ?? "";
  switch (random(5)) {
    case 0:
      return text.slice(0, at) + piece + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at) + text.slice(at, at + length).repeat(3) + text.slice(at + length);
    case 3:
      return text.slice(0, at) + (SEEDS[random(SEEDS.length)] ?? "").slice(random(60));
    default:
      return text.slice(0, at) + piece + text.slice(at + length);
  }
}

describe("parseDeployments on mutated documents", () => {
  it("parseDeployments() answers 2000 mutated texts with a value or short, placed problems", () => {
    const random = randomFrom(20261121);
    let refused = 0;
    for (let round = 0; round < 2000; round++) {
      let text = SEEDS[round % SEEDS.length] ?? "";
      for (let times = random(4); times >= 0; times--) text = mutate(text, random);
      try {
        parseDeployments(text, { file: "f.yaml", trusted: round % 2 === 0 });
      } catch (error) {
        refused++;
        const shown = JSON.stringify(text);
        assert.ok(isStackwrightError(error, "config_invalid"), `${error} for ${shown}`);
        assert.ok(error.message.length < 1000, shown);
        assert.ok(error.problems.length >= 1 && error.problems.length <= 100, shown);
        const lines = text.split("\n").length;
        for (const problem of error.problems) {
          assert.ok(problem.message.length <= 301 && (problem.path?.length ?? 0) <= 301, shown);
          assert.ok(problem.line !== undefined && problem.line >= 1, shown);
          assert.ok(problem.line <= lines && (problem.column ?? 0) >= 1, shown);
        }
      }
    }
    assert.ok(refused > 500 && refused < 2000, `${refused} refused`);
  });
});
