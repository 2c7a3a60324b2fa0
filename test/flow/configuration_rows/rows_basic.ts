import assert from "node:assert/strict";
import type { Row } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

const BASIC = "interface.md §2.1";

/** Fields that say what is deployed, and from where. */
export const BASIC_ROWS: readonly Row[] = [
  {
    rule: `${BASIC} name`,
    title: "is the name of the compose project",
    covers: ["name"],
    steps: [{
      files: { [CONFIG]: "name: {{stack}}\n", "compose.yaml": app("x") },
      status: "succeeded",
      running: ["web-1"],
      see: async ({ world, stack }) => {
        assert.equal((await world.containers(stack))[0]?.name, `${stack}-web-1`);
      },
    }, {
      files: { [CONFIG]: "name: {{stack}}.Shop\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:1:7: name: .*write "[a-z0-9-]+-shop"/],
      untouched: true,
      running: ["web-1"],
    }, {
      files: { [CONFIG]: "reference: {{stack}}\n" },
      status: "failed",
      says: [/the key "name" is required, unless auto_discovery is enabled/],
      untouched: true,
    }],
  },
  {
    rule: `${BASIC} name; deploy.md §1.5`,
    title: "twice in one file is an error of the whole file, and nothing is deployed",
    covers: ["name"],
    steps: [{
      files: {
        [CONFIG]: "name: {{stack}}\n---\nname: other-{{stack}}\n---\nname: {{stack}}\n",
        "compose.yaml": app("x"),
      },
      status: "failed",
      says: [/\.stackwright\.yaml:5:7 \(document 3\): name: another deployment .* is on line 1/],
      running: [],
      untouched: true,
    }],
  },
  {
    rule: `${BASIC} source`,
    title: "git may be written in any case, with white space, empty, or as null",
    covers: ["source"],
    steps: [
      {
        files: { [CONFIG]: "name: {{stack}}\nsource: ' GIT '\n", "compose.yaml": app("x") },
        status: "succeeded",
        running: ["web-1"],
      },
      { files: { [CONFIG]: "name: {{stack}}\nsource: ''\n" }, status: "skipped", untouched: true },
      { files: { [CONFIG]: "name: {{stack}}\nsource: ~\n" }, status: "skipped", untouched: true },
      {
        files: { [CONFIG]: "name: {{stack}}\nsource: svn\n" },
        status: "failed",
        says: [/\.stackwright\.yaml:2:9: source: expected git or oci, found the text "svn"/],
        untouched: true,
      },
    ],
  },
  {
    rule: `${BASIC} version`,
    title: "means nothing for git, and must be ours for artifacts",
    covers: ["version"],
    steps: [{
      files: { [CONFIG]: "name: {{stack}}\nversion: 2\n", "compose.yaml": app("x") },
      status: "succeeded",
    }, {
      files: { [CONFIG]: "name: {{stack}}\nsource: oci\nversion: 2\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:3:10: version: expected service\.v1/],
      untouched: true,
    }],
  },
  {
    rule: `${BASIC} webhook_filter; deploy.md §1.8`,
    title: "does not hold back a poll, and is compiled when it is read",
    covers: ["webhook_filter"],
    steps: [{
      files: { [CONFIG]: "name: {{stack}}\nwebhook_filter: ^never$\n", "compose.yaml": app("x") },
      status: "succeeded",
      running: ["web-1"],
    }, {
      files: { [CONFIG]: "name: {{stack}}\nwebhook_filter: '['\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:2:17: webhook_filter: expected a regular expression/],
      untouched: true,
    }],
  },
  {
    rule: `${BASIC} reference; deploy.md §1.7`,
    title: "may be an annotated tag or a branch, in full or short",
    covers: ["reference"],
    steps: [
      {
        files: { [CONFIG]: "name: {{stack}}\n", "compose.yaml": app("released") },
        status: "succeeded",
      },
      ...["refs/tags/v-{{stack}}", "v-{{stack}}", "refs/heads/b-{{stack}}", "b-{{stack}}"].map((
        reference,
        index,
      ) => ({
        files: {
          [CONFIG]: `name: {{stack}}\nreference: ${reference}\n`,
          "compose.yaml": app(`newer ${index}`),
        },
        before: async ({ world, stack }) => {
          if (index > 0) return;
          await world.repository.tag(`v-${stack}`, { at: "HEAD~1", message: "a release" });
          await world.repository.branch(`b-${stack}`, "HEAD~1");
        },
        status: "skipped",
        labels: { "web test.v": "released" },
        untouched: true,
      } satisfies Row["steps"][number])),
    ],
  },
  {
    rule: "deploy.md §1.7",
    title: "a reference that is not there, or half a commit, fails and changes nothing",
    covers: ["reference"],
    steps: [
      { files: { [CONFIG]: "name: {{stack}}\n", "compose.yaml": app("x") }, status: "succeeded" },
      {
        files: { [CONFIG]: "name: {{stack}}\nreference: gone\n", "compose.yaml": app("y") },
        status: "failed",
        says: [/gone/],
        labels: { "web test.v": "x" },
        untouched: true,
      },
      {
        files: { [CONFIG]: "name: {{stack}}\nreference: 0123abc\n" },
        status: "failed",
        says: [/0123abc/],
        untouched: true,
      },
      {
        files: { [CONFIG]: "name: {{stack}}\n" },
        status: "succeeded",
        labels: { "web test.v": "y" },
      },
    ],
  },
  {
    rule: `${BASIC} working_dir; deploy.md §1.5`,
    title: "a leading slash is the root of the source, two dots in a name are no parent",
    covers: ["working_dir"],
    steps: [{
      files: {
        [CONFIG]: "name: {{stack}}\nworking_dir: /a..b/\n",
        "a..b/compose.yaml": app("x"),
        "compose.yaml": app("the wrong one"),
      },
      status: "succeeded",
      labels: { "web test.v": "x" },
    }, {
      files: { [CONFIG]: "name: {{stack}}\nworking_dir: a..b/../../up\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:2:14: working_dir: the working directory leaves the root/],
      untouched: true,
    }, {
      files: { [CONFIG]: "name: {{stack}}\nworking_dir: a..b/compose.yaml\n" },
      status: "failed",
      says: [/working_dir: a\.\.b\/compose\.yaml is a file/],
      untouched: true,
    }, {
      files: { [CONFIG]: "name: {{stack}}\nworking_dir: gone/deep\n" },
      status: "failed",
      says: [/working_dir: gone does not exist in the repository/],
      untouched: true,
    }, {
      files: {
        [CONFIG]: "name: {{stack}}\nworking_dir: link/inner\n",
        "a..b/inner/compose.yaml": app("y"),
        "link": { link: "a..b" },
      },
      status: "failed",
      says: [/working_dir: link is a link, which is not followed/],
      untouched: true,
    }],
  },
  {
    rule: `${BASIC} context`,
    title: "empty, null and default in any case are the default context",
    covers: ["context"],
    steps: [
      {
        files: { [CONFIG]: "name: {{stack}}\ncontext: ' '\n", "compose.yaml": app("x") },
        status: "succeeded",
      },
      ...["~", "default", "DEFAULT"].map((context) => ({
        files: { [CONFIG]: `name: {{stack}}\ncontext: ${context}\n` },
        status: "skipped",
        untouched: true,
      } satisfies Row["steps"][number])),
      {
        files: { [CONFIG]: "name: {{stack}}\ncontext: elsewhere\n" },
        status: "failed",
        says: [/unknown context: elsewhere/],
        untouched: true,
      },
    ],
  },
];
