/**
 * What ./scripts/test runs: the stages as data. Those of one step run side by side, some at a time and
 * the longest first. On the engine that they share each has names of its own.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { isOfCorner, partsOf } from "./flow_parts.ts";

/** Groups of stages: names a person can give to ./scripts/test. */
export const GROUPS = ["ok", "unit", "contract", "flow", "walk", "e2e"] as const;
export type Group = (typeof GROUPS)[number];

/** The name that adds the stages which are long or only repeat others, as the gate wants them. */
export const ALL = "all";

/** One thing to run. */
export interface Stage {
  readonly group: Group;
  /** Shown to people; unique. */
  readonly name: string;
  /** How its tests are counted; `plain` is a command that only succeeds or fails. */
  readonly runner: "plain" | "deno" | "bun";
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Added to `env` without `all`: what makes it a sample, so that everything takes ten minutes. */
  readonly sample?: Readonly<Record<string, string>>;
  /** Whether also `all` wants it only when its group is named beside it: it repeats what others do. */
  readonly isExtra?: boolean;
  /** Files beside those in `argv` that share an isolate: what they import is compiled once. */
  readonly together?: readonly string[];
  /** Said instead of running it. */
  readonly skip?: string;
  /** Whether only `all` wants it: it takes long, or runs tests of other stages again. */
  readonly repeats?: boolean;
  /** Whether it is good although it skipped all of its tests. */
  readonly maySkip?: boolean;
  /** Whether its temporary files lie in memory where there is room: a disk is asked by contracts and end to end. */
  readonly inMemory?: boolean;
  /**
   * Whether it is one of many samples, or says with another compose what others said: not begun on a machine
   * too slow for all of them, which is said.
   */
  readonly isSweep?: boolean;
}

/**
 * The stages that names ask for: those of the groups named, or of all groups when none is; with
 * {@link ALL} among the names also those that only it wants, and nothing is only a sample. What is
 * extra is chosen where its group is named, too.
 */
export function chosenStages(stages: readonly Stage[], names: readonly string[]): Stage[] {
  const groups = names.filter((name) => name !== ALL);
  const chosen = stages.filter(({ group, isExtra }) =>
    groups.includes(group) || (groups.length === 0 && isExtra !== true)
  );
  if (names.includes(ALL)) return chosen;
  return chosen.filter(({ repeats }) => repeats !== true)
    .map((stage) => ({ ...stage, env: { ...stage.env, ...stage.sample } }));
}

/**
 * The stages that names ask for, step by step. A sample needs the engine little: its last step begins
 * when the one before leaves lanes, and gives way to it.
 */
export function chosenSteps(
  steps: readonly (readonly Stage[])[],
  names: readonly string[],
): Stage[][] {
  const chosen = steps.map((step) => chosenStages(step, names));
  if (names.includes(ALL)) return chosen;
  const last = chosen.pop() ?? [];
  const beside = chosen.pop() ?? [];
  return [...chosen, [...beside, ...last.map(inTheBackground)]];
}

/** All stages for the checkout at `root`, step by step. */
export function testSteps(root: string): readonly (readonly Stage[])[] {
  return [
    [
      plain("ok", "format, lint, imports, sizes, documents", ["deno", "task", "quick"]),
      plain("ok", "types", ["deno", "task", "check"]),
    ],
    [plain("e2e", "build the executable", ["./scripts/build"])],
    // End to end and the swarm wait for containers most of the time, and what needs no engine only works:
    // that takes what the others leave.
    [
      // Fifteen updates wait for health for as long as everything else here takes.
      {
        ...denoTests("e2e", "updates start-first under load", [UNDER_LOAD]),
        sample: { START_FIRST_UPDATES: "3" },
      },
      {
        ...endToEnd(endToEndTests(root)),
        sample: {
          CRASH: "update",
          ATTACKS: "sample",
          SECOND_ENGINE: "skip",
          SWEEP: "sample",
          TOOL_SERVERS: "one",
          MALFORMED_MESSAGES: "400",
        },
      },
      swarm(root),
      ...unitTests(root).map(inTheBackground),
      {
        ...swarm(root, ["test/swarm/nodes_test.ts"]),
        name: "a real swarm of three nodes",
        env: { SWARM_TESTS: "1", SWARM_NODES: "3" },
        repeats: true,
      },
      ...contractsWithoutEngine(root).map(inTheBackground),
    ],
    // What waits for an engine or a client, the longest first, and then walks for as long as there is time.
    [
      walk("real", 60, 5001),
      ...contracts(),
      // Not beside updates under load, which an engine that waits for its disk would hold up.
      {
        ...denoTests("e2e", "the image and the systemd unit", WITH_DEBIAN),
        repeats: true,
        maySkip: true,
      },
      { ...walk("real", 440, 6001), isExtra: true },
      ...OTHER_ENGINES.map((version) => onEngine(root, version)),
      withContainerdImages(root),
      ...withOtherCompose(root),
      // What a flow says of both engines, the fake one shows in half the time; it has a contract suite.
      ...[...flowTests(flows(root, false)), ...cornerFlows(root)].map((stage) => ({
        ...stage,
        env: { WALK_STEPS: "60" },
        sample: { FLOW_ENGINES: "fake", SWEEP: "sample" },
        inMemory: true,
      })),
      ...walks(2001, 3),
      ...walks(2004, 31).map((stage) => ({ ...stage, isExtra: true })),
    ],
  ];
}

/** All contracts, and more of one of them. */
function contracts(): Stage[] {
  return [
    {
      ...denoTests("contract", "contracts", ["test/contract"], ["--parallel"]),
      sample: { MALFORMED_MESSAGES: "150", SWEEP: "sample" },
    },
    {
      ...denoTests("contract", "500 services as compose makes them", [
        "test/contract/containers_as_compose_test.ts",
      ]),
      env: { DIFFERENTIAL_SERVICES: "500" },
      repeats: true,
    },
  ];
}

/** Contracts that the runtimes could differ in once more on Bun, and more of two that ask no engine. */
function contractsWithoutEngine(root: string): Stage[] {
  return [
    // Its servers mostly wait for slow clients.
    {
      group: "contract",
      name: "contracts of HTTP on Bun",
      runner: "bun",
      argv: ["bun", "test", "--timeout", "60000", ...httpContracts(root, OF_SOCKETS)],
    },
    {
      group: "contract",
      name: "contracts of answers over HTTP on Bun",
      runner: "bun",
      argv: ["bun", "test", "--timeout", "60000", ...httpContracts(root, OF_ANSWERS)],
      repeats: true,
    },
    { ...guardCases(), repeats: true },
    {
      ...denoTests("contract", "5,000 malformed messages to the tool server", [
        "test/contract/mcp_test.ts",
      ]),
      env: { MALFORMED_MESSAGES: "5000" },
      repeats: true,
    },
  ];
}

/** What compose reads of repositories, beside what the guard looked at. */
function guardCases(count = 500, firstSeed = 1001): Stage {
  const file = "test/contract/compose_guard_test.ts";
  const stage = denoTests("contract", `${count} repositories as compose reads them`, [file]);
  return { ...stage, env: { GUARD_CASES: String(count), GUARD_SEED: String(firstSeed) } };
}

/**
 * All unit tests, and those that calculate for long. Of what asks files, sockets or programs, where the
 * runtimes differ, Bun has the tests of the rooms that do so themselves, and with `all` those of the rooms
 * above that do, too. What lets only a fake ask, whose own room is tried there, and what only calculates
 * is on Bun as well where units are named (`all unit`). Sweeps are whole on one runtime only.
 */
function unitTests(root: string): Stage[] {
  const files = testsBelow(root, "test/unit");
  const own = files.filter((file) => differs(file) && (asks(root, file) || asksByFake(root, file)));
  const above = files.filter((file) => !differs(file) && asks(root, file));
  const others = files.filter((file) => !own.includes(file) && !above.includes(file));
  // What measures does so with nobody else in its isolate; half of the time of the others is compiling.
  const [alone, together] = [true, false].map((measures) =>
    files.filter((file) => isMeasuring(join(root, file)) === measures)
  );
  return [
    {
      ...denoTests("unit", "unit tests on Deno", alone ?? [], ["--parallel"]),
      ...(together === undefined ? {} : { together }),
      sample: FEWER_TEXTS,
      inMemory: true,
    },
    onBun(
      "unit tests on Bun of what asks files, sockets or programs, and hostile texts",
      own,
    ),
    { ...onBun("unit tests on Bun of the rooms above that ask, too", above), repeats: true },
    // Five minutes: the others on Bun, and the executable end to end, run most of this code as well.
    {
      ...onBun("unit tests on Bun that calculate, or let a fake ask", others),
      repeats: true,
      isExtra: true,
    },
    {
      ...denoTests("unit", "2,000 decisions about sync windows", [
        "test/unit/plan/sync_windows_oracle_test.ts",
      ]),
      env: { SYNC_WINDOW_CASES: "2000" },
      repeats: true,
    },
  ];
}

/** Calculations in which the runtimes differ: how long their patterns take over a hostile text. */
const HOSTILE = /\/hostile_texts_test\.ts$/;

/** Tests of the rooms that ask the outside themselves. */
const OF_ASKING_ROOMS = /^test\/unit\/(?:docker|record|secrets|serve|source|system)\//;

/** Whether the runtimes differ in what a test is about, as far as that can be told. */
function differs(file: string): boolean {
  return HOSTILE.test(file) || OF_ASKING_ROOMS.test(file);
}

/**
 * Whether tests measure how long something keeps a processor, or what a heap has: with what hundreds of
 * others left in it, looking takes ten times as long.
 */
function isMeasuring(file: string): boolean {
  return says(file, /\/(?:processor_time|heap)\.ts"/);
}

function onBun(name: string, files: readonly string[]): Stage {
  // A test that runs beside others may take long.
  const argv = ["bun", "test", "--timeout", "900000", ...files.map((file) => `./${file}`)];
  const { SWEEP, ...env } = FEWER_TEXTS;
  return { group: "unit", name, runner: "bun", argv, env, sample: { SWEEP }, inMemory: true };
}

/** Whether tests ask files, sockets or programs themselves. */
function asks(root: string, file: string): boolean {
  return HOSTILE.test(file) || says(join(root, file), THE_SYSTEM);
}

const THE_SYSTEM =
  /"node:(?:child_process|d\w+|events|fs|http|net|os|sqlite|stream|timers|tls|worker|zlib)\w*\b/;

/** Whether they let a fake do so. */
function asksByFake(root: string, file: string): boolean {
  return says(join(root, file), /\/fakes\/\w*(?:engine|front|ledger|server|swarm)\w*\.ts"/);
}

function says(file: string, pattern: RegExp): boolean {
  return existsSync(file) && pattern.test(readFileSync(file, "utf8"));
}

/** A stage that gives way to those beside it. */
function inTheBackground(stage: Stage): Stage {
  return { ...stage, argv: ["nice", "-n", "5", ...stage.argv] };
}

/** A third of the mutated texts that readers have to survive, and less of the length of hostile ones. */
const FEWER_TEXTS = {
  FUZZ_TIMES: "1",
  HOSTILE_LENGTH: "200000",
  SWEEP: "sample",
  SYNC_WINDOW_CASES: "100",
};

function plain(group: Group, name: string, argv: readonly string[]): Stage {
  return { group, name, runner: "plain", argv };
}

function denoTests(
  group: Group,
  name: string,
  paths: readonly string[],
  options: readonly string[] = [],
): Stage {
  // Types were checked in a stage of their own. Not --quiet: that hides also what tests say of skipping.
  const argv = ["deno", "test", "-A", "--no-check", ...options, ...paths];
  return { group, name, runner: "deno", argv };
}

/**
 * Each file has worlds of its own, so that files may run side by side: in several processes, because
 * one that runs them all grows to a gigabyte, and starting a program from it takes ten times as long.
 */
function flowTests(files: readonly string[]): Stage[] {
  const slices = partsOf(files);
  return slices.map((slice, index) => ({
    ...denoTests("flow", `flow, part ${index + 1} of ${slices.length}`, []),
    together: slice,
  }));
}

/**
 * Walks of 300 steps on the fake engine, each from a seed of its own: 900 steps in the gate, and ten
 * thousand where walks are asked for. Only the flows show that a walk which fails shrinks.
 */
function walks(firstSeed: number, count: number): Stage[] {
  return Array.from({ length: count }, (_, index) => {
    const stage = walk("fake", 300, firstSeed + index);
    return { ...stage, env: { ...stage.env, WALK_SHRINKS: "no" }, isSweep: true, inMemory: true };
  });
}

/** Walks from a seed. */
function walk(engine: "fake" | "real", steps: number, seed: number): Stage {
  return {
    ...denoTests("walk", `${steps} steps of walks on the ${engine} engine from seed ${seed}`, [
      "test/flow/random_walk_test.ts",
    ]),
    env: { WALK_ENGINE: engine, WALK_STEPS: String(steps), WALK_SEED: String(seed) },
    repeats: true,
  };
}

/** Every flow, or those that are about corners or are not. */
function flows(root: string, ofCorners?: boolean): string[] {
  return testsBelow(root, "test/flow").filter((file) =>
    ofCorners === undefined || ofCorners === isOfCorner(file)
  );
}

/** Flows about corners, which only `all` runs. */
function cornerFlows(root: string): Stage[] {
  return flowTests(flows(root, true)).map((stage) => ({
    ...stage,
    name: stage.name.replace("flow,", "flow of corners,"),
    repeats: true,
  }));
}

/** Tests that need Debian's packages: made once for both, one after the other. */
const WITH_DEBIAN = ["test/e2e/image_test.ts", "test/e2e/unit_file_test.ts"];

/** One that takes as long as all others. */
const UNDER_LOAD = "test/e2e/start_first_test.ts";

/** The other tests of test/e2e. */
function endToEndTests(root: string): string[] {
  const apart = [...WITH_DEBIAN, UNDER_LOAD];
  return testsBelow(root, "test/e2e").filter((file) => !apart.includes(file));
}

/** The tests in a folder and in those below it. */
function testsBelow(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [folder];
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith("_test.ts")).map((file) => `${folder}/${file}`)
    .sort();
}

/** Flows whose outcome compose decides as much as the service; the others would only be repeated. */
const WITH_COMPOSE = [
  "anonymous_volume",
  "compose_by_hand",
  "design_traps_test",
  "drift",
  "first_deployment",
  "hand_over",
  "images_test",
  "interpolation",
  "lost_namespace",
  "mounts",
  "random_walk",
  "recreate_ignore",
  "side_images",
  "start_order",
  "unaffected",
];

/** Those that do everything at once. What compose itself may do otherwise, its contracts say. */
const AS_A_WHOLE = ["compose_by_hand", "first_deployment", "random_walk"];

/** Each file has stacks, ports and directories of its own. */
function endToEnd(paths: readonly string[]): Stage {
  return denoTests("e2e", "end to end", paths, ["--parallel"]);
}

/** Tests of a real swarm, on an engine of its own: the shared engine must not become a manager. */
function swarm(root: string, paths: readonly string[] = ["test/swarm"]): Stage {
  const stage = denoTests("e2e", "a real swarm", paths);
  const wrapper = join(root, "scripts/lib/with_swarm.sh");
  return {
    ...stage,
    argv: [wrapper, ...stage.argv],
    env: { SWARM_TESTS: "1" },
    sample: { STACKS: "sample" },
  };
}

/** Contracts over the server's sockets whose file begins with one of some words. */
function httpContracts(root: string, words: RegExp): string[] {
  const folder = join(root, "test/contract");
  if (!existsSync(folder)) return ["./test/contract"];
  return readdirSync(folder).filter((file) => file.endsWith("_test.ts"))
    .filter((file) => words.test(file)).map((file) => `./test/contract/${file}`).sort();
}

/** About the sockets themselves, where the runtimes differ most. */
const OF_SOCKETS = /^(server|http|webhooks|slow_clients)_/;
/** About what is answered over them, which differs least. */
const OF_ANSWERS = /^(mcp|documents|documented_answers|refusals)_/;

/** Files of test/contract whose path speaks of compose. */
function composeContracts(root: string): string[] {
  return testsBelow(root, "test/contract").filter((file) =>
    file.slice("test/contract".length).includes("compose")
  );
}

/**
 * What depends on compose and the engine again, with others. A compose between the oldest and the newest that
 * are here has those flows alone that do everything at once.
 */
function withOtherCompose(root: string): Stage[] {
  const widely = [
    ...composeStages(root, WITH_COMPOSE),
    { ...endToEnd(["test/e2e/crash_test.ts"]), env: { CRASH: "update" } },
  ];
  const [middle, last] = [newerCompose(root), newest(root)];
  return [
    ...again(isHere(last) ? composeStages(root, AS_A_WHOLE) : widely, "newer compose", middle),
    ...again(
      [...widely, denoTests("contract", "contracts of the engine", ENGINE)],
      "newest compose and engine",
      last,
    ),
  ];
}

/** Whether all files of it are on this machine. */
function isHere({ files }: Other): boolean {
  return files.every((file) => existsSync(file));
}

/** Tests whose outcome depends on compose as much as on us, with the flows that begin with one of `names`. */
function composeStages(root: string, names: readonly string[]): Stage[] {
  const files = flows(root).filter((file) => names.some((name) => basename(file).startsWith(name)));
  return [
    ...flowTests(files).map((stage) => ({
      ...stage,
      env: { WALK_STEPS: "30", FLOW_ENGINES: "real" },
    })),
    denoTests("contract", "contracts of compose", composeContracts(root)),
    // The installed one reads other repositories, and more.
    guardCases(150, 5001),
  ];
}

const ENGINE = ["test/contract/engine_real_test.ts"];

/** Engines beside the installed one that `./scripts/setup --engines` unpacks. */
const OTHER_ENGINES = ["28.5", "20.10"];

/** Tests that depend most on the engine, with another version of engine and containerd. */
function onEngine(root: string, version: string): Stage {
  const stage = denoTests("contract", `contracts and an update start-first on engine ${version}`, [
    ...ENGINE,
    "test/contract/containers_as_compose_test.ts",
    UNDER_LOAD,
  ]);
  return otherEngine(root, version, { ...stage, env: { START_FIRST_UPDATES: "2" } });
}

/** All about images, where they are in containerd's store: the default of new installations since 29. */
function withContainerdImages(root: string): Stage {
  const stage = denoTests("contract", "images in containerd's store on engine 28.5", [
    ...ENGINE,
    "test/flow/images_test.ts",
    "test/flow/kept_images_test.ts",
    "test/flow/first_deployment_test.ts",
  ], ["--parallel"]);
  const env = { IMAGE_STORE: "containerd", FLOW_ENGINES: "real" };
  return otherEngine(root, "28.5", { ...stage, env });
}

function otherEngine(root: string, version: string, stage: Stage): Stage {
  const programs = `engines/${version}`;
  return {
    ...stage,
    argv: [join(root, "scripts/lib/with_engine.sh"), programs, ...stage.argv],
    repeats: true,
    ...(existsSync(join(root, ".tools", programs)) ? {} : {
      skip: `NOT TRIED: engine ${version}; ./scripts/setup --engines fetches it on Debian`,
    }),
  };
}

/** A compose that is not the installed one, and how to run something with it. */
interface Other {
  /** Its plugin, and the plugin of buildx that it builds with. */
  readonly plugin: string;
  readonly buildx: string;
  /** A configuration directory of docker with links to both. */
  readonly config: string;
  /** Put before the command, where an engine of its own belongs to it. */
  readonly wrapper: readonly string[];
  /** Said where it is not there. */
  readonly missing: string;
  /** All of it, on this machine. */
  readonly files: readonly string[];
}

/** The compose that `./scripts/setup --tests` puts beside the installed one. */
function newerCompose(root: string): Other {
  const plugins = join(root, ".tools/compose-next/usr/libexec/docker/cli-plugins");
  const [plugin, buildx] = [join(plugins, "docker-compose"), join(plugins, "docker-buildx")];
  return {
    plugin,
    buildx,
    config: join(root, ".tools/compose-next/docker-config"),
    wrapper: [],
    missing: "no newer compose here; ./scripts/setup --tests fetches one on Debian",
    files: [plugin],
  };
}

/** What `./scripts/setup --newest` builds. */
function newest(root: string): Other {
  const folder = join(root, ".tools/newest");
  const [plugin, buildx] = [join(folder, "docker-compose"), join(folder, "docker-buildx")];
  return {
    plugin,
    buildx,
    config: join(folder, "docker-config"),
    wrapper: [join(root, "scripts/lib/with_engine.sh"), "newest"],
    missing:
      "NOT TRIED: compose 5 and the newest engine; ./scripts/setup --newest builds them with Go",
    files: [plugin, buildx, join(folder, "dockerd"), join(folder, "docker-proxy")],
  };
}

/**
 * Stages once more with another compose. `COMPOSE_PLUGINS` tells the tests' helpers, `DOCKER_CONFIG`
 * every `docker` they start.
 */
function again(stages: readonly Stage[], label: string, other: Other): Stage[] {
  const { plugin, buildx, config, wrapper, missing } = other;
  const isThere = isHere(other);
  const env = { COMPOSE_PLUGINS: plugin, DOCKER_CONFIG: config };
  if (isThere) linkPlugins({ "docker-compose": plugin, "docker-buildx": buildx }, config);
  return stages.map((stage) => ({
    ...stage,
    name: `${stage.name}, ${label}`,
    argv: [...wrapper, ...stage.argv],
    repeats: true,
    isSweep: true,
    env: { ...stage.env, ...env },
    ...(isThere ? {} : { skip: missing }),
  }));
}

/** Links compose, and the buildx it came with: without it a newer compose does not build. */
function linkPlugins(plugins: Readonly<Record<string, string>>, config: string): void {
  mkdirSync(join(config, "cli-plugins"), { recursive: true });
  for (const [name, file] of Object.entries(plugins)) {
    const link = join(config, "cli-plugins", name);
    rmSync(link, { force: true });
    if (existsSync(file)) symlinkSync(file, link);
  }
}
