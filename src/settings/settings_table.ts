import { FILE, is, NATURAL, PORT, POSITIVE, type SettingRow } from "./setting_row.ts";

const SETTINGS = {
  LOG_LEVEL: is.text("info", "debug, info, warn or error."),
  LOG_FORMAT: is.text(
    "auto",
    "text, json, or auto: text on a terminal and in the journal of systemd, json elsewhere.",
  ),
  TZ: is.text("UTC", "Time zone of timestamps and schedules, by its IANA name."),
  HTTP_PORT: is.integer("8080", "Port of API, webhooks and tool server.", PORT),
  HTTP_HOST: is.text(
    "0.0.0.0",
    "Address to listen on: 127.0.0.1 for this machine alone, 0.0.0.0 for all, :: with IPv6.",
  ),
  METRICS_PORT: is.integer("9120", "Port of the metrics; not the same as HTTP_PORT.", PORT),
  METRICS_HOST: is.text("", "Address of the metrics; that of HTTP_HOST when unset."),
  HTTP_TLS_CERT_FILE: is.path("", "Certificate for HTTPS, together with HTTP_TLS_KEY_FILE."),
  HTTP_TLS_KEY_FILE: is.path("", "Private key for HTTPS, together with HTTP_TLS_CERT_FILE."),
  API_SECRET: is.secret("", "Key of the API; without it there is no API.", FILE),
  API_READ_SECRET: is.secret(
    "",
    "Second key of the API, which may look at everything and change nothing.",
    FILE,
  ),
  WEBHOOK_SECRET: is.secret("", "Secret of webhooks; without it there are none.", FILE),
  MAX_PAYLOAD_SIZE: is.integer("1048576", "Largest request body in bytes.", POSITIVE),
  MCP_ENABLED: is.boolean("false", "Serve the tool server at /mcp; needs API_SECRET."),
  OPENAPI_ENABLED: is.boolean("false", "Serve the API documents and their pages."),
  TRUSTED_PROXY_NETWORKS: is.list(
    "127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128",
    "Networks whose proxies may say who the client is, for logs.",
  ),
  TRUSTED_PROXY_HEADER: is.text("X-Forwarded-For", "Header in which they say it."),
  DEPLOY_CONFIG_BASE_DIR: is.path("/", "Directory of the configuration in every repository."),
  PASS_ENV: is.boolean("false", "Offer our own environment to compose files."),
  MAX_CONCURRENT_DEPLOYMENTS: is.integer("4", "Deployments at the same time.", POSITIVE),
  MAX_CONCURRENT_PREDEPLOYMENTS: is.integer(
    "8",
    "Preparations at the same time, which touch no container.",
    POSITIVE,
  ),
  DEPLOY_ROLLBACK: is.boolean("true", "Put the previous release back when a new one fails."),
  DEPLOY_WATCH: is.duration(
    "2s",
    "How long a new container without a health check has to run before its release is good.",
  ),
  REMOTE_FILES: is.text(
    "refuse",
    "Files that an engine on another machine mounts: refuse, or volume (copied read-only).",
  ),
  RELEASE_IMAGE_RETENTION: is.integer(
    "1",
    "Good releases of each stack before the deployed one whose images are kept for rollbacks.",
    NATURAL,
  ),
  ARTIFACT_GC_ENABLED: is.boolean(
    "true",
    "Remove old trees of source files that no release and no running container needs.",
  ),
  ARTIFACT_GC_RETENTION_RECORDS: is.integer(
    "2",
    "Previous releases whose trees are kept; others are made again when they are rolled back to.",
    NATURAL,
  ),
  ALLOW_LOCAL_REPOSITORY_URL: is.boolean(
    "false",
    "Let repositories name local repositories as repository_url.",
  ),
  GIT_ACCESS_TOKEN: is.secret("", "Token for Git over HTTP.", FILE),
  GIT_ACCESS_TOKEN_USER: is.text("oauth2", "User name that goes with the token."),
  GIT_ACCESS_TOKEN_HOSTS: is.list(
    "",
    "Hosts that get the token; when unset, those of the configured sources.",
  ),
  GIT_AUTH_DOMAINS: is.YAML("", "List of credentials by domain.", FILE),
  GIT_CLONE_DEPTH: is.integer("0", "Commits of history to fetch; 0 is all.", NATURAL),
  GIT_CLONE_SUBMODULES: is.boolean("true", "Fetch submodules."),
  GIT_MAX_BYTES: is.integer(
    "4294967296",
    "Most bytes that are fetched at once, and of the files of one commit; 0 is no limit.",
    NATURAL,
  ),
  GIT_MAX_CPU_SECONDS: is.integer(
    "300",
    "Most seconds of processor time of each program of a fetch; 0 is no limit.",
    NATURAL,
  ),
  SSH_PRIVATE_KEY: is.secret("", "Private key for Git over SSH.", FILE),
  SSH_PRIVATE_KEY_PASSPHRASE: is.secret("", "Passphrase of the private key.", FILE),
  SSH_KNOWN_HOSTS_FILE: is.path("", "Host keys to accept; then no other key is."),
  GITHUB_APP_ID: is.text("", "GitHub App that makes tokens for Git over HTTPS.", FILE),
  GITHUB_APP_PRIVATE_KEY: is.secret("", "Private key of the App.", FILE),
  GITHUB_APP_INSTALLATION_ID: is.integer(
    "0",
    "Its installation; 0 looks it up for each repository.",
    NATURAL,
  ),
  SKIP_TLS_VERIFICATION: is.boolean("false", "Accept any certificate of Git servers."),
  HTTP_PROXY: is.URL("", "Proxy for http."),
  HTTPS_PROXY: is.URL("", "Proxy for https."),
  NO_PROXY: is.list("", "Hosts that are reached without a proxy."),
  SOURCE_URL_REWRITES: is.YAML(
    "",
    "Map from a URL, prefix or host to what replaces it; the longest match wins.",
    FILE,
  ),
  SOPS_AGE_KEY: is.secret(
    "",
    "age identities that decrypt SOPS files, a line each; see docs/sops.md.",
    FILE,
  ),
  SECRET_PROVIDER: is.text(
    "",
    "Where external secrets are: webhook, openbao, infisical, aws_sm, azure_kv or 1password.",
  ),
  SECRET_PROVIDER_SITE_URL: is.URL(
    "",
    "Address of openbao or infisical; for aws_sm another one than the region's.",
  ),
  SECRET_PROVIDER_ACCESS_TOKEN: is.secret("", "Token for openbao.", FILE),
  SECRET_PROVIDER_CLIENT_ID: is.text("", "Machine identity for infisical.", FILE),
  SECRET_PROVIDER_CLIENT_SECRET: is.secret("", "Secret of the machine identity.", FILE),
  SECRET_PROVIDER_REGION: is.text("", "Region of aws_sm."),
  SECRET_PROVIDER_ACCESS_KEY_ID: is.text("", "Access key for aws_sm.", FILE),
  SECRET_PROVIDER_SECRET_ACCESS_KEY: is.secret("", "Secret of the access key.", FILE),
  SECRET_PROVIDER_VAULT_URL: is.URL("", "Address of the vault of azure_kv."),
  SECRET_PROVIDER_CONNECT_HOST: is.URL("", "Address of the Connect server of 1password."),
  SECRET_PROVIDER_CONNECT_TOKEN: is.secret("", "Token for the Connect server.", FILE),
  SECRET_PROVIDER_WEBHOOK_STORES: is.YAML("", "Stores of the webhook provider.", FILE),
  SECRET_PROVIDER_AUTH_USERNAME: is.text("", "`.auth.username` of the stores.", FILE),
  SECRET_PROVIDER_AUTH_PASSWORD: is.secret("", "`.auth.password` of the stores.", FILE),
  SECRET_PROVIDER_AUTH_TOKEN: is.secret("", "`.auth.token` of the stores.", FILE),
  SECRET_PROVIDER_AUTH_APIKEY: is.secret("", "`.auth.api_key` of the stores.", FILE),
  AZURE_TENANT_ID: is.text("", "Tenant of the client for azure_kv."),
  AZURE_CLIENT_ID: is.text("", "Client for azure_kv, or which identity of the machine."),
  AZURE_CLIENT_SECRET: is.secret(
    "",
    "Secret of the client; without it the machine's own identity is used.",
    FILE,
  ),
  AZURE_AUTHORITY_HOST: is.URL("https://login.microsoftonline.com", "Where the client logs in."),
  POLL_CONFIG: is.YAML("", "List of sources to poll.", FILE),
  SYNC_WINDOWS: is.YAML("", "List of times at which deployments may, or may not, be made.", FILE),
  SYNC_WINDOW_QUEUE: is.boolean(
    "false",
    "Keep what a sync window defers, and decide about it again when the window opens.",
  ),
  SCHEDULER_ENABLED: is.boolean("true", "Run scheduled jobs."),
  RECOVER_ON_STARTUP: is.boolean(
    "true",
    "Look after all deployed stacks from the start; else after each when a run has dealt with it.",
  ),
  CONTAINER_QUIET_DEPLOY: is.boolean("true", "Keep the engine's progress out of the logs.", {
    aliases: ["DOCKER_QUIET_DEPLOY"],
  }),
  CONTAINER_SWARM_FEATURES: is.boolean("true", "Use swarm mode where it is active.", {
    aliases: ["DOCKER_SWARM_FEATURES"],
  }),
  CONTAINER_SWARM_CONFIG_RETENTION: retention("CONFIG"),
  CONTAINER_SWARM_SECRET_RETENTION: retention("SECRET"),
  DATA_DIR: is.path("", "Data directory, absolute; see its default below.", {
    aliases: ["DATA_MOUNT_PATH"],
  }),
  DATA_HOST_DIR: is.path("", "The same directory as the engine's host sees it.", {
    aliases: ["DATA_HOST_PATH"],
  }),
  DOCKER_HOST: is.text("", "Address of the engine: unix, tcp, http, https or ssh."),
  DOCKER_API_VERSION: is.text("", "API version to speak with the engine."),
  DOCKER_CONFIG: is.path("", "Directory of the engine client's configuration."),
  DOCKER_AUTH_CONFIG: is.secret(
    "",
    "Credentials for registries as in config.json, before those: JSON with `auths`.",
  ),
  DOCKER_TLS_VERIFY: is.text("", "Any value: verify the engine's certificate."),
  DOCKER_CERT_PATH: is.path("", "Directory of the certificates for the engine."),
};

/** Name of a variable of {@link SETTINGS_TABLE}. */
export type SettingName = keyof typeof SETTINGS;

/** Every variable Stackwright reads: the parser, `--help` and the documentation use this table. */
export const SETTINGS_TABLE: readonly SettingRow<SettingName>[] = Object.entries(SETTINGS)
  .map(([name, row]) => ({ name: name as SettingName, ...row }));

function retention(kind: "CONFIG" | "SECRET") {
  return is.integer("0", `Old swarm ${kind.toLowerCase()} revisions to keep; -1 keeps all.`, {
    aliases: [`DOCKER_SWARM_${kind}_RETENTION`],
    range: [-1, Number.MAX_SAFE_INTEGER],
  });
}
