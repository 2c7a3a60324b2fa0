import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { IMAGE } from "./world.ts";

/** A repository as somebody who moves here has it, and what runs once it is deployed. */
export interface Example {
  /** Directory below test/examples. */
  readonly name: string;
  /** Names of the containers. */
  readonly running: readonly string[];
  /** Labels by `container label`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Environment of containers, by `container VARIABLE`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Configuration targets that are polled; the default file where none are named. */
  readonly targets?: readonly string[];
  /** Deployments that `validate` must count. */
  readonly deployments: number;
  /** Services that end by themselves, well. */
  readonly ends?: readonly string[];
  /** Needs an engine that builds. */
  readonly builds?: true;
  /** Also deployed on the real engine. */
  readonly real?: true;
}

/** Every directory of test/examples. */
export const EXAMPLES: readonly Example[] = [
  {
    name: "single-app",
    running: ["website-web-1"],
    variables: { "website-web-1 TZ": "Europe/Vienna" },
    deployments: 1,
    real: true,
  },
  { name: "working-directory", running: ["notes-notes-1"], deployments: 1 },
  {
    name: "several-documents",
    running: ["dashboard-dashboard-1", "media-database-1", "media-library-1"],
    deployments: 2,
    real: true,
  },
  {
    name: "flat-directory",
    running: ["backup-backup-1", "metrics-metrics-1", "proxy-proxy-1"],
    labels: { "metrics-metrics-1 environment": "production" },
    deployments: 3,
  },
  {
    name: "auto-discovery",
    running: ["nginx-nginx-1", "wordpress-database-1", "wordpress-wordpress-1"],
    variables: { "wordpress-wordpress-1 WORDPRESS_DB_HOST": "database" },
    deployments: 2,
  },
  {
    name: "auto-discovery-overrides",
    running: ["forge-forge-1", "forge-runner-1", "wiki-wiki-1"],
    labels: {
      "forge-forge-1 host": "git.home.example",
      "forge-forge-1 level": "debug",
      "wiki-wiki-1 level": "info",
    },
    deployments: 2,
  },
  {
    name: "targets",
    running: ["backup-server-rsync-1", "mail-mail-1", "web-web-1"],
    targets: ["nas", "vps"],
    deployments: 3,
  },
  {
    name: "env-files",
    running: ["shop-api-1", "shop-api-2"],
    variables: { "shop-api-1 GREETING": "hello from eu", "shop-api-2 LOG_LEVEL": "error" },
    deployments: 1,
  },
  { name: "build-from-source", running: ["tool-tool-1"], deployments: 1, builds: true, real: true },
  {
    name: "profiles",
    running: ["observability-grafana-1", "observability-loki-1", "observability-prometheus-1"],
    deployments: 1,
  },
  { name: "destroyed", running: ["successor-app-1"], deployments: 2 },
  { name: "every-default-spelled-out", running: ["verbose-app-1"], deployments: 1 },
  { name: "moving-tags", running: ["nightly-app-1"], deployments: 1 },
  { name: "careful-updates", running: ["accounting-ledger-1"], deployments: 1 },
  {
    name: "include-and-extends",
    running: ["suite-app-1", "suite-database-1"],
    labels: { "suite-app-1 team": "platform" },
    variables: { "suite-database-1 POSTGRES_PASSWORD": "example" },
    deployments: 1,
  },
  { name: "configs-and-secrets", running: ["broker-broker-1"], deployments: 1 },
  {
    name: "migration-before-start",
    running: ["crm-crm-1", "crm-database-1"],
    ends: ["migrate"],
    deployments: 1,
  },
  { name: "labels", running: ["edge-proxy-1"], deployments: 1 },
  {
    name: "anchors",
    running: ["a", "b"].flatMap((name) =>
      ["first-1", "second-1", "second-2"].map((each) => `worker-${name}-${each}`)
    ),
    labels: {
      "worker-a-first-1 queue": "jobs",
      "worker-b-second-2 queue": "mails",
      "worker-b-first-1 region": "010",
    },
    deployments: 2,
  },
  { name: "paused", running: ["moving-app-1"], deployments: 2 },
  { name: "old-compose-names", running: ["legacy-app"], deployments: 1 },
  {
    name: "networks-between-stacks",
    running: ["shared-database-1", "tenant-app-1"],
    deployments: 2,
  },
];

/** Where the examples lie. */
export const EXAMPLES_DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), "../examples");

/** Name of a configuration file for whoever does not move, and for whoever has moved. */
export type Stem = ".doco-cd.yml" | ".doco-cd.yaml" | ".stackwright.yaml";

/** The files of an example, with its configuration files under the names of `stem`. */
export async function filesOf(name: string, stem: Stem): Promise<Record<string, string>> {
  const directory = join(EXAMPLES_DIRECTORY, name);
  const files: Record<string, string> = {};
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    files[rename(relative(directory, path), stem)] = await readFile(path, "utf8");
  }
  return files;
}

/** Images that the compose files of an example name. */
export function imagesOf(files: Readonly<Record<string, string>>): string[] {
  const texts = Object.values(files).join("\n");
  const images = [...texts.matchAll(/^\s*image: (\S+)$/gm)].map((match) => match[1] ?? "");
  return images.map((image) => image.replace("${BACKUP_VERSION:?}", "12"));
}

/** The same example for an engine without those images, and under names that are nobody else's. */
export function forRealEngine(
  files: Readonly<Record<string, string>>,
  prefix: string,
): Record<string, string> {
  const runs = `$1image: ${IMAGE}\n$1command: [sleep, "1000"]\n$1stop_grace_period: 0s`;
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      path.includes(".doco-cd") || path.includes(".stackwright")
        ? text.replace(/^name: /gm, `name: ${prefix}-`)
        : text.replace(/^(\s+)image: \S+$/gm, runs).replace(/^FROM .*$/m, `FROM ${IMAGE}`),
    ]),
  );
}

function rename(path: string, stem: Stem): string {
  const [, base = "", extension = ""] = /^(.*)(\.ya?ml)$/.exec(stem) ?? [];
  return path.replace(/(^|\/)\.doco-cd(\.\w+)?\.yaml$/, `$1${base}$2${extension}`);
}
