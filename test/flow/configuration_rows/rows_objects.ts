import assert from "node:assert/strict";
import { composeFile, service } from "../compose_text.ts";
import type { Row, Seen, Step } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

/** A configuration with the stack's name and more lines. */
const config = (...lines: readonly string[]) => ["name: {{stack}}", ...lines, ""].join("\n");

/** A configuration that is refused with a position and a sentence, nothing being touched. */
function refused(line: string, says: RegExp): Step {
  return {
    files: { [CONFIG]: config(...line.split("\n")) },
    status: "failed",
    says: [says],
    untouched: true,
  };
}

/** The first step of most rows: something that runs. */
const running: Step = {
  files: { [CONFIG]: config(), "compose.yaml": app("x") },
  status: "succeeded",
  running: ["web-1"],
};

/** What lies on the engine of a stack: containers, networks and volumes, and whether its image does. */
async function left({ world, stack }: Seen): Promise<Record<string, number>> {
  const label = { "com.docker.compose.project": stack };
  const never = new AbortController().signal;
  return {
    containers: (await world.containers(stack)).length,
    networks: (await world.engine.listNetworks(label, never)).length,
    volumes: (await world.engine.listVolumes(label, never)).length,
    images: Object.keys(world.fake?.images() ?? {}).filter((each) => each.startsWith(stack)).length,
  };
}

/** One form of `destroy`, and what it leaves of a stack with a volume and an image of its own. */
function destroyRow(written: string, covers: readonly string[], volumes: number, images: number) {
  return {
    rule: "interface.md §2.4 destroy; deploy.md §1.3",
    title: `${written} leaves ${volumes} volumes and ${images} images`,
    covers,
    steps: [{
      files: {
        [CONFIG]: config(),
        "compose.yaml": composeFile(
          { web: service({ image: "{{stack}}-app:1", volumes: ["data:/data"] }) },
          { volumes: { data: {} } },
        ),
      },
      before: ({ world, stack }) => {
        world.fake?.addImage(`${stack}-app:1`, { where: "registry" });
      },
      status: "succeeded",
      running: ["web-1"],
    }, {
      files: { [CONFIG]: config(`destroy: ${written}`) },
      status: "succeeded",
      see: async (seen) =>
        assert.deepEqual(await left(seen), { containers: 0, networks: 0, volumes, images }),
    }, { status: "skipped", untouched: true }],
  } satisfies Row;
}

/** `swarm`, `build`, `destroy`, `retry`. */
export const OBJECT_ROWS: readonly Row[] = [
  {
    rule: "interface.md §2.2 swarm",
    title: "enabled: false and retentions deploy with compose",
    covers: ["swarm", "swarm.enabled", "swarm.config_retention", "swarm.secret_retention"],
    steps: [
      {
        ...running,
        files: {
          [CONFIG]: config("swarm: {enabled: off, config_retention: -1, secret_retention: 0}"),
          "compose.yaml": app("x"),
        },
      },
      refused(
        "swarm: {config_retention: -2}",
        /:2:27: swarm\.config_retention: expected a whole number of at least -1, found -2/,
      ),
      refused(
        "swarm:\n  secret_retention: 1.5",
        /:3:21: swarm\.secret_retention: expected a whole number of at least -1, found 1\.5/,
      ),
      refused("swarm: true", /:2:8: swarm: expected a mapping, found true/),
      refused(
        "swarm: {enable: true}",
        /:2:9: swarm\.enable: unknown key "enable"; did you mean "enabled"\?/,
      ),
    ],
  },
  {
    rule: "interface.md §2.3 build",
    title: "is closed, its arguments are a map of scalars",
    covers: ["build", "build.quiet"],
    steps: [
      running,
      {
        files: { [CONFIG]: config("build: {args: {A: 010}, quiet: true, no_cache: ~}") },
        status: "skipped",
        untouched: true,
      },
      refused("build: {args: [A]}", /:2:15: build\.args: expected a mapping of names to values/),
      refused("build:\n  no_cash: true", /:3:3: build\.no_cash: .*did you mean "no_cache"\?/),
      refused("build: {force_image_pull: 1}", /:2:27: build\.force_image_pull: expected true or/),
      refused("build: {quiet: 'no'}", /:2:16: build\.quiet: expected true or false/),
    ],
  },
  destroyRow("true", ["destroy"], 0, 0),
  destroyRow("{enabled: true}", ["destroy.enabled"], 0, 0),
  destroyRow("{enabled: true, remove_volumes: false}", ["destroy.remove_volumes"], 1, 0),
  destroyRow("{enabled: on, remove_images: no}", ["destroy.remove_images"], 0, 1),
  destroyRow(
    "{enabled: true, remove_images: false, remove_volumes: false}",
    ["destroy.remove_volumes", "destroy.remove_images"],
    1,
    1,
  ),
  {
    rule: "interface.md §2.4 destroy; deploy.md §1.3",
    title: "false, null and an object without enabled destroy nothing; the rest is refused",
    covers: ["destroy", "destroy.enabled"],
    steps: [
      running,
      ...["false", "~", "{}", "{enabled: ~}", "{remove_volumes: true}"].map((written): Step => ({
        files: { [CONFIG]: config(`destroy: ${written}`) },
        status: "skipped",
        running: ["web-1"],
        untouched: true,
      })),
      refused("destroy: 1", /:2:10: destroy: expected true, false or a mapping, found 1/),
      refused('destroy: "true"', /:2:10: destroy: expected true, false or a mapping/),
      refused("destroy: {remove_dir: true}", /:2:11: destroy\.remove_dir: unknown key/),
    ],
  },
  {
    rule: "interface.md §2.7 retry",
    title: "limits and delays that are none are refused, and none is needed",
    covers: ["retry"],
    steps: [
      running,
      ...["{}", "~", "{limit: 0, delay: 0}", "{limit: ~, delay: 1h30m}"].map((written): Step => ({
        files: { [CONFIG]: config(`retry: ${written}`) },
        status: "skipped",
        untouched: true,
      })),
      refused("retry: {limit: -1}", /:2:16: retry\.limit: expected a whole number of at least 0/),
      refused("retry: {delay: -1s}", /:2:16: retry\.delay: expected whole seconds of at least 0/),
      refused("retry: 3", /:2:8: retry: expected a mapping, found 3/),
    ],
  },
  {
    rule: "deploy.md §1.1",
    title: "every document is a deployment, empty ones are none; the .yaml wins over the .yml",
    covers: [],
    steps: [{
      files: {
        [CONFIG]: "---\n---\nname: {{stack}}\n---\n# nothing\n---\nname: {{stack}}-b\n",
        ".stackwright.yml": "name: {{stack}}-never\n",
        "compose.yaml": app("x"),
      },
      status: "succeeded",
      see: async ({ world, stack, run }) => {
        const names = run.deployments?.map((each) => each.stack).sort();
        assert.deepEqual(names, [stack, `${stack}-b`]);
        assert.equal((await world.containers(`${stack}-b`)).length, 1);
      },
    }, {
      removed: [CONFIG],
      files: { ".stackwright.yml": "name: {{stack}}\n" },
      status: "skipped",
      untouched: true,
    }, {
      files: { ".stackwright.yml": "---\n# nothing\n" },
      status: "failed",
      says: [/\.stackwright\.yml/],
      untouched: true,
    }, {
      removed: [".stackwright.yml"],
      status: "failed",
      says: [/has no deployment configuration/, /\.stackwright\.yaml/],
      untouched: true,
    }],
  },
  {
    rule: "deploy.md §1.1",
    title: "a target never falls back to the default file, and cannot name a path",
    covers: [],
    steps: [running, {
      entry: { target: "nas" },
      status: "failed",
      says: [/\.stackwright\.nas\.yaml/],
      untouched: true,
    }, {
      files: { ".stackwright.nas.yml": config() },
      entry: { target: "nas" },
      status: "skipped",
      untouched: true,
    }],
  },
  {
    rule: "deploy.md §1.2",
    title: "unknown keys are refused with the nearest known one, x- keys included",
    covers: [],
    steps: [
      running,
      refused("nmae: x", /\.stackwright\.yaml:2:1: nmae: unknown key "nmae"; did you mean "name"/),
      refused("x-common: 1", /:2:1: x-common: unknown key "x-common"/),
      refused("environment: {A: 1, A: 2}", /:2:21/),
      {
        files: { [CONFIG]: "name: {{stack}}\n---\nname: {{stack}}-b\nbuild: {cache: no}\n" },
        status: "failed",
        says: [/\.stackwright\.yaml:4:9 \(document 2\): build\.cache: unknown key/],
        untouched: true,
      },
    ],
  },
];
