import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

/** What engines say, one after the other: `same=a/new` is engine `a` of a machine called `new`, by context `same`. */
type Said = `${string}=${string}/${string}`;

/** Whether the engines of `default` and `same` are one, by what they said. */
function areOne(said: readonly (Said | readonly Said[])[]): boolean {
  const { owners } = createMemoryLedger(createFakeClock());
  for (const each of said) {
    const told = [each].flat().map((text) => {
      const [context = "", id = "", hostname = ""] = text.split(/[=/]/);
      return [context, { id, hostname, cluster: "" }] as const;
    });
    owners.noteEngines(new Map(told));
  }
  const [here, there] = ["default", "same"].map((context) =>
    owners.contextsBeside(stackKey(context, "web")).includes(
      context === "same" ? "default" : "same",
    )
  );
  assert.equal(here, there, "it is the same by either context");
  return here === true;
}

describe("engines by what they say that they are", () => {
  const rows: readonly [string, readonly (Said | readonly Said[])[], boolean][] = [
    ["id and name in common", ["default=a/m", "same=a/m"], true],
    ["another id", ["default=a/m", "same=b/m"], false],
    ["no id", ["default=/m", "same=/m"], false],
    ["no name of the one, as rows of an older Stackwright", ["default=a/", "same=a/m"], true],
    [
      "another name, which the other one did not get to tell",
      ["default=a/old", "same=a/new"],
      true,
    ],
    ["another name, which both said since", [
      ...["default=a/old", "same=a/new", "default=a/old"] as const,
    ], false],
    ["the same, told in turn by both", [
      ...["default=a/old", "same=a/new", "default=a/old", "same=a/new", "default=a/old"] as const,
    ], false],
    ["other names, told at one time", [["default=a/old", "same=a/new"]], false],
    ["other names, one of which is newer, told at one time", [
      ...["default=a/old", ["default=a/old", "same=a/new"]] as const,
    ], false],
    ["a name that both have, and one of them once more another", [
      ...["default=a/old", "same=a/old", "default=a/new"] as const,
    ], true],
    ["two machines, one of which was renamed", [
      ...[["default=a/one", "same=a/two"], "default=a/three"] as const,
    ], true],
    ["two machines, one of which was renamed, when both were asked again", [
      ...[["default=a/one", "same=a/two"], "default=a/three", "same=a/two"] as const,
    ], false],
  ];
  for (const [what, said, isOne] of rows) {
    it(`${what}: ${isOne ? "one" : "two"}`, () => assert.equal(areOne(said), isOne));
  }
});
