import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDeployments } from "../../../src/config/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { requireSupported } from "../../../src/plan/mod.ts";

function check(lines: string, swarm = "inactive"): void {
  const [found] = parseDeployments(`name: shop\n${lines}`, { file: "f.yml", trusted: true });
  assert.ok(found);
  requireSupported(found.deployment, { swarm });
}

describe("requireSupported()", () => {
  const refused: readonly (readonly [field: string, lines: string, swarm?: string])[] = [
    ["swarm.enabled", "swarm: {enabled: true}"],
    ["swarm mode", "", "manager"],
  ];
  for (const [field, lines, swarm] of refused) {
    it(`refuses ${field}, by name, when it is written`, () => {
      assert.throws(() => check(lines, swarm), (error) => {
        assert.ok(isStackwrightError(error, "unsupported"), String(error));
        assert.ok(error.message.includes(field), error.message);
        assert.match(error.message, /^deployment shop: .*Nothing was changed$/);
        return true;
      });
    });
  }

  it("names every such field at once", () => {
    assert.throws(
      () => check("swarm: {enabled: true}\nsource: oci"),
      /source: oci, swarm\.enabled/,
    );
  });

  it("refuses a context that is not there, by name, and says what is there", () => {
    assert.throws(() => check("context: nas"), (error) => {
      assert.ok(isStackwrightError(error, "config_invalid"), String(error));
      assert.match(error.message, /^deployment shop: unknown context "nas"; .*default context/);
      return true;
    });
  });

  const accepted: readonly (readonly [what: string, lines: string, swarm?: string])[] = [
    ["a configuration that only has a name", ""],
    ["swarm mode turned off on a manager", "swarm: {enabled: false}", "manager"],
    ["a worker", "", "worker"],
    ["reconciliation turned off", "reconciliation: {enabled: false}"],
    ["reconciliation", "reconciliation: {enabled: true}"],
    ["signatures of artifacts, which a repository has none of", "oci: {verify: true}"],
    ["auto-discovery turned off", "auto_discovery: {enabled: false}"],
    ["the default context by its name", "context: default"],
    ["another repository", "repository_url: https://h.example/o/r\nenv_files: ['remote:a.env']"],
    ["its own env files", "env_files: [.env, a.env]"],
    ["everything else", "profiles: [a]\nforce_recreate: true\ndestroy: true\ntimeout: 3m"],
  ];
  for (const [what, lines, swarm] of accepted) {
    it(`accepts ${what}`, () => check(lines, swarm));
  }
});
