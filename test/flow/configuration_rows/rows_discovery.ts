import assert from "node:assert/strict";
import type { FakeFile } from "../../fakes/git_repository.ts";
import { composeFile, service } from "../compose_text.ts";
import { label } from "../steps.ts";
import type { Row, Seen, Step } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

const never = new AbortController().signal;

/** Requires that exactly these stacks of the row run; a stack is called as the row's and a word. */
function onlyRun(...names: readonly string[]) {
  return async ({ world, stack }: Seen): Promise<void> => {
    const label = "com.docker.compose.project";
    const all = await world.engine.listContainers({ [label]: undefined }, never);
    const found = all.map((each) => each.labels[label] ?? "")
      .filter((each) => each === stack || each.startsWith(`${stack}-`))
      .map((each) => each.slice(stack.length + 1));
    assert.deepEqual([...new Set(found)].sort(), names);
  };
}

/** Files of stacks, each in a directory below `base` that has the stack's name. */
function stacks(base: string, ...names: readonly string[]): Record<string, FakeFile> {
  return Object.fromEntries(
    names.map((name) => [`${base}/{{stack}}-${name}/compose.yaml`, app(name)]),
  );
}

/** A row about which of four nested directories are found. */
function depthRow(written: string, ...found: readonly string[]): Row {
  return {
    rule: "interface.md §2.6 depth; deploy.md §2.1",
    title: `${written} finds ${found.join(", ") || "nothing"}`,
    covers: ["auto_discovery", "auto_discovery.enabled", "auto_discovery.depth"],
    steps: [{
      files: {
        [CONFIG]: `name: {{stack}}-base\nworking_dir: apps\nauto_discovery: ${written}\n`,
        "apps/{{stack}}-one/compose.yaml": app("x"),
        "apps/{{stack}}-one/{{stack}}-two/compose.yaml": app("x"),
        "apps/deep/er/{{stack}}-three/compose.yml": app("x"),
        "{{stack}}-beside/compose.yaml": app("never"),
        "apps/.github/{{stack}}-ignored/compose.yaml": app("never"),
        "apps/node_modules/{{stack}}-ignored/compose.yaml": app("never"),
        "apps/{{stack}}-linked": { link: "../{{stack}}-beside" },
        "apps/{{stack}}-other/stack.yaml": app("never"),
      },
      status: found.length > 0 ? "succeeded" : "skipped",
      see: onlyRun(...[...found].sort()),
    }],
  };
}

/** What is removed, and what of it stays, when a discovered stack with volume and image vanishes. */
function deleteRow(
  written: string,
  covers: readonly string[],
  left: { readonly runs: boolean; readonly volumes: number; readonly images: number },
): Row {
  const stack = composeFile(
    { web: service({ image: "{{stack}}-app:1", volumes: ["data:/data"] }) },
    { volumes: { data: {} } },
  );
  return {
    rule: "interface.md §2.6 delete; deploy.md §2.4",
    title: `${written} leaves ${JSON.stringify(left)}`,
    covers,
    steps: [{
      files: {
        [CONFIG]: `working_dir: apps\nauto_discovery: ${written}\n`,
        "apps/{{stack}}-gone/compose.yaml": stack,
        ...stacks("apps", "stays"),
      },
      before: ({ world, stack }) => {
        world.fake?.addImage(`${stack}-app:1`, { where: "registry" });
      },
      status: "succeeded",
      see: onlyRun("gone", "stays"),
    }, {
      removed: ["apps/{{stack}}-gone"],
      status: left.runs ? "skipped" : "succeeded",
      see: async (seen) => {
        const { world, stack } = seen;
        await onlyRun(...left.runs ? ["gone", "stays"] : ["stays"])(seen);
        const label = { "com.docker.compose.project": `${stack}-gone` };
        assert.equal((await world.engine.listVolumes(label, never)).length, left.volumes);
        const images = Object.keys(world.fake?.images() ?? {});
        assert.equal(images.filter((each) => each.startsWith(stack)).length, left.images);
      },
    }],
  };
}

/** A problem of one directory, which costs the other nothing. */
function brokenRow(title: string, override: Record<string, FakeFile>, says: RegExp): Row {
  const broken: Step = {
    files: {
      [CONFIG]: "working_dir: apps\nauto_discovery: {enabled: true, delete: true}\n",
      ...override,
    },
    removed: ["apps/{{stack}}-old"],
    status: "failed",
    says: [says],
    see: onlyRun("good", "old"),
  };
  return {
    rule: "deploy.md §2.5",
    title: `${title} fails alone, and nothing is removed in that run`,
    covers: [],
    steps: [{
      files: {
        [CONFIG]: "working_dir: apps\nauto_discovery: {enabled: true, delete: true}\n",
        ...stacks("apps", "good", "old"),
      },
      status: "succeeded",
      see: onlyRun("good", "old"),
    }, broken],
  };
}

/** `auto_discovery`. */
export const DISCOVERY_ROWS: readonly Row[] = [
  depthRow("true", "one", "two", "three"),
  depthRow("{enabled: true, depth: 0}", "one", "two", "three"),
  depthRow("{enabled: on, depth: 1}", "one"),
  depthRow("{enabled: true, depth: 2}", "one", "two"),
  depthRow("{enabled: true, depth: 3}", "one", "two", "three"),
  {
    rule: "deploy.md §1.3",
    title: "false, null and an object without enabled discover nothing; the rest is refused",
    covers: ["auto_discovery", "auto_discovery.enabled"],
    steps: [
      ...["false", "~", "{}", "{depth: 1, delete: true}"].map((written, index): Step => ({
        files: {
          [CONFIG]: `name: {{stack}}\nauto_discovery: ${written}\n`,
          "compose.yaml": app("x"),
          "{{stack}}-a/compose.yaml": app("x"),
        },
        status: index === 0 ? "succeeded" : "skipped",
        see: onlyRun(""),
      })),
      ...["[]", "{depth: -1}", "{delete: 1}", "{levels: 1}", "1"].map((written): Step => ({
        files: { [CONFIG]: `name: {{stack}}\nauto_discovery: ${written}\n` },
        status: "failed",
        says: [/\.stackwright\.yaml:2:\d+: auto_discovery[.:]/],
        untouched: true,
      })),
    ],
  },
  deleteRow("true", ["auto_discovery.delete"], { runs: true, volumes: 1, images: 1 }),
  deleteRow("{enabled: true, delete: true}", [
    "auto_discovery.delete",
    "auto_discovery.remove_volumes",
    "auto_discovery.remove_images",
  ], { runs: false, volumes: 1, images: 0 }),
  deleteRow("{enabled: true, delete: true, remove_volumes: true, remove_images: false}", [
    "auto_discovery.remove_volumes",
    "auto_discovery.remove_images",
  ], { runs: false, volumes: 0, images: 1 }),
  brokenRow(
    "an unknown key in an override",
    { "apps/{{stack}}-bad/compose.yaml": app("x"), [`apps/{{stack}}-bad/${CONFIG}`]: "nmae: x\n" },
    /-bad\/\.stackwright\.yaml:1:1: nmae: unknown key "nmae"; did you mean "name"/,
  ),
  brokenRow(
    "an override of two documents",
    {
      "apps/{{stack}}-bad/compose.yaml": app("x"),
      [`apps/{{stack}}-bad/${CONFIG}`]: "pause: true\n---\npause: false\n",
    },
    /-bad\/\.stackwright\.yaml:3:1.*exactly one document/,
  ),
  brokenRow(
    "an override that is a link",
    {
      "apps/{{stack}}-bad/compose.yaml": app("x"),
      [`apps/{{stack}}-bad/${CONFIG}`]: { link: "../../override.yaml" },
      "override.yaml": "pause: true\n",
    },
    /must be a file, not a link/,
  ),
  brokenRow(
    "a directory whose name no project can have",
    { "apps/{{stack}}.Bad/compose.yaml": app("x") },
    /no compose project name.*write "[a-z0-9-]+-bad"/,
  ),
  {
    rule: "deploy.md §2.1",
    title: "a stack in the root is called as the base, and its own file is no override of itself",
    covers: ["auto_discovery", "name"],
    steps: [{
      files: {
        [CONFIG]: "name: {{stack}}\nauto_discovery: true\nenvironment: {A: base}\n",
        "compose.yaml": composeFile({ web: service({ labels: { "test.v": "$A" } }) }),
        "{{stack}}-a/compose.yaml": app("x"),
      },
      status: "succeeded",
      labels: { "web test.v": "base" },
      see: onlyRun("", "a"),
    }],
  },
  {
    rule: "deploy.md §2.1",
    title: "looks for the compose files of the base, by their exact names",
    covers: ["compose_files"],
    steps: [{
      files: {
        [CONFIG]: "working_dir: apps\nauto_discovery: true\ncompose_files: [stack.yaml]\n",
        "apps/{{stack}}-a/stack.yaml": app("x"),
        "apps/{{stack}}-b/compose.yaml": app("x"),
        "apps/{{stack}}-c/my-stack.yaml": app("x"),
        "apps/{{stack}}-d/Stack.yaml": app("x"),
      },
      status: "succeeded",
      see: onlyRun("a"),
    }],
  },
  {
    rule: "deploy.md §2.3",
    title: "a discovered stack carries the label that says so, another one does not",
    covers: [],
    steps: [{
      files: {
        [CONFIG]: "name: {{stack}}\n---\nworking_dir: apps\nauto_discovery: true\n",
        "compose.yaml": app("x"),
        ...stacks("apps", "a"),
      },
      status: "succeeded",
      labels: { "web stackwright.auto_discovery": undefined },
      see: async ({ world, stack }) => {
        const found = await label(world, "web", "stackwright.auto_discovery", `${stack}-a`);
        assert.equal(found, "true");
      },
    }],
  },
];
