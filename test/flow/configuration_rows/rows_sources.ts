import assert from "node:assert/strict";
import { composeFile, service } from "../compose_text.ts";
import { label } from "../steps.ts";
import type { Row, Seen } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

/** Names of the stacks that have containers, without the row's; `""` is the row's own. */
async function stacksOf({ world, stack }: Seen): Promise<string[]> {
  const project = "com.docker.compose.project";
  const never = new AbortController().signal;
  const all = await world.engine.listContainers({ [project]: undefined }, never);
  const names = all.map((each) => each.labels[project] ?? "")
    .filter((each) => each === stack || each.startsWith(`${stack}-`));
  return [...new Set(names)].map((each) => each.slice(stack.length + 1)).sort();
}

const onlyRun = (...names: readonly string[]) => async (seen: Seen) =>
  assert.deepEqual(await stacksOf(seen), names);

/** Where configuration and files come from: references, targets, requests. */
export const SOURCE_ROWS: readonly Row[] = [
  {
    rule: "deploy.md §1.7",
    title: "a whole commit id deploys that commit, whatever came after it",
    covers: ["reference"],
    steps: [
      { files: { [CONFIG]: "name: {{stack}}\n", "compose.yaml": app("1") }, status: "succeeded" },
      {
        files: { "compose.yaml": app("2") },
        status: "succeeded",
        labels: { "web test.v": "2" },
      },
      {
        files: { "compose.yaml": app("3") },
        before: async ({ world, stack }) => {
          const id = await world.repository.git("rev-parse", "HEAD~1");
          await world.repository.commit({
            [CONFIG]: `name: ${stack}\nreference: ${id}\n`,
            "compose.yaml": app("4"),
          });
        },
        status: "skipped",
        labels: { "web test.v": "2" },
        untouched: true,
      },
    ],
  },
  {
    rule: "deploy.md §1.7",
    title: "a short name is a branch before it is a tag, and the tag once the branch is gone",
    covers: ["reference"],
    steps: [
      {
        files: { [CONFIG]: "name: {{stack}}\nreference: x-{{stack}}\n", "compose.yaml": app("1") },
        before: async ({ world, stack }) => {
          await world.repository.tag(`x-${stack}`);
          await world.repository.commit({ "compose.yaml": app("2") });
          await world.repository.branch(`x-${stack}`);
        },
        status: "succeeded",
        labels: { "web test.v": "2" },
      },
      {
        before: ({ world, stack }) => world.repository.deleteRef(`refs/heads/x-${stack}`),
        entry: {},
        status: "succeeded",
        labels: { "web test.v": "1" },
      },
    ],
  },
  {
    rule: "deploy.md §1.10",
    title: "deployments of a request take the place of the file, with the same rules",
    covers: ["name", "working_dir", "remove_orphans"],
    steps: [
      {
        files: {
          [CONFIG]: "name: {{stack}}-file\n",
          "a/compose.yaml": composeFile({ web: service(), worker: service() }),
          "compose.yaml": app("never"),
        },
        entry: { deployments: [{ name: "{{stack}}", working_dir: "a", remove_orphans: false }] },
        status: "succeeded",
        running: ["web-1", "worker-1"],
        see: onlyRun(""),
      },
      {
        files: { "a/compose.yaml": composeFile({ web: service() }) },
        entry: { deployments: [{ name: "{{stack}}", working_dir: "/a", remove_orphans: false }] },
        status: "skipped",
        running: ["web-1", "worker-1"],
        untouched: true,
      },
      {
        entry: { deployments: [{ name: "{{stack}}", working_dir: "a", destroy: true }] },
        status: "succeeded",
        running: [],
      },
    ],
  },
  {
    rule: "deploy.md §1.10",
    title: "a discovery of a request expands in place, its environment keeps numbers as text",
    covers: ["auto_discovery", "environment"],
    steps: [{
      files: {
        "apps/{{stack}}-a/compose.yaml": app("$N $B"),
        "apps/{{stack}}-b/compose.yaml": app("$N $B"),
        [`apps/{{stack}}-b/${CONFIG}`]: "environment: {N: 010}\n",
      },
      entry: {
        deployments: [
          { working_dir: "apps", auto_discovery: true, environment: { N: 1.5, B: true } },
          { name: "{{stack}}-c", working_dir: "apps/{{stack}}-a", environment: { N: "x" } },
        ],
      },
      status: "succeeded",
      see: async (seen) => {
        await onlyRun("a", "b", "c")(seen);
        const { world, stack } = seen;
        const shown = (name: string) => label(world, "web", "test.v", `${stack}-${name}`);
        assert.equal(await shown("a"), "1.5 true");
        assert.equal(await shown("b"), "010 true");
        assert.equal(await shown("c"), "x ");
      },
    }],
  },
  {
    rule: "deploy.md §1.1",
    title: "directories have no files for a target: their own file has its plain name",
    covers: [],
    steps: [{
      files: {
        ".stackwright.nas.yaml": "working_dir: apps\nauto_discovery: true\n",
        "apps/{{stack}}-a/compose.yaml": app("$A"),
        [`apps/{{stack}}-a/${CONFIG}`]: "environment: {A: plain}\n",
        "apps/{{stack}}-a/.stackwright.nas.yaml": "environment: {A: never}\n",
      },
      entry: { target: "nas" },
      status: "succeeded",
      see: async ({ world, stack }) => {
        assert.equal(await label(world, "web", "test.v", `${stack}-a`), "plain");
        assert.equal(await label(world, "web", "stackwright.target", `${stack}-a`), "nas");
      },
    }],
  },
  {
    rule: "deploy.md §1.1; deploy.md §2.4",
    title: "a target removes what it discovered, and nothing of another target",
    covers: ["auto_discovery.delete"],
    steps: [{
      files: {
        ".stackwright.a.yaml": "working_dir: a\nauto_discovery: {enabled: true, delete: true}\n",
        ".stackwright.b.yaml": "working_dir: b\nauto_discovery: {enabled: true, delete: true}\n",
        "a/{{stack}}-a/compose.yaml": app("x"),
        "a/readme": "stays",
        "b/{{stack}}-b/compose.yaml": app("x"),
        "b/{{stack}}-b2/compose.yaml": app("x"),
      },
      entry: { target: "a" },
      status: "succeeded",
      see: onlyRun("a"),
    }, {
      entry: { target: "b" },
      status: "succeeded",
      see: onlyRun("a", "b", "b2"),
    }, {
      removed: ["b/{{stack}}-b"],
      entry: { target: "a" },
      status: "skipped",
      untouched: true,
      see: onlyRun("a", "b", "b2"),
    }, {
      entry: { target: "b" },
      status: "succeeded",
      see: onlyRun("a", "b2"),
    }],
  },
  {
    rule: "deploy.md §2.1",
    title: "a discovery with a reference looks at that, overrides included",
    covers: ["reference", "auto_discovery"],
    steps: [{
      files: {
        [CONFIG]: "working_dir: apps\nauto_discovery: true\nreference: old-{{stack}}\n",
        "apps/{{stack}}-a/compose.yaml": app("$A"),
        [`apps/{{stack}}-a/${CONFIG}`]: "environment: {A: old}\n",
      },
      before: async ({ world, stack }) => {
        await world.repository.branch(`old-${stack}`);
        await world.repository.commit({
          [`apps/${stack}-a/${CONFIG}`]: "environment: {A: new}\n",
          [`apps/${stack}-b/compose.yaml`]: app("x"),
        });
      },
      status: "succeeded",
      see: async (seen) => {
        await onlyRun("a")(seen);
        assert.equal(await label(seen.world, "web", "test.v", `${seen.stack}-a`), "old");
      },
    }],
  },
];
