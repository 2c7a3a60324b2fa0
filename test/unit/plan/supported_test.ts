import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDeployments } from "../../../src/config/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { requireSupported, swarmOf } from "../../../src/plan/mod.ts";

function deployment(lines: string) {
  const [found] = parseDeployments(`name: shop\n${lines}`, { file: "f.yml", trusted: true });
  assert.ok(found);
  return found.deployment;
}

const check = (lines: string) => requireSupported(deployment(lines));

describe("requireSupported()", () => {
  it("refuses source: oci, by name, when it is written", () => {
    assert.throws(() => check("source: oci"), (error) => {
      assert.ok(isStackwrightError(error, "unsupported"), String(error));
      assert.match(error.message, /^deployment shop: .*source: oci.*Nothing was changed$/);
      return true;
    });
  });

  const accepted: readonly (readonly [what: string, lines: string])[] = [
    ["a configuration that only has a name", ""],
    ["a swarm", "swarm: {enabled: true}"],
    ["reconciliation turned off", "reconciliation: {enabled: false}"],
    ["reconciliation", "reconciliation: {enabled: true}"],
    ["signatures of artifacts, which a repository has none of", "oci: {verify: true}"],
    ["auto-discovery turned off", "auto_discovery: {enabled: false}"],
    ["another context", "context: nas"],
    ["another repository", "repository_url: https://h.example/o/r\nenv_files: ['remote:a.env']"],
    ["its own env files", "env_files: [.env, a.env]"],
    ["everything else", "profiles: [a]\nforce_recreate: true\ndestroy: true\ntimeout: 3m"],
  ];
  for (const [what, lines] of accepted) {
    it(`accepts ${what}`, () => check(lines));
  }
});

describe("swarmOf()", () => {
  const cases: readonly (readonly [lines: string, engine: string, is: unknown])[] = [
    ["", "inactive", undefined],
    ["", "worker", undefined],
    ["", "manager", {}],
    ["swarm: {enabled: false}", "manager", undefined],
    ["swarm: {enabled: true}", "manager", {}],
    ["swarm: {config_retention: 3, secret_retention: -1}", "manager", {
      configRetention: 3,
      secretRetention: -1,
    }],
  ];
  for (const [lines, swarm, is] of cases) {
    it(`tells what ${lines || "a deployment that says nothing"} is on an engine that is ${swarm}`, () =>
      assert.deepEqual(swarmOf(deployment(lines), { swarm }), is));
  }

  for (const swarm of ["inactive", "worker", "other"]) {
    it(`refuses swarm.enabled: true on an engine that is ${swarm}`, () => {
      assert.throws(
        () => swarmOf(deployment("swarm: {enabled: true}"), { swarm }),
        (error) =>
          isStackwrightError(error, "config_invalid") &&
          /swarm\.enabled is true, but the engine manages no swarm/.test(error.message),
      );
    });
  }
});
