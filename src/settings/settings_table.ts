import { NOT_YET, type NotYetRow } from "./not_yet_table.ts";

/** The form that the text of a setting must have. */
export type SettingType =
  | "boolean"
  | "integer"
  | "duration"
  | "text"
  | "secret"
  | "path"
  | "URL"
  | "list"
  | "YAML";

/** One environment variable. */
export interface SettingRow {
  readonly name: string;
  readonly type: SettingType;
  /** Text of the default; empty for none. */
  readonly default: string;
  /** Whether `<name>_FILE` may name a file with the value instead. */
  readonly file: boolean;
  /** Other names that mean the same, for those who migrate. */
  readonly aliases: readonly string[];
  /** Smallest and largest value of an integer. */
  readonly range?: readonly [number, number];
  readonly description: string;
}

type Extra = Partial<Pick<SettingRow, "file" | "aliases" | "range">>;

const PORT: Extra = { range: [1, 65535] };
const NATURAL: Extra = { range: [0, Number.MAX_SAFE_INTEGER] };
const POSITIVE: Extra = { range: [1, Number.MAX_SAFE_INTEGER] };
const FILE: Extra = { file: true };

/** Every variable Stackwright reads: the parser, `--help` and the documentation use this table. */
export const SETTINGS_TABLE = [
  row("LOG_LEVEL", "text", "info", "debug, info, warn or error."),
  row(
    "LOG_FORMAT",
    "text",
    "auto",
    "text, json, or auto: text on a terminal and in the journal of systemd, json elsewhere.",
  ),
  row("TZ", "text", "UTC", "Time zone of timestamps and schedules, by its IANA name."),
  row("HTTP_PORT", "integer", "8080", "Port of API, webhooks and tool server.", PORT),
  row(
    "HTTP_HOST",
    "text",
    "0.0.0.0",
    "Address to listen on: 127.0.0.1 for this machine alone, 0.0.0.0 for all, :: with IPv6.",
  ),
  row("METRICS_PORT", "integer", "9120", "Port of the metrics; not the same as HTTP_PORT.", PORT),
  row("METRICS_HOST", "text", "", "Address of the metrics; that of HTTP_HOST when unset."),
  row("HTTP_TLS_CERT_FILE", "path", "", "Certificate for HTTPS, together with HTTP_TLS_KEY_FILE."),
  row("HTTP_TLS_KEY_FILE", "path", "", "Private key for HTTPS, together with HTTP_TLS_CERT_FILE."),
  row("API_SECRET", "secret", "", "Key of the API; without it there is no API.", FILE),
  row(
    "API_READ_SECRET",
    "secret",
    "",
    "Second key of the API, which may look at everything and change nothing.",
    FILE,
  ),
  row("WEBHOOK_SECRET", "secret", "", "Secret of webhooks; without it there are none.", FILE),
  row("MAX_PAYLOAD_SIZE", "integer", "1048576", "Largest request body in bytes.", POSITIVE),
  row("MCP_ENABLED", "boolean", "false", "Serve the tool server at /mcp; needs API_SECRET."),
  row("OPENAPI_ENABLED", "boolean", "false", "Serve the API documents and their pages."),
  row(
    "TRUSTED_PROXY_NETWORKS",
    "list",
    "127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128",
    "Networks whose proxies may say who the client is, for logs.",
  ),
  row("TRUSTED_PROXY_HEADER", "text", "X-Forwarded-For", "Header in which they say it."),
  row("DEPLOY_CONFIG_BASE_DIR", "path", "/", "Directory of the configuration in every repository."),
  row("PASS_ENV", "boolean", "false", "Offer our own environment to compose files."),
  row("MAX_CONCURRENT_DEPLOYMENTS", "integer", "4", "Deployments at the same time.", POSITIVE),
  row(
    "MAX_CONCURRENT_PREDEPLOYMENTS",
    "integer",
    "8",
    "Preparations at the same time, which touch no container.",
    POSITIVE,
  ),
  row("DEPLOY_ROLLBACK", "boolean", "true", "Put the previous release back when a new one fails."),
  row(
    "DEPLOY_WATCH",
    "duration",
    "2s",
    "How long a new container without a health check has to run before its release is good.",
  ),
  row(
    "REMOTE_FILES",
    "text",
    "refuse",
    "Files that an engine on another machine mounts: refuse, or volume (copied read-only).",
  ),
  row(
    "RELEASE_IMAGE_RETENTION",
    "integer",
    "0",
    "Previous releases whose images are kept in any case.",
    NATURAL,
  ),
  row(
    "ARTIFACT_GC_ENABLED",
    "boolean",
    "true",
    "Remove old trees of source files that no release and no running container needs.",
  ),
  row(
    "ARTIFACT_GC_RETENTION_RECORDS",
    "integer",
    "2",
    "Previous releases whose trees are kept; others are made again when they are rolled back to.",
    NATURAL,
  ),
  row(
    "ALLOW_LOCAL_REPOSITORY_URL",
    "boolean",
    "false",
    "Let repositories name local repositories as repository_url.",
  ),
  row("GIT_ACCESS_TOKEN", "secret", "", "Token for Git over HTTP.", FILE),
  row("GIT_ACCESS_TOKEN_USER", "text", "oauth2", "User name that goes with the token."),
  row(
    "GIT_ACCESS_TOKEN_HOSTS",
    "list",
    "",
    "Hosts that get the token; when unset, those of the configured sources.",
  ),
  row("GIT_AUTH_DOMAINS", "YAML", "", "List of credentials by domain.", FILE),
  row("GIT_CLONE_DEPTH", "integer", "0", "Commits of history to fetch; 0 is all.", NATURAL),
  row("GIT_CLONE_SUBMODULES", "boolean", "true", "Fetch submodules."),
  row(
    "GIT_MAX_BYTES",
    "integer",
    "4294967296",
    "Most bytes that are fetched at once, and of the files of one commit; 0 is no limit.",
    NATURAL,
  ),
  row("SSH_PRIVATE_KEY", "secret", "", "Private key for Git over SSH.", FILE),
  row("SSH_PRIVATE_KEY_PASSPHRASE", "secret", "", "Passphrase of the private key.", FILE),
  row("SSH_KNOWN_HOSTS_FILE", "path", "", "Host keys to accept; then no other key is."),
  row("GITHUB_APP_ID", "text", "", "GitHub App that makes tokens for Git over HTTPS.", FILE),
  row("GITHUB_APP_PRIVATE_KEY", "secret", "", "Private key of the App.", FILE),
  row(
    "GITHUB_APP_INSTALLATION_ID",
    "integer",
    "0",
    "Its installation; 0 looks it up for each repository.",
    NATURAL,
  ),
  row("SKIP_TLS_VERIFICATION", "boolean", "false", "Accept any certificate of Git servers."),
  row("HTTP_PROXY", "URL", "", "Proxy for http."),
  row("HTTPS_PROXY", "URL", "", "Proxy for https."),
  row("NO_PROXY", "list", "", "Hosts that are reached without a proxy."),
  row(
    "SOURCE_URL_REWRITES",
    "YAML",
    "",
    "Map from a URL, prefix or host to what replaces it; the longest match wins.",
    FILE,
  ),
  row(
    "SOPS_AGE_KEY",
    "secret",
    "",
    "age identities that decrypt SOPS files, a line each; see docs/sops.md.",
    FILE,
  ),
  row(
    "SECRET_PROVIDER",
    "text",
    "",
    "Where external secrets are: webhook, openbao, infisical, aws_sm, azure_kv or 1password.",
  ),
  row(
    "SECRET_PROVIDER_SITE_URL",
    "URL",
    "",
    "Address of openbao or infisical; for aws_sm another one than the region's.",
  ),
  row("SECRET_PROVIDER_ACCESS_TOKEN", "secret", "", "Token for openbao.", FILE),
  row("SECRET_PROVIDER_CLIENT_ID", "text", "", "Machine identity for infisical.", FILE),
  row("SECRET_PROVIDER_CLIENT_SECRET", "secret", "", "Secret of the machine identity.", FILE),
  row("SECRET_PROVIDER_REGION", "text", "", "Region of aws_sm."),
  row("SECRET_PROVIDER_ACCESS_KEY_ID", "text", "", "Access key for aws_sm.", FILE),
  row("SECRET_PROVIDER_SECRET_ACCESS_KEY", "secret", "", "Secret of the access key.", FILE),
  row("SECRET_PROVIDER_VAULT_URL", "URL", "", "Address of the vault of azure_kv."),
  row("SECRET_PROVIDER_CONNECT_HOST", "URL", "", "Address of the Connect server of 1password."),
  row("SECRET_PROVIDER_CONNECT_TOKEN", "secret", "", "Token for the Connect server.", FILE),
  row("SECRET_PROVIDER_WEBHOOK_STORES", "YAML", "", "Stores of the webhook provider.", FILE),
  row("SECRET_PROVIDER_AUTH_USERNAME", "text", "", "`.auth.username` of the stores.", FILE),
  row("SECRET_PROVIDER_AUTH_PASSWORD", "secret", "", "`.auth.password` of the stores.", FILE),
  row("SECRET_PROVIDER_AUTH_TOKEN", "secret", "", "`.auth.token` of the stores.", FILE),
  row("SECRET_PROVIDER_AUTH_APIKEY", "secret", "", "`.auth.api_key` of the stores.", FILE),
  row("AZURE_TENANT_ID", "text", "", "Tenant of the client for azure_kv."),
  row("AZURE_CLIENT_ID", "text", "", "Client for azure_kv, or which identity of the machine."),
  row(
    "AZURE_CLIENT_SECRET",
    "secret",
    "",
    "Secret of the client; without it the machine's own identity is used.",
    FILE,
  ),
  row(
    "AZURE_AUTHORITY_HOST",
    "URL",
    "https://login.microsoftonline.com",
    "Where the client logs in.",
  ),
  row("POLL_CONFIG", "YAML", "", "List of sources to poll.", FILE),
  row(
    "SYNC_WINDOWS",
    "YAML",
    "",
    "List of times at which deployments may, or may not, be made.",
    FILE,
  ),
  row(
    "SYNC_WINDOW_QUEUE",
    "boolean",
    "false",
    "Keep what a sync window defers, and decide about it again when the window opens.",
  ),
  row("SCHEDULER_ENABLED", "boolean", "true", "Run scheduled jobs."),
  row(
    "RECOVER_ON_STARTUP",
    "boolean",
    "true",
    "Look after all deployed stacks from the start; else after each when a run has dealt with it.",
  ),
  row("CONTAINER_QUIET_DEPLOY", "boolean", "true", "Keep the engine's progress out of the logs.", {
    aliases: ["DOCKER_QUIET_DEPLOY"],
  }),
  row("CONTAINER_SWARM_FEATURES", "boolean", "true", "Use swarm mode where it is active.", {
    aliases: ["DOCKER_SWARM_FEATURES"],
  }),
  retention("CONFIG"),
  retention("SECRET"),
  row("DATA_DIR", "path", "", "Data directory, absolute; see its default below.", {
    aliases: ["DATA_MOUNT_PATH"],
  }),
  row("DATA_HOST_DIR", "path", "", "The same directory as the engine's host sees it.", {
    aliases: ["DATA_HOST_PATH"],
  }),
  row("DOCKER_HOST", "text", "", "Address of the engine: unix, tcp, http, https or ssh."),
  row("DOCKER_API_VERSION", "text", "", "API version to speak with the engine."),
  row("DOCKER_CONFIG", "path", "", "Directory of the engine client's configuration."),
  row(
    "DOCKER_AUTH_CONFIG",
    "secret",
    "",
    "Credentials for registries as in config.json, before those: JSON with `auths`.",
  ),
  row("DOCKER_TLS_VERIFY", "text", "", "Any value: verify the engine's certificate."),
  row("DOCKER_CERT_PATH", "path", "", "Directory of the certificates for the engine."),
] as const;

/** Name of a variable of {@link SETTINGS_TABLE}. */
export type SettingName = (typeof SETTINGS_TABLE)[number]["name"];

function row<N extends string>(
  name: N,
  type: SettingType,
  fallback: string,
  description: string,
  extra: Extra = {},
): SettingRow & { readonly name: N } {
  return { name, type, default: fallback, file: false, aliases: [], description, ...extra };
}

function retention<K extends "CONFIG" | "SECRET">(kind: K) {
  const name = `CONTAINER_SWARM_${kind}_RETENTION` as const;
  const what = `Old swarm ${kind.toLowerCase()} revisions to keep; -1 keeps all.`;
  return row(name, "integer", "0", what, {
    aliases: [`DOCKER_SWARM_${kind}_RETENTION`],
    range: [-1, Number.MAX_SAFE_INTEGER],
  });
}

/** The table as Markdown, with the rules that hold for all of it. */
export function settingsReference(): string {
  const rows = SETTINGS_TABLE.map((setting: SettingRow) => {
    const names = [setting.name, ...(setting.file ? [`${setting.name}_FILE`] : [])];
    const also = setting.aliases.length > 0 ? ` Also ${code(setting.aliases)}.` : "";
    const fallback = setting.default === "" ? "" : code([setting.default]);
    return `| ${code(names)} | ${setting.type} | ${fallback} | ${setting.description}${also} |`;
  });
  return [
    "| Variable | Type | Default | Meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
    "An empty value is the same as none. `X_FILE` names a file that holds the value of `X`; setting",
    "both is an error. Booleans are `true`, `t`, `1`, `false`, `f` or `0`.",
    "",
    "`DATA_DIR` is `/data` in the image; else `$STATE_DIRECTORY`; else `/var/lib/stackwright` for root;",
    "else `$XDG_STATE_HOME/stackwright` (`~/.local/state/stackwright`).",
    "",
    "## Not in this version",
    "",
    "These are known, but nothing acts on them yet. Those marked as an error keep Stackwright from",
    "starting while they are set, because it would deploy what they are there to hold back or change;",
    "the others are a warning at the start.",
    "",
    "| Variable | While set | Meaning |",
    "|---|---|---|",
    ...NOT_YET.map(notYetRow),
    "",
  ].join("\n");
}

function notYetRow(row: NotYetRow): string {
  const { name, file, flag, refused, missing } = row;
  const names = code([name, ...(file ? [`${name}_FILE`] : [])]);
  const isSwitch = flag ? " when true" : row.switchInside === true ? " with `enabled: true`" : "";
  const unless = row.harmless === undefined ? "" : ` unless ${code([row.harmless])}`;
  const reaction = `${refused ? "error" : "warning"}${isSwitch}${unless}`;
  return `| ${names} | ${reaction} | ${
    row.settled === true ? "Instead" : "Until then"
  }, ${missing}. |`;
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
