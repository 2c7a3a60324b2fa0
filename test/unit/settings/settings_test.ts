import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { posix } from "node:path";
import { generateHybridIdentity, generateIdentity } from "age-encryption";
import { isStackwrightError } from "../../../src/model/mod.ts";
import {
  type Environment,
  NOT_YET,
  readListenSettings,
  readSettings,
  secretValues,
  type Settings,
  SETTINGS_TABLE,
  type SettingsOptions,
} from "../../../src/settings/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { SOPS_AGE_KEY } from "../secrets/sops/real_files.ts";

const FILES: Record<string, string> = {
  "/secret": "  from file\n",
  "/empty": " \n",
  "/polls": "- url: https://h/o/r\n",
};

function readFile(path: string): string {
  const text = FILES[path];
  if (text === undefined) throw new Error(`no such file: ${path}`);
  return text;
}

function read(environment: Environment = {}, options: SettingsOptions = { uid: 0 }): Settings {
  return readSettings(environment, readFile, options);
}

function lines(environment: Environment, options?: SettingsOptions): string[] {
  try {
    read(environment, options);
  } catch (error) {
    assert.ok(isStackwrightError(error, "settings_invalid"), String(error));
    const [head = "", ...rest] = error.message.split("\n");
    assert.match(
      head,
      rest.length === 1 ? /^1 setting is invalid:$/ : /^\d+ settings are invalid:$/,
    );
    assert.equal(error.problems.length, rest.length);
    return rest;
  }
  assert.fail("the settings were accepted");
}

const DEFAULTS: Settings = {
  syncWindows: undefined,
  syncWindowQueue: false,
  logLevel: "info",
  logFormat: "auto",
  timeZone: "UTC",
  apiSecret: undefined,
  apiReadSecret: undefined,
  webhookSecret: undefined,
  http: {
    host: "0.0.0.0",
    port: 8080,
    tls: undefined,
    metricsHost: "0.0.0.0",
    metricsPort: 9120,
    maxPayloadBytes: 1048576,
    mcpEnabled: false,
    openApiEnabled: false,
    trustedProxyNetworks: [
      "127.0.0.0/8",
      "10.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "::1/128",
    ],
    trustedProxyHeader: "X-Forwarded-For",
  },
  git: {
    accessToken: undefined,
    accessTokenUser: "oauth2",
    accessTokenHosts: undefined,
    domains: [],
    app: undefined,
    cloneDepth: 0,
    cloneSubmodules: true,
    maxBytes: 4 * 1024 ** 3,
    maxCpuSeconds: 300,
    sshPrivateKey: undefined,
    sshPrivateKeyPassphrase: undefined,
    sshKnownHostsFile: undefined,
    skipTlsVerification: false,
    urlRewrites: {},
  },
  deploy: {
    configBaseDir: ".",
    passEnv: false,
    concurrent: { deployments: 4, preparations: 8 },
    rollback: true,
    watchMs: 2000,
    // A way back: what was built for the release before is nowhere else.
    releaseImageRetention: 1,
    artifactGcEnabled: true,
    artifactGcRetentionRecords: 2,
    allowLocalRepositoryUrl: false,
    quiet: true,
    recoverOnStartup: true,
    schedulerEnabled: true,
    swarmFeatures: true,
    swarmConfigRetention: 0,
    swarmSecretRetention: 0,
    remoteFiles: "refuse",
  },
  polls: [],
  secretProvider: undefined,
  proxy: { http: undefined, https: undefined, noProxy: [] },
  data: { dir: "/var/lib/stackwright", hostDir: undefined },
  sops: { ageKey: undefined },
  docker: {
    host: undefined,
    apiVersion: undefined,
    configDir: undefined,
    authConfig: undefined,
    tlsVerify: false,
    certPath: undefined,
  },
  secretFiles: [],
  notices: [],
};
const { http, git, deploy, docker, data, proxy } = DEFAULTS;

describe("readSettings", () => {
  it("readSettings() applies every default to an empty environment, and to empty values", () => {
    assert.deepEqual(read(), DEFAULTS);
    const empty = SETTINGS_TABLE.flatMap(({ name, file, aliases }) =>
      [name, ...(file ? [`${name}_FILE`] : []), ...aliases].map((key) => [key, ""])
    );
    assert.deepEqual(read(Object.fromEntries(empty)), DEFAULTS);
  });

  it("readSettings() tells which files hold secrets, each once", () => {
    assert.deepEqual(
      read({
        API_SECRET_FILE: "/secret",
        WEBHOOK_SECRET_FILE: "/secret",
        HTTP_TLS_CERT_FILE: "/c",
        HTTP_TLS_KEY_FILE: "/k",
        DOCKER_CERT_PATH: "/certs",
        SSH_KNOWN_HOSTS_FILE: "/kh",
        SOMETHING_FILE: "/other",
      }).secretFiles,
      ["/certs", "/k", "/secret"],
    );
    assert.deepEqual(read({ DOCKER_CERT_PATH: "keys/../secret" }).secretFiles, [
      posix.resolve("secret"),
    ]);
  });

  const accepted: [Environment, Partial<Settings>][] = [
    [{ LOG_LEVEL: "WARN" }, { logLevel: "warn" }],
    [{ REMOTE_FILES: " Volume" }, { deploy: { ...deploy, remoteFiles: "volume" } }],
    [{ LOG_FORMAT: " JSON " }, { logFormat: "json" }],
    [{ TZ: "Europe/Berlin" }, { timeZone: "Europe/Berlin" }],
    [{ HTTP_PORT: "1" }, { http: { ...http, port: 1 } }],
    [{ HTTP_HOST: "127.0.0.1" }, {
      http: { ...http, host: "127.0.0.1", metricsHost: "127.0.0.1" },
    }],
    [{ METRICS_HOST: " ::1 " }, { http: { ...http, metricsHost: "::1" } }],
    [{ METRICS_PORT: "65535" }, { http: { ...http, metricsPort: 65535 } }],
    [{ HTTP_TLS_CERT_FILE: "/c", HTTP_TLS_KEY_FILE: "/k" }, {
      http: { ...http, tls: { certFile: "/c", keyFile: "/k" } },
    }],
    [{ API_SECRET: "s" }, { apiSecret: "s" }],
    [{ API_SECRET_FILE: "/secret" }, { apiSecret: "from file" }],
    [{ API_SECRET_FILE: "/empty" }, {}],
    [{ API_READ_SECRET: "r" }, { apiReadSecret: "r" }],
    [{ API_READ_SECRET_FILE: "/secret" }, { apiReadSecret: "from file" }],
    [{ WEBHOOK_SECRET_FILE: "/secret" }, { webhookSecret: "from file" }],
    [{ MAX_PAYLOAD_SIZE: "1" }, { http: { ...http, maxPayloadBytes: 1 } }],
    [{ MCP_ENABLED: "true", API_SECRET_FILE: "/secret" }, {
      apiSecret: "from file",
      http: { ...http, mcpEnabled: true },
    }],
    [{ OPENAPI_ENABLED: "1" }, { http: { ...http, openApiEnabled: true } }],
    [{ TRUSTED_PROXY_NETWORKS: "10.0.0.0/8, ::/0,10.0.0.0/8" }, {
      http: { ...http, trustedProxyNetworks: ["10.0.0.0/8", "::/0"] },
    }],
    [{ TRUSTED_PROXY_HEADER: "X-Real-IP" }, { http: { ...http, trustedProxyHeader: "X-Real-IP" } }],
    [{ DEPLOY_CONFIG_BASE_DIR: "/ops/" }, { deploy: { ...deploy, configBaseDir: "ops" } }],
    [{ PASS_ENV: "T" }, { deploy: { ...deploy, passEnv: true } }],
    [{ MAX_CONCURRENT_DEPLOYMENTS: "1" }, {
      deploy: { ...deploy, concurrent: { deployments: 1, preparations: 8 } },
    }],
    [{ MAX_CONCURRENT_PREDEPLOYMENTS: "2" }, {
      deploy: { ...deploy, concurrent: { deployments: 4, preparations: 2 } },
    }],
    [{ DEPLOY_ROLLBACK: "false" }, { deploy: { ...deploy, rollback: false } }],
    [{ DEPLOY_WATCH: "1m30s" }, { deploy: { ...deploy, watchMs: 90_000 } }],
    [{ DEPLOY_WATCH: "0" }, { deploy: { ...deploy, watchMs: 0 } }],
    [{ ARTIFACT_GC_ENABLED: "false" }, { deploy: { ...deploy, artifactGcEnabled: false } }],
    [{ ARTIFACT_GC_RETENTION_RECORDS: "5" }, {
      deploy: { ...deploy, artifactGcRetentionRecords: 5 },
    }],
    [{ RELEASE_IMAGE_RETENTION: "3" }, { deploy: { ...deploy, releaseImageRetention: 3 } }],
    [{ ALLOW_LOCAL_REPOSITORY_URL: "true" }, {
      deploy: { ...deploy, allowLocalRepositoryUrl: true },
    }],
    [{ GIT_ACCESS_TOKEN_FILE: "/secret" }, { git: { ...git, accessToken: "from file" } }],
    [{ GIT_ACCESS_TOKEN_USER: "x" }, { git: { ...git, accessTokenUser: "x" } }],
    [{ GIT_ACCESS_TOKEN_HOSTS: "H.example, , b" }, {
      git: { ...git, accessTokenHosts: ["h.example", "b"] },
    }],
    [{ GITHUB_APP_ID: "7", GITHUB_APP_PRIVATE_KEY_FILE: "/secret" }, {
      git: { ...git, app: { id: "7", privateKey: "from file", installationId: "" } },
    }],
    [{ GITHUB_APP_ID: "7", GITHUB_APP_PRIVATE_KEY: "k", GITHUB_APP_INSTALLATION_ID: "9" }, {
      git: { ...git, app: { id: "7", privateKey: "k", installationId: "9" } },
    }],
    [{ SOURCE_URL_REWRITES: "HTTPS://GitHub.com/Big/App: https://m\ngit@X.Y:Z/: https://n\n" }, {
      git: {
        ...git,
        urlRewrites: { "https://github.com/Big/App": "https://m", "git@x.y:Z/": "https://n" },
      },
    }],
    [{ GIT_CLONE_DEPTH: "5" }, { git: { ...git, cloneDepth: 5 } }],
    [{ GIT_MAX_BYTES: "0" }, { git: { ...git, maxBytes: 0 } }],
    [{ GIT_MAX_CPU_SECONDS: "900" }, { git: { ...git, maxCpuSeconds: 900 } }],
    [{ GIT_CLONE_SUBMODULES: "0" }, { git: { ...git, cloneSubmodules: false } }],
    [{ SSH_PRIVATE_KEY: "k", SSH_PRIVATE_KEY_PASSPHRASE_FILE: "/secret" }, {
      git: { ...git, sshPrivateKey: "k", sshPrivateKeyPassphrase: "from file" },
    }],
    [{ SSH_KNOWN_HOSTS_FILE: "/kh" }, { git: { ...git, sshKnownHostsFile: "/kh" } }],
    [{ SKIP_TLS_VERIFICATION: "True" }, { git: { ...git, skipTlsVerification: true } }],
    [{ HTTP_PROXY: "http://p:3128", HTTPS_PROXY: "https://u:p@q", NO_PROXY: "a, .b" }, {
      proxy: { http: "http://p:3128", https: "https://u:p@q", noProxy: ["a", ".b"] },
    }],
    [{ SOPS_AGE_KEY: `# mine\n\n${SOPS_AGE_KEY}\nAGE-PLUGIN-YUBIKEY-1QX` }, {
      sops: { ageKey: `# mine\n\n${SOPS_AGE_KEY}\nAGE-PLUGIN-YUBIKEY-1QX` },
    }],
    [{ SOURCE_URL_REWRITES: "GitHub.com: https://mirror\n" }, {
      git: { ...git, urlRewrites: { "github.com": "https://mirror" } },
    }],
    [{ SCHEDULER_ENABLED: "f" }, { deploy: { ...deploy, schedulerEnabled: false } }],
    [{ RECOVER_ON_STARTUP: "FALSE" }, { deploy: { ...deploy, recoverOnStartup: false } }],
    [{ CONTAINER_QUIET_DEPLOY: "false" }, { deploy: { ...deploy, quiet: false } }],
    [{ DOCKER_QUIET_DEPLOY: "false" }, { deploy: { ...deploy, quiet: false } }],
    [{ DOCKER_SWARM_FEATURES: "false" }, { deploy: { ...deploy, swarmFeatures: false } }],
    [{ CONTAINER_SWARM_CONFIG_RETENTION: "-1" }, {
      deploy: { ...deploy, swarmConfigRetention: -1 },
    }],
    [{ DOCKER_SWARM_CONFIG_RETENTION: "2" }, { deploy: { ...deploy, swarmConfigRetention: 2 } }],
    [{ DOCKER_SWARM_SECRET_RETENTION: "2", CONTAINER_SWARM_SECRET_RETENTION: "2" }, {
      deploy: { ...deploy, swarmSecretRetention: 2 },
    }],
    [{ DATA_DIR: "/d/../data/" }, { data: { dir: "/data", hostDir: undefined } }],
    [{ DATA_MOUNT_PATH: "/data", DATA_HOST_PATH: "/srv" }, {
      data: { dir: "/data", hostDir: "/srv" },
    }],
    [{ DATA_HOST_DIR: "/srv" }, { data: { ...data, hostDir: "/srv" } }],
    [{ STATE_DIRECTORY: "/s:/t" }, { data: { ...data, dir: "/s" } }],
    [{ DOCKER_HOST: "tcp://h:2376", DOCKER_TLS_VERIFY: "0", DOCKER_CERT_PATH: "/c" }, {
      docker: { ...docker, host: "tcp://h:2376", tlsVerify: true, certPath: "/c" },
    }],
    [{ DOCKER_API_VERSION: "1.45", DOCKER_CONFIG: "/dc" }, {
      docker: { ...docker, apiVersion: "1.45", configDir: "/dc" },
    }],
    [{ API_SECRET: " s " }, { apiSecret: " s " }],
    [{ HTTP_PROXY: "", NO_PROXY: "," }, { proxy }],
  ];
  for (const [environment, change] of accepted) {
    it(`readSettings() reads ${JSON.stringify(environment)}`, () => {
      // Both have tests of their own.
      const { notices: _, secretFiles: _f, ...settings } = read(environment);
      const { notices: __, secretFiles: __f, ...expected } = { ...DEFAULTS, ...change };
      assert.deepEqual(settings, expected);
    });
  }

  const refused: [Environment, string][] = [
    [{ LOG_LEVEL: "loud" }, 'LOG_LEVEL: expected debug, info, warn, error; found "loud"'],
    [{ REMOTE_FILES: "copy" }, 'REMOTE_FILES: expected refuse or volume; found "copy"'],
    [{ LOG_FORMAT: "xml" }, 'LOG_FORMAT: expected auto, text, json; found "xml"'],
    [{ TZ: "Mars/Base" }, 'TZ: expected a time zone such as Europe/Berlin, found "Mars/Base"'],
    [{ HTTP_PORT: "0" }, 'HTTP_PORT: expected a whole number 1 to 65535, found "0"'],
    [{ HTTP_PORT: "80a" }, 'HTTP_PORT: expected a whole number 1 to 65535, found "80a"'],
    [{ HTTP_HOST: "127.0.0.1:80" }, "HTTP_HOST: expected an address of this machine such as"],
    [{ METRICS_HOST: "[::1]" }, "METRICS_HOST: expected an address of this machine such as"],
    [{ METRICS_PORT: "65536" }, "METRICS_PORT: expected a whole number 1 to 65535"],
    [{ HTTP_PORT: "a", METRICS_PORT: "1" }, "HTTP_PORT: expected a whole number 1 to 65535"],
    [{ METRICS_PORT: "8080" }, "METRICS_PORT: must differ from HTTP_PORT, both are 8080"],
    [{ HTTP_TLS_CERT_FILE: "/c" }, "HTTP_TLS_KEY_FILE: must be set too"],
    [{ HTTP_TLS_KEY_FILE: "/k" }, "HTTP_TLS_CERT_FILE: must be set too"],
    [{ API_SECRET: "a", API_SECRET_FILE: "/secret" }, "API_SECRET: API_SECRET and API_SECRET_FILE"],
    [
      { POLL_CONFIG: "[]", POLL_CONFIG_FILE: "/polls" },
      "POLL_CONFIG: POLL_CONFIG and POLL_CONFIG_",
    ],
    [{ WEBHOOK_SECRET_FILE: "/none" }, "WEBHOOK_SECRET_FILE: reading /none failed: no such file"],
    [{ API_SECRET: "a", API_READ_SECRET: "a" }, "API_READ_SECRET: must differ from API_SECRET"],
    [{ MCP_ENABLED: "true" }, "MCP_ENABLED: the tool server requires API_SECRET"],
    [{ MCP_ENABLED: "yes" }, 'MCP_ENABLED: expected true or false, found "yes"'],
    [{ PASS_ENV: "on" }, 'PASS_ENV: expected true or false, found "on"'],
    [{ MAX_PAYLOAD_SIZE: "0" }, "MAX_PAYLOAD_SIZE: expected a whole number of at least 1"],
    [{ MAX_PAYLOAD_SIZE: "1e3" }, "MAX_PAYLOAD_SIZE: expected a whole number of at least 1"],
    [{ MAX_CONCURRENT_DEPLOYMENTS: "0" }, "MAX_CONCURRENT_DEPLOYMENTS: expected a whole number of"],
    [{ GIT_CLONE_DEPTH: "-1" }, "GIT_CLONE_DEPTH: expected a whole number of at least 0"],
    [{ CONTAINER_SWARM_CONFIG_RETENTION: "-2" }, "CONTAINER_SWARM_CONFIG_RETENTION: expected a"],
    [{ DATA_DIR: "data" }, 'DATA_DIR: expected an absolute path, found "data"'],
    [{ DATA_HOST_PATH: "data" }, 'DATA_HOST_PATH: expected an absolute path, found "data"'],
    [{ DOCKER_SWARM_CONFIG_RETENTION: "-2" }, "DOCKER_SWARM_CONFIG_RETENTION: expected a"],
    [{ DATA_DIR: "/a", DATA_MOUNT_PATH: "/b" }, "DATA_DIR: DATA_DIR and its alias DATA_MOUNT_PATH"],
    [{ DEPLOY_CONFIG_BASE_DIR: "../x" }, "DEPLOY_CONFIG_BASE_DIR: expected a directory inside"],
    [
      { TRUSTED_PROXY_NETWORKS: "10.0.0.1/33" },
      "TRUSTED_PROXY_NETWORKS: expected networks in CIDR",
    ],
    [{ TRUSTED_PROXY_HEADER: "X Y" }, "TRUSTED_PROXY_HEADER: expected the name of a header"],
    [{ HTTP_PROXY: "p:3128" }, "HTTP_PROXY: expected the URL of a proxy"],
    [{ SOURCE_URL_REWRITES: "a: ''" }, "SOURCE_URL_REWRITES:1:1: a: expected a replacement"],
    [{ SOURCE_URL_REWRITES: "[a]" }, "SOURCE_URL_REWRITES:1:1: expected one map"],
    [
      { POLL_CONFIG: "- url: /r\n  interval: 5\n" },
      "POLL_CONFIG:2:13: [0].interval: expected 0 or",
    ],
    [{ POLL_CONFIG: "[" }, "POLL_CONFIG:1:2: not valid YAML"],
    [{ GITHUB_APP_ID: "1" }, "GITHUB_APP_PRIVATE_KEY: must be set too, since GITHUB_APP_ID is"],
    [
      { GIT_ACCESS_TOKEN_HOSTS: "a.example,https://git.example" },
      "GIT_ACCESS_TOKEN_HOSTS: expected",
    ],
    [{ SSH_PRIVATE_KEY: "ssh-ed25519 AAAA me@host" }, "SSH_PRIVATE_KEY: is a public key; expected"],
    [{ SSH_PRIVATE_KEY: "PuTTY-User-Key-File-3: x" }, "SSH_PRIVATE_KEY: is a key of PuTTY"],
    [{ GITHUB_APP_PRIVATE_KEY: "k" }, "GITHUB_APP_ID: must be set too"],
    [
      { GITHUB_APP_ID: "1", GITHUB_APP_PRIVATE_KEY: "k", GIT_ACCESS_TOKEN: "t" },
      "GIT_ACCESS_TOKEN: is set together with GITHUB_APP_ID",
    ],
    [{ GITHUB_APP_INSTALLATION_ID: "-1" }, "GITHUB_APP_INSTALLATION_ID: expected a whole number"],
    [{ GIT_AUTH_DOMAINS: "- {domains: []}" }, "GIT_AUTH_DOMAINS:1:13: [0].domains: expected at"],
    [{ GIT_AUTH_DOMAINS: "- {domains: [a b]}" }, "GIT_AUTH_DOMAINS:1:14: [0].domains[0]: expected"],
    [{ GIT_AUTH_DOMAINS: "- {domains: [a, A]}" }, "GIT_AUTH_DOMAINS:1:17: [0].domains[1]: a is in"],
    [{ GIT_AUTH_DOMAINS: "- {domains: [a], tokn: x}" }, "GIT_AUTH_DOMAINS:1:18: [0].tokn: unknown"],
    [
      { GIT_AUTH_DOMAINS: "- {domains: [a], github_app_id: 1}" },
      "GIT_AUTH_DOMAINS:1:33: [0].github",
    ],
  ];
  for (const [environment, start] of refused) {
    it(`readSettings() refuses ${JSON.stringify(environment)} naming the variable`, () => {
      const [first = "", ...others] = lines(environment);
      assert.equal(first.slice(0, start.length), start);
      assert.deepEqual(others, []);
    });
  }

  it("readSettings() reports everything together, a line each", () => {
    const found = lines({
      HTTP_PORT: "x",
      TZ: "x",
      API_SECRET: "a",
      API_SECRET_FILE: "/secret",
      MCP_ENABLED: "true",
      POLL_CONFIG: "- {}\n- {}\n",
    });
    assert.deepEqual(found.map((line) => line.split(":")[0]), [
      "TZ",
      "API_SECRET",
      "HTTP_PORT",
      "POLL_CONFIG",
      "POLL_CONFIG",
    ]);
  });

  it("readSettings() never shows a secret", () => {
    const text = lines({
      HTTP_PROXY: "u:hunter2@h",
      API_SECRET: "hunter2",
      API_SECRET_FILE: "/x",
      GIT_AUTH_DOMAINS: "- {domains: [a], git_access_token: [hunter2]}",
      SOURCE_URL_REWRITES: "a: [hunter2]",
    }).join("\n");
    assert.doesNotMatch(text, /hunter2/);
  });

  it("readSettings() names the file variable where a text came from a file", () => {
    FILES["/bad-polls"] = "- {url: 1}\n";
    assert.match(lines({ POLL_CONFIG_FILE: "/bad-polls" })[0] ?? "", /^POLL_CONFIG_FILE:1:9: /);
    assert.equal(read({ POLL_CONFIG_FILE: "/polls" }).polls[0]?.request.url, "https://h/o/r");
  });

  const homes: [Environment, number | undefined, string | undefined][] = [
    [{}, 0, "/var/lib/stackwright"],
    [{ XDG_STATE_HOME: "/x", HOME: "/h" }, 1000, "/x/stackwright"],
    [{ HOME: "/h" }, 1000, "/h/.local/state/stackwright"],
    [{ HOME: "/h", STATE_DIRECTORY: "/s" }, 1000, "/s"],
    [{ HOME: "/h" }, undefined, "/h/.local/state/stackwright"],
    [{ HOME: "h" }, 1000, undefined],
  ];
  for (const [environment, uid, dir] of homes) {
    it(`readSettings() puts data of user ${uid} with ${JSON.stringify(environment)} in ${dir}`, () => {
      if (dir !== undefined) assert.equal(read(environment, { uid }).data.dir, dir);
      else assert.match(lines(environment, { uid })[0] ?? "", /^DATA_DIR: must be set/);
    });
  }

  it("readSettings() reads credentials by domain", () => {
    const text = "- domains: [GitHub.com, '*.corp.example']\n  git_access_token: t\n" +
      "- {domains: [h], github_app_id: 010, github_app_private_key: k, insecure_skip_tls: yes}\n";
    assert.deepEqual(read({ GIT_AUTH_DOMAINS: text }).git.domains, [
      {
        domains: ["github.com", "*.corp.example"],
        accessToken: "t",
        accessTokenUser: "oauth2",
        sshPrivateKey: undefined,
        sshPrivateKeyPassphrase: undefined,
        app: undefined,
        skipTlsVerification: false,
      },
      {
        domains: ["h"],
        accessToken: undefined,
        accessTokenUser: "oauth2",
        sshPrivateKey: undefined,
        sshPrivateKeyPassphrase: undefined,
        app: { id: "010", privateKey: "k", installationId: "" },
        skipTlsVerification: true,
      },
    ]);
    const both =
      "- {domains: [h], github_app_id: 1, github_app_private_key: k, ssh_private_key: s}";
    assert.match(lines({ GIT_AUTH_DOMAINS: both })[0] ?? "", /exclude each other/);
  });

  it("readSettings() gives equal, frozen settings each time", () => {
    const environment = {
      POLL_CONFIG: "- {url: /r, deployments: [{name: a}]}",
      GIT_AUTH_DOMAINS: "- {domains: [a]}",
    };
    const first = read(environment);
    assert.deepEqual(first, read(environment));
    for (
      const part of [first, first.http, first.git.domains, first.polls[0], first.polls[0]?.request]
    ) {
      assert.ok(Object.isFrozen(part));
    }
    assert.ok(Object.isFrozen(first.polls[0]?.request.deployments[0]?.deployment.build.args));
    // @ts-expect-error No part of them can be assigned to.
    assert.throws(() => first.http.port = 1, TypeError);
  });
});

describe("readSettings for what this version does not have", () => {
  const refused = [
    "OCI_TRUST_POLICY",
    "OCI_TRUST_POLICY_FILE",
    "DOCKER_CONTEXT",
    "SCHEDULER_INSTANCE_ID",
    "SCHEDULER_REQUIRE_OWNER_CONTEXTS",
  ];
  for (const name of refused) {
    it(`readSettings() refuses ${name}, and does not repeat its value`, () => {
      const [line = "", ...others] = lines({ [name]: "canary-4711" });
      assert.deepEqual(others, []);
      assert.ok(line.startsWith(`${name}: this version does not act on it yet: `), line);
      assert.doesNotMatch(line, /canary/);
      assert.deepEqual(read({ [name]: " " }).notices, []);
    });
  }

  it("readSettings() lets DOCKER_CONTEXT be the context that is used anyway", () => {
    assert.deepEqual(read({ DOCKER_CONTEXT: "default" }).notices, []);
  });

  const noticed: [string, string][] = [
    ["CERT_ROTATION_ENABLED", "true"],
    ["APPRISE_API_URL", "http://u:canary@apprise"],
    ["SELF_UPDATE_ENABLED", "T"],
  ];
  for (const [name, value] of noticed) {
    it(`readSettings() gives one notice for ${name}=${value}, without the value`, () => {
      const [notice = "", ...others] = read({ [name]: value }).notices;
      assert.deepEqual(others, []);
      assert.ok(
        notice.startsWith(`${name} is set, but this version does not act on it yet: `),
        notice,
      );
      assert.doesNotMatch(notice, /canary|4711|\/secret/);
    });
  }

  it("readSettings() refuses a line of SOPS_AGE_KEY that is no identity, without showing it", () => {
    assert.deepEqual(lines({ SOPS_AGE_KEY: `${SOPS_AGE_KEY}\nage1canary` }), [
      "SOPS_AGE_KEY: line 2 is no age identity: expected AGE-…, as age-keygen writes it, one a line",
    ]);
    const wrong = `${SOPS_AGE_KEY.slice(0, 20)}canary`;
    const redactor = createRedactor();
    redactor.add(wrong);
    const [said = ""] = lines({ SOPS_AGE_KEY: wrong });
    assert.equal(redactor.redact(said), said);
    const damaged = (length: number) => [
      `SOPS_AGE_KEY: line 1 is a damaged age identity (${length} characters with a wrong checksum): it ` +
      "was cut off or mistyped; take the whole line that age-keygen wrote",
    ];
    for (const length of [16, 30, 73]) {
      assert.deepEqual(lines({ SOPS_AGE_KEY: SOPS_AGE_KEY.slice(0, length) }), damaged(length));
    }
    assert.deepEqual(lines({ SOPS_AGE_KEY: SOPS_AGE_KEY.replace("QXR", "XQR") }), damaged(74));
  });

  it("readSettings() takes the identities that age makes, also post-quantum ones", async () => {
    for (const make of [generateIdentity, generateHybridIdentity]) {
      const key = await make();
      assert.equal(read({ SOPS_AGE_KEY: key }).sops.ageKey, key);
      assert.equal(lines({ SOPS_AGE_KEY: key.slice(0, -1) }).length, 1);
    }
  });

  it("readSettings() refuses a key for SOPS without an identity, by the name that was set", () => {
    const expected = "expected AGE-…, as age-keygen writes it, one a line";
    assert.deepEqual(lines({ SOPS_AGE_KEY_FILE: "/empty" }), [
      `SOPS_AGE_KEY_FILE: it has no age identity, it is empty: ${expected}`,
    ]);
    assert.deepEqual(lines({ SOPS_AGE_KEY: "# created: today" }), [
      `SOPS_AGE_KEY: it has no age identity, only comments: ${expected}`,
    ]);
    assert.equal(lines({ SOPS_AGE_KEY_FILE: "/gone" }).length, 1);
    assert.equal(read({ SOPS_AGE_KEY: "" }).sops.ageKey, undefined);
  });

  it("readSettings() has nothing to say about a tool server with a key", () => {
    const { notices, http } = read({ MCP_ENABLED: "true", API_SECRET: "a-key-of-the-api" });
    assert.deepEqual(notices, []);
    assert.equal(http.mcpEnabled, true);
  });

  for (const name of ["API_SECRET", "API_READ_SECRET", "WEBHOOK_SECRET"]) {
    it(`readSettings() warns of a short ${name}, and does not repeat it`, () => {
      const [notice = "", ...others] = read({ [name]: "hook" }).notices;
      assert.deepEqual(others, []);
      assert.ok(notice.startsWith(`${name} has 4 characters: `), notice);
      assert.doesNotMatch(notice, /hook/);
      assert.deepEqual(read({ [name]: "twelve-of-it" }).notices, []);
    });
  }

  it("readSettings() refuses a trust policy for artifacts, unless it is off", () => {
    const on = [
      "enabled: true",
      "{enabled: yes}",
      "enabled: true\n---\nenabled: false",
      "[",
      "- a",
    ];
    for (const text of on) {
      assert.match(lines({ OCI_TRUST_POLICY: text }).join(), /^OCI_TRUST_POLICY: .*not act on it/);
    }
    for (const text of ["enabled: false", "{public_keys: []}", '{"enabled": false}']) {
      assert.deepEqual(read({ OCI_TRUST_POLICY: text }).notices, []);
    }
    const file = { DATA_DIR: "/data", OCI_TRUST_POLICY_FILE: "/policy" };
    assert.deepEqual(readSettings(file, () => "enabled: false").notices, []);
    assert.throws(() => readSettings(file, () => "enabled: true"), /OCI_TRUST_POLICY_FILE/);
  });

  it("readSettings() says what is done instead of what doco-cd's settings ask for", () => {
    const [notice = "", ...more] = read({ MAX_DEPLOYMENT_LOOP_COUNT: "4711" }).notices;
    assert.match(notice, /^MAX_DEPLOYMENT_LOOP_COUNT is set, but nothing acts on it: /);
    assert.ok(!notice.includes("4711"));
    assert.deepEqual(more, []);
  });

  it("readSettings() takes credentials for registries, and refuses what nobody could use", () => {
    const logins = `{"auths": {"ghcr.io": {"auth": "dTpwYXNz"}}}`;
    const token = `{"auths": {"acr.example": {"identitytoken": "abc"}}}`;
    for (const text of [logins, token]) {
      assert.equal(read({ DOCKER_AUTH_CONFIG: text }).docker.authConfig, text);
    }
    for (const text of ["dTpwYXNz", "{}", `{"auths": {"ghcr.io": "dTpwYXNz"}}`, `[1]`]) {
      assert.throws(() => read({ DOCKER_AUTH_CONFIG: text }), (error: Error) => {
        const said = JSON.stringify([error, error.message]);
        return /DOCKER_AUTH_CONFIG/.test(said) && !said.includes("dTpwYXNz");
      });
    }
  });

  it("readSettings() says nothing of a switch that is off", () => {
    for (const { name } of NOT_YET.filter((row) => row.flag)) {
      for (const off of ["false", "0", ""]) assert.deepEqual(read({ [name]: off }).notices, []);
    }
  });

  it("readSettings() refuses a switch that is neither on nor off, once", () => {
    for (const { name } of NOT_YET.filter((row) => row.flag)) {
      assert.deepEqual(lines({ [name]: "maybe" }), [
        `${name}: expected true or false, found "maybe"`,
      ]);
    }
  });

  it("readSettings() reports what it refuses together with everything else", () => {
    const found = lines({ SYNC_WINDOWS: "[1]", SECRET_PROVIDER: "bws", HTTP_PORT: "x", TZ: "x" });
    assert.deepEqual(found.map((line) => line.split(":")[0]).sort(), [
      "HTTP_PORT",
      "SECRET_PROVIDER",
      "SYNC_WINDOWS",
      "TZ",
    ]);
  });
});

describe("readListenSettings", () => {
  it("readListenSettings() reads port and TLS whatever else is wrong", () => {
    const environment = { HTTP_PORT: "81", TZ: "x", API_SECRET_FILE: "/none" };
    const place = { host: "0.0.0.0", port: 81, tls: undefined };
    assert.deepEqual(readListenSettings(environment), place);
    assert.equal(readListenSettings({ HTTP_HOST: "::1" }).host, "::1");
    assert.throws(() => readListenSettings({ HTTP_TLS_CERT_FILE: "/c" }), /HTTP_TLS_KEY_FILE/);
  });
});

describe("secretValues", () => {
  it("secretValues() lists every secret once, decoded and as written, and nothing else", () => {
    const settings = read({
      API_SECRET: "s-api",
      API_READ_SECRET: "s-read",
      WEBHOOK_SECRET: "s-hook",
      GIT_ACCESS_TOKEN: "s-git",
      SSH_PRIVATE_KEY: "s-key",
      SSH_PRIVATE_KEY_PASSPHRASE: "s-pass",
      HTTP_PROXY: "http://u:s%20proxy@h",
      HTTPS_PROXY: "http://h",
      GIT_AUTH_DOMAINS: "- {domains: [a], git_access_token: s-dom, ssh_private_key: s-dkey, " +
        "ssh_private_key_passphrase: s-dpass}\n" +
        "- {domains: [b], github_app_id: 1, github_app_private_key: s-app}\n",
      POLL_CONFIG: "- url: https://u:s-poll@h/r\n  deployments:\n" +
        "  - {name: a, repository_url: 'https://s-user@h/r', environment: {A: plain}}\n" +
        "- url: ssh://git@h/r\n",
      SOURCE_URL_REWRITES: "x: https://u:s-rewrite@h\n",
    });
    assert.deepEqual(secretValues(settings).sort(), [
      "s proxy",
      "s%20proxy",
      "s-api",
      "s-app",
      "s-dkey",
      "s-dom",
      "s-dpass",
      "s-git",
      "s-hook",
      "s-key",
      "s-pass",
      "s-poll",
      "s-read",
      "s-rewrite",
      "s-user",
    ]);
    assert.deepEqual(secretValues(read()), []);
  });
});
