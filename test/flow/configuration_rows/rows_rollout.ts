import assert from "node:assert/strict";
import { composeFile, service } from "../compose_text.ts";
import { actions } from "../steps.ts";
import type { Row, Step } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

const BASIC = "interface.md §2.1";

/** A configuration with the stack's name and more lines. */
const config = (...lines: readonly string[]) => ["name: {{stack}}", ...lines, ""].join("\n");

/** Polls that must find nothing to do, with each of the given lines in the configuration. */
const same = (...lines: readonly string[]): Step[] =>
  lines.map((line) => ({
    files: { [CONFIG]: config(line) },
    status: "skipped",
    untouched: true,
  }));

const two = composeFile({ web: service(), worker: service() });
const one = composeFile({ web: service() });

/** Fields that say how it is deployed. */
export const ROLLOUT_ROWS: readonly Row[] = [
  {
    rule: `${BASIC} remove_orphans`,
    title: "true is the default, also as null; false keeps what is gone",
    covers: ["remove_orphans"],
    steps: [{
      files: { [CONFIG]: config("remove_orphans: no"), "compose.yaml": two },
      status: "succeeded",
      running: ["web-1", "worker-1"],
    }, {
      files: { "compose.yaml": one },
      status: "skipped",
      running: ["web-1", "worker-1"],
      untouched: true,
    }, {
      files: { [CONFIG]: config("remove_orphans: ~") },
      status: "succeeded",
      running: ["web-1"],
      replaced: [],
    }, {
      files: { [CONFIG]: config('remove_orphans: "yes"') },
      status: "failed",
      says: [/\.stackwright\.yaml:2:17: remove_orphans: expected true or false, found the text/],
      untouched: true,
    }],
  },
  {
    rule: `${BASIC} prune_images`,
    title: "true removes the images before the one that was replaced, false keeps them",
    covers: ["prune_images"],
    steps: ([[1, [1]], [2, [1, 2]], [3, [1, 2, 3]], [4, [3, 4]]] as const).map((
      [number, expected],
    ) => ({
      files: {
        [CONFIG]: config(`prune_images: ${number !== 3}`),
        "compose.yaml": composeFile({
          web: service({ image: `registry.test/{{stack}}-app:${number}` }),
        }),
      },
      before: ({ world, stack }) => {
        world.fake?.addImage(`registry.test/${stack}-app:${number}`, { where: "registry" });
      },
      status: "succeeded",
      see: async ({ world, stack }) => {
        const there = Object.keys(world.fake?.images() ?? {}).filter((name) =>
          name.startsWith(`registry.test/${stack}-app`)
        );
        await Promise.resolve();
        assert.deepEqual(
          there.sort(),
          expected.map((each) => `registry.test/${stack}-app:${each}`),
        );
      },
    })),
  },
  {
    rule: `${BASIC} wait_running_jobs`,
    title: "must be true or false, and changes nothing where no job runs",
    covers: [],
    steps: [
      { files: { [CONFIG]: config(), "compose.yaml": one }, status: "succeeded" },
      ...same("wait_running_jobs: false", "wait_running_jobs: ~"),
      {
        files: { [CONFIG]: config("wait_running_jobs: 1") },
        status: "failed",
        says: [/\.stackwright\.yaml:2:20: wait_running_jobs: expected true or false, found 1/],
        untouched: true,
      },
    ],
  },
  {
    rule: `${BASIC} force_recreate`,
    title: "replaces every container of the stack whenever a person asks for a run",
    covers: ["force_recreate"],
    steps: [
      { files: { [CONFIG]: config(), "compose.yaml": two }, status: "succeeded" },
      {
        files: { [CONFIG]: config("force_recreate: true") },
        status: "succeeded",
        replaced: ["web-1", "worker-1"],
      },
      { status: "succeeded", replaced: ["web-1", "worker-1"] },
      { ...same("force_recreate: ~")[0]!, replaced: [] },
    ],
  },
  {
    rule: `${BASIC} force_image_pull`,
    title: "asks the registry at every deployment, and replaces what uses a tag that moved",
    covers: ["force_image_pull"],
    steps: [{
      files: {
        [CONFIG]: config("force_image_pull: false"),
        "compose.yaml": composeFile({
          other: service(),
          web: service({ image: "registry.test/{{stack}}:1" }),
        }),
      },
      before: ({ world, stack }) => {
        world.fake?.addImage(`registry.test/${stack}:1`, { where: "registry", content: "one" });
      },
      status: "succeeded",
    }, {
      before: ({ world, stack }) => {
        world.fake?.addImage(`registry.test/${stack}:1`, { where: "registry", content: "two" });
      },
      status: "skipped",
      untouched: true,
    }, {
      files: { [CONFIG]: config("force_image_pull: true") },
      status: "succeeded",
      replaced: ["web-1"],
      see: ({ run }) => assert.deepEqual(actions(run), { other: "keep", web: "recreate" }),
    }],
  },
  {
    rule: `${BASIC} timeout; deploy.md §1.4`,
    title: "is a number of seconds or a duration, and ends the wait for what never gets healthy",
    covers: ["timeout"],
    steps: [
      { files: { [CONFIG]: config("timeout: 1m30s"), "compose.yaml": one }, status: "succeeded" },
      ...same("timeout: 90", "timeout: '90'", "timeout: 1.5m", "timeout: 2.0", "timeout: ~"),
      ...["0", "-3m", "1.5", "500ms", "''", "1d", "true", "[1]"].map((written): Step => ({
        files: { [CONFIG]: config(`timeout: ${written}`) },
        status: "failed",
        says: [/\.stackwright\.yaml:2:10: timeout: expected/],
        untouched: true,
      })),
      {
        files: {
          [CONFIG]: config("timeout: 2s"),
          "compose.yaml": composeFile({
            "never-healthy": service({ healthcheck: { test: ["CMD", "false"], interval: "1s" } }),
          }),
        },
        before: ({ world }) => world.fake?.setBehaviour("never-healthy", { health: "starting" }),
        status: "failed",
        says: [/timeout/, /never-healthy: health check is starting/],
      },
    ],
  },
  {
    rule: `${BASIC} git_depth`,
    title: "is a whole number of at least 0",
    covers: [],
    steps: [
      { files: { [CONFIG]: config("git_depth: 1"), "compose.yaml": one }, status: "succeeded" },
      ...same("git_depth: 0", "git_depth: ~"),
      ...["-1", "'3'", "1.5", "true"].map((written): Step => ({
        files: { [CONFIG]: config(`git_depth: ${written}`) },
        status: "failed",
        says: [/\.stackwright\.yaml:2:12: git_depth: expected a whole number of at least 0/],
        untouched: true,
      })),
    ],
  },
  {
    rule: "deploy.md §1.11",
    title: "what changes no container replaces none: options of runs, and variables nobody uses",
    covers: [],
    steps: [
      { files: { [CONFIG]: config(), "compose.yaml": two }, status: "succeeded" },
      ...same(
        "timeout: 9m",
        "retry: {limit: 7, delay: 1m}",
        "webhook_filter: ^x$",
        "git_depth: 3",
        "wait_running_jobs: false",
        "prune_images: false",
        "remove_orphans: false",
        "build: {no_cache: true, quiet: true}",
      ),
      {
        files: { [CONFIG]: config("environment: {NOBODY_USES: it}", "profiles: [nobody]") },
        status: "skipped",
        untouched: true,
      },
    ],
  },
  {
    rule: `${BASIC} profiles`,
    title: "are scalars, and start the services of those profiles and of none",
    covers: ["profiles"],
    steps: [
      {
        files: {
          [CONFIG]: config("profiles: [1.10, ~]"),
          "compose.yaml": composeFile({
            debug: service({ profiles: ["1.10"] }),
            test: service({ profiles: ["1.1"] }),
            web: service(),
          }),
        },
        status: "succeeded",
        running: ["debug-1", "web-1"],
      },
      { files: { [CONFIG]: config("profiles: ~") }, status: "succeeded", running: ["web-1"] },
      {
        files: { [CONFIG]: config("profiles: debug") },
        status: "failed",
        says: [/\.stackwright\.yaml:2:11: profiles: expected a list/],
        untouched: true,
      },
    ],
  },
  {
    rule: `${BASIC} pause`,
    title: "freezes updates and touches nothing that runs",
    covers: ["pause"],
    steps: [
      { files: { [CONFIG]: config(), "compose.yaml": app("1") }, status: "succeeded" },
      {
        files: { [CONFIG]: config("pause: on"), "compose.yaml": app("2") },
        status: "skipped",
        says: [/^paused/m],
        labels: { "web test.v": "1" },
        untouched: true,
      },
      {
        files: { [CONFIG]: config("pause: ~") },
        status: "succeeded",
        labels: { "web test.v": "2" },
      },
    ],
  },
];
