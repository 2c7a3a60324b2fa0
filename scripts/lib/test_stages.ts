/**
 * What ./scripts/test runs: the stages as data. Those of one step run side by side, because they
 * share nothing; steps run one after the other, because they share the one container engine.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/** The names a person can give to ./scripts/test. */
export const GROUPS = ["ok", "unit", "contract", "flow", "e2e"] as const;
export type Group = (typeof GROUPS)[number];

/** One thing to run. */
export interface Stage {
  readonly group: Group;
  /** Shown to people; unique. */
  readonly name: string;
  /** How its tests are counted; `plain` is a command that only succeeds or fails. */
  readonly runner: "plain" | "deno" | "bun";
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Said instead of running it. */
  readonly skip?: string;
}

/** All stages for the checkout at `root`, step by step. */
export function testSteps(root: string): readonly (readonly Stage[])[] {
  return [
    [
      plain("ok", "format, lint, imports, documents", ["deno", "task", "quick"]),
      plain("ok", "types", ["deno", "task", "check"]),
    ],
    [
      denoTests("unit", "unit tests on Deno", ["test/unit"], ["--parallel"]),
      {
        group: "unit",
        name: "unit tests on Bun",
        runner: "bun",
        argv: ["bun", "test", "--timeout", "60000", "./test/unit"],
      },
    ],
    [denoTests("contract", "contracts", ["test/contract"], ["--parallel"])],
    [{
      group: "contract",
      name: "contracts of HTTP on Bun",
      runner: "bun",
      argv: ["bun", "test", "--timeout", "60000", ...httpContracts(root)],
    }],
    [flowTests()],
    [plain("e2e", "build the executable", ["./scripts/build"])],
    [endToEnd()],
    ...withNewerCompose(root, [
      denoTests("contract", "contracts of compose", composeContracts(root)),
      {
        ...flowTests(composeFlows(root)),
        env: { ...ONE_MORE, WALK_STEPS: "30", FLOW_ENGINES: "real" },
      },
      { ...endToEnd(["test/e2e/crash_test.ts"]), env: { CRASH: "update" } },
    ]),
  ];
}

function plain(group: Group, name: string, argv: readonly string[]): Stage {
  return { group, name, runner: "plain", argv };
}

function denoTests(
  group: Group,
  name: string,
  paths: readonly string[],
  options: readonly string[] = [],
): Stage {
  // Types were checked in a stage of their own.
  const argv = ["deno", "test", "-A", "--quiet", "--no-check", ...options, ...paths];
  return { group, name, runner: "deno", argv };
}

/** Each file has worlds of its own, so that files may run side by side. */
function flowTests(paths: readonly string[] = ["test/flow"]): Stage {
  return { ...denoTests("flow", "flow", paths, ["--parallel"]), env: ONE_MORE };
}

/** Flows wait for containers half of their time: one more than there are processors keeps these busy. */
const ONE_MORE = { DENO_JOBS: String(availableParallelism() + 1) };

/** Flows whose outcome compose decides as much as the service; the others would only be repeated. */
const WITH_COMPOSE = [
  "design_traps_test",
  "drift",
  "first_deployment",
  "interpolation",
  "mounts",
  "random_walk",
  "recreate_ignore",
  "unaffected",
];

/** The flows in which one version of compose could differ from another. */
function composeFlows(root: string): string[] {
  const files = readdirSync(join(root, "test/flow")).filter((file) => file.endsWith("_test.ts"));
  return files.filter((file) => WITH_COMPOSE.some((name) => file.startsWith(name)))
    .map((file) => `test/flow/${file}`).sort();
}

/** Each file has stacks, ports and directories of its own. */
function endToEnd(paths: readonly string[] = ["test/e2e"]): Stage {
  return denoTests("e2e", "end to end", paths, ["--parallel"]);
}

/** Contracts over the server's sockets, where the runtimes differ most. */
function httpContracts(root: string): string[] {
  const folder = join(root, "test/contract");
  if (!existsSync(folder)) return ["./test/contract"];
  return readdirSync(folder).filter((file) => file.endsWith("_test.ts"))
    .filter((file) => WITH_SERVER.test(file)).map((file) => `./test/contract/${file}`).sort();
}

const WITH_SERVER = /^(server|http|webhooks|documents|documented_answers|refusals|slow_clients)_/;

/** Files of test/contract whose path speaks of compose. */
function composeContracts(root: string): string[] {
  const folder = join(root, "test/contract");
  if (!existsSync(folder)) return ["test/contract"];
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const chosen = files.filter((file) => /compose/.test(file) && file.endsWith("_test.ts"));
  return chosen.map((file) => `test/contract/${file}`).sort();
}

/**
 * The stages once more, with the compose that `./scripts/setup --tests` put beside the installed
 * one. `COMPOSE_PLUGINS` tells the tests' helpers, `DOCKER_CONFIG` every `docker` they start.
 */
function withNewerCompose(root: string, stages: readonly Stage[]): Stage[][] {
  const plugin = join(
    root,
    ".tools/compose-next/usr/libexec/docker/cli-plugins/docker-compose",
  );
  const missing = existsSync(plugin) ? {} : {
    skip: "no newer compose here; ./scripts/setup --tests fetches one on Debian",
  };
  const config = join(root, ".tools/compose-next/docker-config");
  const env = { COMPOSE_PLUGINS: plugin, DOCKER_CONFIG: config };
  if (existsSync(plugin)) linkPlugin(plugin, config);
  return stages
    .filter(({ argv }) => argv.some((word) => word.startsWith("test/")))
    .map((
      stage,
    ) => [{
      ...stage,
      name: `${stage.name}, newer compose`,
      env: { ...stage.env, ...env },
      ...missing,
    }]);
}

/** Links compose, and the buildx it came with: without it a newer compose does not build. */
function linkPlugin(plugin: string, config: string): void {
  mkdirSync(join(config, "cli-plugins"), { recursive: true });
  for (const name of ["docker-compose", "docker-buildx"]) {
    const link = join(config, "cli-plugins", name);
    const file = join(dirname(plugin), name);
    rmSync(link, { force: true });
    if (existsSync(file)) symlinkSync(file, link);
  }
}
