import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Deployment } from "../../../src/model/mod.ts";
import { parseDeployments } from "../../../src/config/mod.ts";
import { errorOf, parseOne, problemsOf } from "./problems.ts";
import { parseInlineDeployments } from "../../fakes/inline_deployments.ts";

/** What `name: a` alone means: every default. */
const DEFAULTS: Deployment = {
  name: "a",
  source: "git",
  version: "service.v1",
  repositoryUrl: "",
  webhookFilter: "",
  reference: "",
  workingDir: ".",
  context: "",
  composeFiles: [
    "compose.yaml",
    "compose.yml",
    "container-compose.yml",
    "container-compose.yaml",
    "docker-compose.yaml",
    "docker-compose.yml",
  ],
  composeFilesGiven: false,
  environment: {},
  envFiles: [".env"],
  removeOrphans: true,
  pruneImages: true,
  swarm: { enabled: undefined, configRetention: undefined, secretRetention: undefined },
  waitRunningJobs: true,
  forceRecreate: false,
  forceImagePull: false,
  timeoutSeconds: 180,
  build: { args: {}, forceImagePull: false, quiet: false, noCache: false },
  gitDepth: 0,
  destroy: { enabled: false, removeVolumes: true, removeImages: true },
  profiles: [],
  externalSecrets: {},
  externalSecretsFiles: [],
  autoDiscovery: {
    enabled: false,
    depth: 0,
    delete: false,
    removeVolumes: false,
    removeImages: true,
  },
  retry: { limit: undefined, delaySeconds: 0 },
  pause: false,
  reconciliation: {
    enabled: true,
    events: ["unhealthy"],
    drift: "report",
    restartTimeoutSeconds: 10,
    restartSignal: "",
    restartLimit: 5,
    restartWindowSeconds: 300,
  },
  oci: {
    verify: undefined,
    keylessIdentities: [],
    publicKeys: [],
    ignoreTlog: undefined,
  },
};
const D = DEFAULTS;

/** Text besides the name, and what it changes. */
const ACCEPTED: [string, Partial<Deployment>][] = [
  ["source: oci", { source: "oci" }],
  ["source: ' GIT '", {}],
  ["source: ''", {}],
  ["version: service.v1", {}],
  ["version: ''", {}],
  ["version: 2", { version: "2" }],
  ["source: oci\nversion: ' service.v1 '", { source: "oci" }],
  ["repository_url: https://h/o/r.git", { repositoryUrl: "https://h/o/r.git" }],
  ["repository_url: git@h:o/r.git", { repositoryUrl: "git@h:o/r.git" }],
  ["repository_url: ssh://git@h:22/o/r", { repositoryUrl: "ssh://git@h:22/o/r" }],
  ["source: oci\nrepository_url: https://h/o/r", { repositoryUrl: "https://h/o/r" }],
  ["webhook_filter: ^main$", { webhookFilter: "^main$" }],
  ["webhook_filter: (?i)^MAIN$", { webhookFilter: "(?i)^MAIN$" }],
  ["reference: 1.10", { reference: "1.10" }],
  ["reference: ' main '", { reference: "main" }],
  ["working_dir: /app/", { workingDir: "app" }],
  ["working_dir: a/../b", { workingDir: "b" }],
  ["working_dir: a..b", { workingDir: "a..b" }],
  ["working_dir: /", {}],
  ["working_dir: ''", {}],
  ["working_dir: ./x//y/.", { workingDir: "x/y" }],
  ["context: prod", { context: "prod" }],
  ["context: Default", {}],
  ["context: ' '", {}],
  ["compose_files: [b.yaml]", { composeFiles: ["b.yaml"], composeFilesGiven: true }],
  [
    "compose_files: [./a.yaml, x/../b.yaml, ~]",
    { composeFiles: ["a.yaml", "b.yaml"], composeFilesGiven: true },
  ],
  [
    "environment: {A: yes, B: 010, C: ~, D: '', __proto__: 1.10}",
    {
      environment: Object.fromEntries([["A", "yes"], ["B", "010"], ["D", ""], [
        "__proto__",
        "1.10",
      ]]),
    },
  ],
  ["env_files: []", { envFiles: [] }],
  ["env_files: [./a.env, 'remote:b.env']", { envFiles: ["a.env", "remote:b.env"] }],
  ["working_dir: x\nenv_files: [../a.env]", { workingDir: "x", envFiles: ["../a.env"] }],
  ["remove_orphans: false", { removeOrphans: false }],
  ["remove_orphans: no", { removeOrphans: false }],
  ["prune_images: off", { pruneImages: false }],
  ["swarm: {enabled: false}", { swarm: { ...D.swarm, enabled: false } }],
  ["swarm: {config_retention: -1}", { swarm: { ...D.swarm, configRetention: -1 } }],
  ["swarm: {secret_retention: 0}", { swarm: { ...D.swarm, secretRetention: 0 } }],
  ["swarm: ~", {}],
  ["wait_running_jobs: false", { waitRunningJobs: false }],
  ["force_recreate: yes", { forceRecreate: true }],
  ["force_image_pull: on", { forceImagePull: true }],
  ["timeout: 90", { timeoutSeconds: 90 }],
  ["timeout: 2.0", { timeoutSeconds: 2 }],
  ["timeout: '90'", { timeoutSeconds: 90 }],
  ["timeout: 1h30m", { timeoutSeconds: 5400 }],
  ["timeout: 1.5m", { timeoutSeconds: 90 }],
  ["timeout: 24h", { timeoutSeconds: 86_400 }],
  ["timeout: ~", {}],
  ["build: {args: {A: 1}}", { build: { ...D.build, args: { A: "1" } } }],
  ["build: {force_image_pull: true}", { build: { ...D.build, forceImagePull: true } }],
  ["build: {quiet: true}", { build: { ...D.build, quiet: true } }],
  ["build: {no_cache: true}", { build: { ...D.build, noCache: true } }],
  ["git_depth: 3", { gitDepth: 3 }],
  ["git_depth: 010", { gitDepth: 10 }],
  ["destroy: true", { destroy: { ...D.destroy, enabled: true } }],
  ["destroy: false", {}],
  ["destroy: {remove_volumes: false}", { destroy: { ...D.destroy, removeVolumes: false } }],
  [
    "destroy: {enabled: on, remove_images: false}",
    { destroy: { ...D.destroy, enabled: true, removeImages: false } },
  ],
  ["profiles: [a, 1]", { profiles: ["a", "1"] }],
  [
    "external_secrets: {A: 010, B: {store_ref: s, remote_ref: {k: 1.10}}, C: ~}",
    {
      externalSecrets: {
        A: { kind: "text", text: "010" },
        B: { kind: "store", storeRef: "s", remoteRef: { k: "1.10" } },
      },
    },
  ],
  [
    "external_secrets: {A: {store_ref: s, remote_ref: ~}}",
    { externalSecrets: { A: { kind: "store", storeRef: "s", remoteRef: {} } } },
  ],
  ["external_secrets_files: [s.yaml]", { externalSecretsFiles: ["s.yaml"] }],
  ["auto_discovery: true", { autoDiscovery: { ...D.autoDiscovery, enabled: true } }],
  ["auto_discovery: {depth: 2}", { autoDiscovery: { ...D.autoDiscovery, depth: 2 } }],
  [
    "auto_discovery: {enabled: yes, delete: true, remove_volumes: true, remove_images: false}",
    {
      autoDiscovery: {
        enabled: true,
        depth: 0,
        delete: true,
        removeVolumes: true,
        removeImages: false,
      },
    },
  ],
  [
    "auto_discovery: true\nenv_files: [../common.env]",
    { autoDiscovery: { ...D.autoDiscovery, enabled: true }, envFiles: ["../common.env"] },
  ],
  ["retry: {}", {}],
  ["retry: {limit: 0}", { retry: { limit: 0, delaySeconds: 0 } }],
  ["retry: {limit: ~, delay: 30s}", { retry: { limit: undefined, delaySeconds: 30 } }],
  ["retry: {delay: 0}", {}],
  ["pause: true", { pause: true }],
  ["reconciliation: false", { reconciliation: { ...D.reconciliation, enabled: false } }],
  ["reconciliation: true", {}],
  ["reconciliation: {}", {}],
  [
    "reconciliation: {events: [' DIE ', remove, delete, destroy, die]}",
    { reconciliation: { ...D.reconciliation, events: ["die", "destroy"] } },
  ],
  [
    "reconciliation: {events: []}",
    { reconciliation: { ...D.reconciliation, enabled: false, events: [] } },
  ],
  [
    "reconciliation: {restart_timeout: 0, restart_signal: ' sigint ', restart_limit: 0, restart_window: 0}",
    {
      reconciliation: {
        ...D.reconciliation,
        drift: "report",
        restartTimeoutSeconds: 0,
        restartSignal: "SIGINT",
        restartLimit: 0,
        restartWindowSeconds: 0,
      },
    },
  ],
];

/** Text besides the name on line 1, and the problem it is. */
const REFUSED: [string, string][] = [
  ["source: svn", '2:9: source: expected git or oci, found the text "svn"'],
  ["source: 1", "2:9: source: expected git or oci, found 1"],
  ["source: oci\nversion: v2", "3:10: version: expected service.v1"],
  ["source: oci\nversion: 1", "3:10: version: expected service.v1"],
  ["version: [1]", "2:10: version: expected text, a number or a boolean, found a list"],
  ["repository_url: x", "2:17: repository_url: expected a repository URL"],
  ["repository_url: file:///r", "2:17: repository_url: a local repository is allowed in trusted"],
  ["repository_url: /r", "2:17: repository_url: a local repository is allowed in trusted"],
  ["repository_url: --upload-pack=x@h:o", "2:17: repository_url: expected a repository URL"],
  ["webhook_filter: '['", "2:17: webhook_filter: expected a regular expression"],
  [
    "webhook_filter: (?=a)",
    "2:17: webhook_filter: expected a regular expression of RE2, found one with invalid",
  ],
  ["working_dir: ../x", "2:14: working_dir: the working directory leaves the root"],
  ["working_dir: a/../..", "2:14: working_dir: the working directory leaves the root"],
  ["working_dir: /../x", "2:14: working_dir: the working directory leaves the root"],
  ['working_dir: "a\\nb"', "2:14: working_dir: a path cannot contain control characters"],
  ["compose_files: []", "2:16: compose_files: expected at least one compose file"],
  ["compose_files: a.yaml", '2:16: compose_files: expected a list, found the text "a.yaml"'],
  ["compose_files: [a, /b]", "2:20: compose_files[1]: expected a relative path, found an absolute"],
  ["compose_files: [../b]", "2:17: compose_files[0]: the compose file leaves the working"],
  ["compose_files: ['']", "2:17: compose_files[0]: expected a path, found an empty text"],
  ["compose_files: [{a: b}]", "2:17: compose_files[0]: expected text, a number or a boolean"],
  ["environment: [A=1]", "2:14: environment: expected a mapping of names to values, found a list"],
  [
    "environment: {A: [1]}",
    "2:18: environment.A: expected text, a number or a boolean, found a list",
  ],
  [
    "environment: {A=B: 1}",
    "2:14: environment: the name of a variable cannot be empty or contain =",
  ],
  ["env_files: [../a]", "2:13: env_files[0]: the file is outside the root"],
  ["env_files: [/a]", "2:13: env_files[0]: expected a relative path"],
  ["env_files: ['remote:/a']", "2:13: env_files[0]: expected a relative path"],
  ["working_dir: x\nenv_files: [../../a]", "3:13: env_files[0]: the file is outside the root"],
  [
    "working_dir: x\nrepository_url: https://h/o/r\nenv_files: [../a]",
    "4:13: env_files[0]: the file is outside the root",
  ],
  ['remove_orphans: "true"', '2:17: remove_orphans: expected true or false, found the text "true"'],
  ["remove_orphans: 'yes'", '2:17: remove_orphans: expected true or false, found the text "yes"'],
  ["prune_images: 1", "2:15: prune_images: expected true or false, found 1"],
  ["swarm: true", "2:8: swarm: expected a mapping, found true"],
  ["swarm: {config_retention: -2}", "2:27: swarm.config_retention: expected a whole number of at"],
  ["swarm: {secret_retention: 1.5}", "2:27: swarm.secret_retention: expected a whole number of at"],
  ["swarm: {enable: true}", '2:9: swarm.enable: unknown key "enable"; did you mean "enabled"?'],
  ["wait_running_jobs: []", "2:20: wait_running_jobs: expected true or false, found a list"],
  ["force_recreate: {}", "2:17: force_recreate: expected true or false, found a mapping"],
  ["timeout: 0", "2:10: timeout: expected whole seconds of at least 1"],
  ["timeout: 0s", "2:10: timeout: expected at least 1 seconds"],
  ["timeout: -3m", "2:10: timeout: expected whole seconds of at least 1"],
  ["timeout: 500ms", "2:10: timeout: expected a whole number of seconds"],
  ["timeout: 86401", "2:10: timeout: expected at most 86400 seconds"],
  [
    "reconciliation: {restart_timeout: 1h1s}",
    "2:35: reconciliation.restart_timeout: expected at most 3600 seconds",
  ],
  [
    "reconciliation: {drift: mend}",
    "2:25: reconciliation.drift: expected repair, report or ignore",
  ],
  ["timeout: 285616h", "2:10: timeout: expected at most 86400 seconds"],
  ["timeout: 1.5", "2:10: timeout: expected whole seconds of at least 1"],
  ["timeout: 1d", "2:10: timeout: expected whole seconds of at least 1"],
  ["timeout: ''", "2:10: timeout: expected whole seconds of at least 1"],
  ["timeout: true", "2:10: timeout: expected whole seconds of at least 1"],
  ["timeout: 99999999999999999999h", "2:10: timeout: expected a whole number of seconds"],
  [
    "build:\n  no_cash: true",
    '3:3: build.no_cash: unknown key "no_cash"; did you mean "no_cache"?',
  ],
  ["build: {args: [A]}", "2:15: build.args: expected a mapping of names to values"],
  ["git_depth: -1", "2:12: git_depth: expected a whole number of at least 0, found -1"],
  ["git_depth: '3'", '2:12: git_depth: expected a whole number of at least 0, found the text "3"'],
  ["destroy: yes please", "2:10: destroy: expected true, false or a mapping"],
  ["destroy: 1", "2:10: destroy: expected true, false or a mapping, found 1"],
  [
    "destroy: {remove_dir: true}",
    '2:11: destroy.remove_dir: unknown key "remove_dir"; no directory of sources is ever removed',
  ],
  ["profiles: a", "2:11: profiles: expected a list"],
  [
    "external_secrets: {A: {storeRef: s}}",
    '2:24: external_secrets.A.storeRef: unknown key "storeRef"',
  ],
  [
    "external_secrets: {A: {store_ref: ''}}",
    "2:35: external_secrets.A.store_ref: expected the name",
  ],
  [
    "external_secrets: {A: {store_ref: 1}}",
    "2:35: external_secrets.A.store_ref: expected the name",
  ],
  [
    "external_secrets: {A: {}}",
    '2:23: external_secrets.A.store_ref: the key "store_ref" is required',
  ],
  ["external_secrets: {A: [x]}", "2:23: external_secrets.A: expected a secret reference"],
  ["external_secrets_files: [../x]", "2:26: external_secrets_files[0]: the file is outside"],
  ["auto_discovery: []", "2:17: auto_discovery: expected true, false or a mapping"],
  [
    "auto_discovery: {depth: -1}",
    "2:25: auto_discovery.depth: expected a whole number of at least 0",
  ],
  ["retry: {limit: -1}", "2:16: retry.limit: expected a whole number of at least 0"],
  ["retry: {delay: -1s}", "2:16: retry.delay: expected whole seconds of at least 0"],
  ["retry: {delay: 100ms}", "2:16: retry.delay: expected a whole number of seconds"],
  ["pause: ''", '2:8: pause: expected true or false, found the text ""'],
  ["reconciliation: {events: [pause]}", "2:27: reconciliation.events[0]: expected die, destroy"],
  ["reconciliation: {events: ['']}", "2:27: reconciliation.events[0]: expected die, destroy"],
  [
    "reconciliation: {events: [~]}",
    "2:27: reconciliation.events[0]: expected a value, found nothing",
  ],
  ["reconciliation: {restart_timeout: -1}", "2:35: reconciliation.restart_timeout: expected whole"],
  [
    "reconciliation: {restart_signal: a b}",
    "2:34: reconciliation.restart_signal: expected the name",
  ],
  ["reconciliation: {restart_limit: -1}", "2:33: reconciliation.restart_limit: expected a whole"],
  [
    "reconciliation: {restart_window: 0}",
    "2:34: reconciliation.restart_window: expected more than 0s",
  ],
  ["oci: {verfy: true}", '2:7: oci.verfy: unknown key "verfy"; did you mean "verify"?'],
  ["oci: {keyless_identities: [{issue: x}]}", "2:29: oci.keyless_identities[0].issue: unknown key"],
  [
    "auto_discover: true",
    '2:1: auto_discover: unknown key "auto_discover"; what it was for is said with ' +
    '"auto_discovery" today',
  ],
  [
    "branch: main",
    '2:1: branch: unknown key "branch"; what it was for is said with "reference" today',
  ],
  [
    "build_opts: {quiet: true}",
    '2:1: build_opts: unknown key "build_opts"; what it was for is said with "build" today',
  ],
  [
    "destroy_opts: {remove_images: false}",
    '2:1: destroy_opts: unknown key "destroy_opts"; what it was for is said with "destroy" today',
  ],
  ["build: {build_opts: 1}", '2:9: build.build_opts: unknown key "build_opts"; known keys: args'],
  ["nmae: x", '2:1: nmae: unknown key "nmae"; did you mean "name"?'],
  ["x-anchors: 1", '2:1: x-anchors: unknown key "x-anchors"; known keys: name, source'],
  ["constructor: 1", '2:1: constructor: unknown key "constructor"'],
  ["__proto__: 1", '2:1: __proto__: unknown key "__proto__"'],
];

describe("parseDeployments", () => {
  it("parseDeployments() applies every default when only the name is given", () => {
    assert.deepEqual(parseOne("name: a\n").deployment, DEFAULTS);
    assert.deepEqual([...parseOne("name: a\n").given], ["name"]);
  });

  it("parseDeployments() treats null as absent for every field", () => {
    const keys = Object.keys(PARTS).map((key) => `${key}: ~`).join("\n");
    const document = parseOne(`name: a\n${keys}\n`);
    assert.deepEqual(document.deployment, DEFAULTS);
    assert.deepEqual([...document.given], ["name"]);
  });

  for (const [text, change] of ACCEPTED) {
    it(`parseDeployments() reads ${JSON.stringify(text)}`, () => {
      assert.deepEqual(parseOne(`name: a\n${text}\n`).deployment, { ...DEFAULTS, ...change });
    });
  }

  for (const [text, problem] of REFUSED) {
    it(`parseDeployments() refuses ${JSON.stringify(text)} with its position`, () => {
      const [first = "", ...others] = problemsOf(() => parseOne(`name: a\n${text}\n`));
      const start = `f.yaml:${problem}`;
      assert.equal(first.slice(0, start.length), start);
      assert.deepEqual(others, []);
    });
  }

  const names: [string, string | undefined][] = [
    ["a-b_c9", undefined],
    ["010", undefined],
    ["1.10", 'write "1-10"'],
    ["Web App", 'write "web-app"'],
    ["-x", 'write "x"'],
    ["'é'", "lower-case letters"],
  ];
  for (const [name, hint] of names) {
    it(`parseDeployments() ${hint ? "refuses" : "takes"} the name ${name}`, () => {
      if (hint === undefined) {
        assert.equal(parseOne(`name: ${name}\n`).deployment.name, name);
        return;
      }
      const [first = ""] = problemsOf(() => parseOne(`name: ${name}\n`));
      assert.ok(first.startsWith("f.yaml:1:7: name: ") && first.includes(hint), first);
    });
  }

  it("parseDeployments() needs a name unless auto-discovery is enabled", () => {
    assert.deepEqual(problemsOf(() => parseOne("\npause: true\n")), [
      'f.yaml:2:1: name: the key "name" is required, unless auto_discovery is enabled',
    ]);
    assert.equal(parseOne("auto_discovery: true\n").deployment.name, "");
    assert.equal(problemsOf(() => parseOne("auto_discovery: {depth: 1}\n")).length, 1);
  });

  it("parseDeployments() reports all problems of all documents in order", () => {
    const text = "name: a\npause: 1\nbogus: 2\n---\nname: B\n---\nname: c\ngit_depth: x\n";
    assert.deepEqual(
      errorOf(() => parseDeployments(text, { file: "f", trusted: false })).problems
        .map(({ document, line, column, path }) => [document, line, column, path]),
      [[1, 2, 8, "pause"], [1, 3, 1, "bogus"], [2, 5, 7, "name"], [3, 8, 12, "git_depth"]],
    );
  });

  it("parseDeployments() refuses a name twice in one context and allows it in two", () => {
    const text = (context: string) => `name: a\n---\nname: a\ncontext: ${context}\n`;
    assert.equal(parseDeployments(text("b"), { file: "f", trusted: false }).length, 2);
    assert.deepEqual(
      problemsOf(() => parseDeployments(text("default"), { file: "f", trusted: false })),
      [
        'f:3:7 (document 2): name: another deployment in the default context is called "a" too ' +
        "(the first is on line 1)",
      ],
    );
  });

  for (const text of ["- name: a\n", "name\n", "12\n"]) {
    it(`parseDeployments() refuses a document that is no mapping: ${JSON.stringify(text)}`, () => {
      assert.match(problemsOf(() => parseOne(text))[0] ?? "", /^f\.yaml:1:1: expected a mapping/);
    });
  }

  it("parseDeployments() lists the keys that are given, a bare boolean as enabled", () => {
    const text = "name: a\nbuild: {args: {X: 1}, quiet: ~}\ndestroy: false\npause: ~\n";
    assert.deepEqual([...parseOne(text).given].sort(), [
      "build",
      "build.args",
      "destroy",
      "destroy.enabled",
      "name",
    ]);
  });

  it("parseDeployments() honours oci and local repositories in trusted text only", () => {
    const text = "name: a\noci: {verify: false, public_keys: [k]}\n";
    const untrusted = parseOne(text);
    assert.deepEqual(untrusted.deployment.oci, D.oci);
    assert.equal(untrusted.given.has("oci.verify"), false);
    assert.deepEqual(untrusted.warnings.map(({ line, path }) => [line, path]), [[2, "oci"]]);
    const trusted = parseOne(text, true);
    assert.deepEqual(trusted.deployment.oci, { ...D.oci, verify: false, publicKeys: ["k"] });
    assert.deepEqual(trusted.warnings, []);
    const local = parseOne("name: a\nrepository_url: /srv/r\n", true).deployment;
    assert.equal(local.repositoryUrl, "file:///srv/r");
    const options = { file: "f", trusted: false, allowLocalRepositoryUrl: true };
    const [allowed] = parseDeployments("name: a\nrepository_url: file:///srv/r\n", options);
    assert.equal(allowed?.deployment.repositoryUrl, "file:///srv/r");
  });

  it("parseDeployments() lets an identity have a subject or a pattern, not both", () => {
    const text = (item: string) => `name: a\noci: {keyless_identities: [{${item}}]}\n`;
    const { keylessIdentities } = parseOne(text("issuer: i, subject: s"), true).deployment.oci;
    assert.deepEqual(keylessIdentities, [{ issuer: "i", subject: "s", subjectRegexp: "" }]);
    assert.deepEqual(problemsOf(() => parseOne(text("subject: s, subject_regexp: r"), true)), [
      'f.yaml:2:28: oci.keyless_identities[0]: give either "subject" or "subject_regexp", not both',
    ]);
  });

  it("parseDeployments() takes doco.v1 in a file of the migration only", () => {
    const text = "name: a\nsource: oci\nversion: doco.v1\n";
    const [migrated] = parseDeployments(text, { file: "x/.doco-cd.yml", trusted: false });
    assert.equal(migrated?.deployment.version, "service.v1");
    assert.equal(problemsOf(() => parseOne(text)).length, 1);
  });

  it("parseDeployments() never repeats credentials or secret references in messages", () => {
    const text = "name: a\nrepository_url: ftp://u:hunter2@h\nexternal_secrets: {A: [hunter2]}\n" +
      "environment: {A: [hunter2]}\n";
    const error = errorOf(() => parseOne(text));
    assert.ok(error.problems.length >= 2);
    assert.doesNotMatch(error.message + JSON.stringify(error.problems), /hunter2/);
  });
});

/** A value for every field, different from its default; falsy where the type has a falsy value. */
const PARTS: Record<string, unknown> = {
  source: "oci",
  version: "",
  repository_url: "",
  webhook_filter: "",
  reference: "",
  working_dir: "",
  context: "",
  compose_files: ["x.yaml"],
  environment: {},
  env_files: [],
  remove_orphans: false,
  prune_images: false,
  swarm: { enabled: false, config_retention: 0, secret_retention: 0 },
  wait_running_jobs: false,
  force_recreate: false,
  force_image_pull: false,
  timeout: 1,
  build: { args: {}, force_image_pull: false, quiet: false, no_cache: false },
  git_depth: 0,
  destroy: { enabled: false, remove_volumes: false, remove_images: false },
  profiles: [],
  external_secrets: {},
  external_secrets_files: [],
  auto_discovery: {
    enabled: false,
    depth: 0,
    delete: false,
    remove_volumes: false,
    remove_images: false,
  },
  retry: { limit: 0, delay: 0 },
  pause: false,
  reconciliation: {
    enabled: false,
    events: [],
    restart_timeout: 0,
    restart_signal: "",
    restart_limit: 0,
    restart_window: 0,
  },
  oci: { verify: false, keyless_identities: [], public_keys: [], ignore_tlog: false },
};

describe("parseInlineDeployments", () => {
  it("parseInlineDeployments() keeps every explicit falsy value", () => {
    const [document] = parseInlineDeployments([{ name: "a", ...PARTS }], "body");
    const { deployment } = document ?? assert.fail();
    assert.deepEqual(deployment, {
      ...DEFAULTS,
      source: "oci",
      composeFiles: ["x.yaml"],
      composeFilesGiven: true,
      envFiles: [],
      removeOrphans: false,
      pruneImages: false,
      swarm: { enabled: false, configRetention: 0, secretRetention: 0 },
      waitRunningJobs: false,
      timeoutSeconds: 1,
      destroy: { enabled: false, removeVolumes: false, removeImages: false },
      autoDiscovery: { ...D.autoDiscovery, removeImages: false },
      retry: { limit: 0, delaySeconds: 0 },
      reconciliation: {
        enabled: false,
        events: [],
        drift: "report",
        restartTimeoutSeconds: 0,
        restartSignal: "",
        restartLimit: 0,
        restartWindowSeconds: 0,
      },
      oci: { verify: false, keylessIdentities: [], publicKeys: [], ignoreTlog: false },
    });
    for (const key of Object.keys(PARTS)) assert.ok(document?.given.has(key), key);
  });

  it("parseInlineDeployments() reports problems by index, without positions", () => {
    const body = [{ name: "a" }, { name: "b", build: { no_cash: true } }, { name: "a" }];
    assert.deepEqual(problemsOf(() => parseInlineDeployments(body, "body")), [
      'body: [1].build.no_cash: unknown key "no_cash"; did you mean "no_cache"?',
      'body: [2].name: another deployment in the default context is called "a" too',
    ]);
  });

  it("parseInlineDeployments() takes a JSON boolean only where a boolean is expected", () => {
    const [document] = parseInlineDeployments([{ name: "a", destroy: true }], "body");
    assert.equal(document?.deployment.destroy.enabled, true);
    const wrong = [{ name: "a", pause: "yes" }];
    assert.equal(problemsOf(() => parseInlineDeployments(wrong, "body")).length, 1);
  });

  it("parseInlineDeployments() refuses what is no list or nested too deeply", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    for (const body of [{}, null, "x", [[]], [null], deep]) {
      assert.equal(errorOf(() => parseInlineDeployments(body, "body")).code, "config_invalid");
    }
  });

  it("parseDeployments() reads no more documents once there are a hundred problems", () => {
    const keys = ["a", "b", "c", "d"].map((each) => `${each.repeat(48)}: 1`).join(", ");
    const text = Array.from({ length: 990 }, () => `{name: n, ${keys}}\n`).join("---\n");
    const { message, problems } = errorOf(() =>
      parseDeployments(text, { file: "f.yaml", trusted: false })
    );
    assert.equal(problems.length, 100);
    // What is not read is not looked at for what its author meant either.
    assert.match(message, /\(and 99 more problems\)$/);
  });

  it("parseDeployments() counts the steps of all filters of a file, and compiles no more then", () => {
    const documents = (count: number, filter: string) =>
      Array.from({ length: count }, (_, at) => `name: d${at}\nwebhook_filter: '${filter}'\n`);
    const read = (texts: string[]) =>
      parseDeployments(texts.join("---\n"), { file: "f.yaml", trusted: false });
    const usual = "^refs/(heads/(main|release/.+)|tags/v\\d+\\.\\d+\\.\\d+)$";
    assert.equal(read(documents(500, usual)).length, 500);
    const { problems } = errorOf(() => read(documents(500, "(?i)\\pL{8}")));
    assert.match(problems[0]?.message ?? "", /^the patterns of all documents have too many steps/);
    assert.equal(problems.length, 100);
  });
});
