import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  chosenStages,
  chosenSteps,
  type Stage,
  testSteps,
} from "../../../scripts/lib/test_stages.ts";

const FILES = [
  "test/contract/compose_on_engines_test.ts",
  "test/contract/http_test.ts",
  "test/flow/drift_test.ts",
  "test/flow/projects_test.ts",
  "test/unit/a_test.ts",
  "test/unit/hostile_engine_test.ts",
  "test/unit/saturated_a_test.ts",
];

function names(stages: readonly Stage[]): string[] {
  return stages.map(({ name }) => name);
}

describe("the stages of ./scripts/test", () => {
  let root: string;
  let stages: readonly Stage[];
  before(() => {
    root = mkdtempSync(join(tmpdir(), "stackwright-stages-"));
    for (const file of FILES) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      const text = /hostile|saturated/.test(file) ? 'import "../processor_time.ts";' : "";
      writeFileSync(join(root, file), text);
    }
    stages = testSteps(root).flat();
  });
  after(() => rmSync(root, { recursive: true }));

  it("run each test once without a name", () => {
    const chosen = chosenStages(stages, []);
    assert.ok(names(chosen).includes("end to end"));
    assert.ok(names(chosen).every((name) => !name.includes("newer compose")));
  });

  it("are all of them with `all`", () => {
    assert.deepEqual(names(chosenStages(stages, ["all"])), names(stages));
    assert.ok(names(stages).some((name) => name.includes("newer compose")));
  });

  it("are each file of flows and end-to-end tests in exactly one stage", () => {
    const root = join(import.meta.dirname ?? "", "../../..");
    const own = testSteps(root).flat().filter(({ env }) => env?.["COMPOSE_PLUGINS"] === undefined);
    for (const group of ["flow", "e2e"]) {
      const named = own.filter((stage) => stage.group === group && !/swarm/.test(stage.name))
        .flatMap(({ argv }) => argv.filter((word) => word.endsWith("_test.ts")));
      const files = readdirSync(join(root, "test", group), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith("_test.ts")).map((file) => `test/${group}/${file}`);
      assert.deepEqual(named.sort(), files.sort());
    }
  });

  it("are samples without `all`, and whole with it", () => {
    const engines = (all: readonly string[]) =>
      chosenStages(stages, all).filter(({ name }) => name.startsWith("flow, part 1 "))
        .map(({ env }) => env?.["FLOW_ENGINES"]);
    assert.deepEqual(engines([]), ["fake"]);
    assert.deepEqual(engines(["all"]), ["real", "real", undefined]);
  });

  it("load tests that may share an isolate once without `all`, each of them", () => {
    const whole = chosenStages(stages, ["all"]).filter(({ shares }) => shares !== undefined);
    const sample = chosenStages(stages, []).filter(({ shares }) => shares !== undefined);
    const files = ({ argv, together = [] }: Stage) =>
      [...argv, ...together].filter((word) => word.endsWith("_test.ts")).sort();
    assert.ok(whole.every(({ together }) => together === undefined));
    assert.deepEqual(new Set(whole.map(({ group }) => group)), new Set(["unit", "flow"]));
    assert.deepEqual(sample.map(files), whole.map(files));
    assert.deepEqual(
      sample.flatMap(({ argv }) => argv.filter((word) => word.endsWith("_test.ts"))),
      [
        "test/unit/hostile_engine_test.ts",
        "test/unit/saturated_a_test.ts",
      ],
    );
  });

  it("are all unit tests on Deno, and on Bun without `all` those that do more than calculate", () => {
    const onBun = (all: readonly string[]) =>
      chosenStages(stages, ["unit", ...all]).filter(({ runner }) => runner === "bun")
        .map(({ argv }) => argv.filter((word) => word.endsWith("_test.ts")));
    const [more, calculating] = [
      ["./test/unit/a_test.ts", "./test/unit/hostile_engine_test.ts"],
      ["./test/unit/saturated_a_test.ts"],
    ];
    assert.deepEqual(onBun([]), [more]);
    assert.deepEqual(onBun(["all"]), [more, calculating]);
    const deno = chosenStages(stages, ["unit"]).find(({ runner }) => runner === "deno");
    for (const file of [...more, ...calculating]) {
      assert.ok([...deno?.argv ?? [], ...deno?.together ?? []].includes(file.slice(2)), file);
    }
  });

  it("are, with `all`, 10,000 steps of walks on the fake engine and 500 on the real one", () => {
    const steps = (engine: string) =>
      chosenStages(stages, ["all"]).filter(({ env }) => env?.["WALK_ENGINE"] === engine)
        .reduce((sum, { env }) => sum + Number(env?.["WALK_STEPS"]), 0);
    assert.ok(steps("fake") >= 10_000);
    assert.ok(steps("real") >= 500);
    assert.ok(chosenStages(stages, []).every(({ env }) => env?.["WALK_ENGINE"] === undefined));
  });

  it("follow each other in steps; without `all` nothing waits for the last end-to-end test", () => {
    const steps = testSteps(root);
    assert.deepEqual(chosenSteps(steps, ["all"]).map(names), steps.map(names));
    const sample = chosenSteps(steps, []);
    assert.deepEqual(sample.flatMap(names), names(chosenStages(steps.flat(), [])));
    const last = sample.at(-1) ?? [];
    assert.equal(last[0]?.name, "end to end");
    const flows = last.filter(({ group }) => group === "flow");
    assert.ok(flows.length > 0 && flows.every(({ argv }) => argv[0] === "nice"));
  });

  it("are those of the groups that are named, and with `all` their repetitions, too", () => {
    const once = chosenStages(stages, ["unit", "contract"]);
    assert.deepEqual(new Set(once.map(({ group }) => group)), new Set(["unit", "contract"]));
    const twice = chosenStages(stages, ["all", "contract"]);
    assert.ok(names(twice).includes("contracts of compose, newer compose"));
    assert.ok(twice.every(({ group }) => group === "contract"));
  });

  it("try other engines with `all`, and say what was not tried where they are not here", () => {
    const here = join(root, ".tools/engines/28.5");
    mkdirSync(here, { recursive: true });
    const found = testSteps(root).flat().filter(({ name }) => / on engine /.test(name));
    assert.deepEqual(chosenStages(found, []), []);
    const [newer, older] = chosenStages(found, ["all"]);
    assert.match(newer?.name ?? "", /engine 28\.5$/);
    assert.equal(newer?.skip, undefined);
    assert.match(older?.skip ?? "", /NOT TRIED: engine 20\.10; .*--engines/);
  });
});
