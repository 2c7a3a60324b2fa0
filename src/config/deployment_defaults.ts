/** Compose files of the published default, in lookup order. */
const PUBLISHED_COMPOSE_FILES = [
  "compose.yaml",
  "compose.yml",
  "container-compose.yml",
  "container-compose.yaml",
] as const;

/** Names looked for when the author listed none: the published ones, then compose's own older ones. */
export const LOOKED_UP_COMPOSE_FILES: readonly string[] = [
  ...PUBLISHED_COMPOSE_FILES,
  "docker-compose.yaml",
  "docker-compose.yml",
];

/** Defaults of the keys that are used as written, without conversion. */
export const PLAIN_DEFAULTS = {
  remove_orphans: true,
  prune_images: true,
  wait_running_jobs: true,
  force_recreate: false,
  force_image_pull: false,
  git_depth: 0,
  pause: false,
};

/** Every default of a deployment as its author would write it, but for those of its sections. */
export const DEPLOYMENT_DEFAULTS = {
  ...PLAIN_DEFAULTS,
  source: "git",
  version: "service.v1",
  repository_url: "",
  webhook_filter: "",
  reference: "",
  working_dir: ".",
  context: "",
  compose_files: [...PUBLISHED_COMPOSE_FILES] as readonly string[],
  env_files: [".env"] as readonly string[],
  timeout: "3m",
  profiles: [] as readonly string[],
  external_secrets_files: [] as readonly string[],
};

/** Defaults of the section `build`. */
export const BUILD_DEFAULTS = { force_image_pull: false, quiet: false, no_cache: false };

/** Defaults of the section `destroy`. */
export const DESTROY_DEFAULTS = { enabled: false, remove_volumes: true, remove_images: true };

/** Defaults of the section `auto_discovery`. */
export const DISCOVERY_DEFAULTS = {
  enabled: false,
  depth: 0,
  delete: false,
  remove_volumes: false,
  remove_images: true,
};

/** Defaults of the section `reconciliation`. */
export const RECONCILIATION_DEFAULTS = {
  enabled: true,
  events: ["unhealthy"] as readonly string[],
  drift: "report",
  restart_timeout: "10s",
  restart_signal: "",
  restart_limit: 5,
  restart_window: "5m",
};
