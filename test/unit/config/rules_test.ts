import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  checkArtifactUrl,
  checkDeployment,
  type Checked,
  checkRepositoryUrl,
  checkScheduleShape,
  compilePattern,
  configFileNames,
  isConfigFileName,
  isMigrationFile,
  isProjectName,
  normaliseName,
  overrideDeployment,
  parseDeploymentOverride,
} from "../../../src/config/mod.ts";
import { editDistance, nearestKey } from "../../../src/config/nearest_key.ts";
import { errorOf, parseOne, problemsOf } from "./problems.ts";

function valueOf<T>(checked: Checked<T>): T {
  assert.ok("value" in checked, "problem" in checked ? checked.problem : "");
  return checked.value;
}

describe("compilePattern", () => {
  const matches: [string, string, boolean][] = [
    ["", "refs/heads/main", true],
    ["main", "refs/heads/main", true],
    ["^main$", "main", true],
    ["^main$", "refs/heads/main", false],
    ["(?i)^MAIN$", "main", true],
    ["^(main|v\\d+(\\.\\d+)*)$", "v1.2.3", true],
    ["\\Arelease\\/.+\\z", "release/1", true],
    ["\\Arelease\\/.+\\z", "x/release/1", false],
    ["(?P<kind>feature|fix)\\-.*", "fix-1", true],
    ["^(?:a|b)$", "b", true],
    ["[\\w\\]]+x[)(?=]", "a]x(", true],
    ["^[[:alpha:]]+$", "main", true],
    ["^\\pL+$", "main", true],
    ["^\\Qa.b\\E$", "axb", false],
    ["a(?i)B", "ab", true],
    ["^(?i)[0-9A-F]{40}$", "0123456789".repeat(4), true],
    ["^refs/tags/v(?:[0-9]{1,4}\\.){2}[0-9]{1,4}$", "refs/tags/v10.0.1", true],
  ];
  for (const [pattern, text, expected] of matches) {
    it(`compilePattern() ${pattern} ${expected ? "finds" : "does not find"} ${text}`, () => {
      assert.equal(valueOf(compilePattern(pattern)).test(text), expected);
    });
  }

  for (
    const pattern of [
      "[",
      "(a",
      "a**",
      "(?=a)",
      "(?!a)",
      "(?<=a)",
      "(?<!a)",
      "(a)\\1",
      "(a{1000}){1000}",
    ]
      .concat(["\\Z", "\\C", "x".repeat(1001)])
      // Each of them took a tenth of a second, or eight to match.
      .concat(["a{1000}".repeat(142), "((.?)){900}", "(?:ab[(]c){300}", "((a{10}){10}){10}"])
      .concat(["\\PL".repeat(20), "[\\PL\\PN]{9}", "(?i)[!-\\x{10ffff}]"])
  ) {
    it(`compilePattern() refuses ${pattern.slice(0, 20)}`, () => {
      assert.ok("problem" in compilePattern(pattern));
    });
  }
});

describe("checkRepositoryUrl", () => {
  const urls: [string, boolean][] = [
    ["https://h/o/r.git", true],
    ["http://u:p@h:3000/r", true],
    ["ssh://git@h/r", true],
    ["git@h:o/r.git", true],
    ["git@[::1]:r", false],
    ["h:o/r", false],
    ["-x@h:r", false],
    ["ssh://-oProxyCommand=x", false],
    ["ftp://h/r", false],
    ["ext::sh -c x", false],
    ["https://", false],
    ["https://h/a b", false],
    ["r", false],
    ["../r", false],
    ["file://h/r", false],
  ];
  for (const [url, good] of urls) {
    it(`checkRepositoryUrl() ${good ? "takes" : "refuses"} ${url}`, () => {
      assert.equal("value" in checkRepositoryUrl(url, true), good);
      assert.equal("value" in checkRepositoryUrl(url, false), good);
    });
  }

  it("checkRepositoryUrl() takes local repositories only where they are allowed", () => {
    assert.equal(valueOf(checkRepositoryUrl("/srv/r", true)), "file:///srv/r");
    assert.equal(valueOf(checkRepositoryUrl("file:///srv/r", true)), "file:///srv/r");
    assert.ok("problem" in checkRepositoryUrl("/srv/r", false));
    assert.ok("problem" in checkRepositoryUrl("FILE:///srv/r", false));
  });

  const artifacts: [string, string | undefined][] = [
    ["ghcr.io/o/r:v1", "v1"],
    ["oci://localhost:5000/r:latest", "latest"],
    ["localhost/r:a", "a"],
    [`h.example/r@sha256:${"a".repeat(64)}`, `sha256:${"a".repeat(64)}`],
    [`h.example/r:t@sha256:${"a".repeat(64)}`, "t"],
    ["ghcr.io/o/r", undefined],
    ["library/r:v1", undefined],
    ["https://ghcr.io/o/r:v1", undefined],
    ["ghcr.io/O/r:v1", undefined],
  ];
  for (const [url, reference] of artifacts) {
    it(`checkArtifactUrl() reads ${url.slice(0, 40)}`, () => {
      const checked = checkArtifactUrl(url);
      assert.equal("value" in checked ? checked.value.reference : undefined, reference);
    });
  }
});

describe("checkScheduleShape", () => {
  const good = ["0 4 * * *", "*/15 0-3 1,15 * MON-FRI", "@hourly", "@every 10s", "@every 1h30m"]
    .concat(["CRON_TZ=Europe/Berlin 0 4 * * *", "TZ=UTC @daily"]);
  const bad = ["", "* * * *", "* * * * * *", "@reboot", "@every 5s", "@every x", "0 4 * * $"]
    .concat(["TZ=Mars/Base 0 4 * * *", "@every -1m"]);
  for (const schedule of good) {
    it(`checkScheduleShape() takes ${schedule}`, () => {
      assert.equal(checkScheduleShape(schedule), undefined);
    });
  }
  for (const schedule of bad) {
    it(`checkScheduleShape() refuses ${JSON.stringify(schedule)}`, () => {
      assert.match(checkScheduleShape(schedule) ?? "", /\S/);
    });
  }
});

describe("configFileNames", () => {
  it("configFileNames() looks for our names first, then for those of the migration", () => {
    assert.deepEqual(configFileNames(""), [
      ".stackwright.yaml",
      ".stackwright.yml",
      ".doco-cd.yaml",
      ".doco-cd.yml",
    ]);
    assert.deepEqual(configFileNames("prod.eu-1"), [
      ".stackwright.prod.eu-1.yaml",
      ".stackwright.prod.eu-1.yml",
      ".doco-cd.prod.eu-1.yaml",
      ".doco-cd.prod.eu-1.yml",
    ]);
  });

  for (const target of ["../x", "a/b", ".a", "-a", "a b", "ä", "a\n", "x".repeat(101)]) {
    it(`configFileNames() refuses the target ${JSON.stringify(target.slice(0, 20))}`, () => {
      assert.equal(errorOf(() => configFileNames(target)).code, "bad_request");
    });
  }

  it("isConfigFileName() knows configuration files of every target", () => {
    const names = [".stackwright.yaml", ".stackwright.a.b.yml", ".doco-cd.yml", "stackwright.yaml"]
      .concat([".stackwright.json", ".stackwright..yaml", ".stackwrightx.yaml"]);
    assert.deepEqual(names.map(isConfigFileName), [true, true, true, false, false, false, false]);
    assert.equal(isMigrationFile("a/.doco-cd.x.yaml"), true);
    assert.equal(isMigrationFile(".doco-cd/.stackwright.yaml"), false);
  });
});

describe("nearestKey", () => {
  const cases: [string, string | undefined][] = [
    ["no_cash", "no_cache"],
    ["noCache", "no_cache"],
    ["No-Cache", "no_cache"],
    ["teimout", "timeout"],
    ["xyzzy", undefined],
    ["x".repeat(5000), undefined],
  ];
  for (const [unknown, expected] of cases) {
    it(`nearestKey() answers ${expected} for ${unknown.slice(0, 20)}`, () => {
      assert.equal(nearestKey(unknown, ["quiet", "no_cache", "timeout"]), expected);
    });
  }

  it("editDistance() counts insertions, deletions, replacements and swaps", () => {
    const pairs: [string, string, number][] = [["", "", 0], ["", "ab", 2], ["ab", "ba", 1]];
    for (const [from, to, distance] of [...pairs, ["kitten", "sitting", 3] as const]) {
      assert.equal(editDistance(from, to), distance);
    }
  });

  it("isProjectName() takes what compose takes, as long as a disk takes it too", () => {
    for (const name of ["a", "0", "a_b-c", "x".repeat(128)]) assert.ok(isProjectName(name), name);
    for (const name of ["", "-a", "_a", "A", "a.b", "a/b", "a\n", "x".repeat(129)]) {
      assert.ok(!isProjectName(name), name);
    }
  });

  it("normaliseName() makes a project name or nothing", () => {
    const names = ["Web App!", "_x-", "ÄÖ", "a..b"];
    assert.deepEqual(names.map(normaliseName), ["web-app", "x", "", "a-b"]);
  });
});

describe("overrideDeployment", () => {
  const base = parseOne(
    "name: a\nprune_images: true\nprofiles: [x]\nenvironment: {A: 1, B: 1}\nreference: main\n" +
      "build: {args: {A: 1}, quiet: true}\ndestroy: {remove_volumes: false}\ntimeout: 9m\n",
  ).deployment;
  const override = (text: string) =>
    parseDeploymentOverride(text, { file: "o.yaml", trusted: false });

  it("overrideDeployment() lets a present key win, falsy or not, and leaves the others", () => {
    const text = "prune_images: false\nprofiles: []\nenvironment: {B: 2, C: ~}\ntimeout: ~\n" +
      "build: {args: {B: 2}, no_cache: true}\ndestroy: true\nretry: {limit: 0}\n";
    const { deployment, ignored } = overrideDeployment(base, override(text));
    assert.deepEqual(deployment, {
      ...base,
      pruneImages: false,
      profiles: [],
      environment: { A: "1", B: "2" },
      build: { ...base.build, args: { A: "1", B: "2" }, noCache: true },
      destroy: { enabled: true, removeVolumes: false, removeImages: true },
      retry: { limit: 0, delaySeconds: 0 },
    });
    assert.deepEqual(ignored, []);
  });

  it("overrideDeployment() can change every field that is not protected", () => {
    const text = "name: b\nversion: v2\nwebhook_filter: x\nworking_dir: w\ncontext: c\n" +
      "compose_files: [c.yaml]\nenv_files: [e]\nremove_orphans: false\nwait_running_jobs: false\n" +
      "force_recreate: true\nforce_image_pull: true\nexternal_secrets: {S: t}\n" +
      "external_secrets_files: [s.yaml]\npause: true\nbuild: {force_image_pull: true, quiet: false}\n" +
      "destroy: {remove_images: false}\nswarm: {enabled: true, config_retention: 1, " +
      "secret_retention: 2}\nretry: {delay: 5}\nreconciliation: {events: [die], restart_timeout: 1, " +
      "restart_signal: x, restart_limit: 1, restart_window: 1}\nprune_images: false\nprofiles: [p]\n" +
      "environment: {Z: 1}\ntimeout: 1\n";
    const read = override(text);
    const { deployment } = overrideDeployment(base, read);
    assert.deepEqual(deployment, {
      ...read.deployment,
      environment: { A: "1", B: "1", Z: "1" },
      build: { args: { A: "1" }, forceImagePull: true, quiet: false, noCache: false },
      destroy: { enabled: false, removeVolumes: false, removeImages: false },
      reference: "main",
    });
  });

  it("overrideDeployment() ignores protected keys and says which", () => {
    const text = "reference: x\nrepository_url: https://h/r\nauto_discovery: true\ngit_depth: 3\n" +
      "source: oci\noci: {verify: false}\n";
    const { deployment, ignored } = overrideDeployment(base, override(text));
    assert.deepEqual(deployment, base);
    assert.deepEqual([...ignored].sort(), [
      "auto_discovery",
      "git_depth",
      "reference",
      "repository_url",
      "source",
    ]);
  });

  it("overrideDeployment() leaves rules between fields to checkDeployment()", () => {
    const { deployment } = overrideDeployment(base, override("env_files: [../x]\n"));
    const found: string[] = [];
    checkDeployment(deployment, (path) => found.push(path));
    assert.deepEqual(found, ["env_files[0]"]);
    checkDeployment({ ...deployment, workingDir: "sub" }, () => assert.fail("it is inside"));
  });

  it("parseDeploymentOverride() takes exactly one document", () => {
    assert.deepEqual(problemsOf(() => override("pause: true\n---\nname: b\n")), [
      "o.yaml:3:1 (document 2): expected exactly one document in an override",
    ]);
    assert.deepEqual(problemsOf(() => override("paus: true\n")), [
      'o.yaml:1:1: paus: unknown key "paus"; did you mean "pause"?',
    ]);
  });
});
