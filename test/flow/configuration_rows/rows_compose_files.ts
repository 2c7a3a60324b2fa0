import assert from "node:assert/strict";
import { composeFile, service } from "../compose_text.ts";
import { ids } from "../steps.ts";
import type { Row } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

const BASIC = "interface.md §2.1";

/** `compose_files` and what is looked for without it. */
export const COMPOSE_FILES_ROWS: readonly Row[] = [
  {
    rule: `${BASIC} compose_files`,
    title: "are relative to working_dir, must all exist, and cannot leave it",
    covers: ["compose_files", "working_dir"],
    steps: [{
      files: {
        [CONFIG]: "name: {{stack}}\nworking_dir: a\ncompose_files: [x/one.yaml, ./two.yaml]\n",
        "a/x/one.yaml": app("one"),
        "a/two.yaml": composeFile({ other: service() }),
        "a/compose.yaml": app("the default, which is not read"),
      },
      status: "succeeded",
      running: ["other-1", "web-1"],
      labels: { "web test.v": "one" },
    }, {
      files: { [CONFIG]: "name: {{stack}}\nworking_dir: a\ncompose_files: [two.yaml, no.yaml]\n" },
      status: "failed",
      says: [/a\/no\.yaml/],
      untouched: true,
      running: ["other-1", "web-1"],
    }, {
      files: { [CONFIG]: "name: {{stack}}\nworking_dir: a\ncompose_files: [../b/c.yaml]\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:3:17: compose_files\[0\]: the compose file leaves the working/],
      untouched: true,
    }, {
      files: { [CONFIG]: "name: {{stack}}\nworking_dir: a\ncompose_files: []\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:3:16: compose_files: expected at least one compose file/],
      untouched: true,
    }],
  },
  ...["compose.yaml", "compose.yml", "container-compose.yml", "container-compose.yaml"].map((
    name,
  ) => ({
    rule: `${BASIC} compose_files`,
    title: `${name} is found where nothing is listed, and null lists nothing`,
    covers: ["compose_files"],
    steps: [
      { files: { [CONFIG]: "name: {{stack}}\n", [name]: app("x") }, status: "succeeded" },
      {
        files: { [CONFIG]: "name: {{stack}}\ncompose_files: ~\n" },
        status: "skipped",
        untouched: true,
        see: async ({ world, stack }) =>
          assert.deepEqual(Object.keys(await ids(world, stack)), ["web-1"]),
      },
    ],
  } satisfies Row)),
  {
    rule: "deploy.md §1.5 compose_files",
    title: "none of the default names is an error that names them",
    covers: ["compose_files"],
    steps: [{
      files: { [CONFIG]: "name: {{stack}}\n", "other.yaml": app("x") },
      status: "failed",
      says: [/compose\.yaml/, /container-compose\.yaml/],
      running: [],
      untouched: true,
    }],
  },
];
