import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CORNERS } from "../../../scripts/lib/flow_parts.ts";
import {
  chosenStages,
  chosenSteps,
  GROUPS,
  type Stage,
  testSteps,
} from "../../../scripts/lib/test_stages.ts";

const FILES = [
  "test/contract/compose_on_engines_test.ts",
  "test/contract/http_test.ts",
  "test/flow/drift_test.ts",
  "test/flow/first_deployment_test.ts",
  "test/flow/projects_test.ts",
  "test/unit/a_test.ts",
  "test/unit/hostile_engine_test.ts",
  "test/unit/saturated_a_test.ts",
  "test/unit/system/a_test.ts",
];

function names(stages: readonly Stage[]): string[] {
  return stages.map(({ name }) => name);
}

const isTest = (word: string) => word.endsWith("_test.ts");
const testFiles = ({ argv, together = [] }: Stage) => [...argv, ...together].filter(isTest).sort();

describe("the stages of ./scripts/test", () => {
  let root: string;
  let stages: readonly Stage[];
  before(() => {
    root = mkdtempSync(join(tmpdir(), "stackwright-stages-"));
    for (const file of FILES) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      const measures = /hostile|saturated/.test(file) ? 'import "../processor_time.ts";' : "";
      const asks = /saturated/.test(file) ? 'import "node:process";' : 'import "node:net";';
      writeFileSync(join(root, file), measures + asks);
    }
    stages = testSteps(root).flat();
  });
  after(() => rmSync(root, { recursive: true }));

  it("run each test once without a name", () => {
    const chosen = chosenStages(stages, []);
    assert.ok(names(chosen).includes("end to end"));
    assert.ok(names(chosen).every((name) => !name.includes("newer compose")));
  });

  it("are all of them with `all`, and more of a sweep where its group is named, too", () => {
    const usual = stages.filter(({ isExtra }) => isExtra !== true);
    assert.deepEqual(names(chosenStages(stages, ["all"])), names(usual));
    assert.ok(names(usual).some((name) => name.includes("newer compose")));
    const named = chosenStages(stages, ["all", ...GROUPS]);
    assert.deepEqual(names(named), names(stages));
    // Whatever is extra is also tried, with less, without being named.
    const groups = new Set(stages.filter(({ isExtra }) => isExtra).map(({ group }) => group));
    for (const each of groups) assert.ok(usual.some(({ group }) => group === each), each);
  });

  it("are each file of flows and end-to-end tests in exactly one stage", () => {
    const root = join(import.meta.dirname ?? "", "../../..");
    const own = testSteps(root).flat().filter(({ env }) => env?.["COMPOSE_PLUGINS"] === undefined);
    for (const group of ["flow", "e2e"]) {
      const named = own.filter((stage) => stage.group === group && !/swarm/.test(stage.name))
        .flatMap(testFiles);
      const files = readdirSync(join(root, "test", group), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith("_test.ts")).map((file) => `test/${group}/${file}`);
      assert.deepEqual(named.sort(), files.sort());
    }
  });

  it("leave flows about corners to `all`, and none that docs/security.md names", () => {
    const root = join(import.meta.dirname ?? "", "../../..");
    const flowsOf = (names: readonly string[]) =>
      chosenStages(testSteps(root).flat(), names).filter(({ group }) => group === "flow")
        .filter(({ env }) => env?.["COMPOSE_PLUGINS"] === undefined).flatMap(testFiles);
    const corners = [...CORNERS].map((name) => `test/flow/${name}_test.ts`);
    const [short, whole] = [flowsOf([]), flowsOf(["all"])];
    assert.deepEqual(corners.filter((file) => !whole.includes(file)), [], "there are none");
    assert.deepEqual(whole.filter((file) => !corners.includes(file)).sort(), short.sort());
    const promised = readFileSync(join(root, "docs/security.md"), "utf8");
    assert.deepEqual(corners.filter((file) => promised.includes(file)), []);
  });

  it("are samples without `all`, and whole with it", () => {
    const engines = (all: readonly string[]) =>
      chosenStages(stages, all).filter(({ name }) => name.startsWith("flow, part 1 "))
        .map(({ env }) => env?.["FLOW_ENGINES"]);
    assert.deepEqual(engines([]), ["fake"]);
    assert.deepEqual(engines(["all"]), ["real", "real", undefined]);
  });

  it("load what flows import once for those of a part, with `all` and with another compose, too", () => {
    const flow = chosenStages(stages, ["all"]).filter(({ group }) => group === "flow");
    assert.ok(flow.some(({ name }) => name.includes("newer compose")));
    for (const each of flow) assert.deepEqual(each.argv.filter(isTest), [], each.name);
    assert.ok(flow.every(({ together = [] }) => together.length > 0));
  });

  it("have files in memory where no real engine or disk is what they are about", () => {
    const places = (group: string) =>
      new Set(
        stages.filter((stage) => stage.group === group && stage.env?.["WALK_ENGINE"] !== "real")
          .map(({ inMemory = false, env }) => `${inMemory} ${env?.["FLOW_ENGINES"] ?? ""}`),
      );
    for (const group of ["contract", "e2e"]) assert.ok(!places(group).has("true "), group);
    // Flows with another compose have them on the disk.
    assert.deepEqual(places("flow"), new Set(["false real", "true "]));
    assert.deepEqual(places("walk"), new Set(["true "]));
  });

  it("load unit tests once, each of them, and alone what measures how long something takes", () => {
    for (const all of [[], ["all"]]) {
      const deno = chosenStages(stages, ["unit", ...all]).find(({ runner }) => runner === "deno");
      assert.ok(deno);
      assert.deepEqual(testFiles(deno), FILES.filter((file) => file.startsWith("test/unit/")));
      assert.deepEqual(deno.argv.filter(isTest), [
        "test/unit/hostile_engine_test.ts",
        "test/unit/saturated_a_test.ts",
      ]);
    }
  });

  it("have whole sweeps on one runtime: Bun has fewer texts with `all`, too", () => {
    const times = (runner: string) =>
      chosenStages(stages, ["all", "unit"]).filter((stage) => stage.runner === runner)
        .map(({ env }) => env?.["FUZZ_TIMES"]);
    assert.deepEqual(times("bun"), ["1", "1", "1"]);
    assert.equal(times("deno")[0], undefined);
  });

  it("are all unit tests on Deno, and on Bun those of rooms that ask the outside, and with `all` more", () => {
    const onBun = (all: readonly string[]) =>
      chosenStages(stages, ["unit", ...all]).filter(({ runner }) => runner === "bun")
        .map(({ argv }) => argv.filter((word) => word.endsWith("_test.ts")));
    const [own, letting, calculating] = [
      ["./test/unit/system/a_test.ts"],
      ["./test/unit/a_test.ts", "./test/unit/hostile_engine_test.ts"],
      ["./test/unit/saturated_a_test.ts"],
    ];
    assert.deepEqual(onBun([]), [own]);
    assert.deepEqual(onBun(["all"]), [own, letting, calculating]);
    const deno = chosenStages(stages, ["unit"]).find(({ runner }) => runner === "deno");
    for (const file of [...own, ...letting, ...calculating]) {
      assert.ok([...deno?.argv ?? [], ...deno?.together ?? []].includes(file.slice(2)), file);
    }
  });

  it("are, with `all`, 900 steps of walks on the fake engine and 60 on the real one, and more where asked", () => {
    const steps = (engine: string, ...names: string[]) =>
      chosenStages(stages, names).filter(({ env }) => env?.["WALK_ENGINE"] === engine)
        .reduce((sum, { env }) => sum + Number(env?.["WALK_STEPS"]), 0);
    assert.ok(steps("fake", "all") >= 900);
    assert.ok(steps("real", "all") >= 60);
    assert.ok(steps("fake", "all", "walk") >= 10_000);
    assert.ok(steps("real", "all", "walk") >= 500);
    assert.ok(chosenStages(stages, []).every(({ env }) => env?.["WALK_ENGINE"] === undefined));
  });

  it("follow each other in steps; without `all` nothing waits for the last end-to-end test", () => {
    const steps = testSteps(root);
    assert.deepEqual(
      chosenSteps(steps, ["all", ...GROUPS]).map(names),
      steps.map(names),
    );
    const sample = chosenSteps(steps, []);
    assert.deepEqual(sample.flatMap(names), names(chosenStages(steps.flat(), [])));
    const last = sample.at(-1) ?? [];
    assert.deepEqual(names(last.slice(0, 2)), ["updates start-first under load", "end to end"]);
    const flows = last.filter(({ group }) => group === "flow");
    assert.ok(flows.length > 0 && flows.every(({ argv }) => argv[0] === "nice"));
  });

  it("have every flow about compose with the newest one here, and with one in between those that do all", () => {
    const withNewer = () =>
      chosenStages(testSteps(root).flat(), ["all", "flow", "e2e"])
        .filter(({ name }) => name.endsWith(", newer compose")).flatMap(testFiles);
    const [first, drift] = ["test/flow/first_deployment_test.ts", "test/flow/drift_test.ts"];
    assert.deepEqual(withNewer(), [drift, first, "test/e2e/crash_test.ts"]);
    const place = join(root, ".tools/newest");
    mkdirSync(place, { recursive: true });
    for (const name of ["docker-compose", "docker-buildx", "dockerd", "docker-proxy"]) {
      writeFileSync(join(place, name), "");
    }
    assert.deepEqual(withNewer(), [first]);
    rmSync(place, { recursive: true });
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
