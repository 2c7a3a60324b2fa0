import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nearestName } from "../../../src/config/mod.ts";
import { validateCompose } from "../../../src/config/validate_compose.ts";

const IGNORE = "stackwright.deployment.recreate.ignore";

describe("validateCompose()", () => {
  const problems: readonly (readonly [string, string, RegExp])[] = [
    ["a text that is no YAML", "services: {a: [", /not valid YAML/],
    ["a text that is no compose file", "- a", /expected a map/],
    ["a key twice", "services: {}\nservices: {}", /given twice/],
    ["a remote include", "include: [oci://registry/app]\nservices: {}", /not a file of the repo/],
    ["an include by the name of a repository", "include: [x/y.git]", /"x\/y\.git" is not a file/],
    [
      "an extended file with the name of one",
      "services: {a: {extends: {file: y.git, service: b}}}",
      /"y\.git" is not a file of the repo/,
    ],
    [
      "a bad label about ignored changes",
      `services: {a: {labels: {${IGNORE}: "files: [a]"}}}`,
      /label stackwright\.deployment\.recreate\.ignore.*no scope/,
    ],
    [
      "a bad label in a list, under its old name",
      `services: {a: {labels: ["cd.doco.deployment.recreate.ignore.signal=SIGHUP"]}}`,
      /label cd\.doco\.deployment\.recreate\.ignore\.signal needs/,
    ],
  ];
  for (const [what, text, says] of problems) {
    it(`finds ${what}`, () => {
      const found = validateCompose(text, { file: "compose.yaml", base: "." });
      assert.equal(found.problems.length, 1, JSON.stringify(found));
      assert.equal(found.problems[0]?.file, "compose.yaml");
      assert.match(found.problems[0]?.message ?? "", says);
    });
  }

  // As docker compose 2.26 and 5.5 take and refuse them.
  const good = [
    ...["command: ''", "command: [a b, '5']", "command: '$A'", "command: ", "entrypoint: [a]"],
    ...["ports: ", "ports: [80]", "ports: [':80']", "ports: ['8000-9000:80']", "ports: [80/TCP]"],
    ...["ports: ['127.0.0.1::80']", "ports: ['[::1]:80:80']", "ports: ['::1:80:80']"],
    ...["ports: ['080:80']", "ports: ['0:80']", "ports: ['1-2-3:80']", "ports: ['+80:80']"],
    ...["ports: ['80:80/']", "ports: ['80:80/tcp/udp']", "ports: ['$P:80', '${Q}']"],
    ...["ports: [{target: 80}]", "ports: [8000-8001:80-81]", "ports: [80-81]"],
    ...["environment: {A: 2001-01-01, B: 5, C: , D: true}", "environment: [A=b, C]"],
    ...["build: {context: .}", "build: a", "image: n7/web:1.0_a@sha256:0a"],
    ...["image: '[::1]:5000/a/b'", "image: '${A} b'"],
  ];
  const bad: readonly (readonly [text: string, path: string, says: RegExp])[] = [
    ["command: 5", "command", /text: write numbers/],
    ["command: true", "command", /text/],
    ["command: {a: b}", "command", /text or a list/],
    ["command: [sleep, 5]", "command[1]", /between quotes/],
    ["entrypoint: 1.5", "entrypoint", /text/],
    ["ports: '80:80'", "ports", /a list/],
    ["ports: {a: b}", "ports", /a list/],
    ["ports: ['99999:80']", "ports[0]", /found "99999:80": ports go from 1 to 65535/],
    ["ports: ['1:1', 'x:80']", "ports[1]", /a port is a number/],
    ["ports: [99999]", "ports[0]", /65535/],
    ["ports: ['80:']", "ports[0]", /target is missing/],
    ["ports: ['']", "ports[0]", /target is missing/],
    ["ports: [/tcp]", "ports[0]", /target is missing/],
    ["ports: ['80:8000-9000']", "ports[0]", /equally long/],
    ["ports: ['8000-8001:8000-8002']", "ports[0]", /equally long/],
    ["ports: [80/foo]", "ports[0]", /tcp, udp or sctp/],
    ["ports: [' 80:80']", "ports[0]", /has a space/],
    ["ports: ['80 :80']", "ports[0]", /has a space/],
    ["ports: ['90-80:80']", "ports[0]", /goes upwards/],
    ["ports: ['80-:80']", "ports[0]", /a port is a number/],
    ["ports: [80.5]", "ports[0]", /TARGET/],
    ["ports: [true]", "ports[0]", /TARGET/],
    ["ports: [null]", "ports[0]", /TARGET/],
    ["environment: {A: {b: c}}", "environment.A", /a text, a number/],
    ["environment: {A: [b]}", "environment.A", /a text, a number/],
    ["environment: [{a: b}]", "environment[0]", /NAME=value/],
    ["environment: [5]", "environment[0]", /NAME=value/],
    ["environment: 5", "environment", /a map/],
    ["environment: A=b", "environment", /a map/],
    ["image: 5", "image", /name of an image/],
    ["image: [a]", "image", /name of an image/],
    ["image: ", "image", /name of an image/],
    ["build: 5", "build", /path of a directory/],
  ];
  const found = (text: string) =>
    validateCompose(`services:\n  web:\n    ${text}\n`, { file: "c.yaml", base: "." });
  it("leaves alone what any version of compose takes", () => {
    for (const text of good) assert.deepEqual(found(text).problems, [], text);
    const tagged = found("ports: [x:80, !reset y]");
    assert.deepEqual([tagged.problems, tagged.warnings.length], [[], 2]);
  });
  it("finds the values that every version of compose refuses, with their place", () => {
    for (const [text, path, says] of bad) {
      const [problem, ...more] = found(text).problems;
      assert.equal(problem?.path, `services.web.${path}`, text);
      assert.equal(problem.line, 3, text);
      assert.match(problem.message, says, text);
      assert.deepEqual(more, [], text);
    }
  });

  it("finds doco-cd itself, unless it is paused or of a profile", () => {
    const text = (more = "") =>
      `services:\n  app:\n    image: ghcr.io/kimdre/doco-cd:latest\n${more}`;
    const at = { file: "c.yaml", base: "." };
    const [found] = validateCompose(text(), at).problems;
    assert.equal(found?.line, 3);
    assert.match(found?.message ?? "", /^ghcr.io\/kimdre\/doco-cd:latest is doco-cd, /);
    assert.deepEqual(validateCompose(text("    profiles: [old]\n"), at).problems, []);
    assert.deepEqual(validateCompose(text(), { ...at, isPaused: true }).problems, []);
  });

  it("looks at a limited number of keys that may be misspelled", () => {
    const keys = Array.from({ length: 5000 }, (_, number) => `  imag${number}: a\n`).join("");
    const read = `services:\n a:\n${keys} b: {imagee: b}\n`;
    const { problems } = validateCompose(read, { file: "c.yaml", base: "." });
    assert.ok(problems.length > 0 && problems.length <= 100, String(problems.length));
    const undone = validateCompose(`${read} c: {image: !reset null}\n`, {
      file: "c.yaml",
      base: ".",
    });
    assert.deepEqual(
      [undone.problems, undone.warnings],
      [[], problems],
      "a tag may take them away",
    );
  });

  it("warns of variables that would be those of Stackwright's process", () => {
    const text = "services:\n  a:\n    image: a\n    volumes: ['${HOME}/x:/x']\n";
    const [warning, ...more] = validateCompose(text, { file: "c.yaml", base: "." }).warnings;
    assert.deepEqual([warning?.line, more], [4, []]);
    assert.match(warning?.message ?? "", /^\$\{HOME\} is the one of Stackwright's own process/);
  });

  it("warns of a job that is left to another instance", () => {
    const text = (enabled: boolean) =>
      "services: {a: {labels: {cd.doco.job.owner: b, cd.doco.job.schedule: '@every 1h', " +
      `cd.doco.job.enabled: ${enabled}}}}`;
    const warnings = (enabled: boolean) =>
      validateCompose(text(enabled), { file: "c.yaml", base: "." }).warnings
        .map(({ message }) => message);
    assert.deepEqual(warnings(false), []);
    assert.deepEqual(warnings(true), [
      "cd.doco.job.owner names another instance, so the job does not run here: remove the label " +
      "to run it",
    ]);
  });

  it("finds mounts that lead out of the repository", () => {
    const text = "services:\n  a:\n    volumes:\n      - ../up:/up\n" +
      "      - {type: bind, source: ./../../in/x, target: /x}\n      - ./in:/in\n" +
      "      - data:/data\n      - ../$A/b:/b\n      - ../../../../../../etc:/etc\n";
    const found = (base: string) =>
      validateCompose(text, { file: "c.yaml", base }).problems
        .map(({ line, message }) => `${line} ${message.slice(0, 40)}`);
    assert.deepEqual(
      found("."),
      [
        "4 volume ../up leads out of the repository,",
        "5 volume ./../../in/x leads out of the rep",
      ].map((each) => each.slice(0, 42)),
    );
    assert.deepEqual(found("one/two"), []);
  });

  it("warns of a label with our prefix, or doco-cd's, that is none of ours, and of no other", () => {
    const labels = [
      "stackwright.deployment.autostrt: x",
      "stackwright.deployment.autostart: y",
      "stackwright.elsewhere: z",
      "cd.doco.job.enable: true",
      "org.example.autostrt: x",
    ].join(", ");
    const found = validateCompose(`services: {a: {labels: {${labels}}}}`, {
      file: "c.yaml",
      base: ".",
    });
    const path = "services.a.labels";
    const none = "is no label of Stackwright and has no effect";
    assert.deepEqual(found.problems, []);
    assert.deepEqual(found.warnings, [
      {
        file: "c.yaml",
        path,
        message: `stackwright.deployment.autostrt ${none}: did you mean ` +
          "stackwright.deployment.autostart?",
      },
      { file: "c.yaml", path, message: `stackwright.elsewhere ${none}` },
      {
        file: "c.yaml",
        path,
        message: `cd.doco.job.enable ${none}: did you mean cd.doco.job.enabled?`,
      },
    ]);
  });

  it("finds keys that differ little from those of compose, with their position, and of no other", () => {
    const text = `service: {}
x-any: &common {enviroment: {A: b}}
services:
  web:
    <<: *common
    image: b
    imagee: a
    whatever: 1
    x-imagee: 1
`;
    const said = (near: string) => `compose knows no such key; did you mean "${near}"?`;
    const { problems, warnings } = validateCompose(text, { file: "c.yaml", base: "." });
    assert.deepEqual(warnings, []);
    assert.deepEqual(problems, [
      { file: "c.yaml", line: 1, column: 1, path: "service", message: said("services") },
      { file: "c.yaml", path: "services.web.enviroment", message: said("environment") },
      {
        file: "c.yaml",
        line: 7,
        column: 5,
        path: "services.web.imagee",
        message: said("image"),
      },
    ]);
  });

  it("finds misspelled keys below services and resources, too, and leaves free maps alone", () => {
    const text = `services:
  web:
    image: b
    healthcheck: {tests: [CMD, a], disabled: true}
    deploy: {replica: 2, resources: {limit: {cpus: 1}, limits: {memori: 1m}}}
    depends_on: {db: {conditon: service_healthy}}
    volumes: ["a:/a", {type: bind, source: ./b, targt: /b, bind: {create_hostpath: true}}]
    ports: ["80", {targets: 80}]
    post_start: [{comand: a}]
    logging: {driver: json-file, options: {drivers: a}}
    environment: {imagee: a}
    build: {context: ., args: {contexts: a}, something_new: 1}
  db: {image: b, networks: {back: {alias: [a]}}, ulimits: {nofile: {sof: 1}}}
volumes: {a: {drivr: local, driver_opts: {typ: a}}}
secrets: {s: {fle: a}}
`;
    const { problems } = validateCompose(text, { file: "c.yaml", base: "." });
    assert.deepEqual(problems.map(({ path, line }) => `${line} ${path}`).sort(), [
      "13 services.db.networks.back.alias",
      "13 services.db.ulimits.nofile.sof",
      "14 volumes.a.drivr",
      "15 secrets.s.fle",
      "4 services.web.healthcheck.disabled",
      "4 services.web.healthcheck.tests",
      "5 services.web.deploy.replica",
      "5 services.web.deploy.resources.limit",
      "5 services.web.deploy.resources.limits.memori",
      "6 services.web.depends_on.db.conditon",
      "7 services.web.volumes.1.bind.create_hostpath",
      "7 services.web.volumes.1.targt",
      "8 services.web.ports.1.targets",
      "9 services.web.post_start.0.comand",
    ]);
  });

  it("reports what is wrong with a job", () => {
    for (const labels of ['{stackwright.job.enabled: "true"}', "[cd.doco.job.enabled=true]"]) {
      const { problems } = validateCompose(`services: {a: {labels: ${labels}}}`, {
        file: "c.yaml",
        base: ".",
      });
      assert.match(problems[0]?.message ?? "", /a job that is enabled needs a schedule/);
    }
    const good = '{stackwright.job.enabled: "true", stackwright.job.schedule: "0 2 * * *"}';
    const { problems } = validateCompose(`services: {a: {labels: ${good}}}`, {
      file: "c.yaml",
      base: ".",
    });
    assert.deepEqual(problems, []);
  });

  const checkSchedule = (text: string) => text.startsWith("61") ? "minute 61 is none" : undefined;
  const job = (schedule: string) =>
    `cd.doco.job.enabled: "true"
      other: $VARIABLE
      cd.doco.job.schedule: ${schedule}`;
  const wrong: readonly (readonly [string, string, RegExp, number, number])[] = [
    ["a field of it", job("61 * * * *"), /^label cd\.doco\.job\.schedule: minute 61/, 6, 29],
    ["its shape", job("daily"), /^label cd\.doco\.job\.schedule: expected a cron/, 6, 29],
    [
      "a label in a list",
      '- stackwright.job.enabled=true\n      - "stackwright.job.schedule=61 * * * *"',
      /^label stackwright\.job\.schedule: minute 61/,
      5,
      9,
    ],
    ["that it is missing", "cd.doco.job.enabled: 1", /schedule: a job that is enabled/, 4, 7],
  ];
  for (const [what, labels, says, line, column] of wrong) {
    it(`finds what is wrong with the schedule of a job, with its position: ${what}`, () => {
      const text = `services:\n  a:\n    labels:\n      ${labels}\n`;
      const { problems } = validateCompose(text, { file: "c.yaml", base: "." }, { checkSchedule });
      assert.equal(problems.length, 1);
      assert.match(problems[0]?.message ?? "", says);
      assert.deepEqual([problems[0]?.line, problems[0]?.column], [line, column]);
    });
  }

  it("hints at jobs that are enabled while the scheduler is off, and at no others", () => {
    const text = `services:
  a:
    labels: {stackwright.job.enabled: "true", stackwright.job.schedule: "@every 1s"}
  b:
    labels: {stackwright.job.enabled: "false"}
`;
    const found = (isSchedulerOff: boolean) => {
      const jobs = { checkSchedule, isSchedulerOff };
      const { read: _read, ...rest } = validateCompose(text, { file: "c.yaml", base: "." }, jobs);
      return rest;
    };
    assert.deepEqual(found(false), { problems: [], warnings: [], references: [], mounts: [] });
    assert.deepEqual(found(true).problems, []);
    assert.deepEqual(found(true).warnings, [{
      ...{ file: "c.yaml", path: "services.a.labels", line: 3, column: 39 },
      message: "the job runs only when somebody asks for it: SCHEDULER_ENABLED is false",
    }]);
  });

  it("finds nothing in ordinary files, nor where a variable decides", () => {
    const text = `include: [other.yaml]
services:
  a:
    image: b
    labels: {${IGNORE}: "\${WHAT}", other: 1}
  c: {labels: ["x=y=z", "flag"]}
`;
    const { read: _read, ...found } = validateCompose(text, { file: "app/c.yaml", base: "app" });
    assert.deepEqual(found, {
      problems: [],
      warnings: [],
      references: [{ key: "include", path: "app/other.yaml", base: "app" }],
      mounts: [],
    });
  });

  it("tells which files compose cannot do without, as far as the text alone says", () => {
    const text = `include:
  - {path: [a/x.yaml, b/y.yaml], env_file: [a/e.env]}
  - {path: c/z.yaml, project_directory: d}
  - \${WHERE}/v.yaml
  - oci://registry/app
  - ../../outside.yaml
services:
  a: {extends: {file: base.yaml, service: a}, env_file: [must.env, {path: may.env, required: false}]}
  b: {env_file: "\${WHICH}.env", label_file: must.labels}
  c: {env_file: seldom.env, profiles: [seldom]}
`;
    const { references } = validateCompose(text, { file: "app/c.yaml", base: "app" });
    assert.deepEqual(references, [
      { key: "include", path: "app/a/x.yaml", base: "app/a" },
      { key: "include", path: "app/b/y.yaml", base: "app/a" },
      { key: "include.env_file", path: "app/a/e.env" },
      { key: "include", path: "app/c/z.yaml", base: "app/d" },
      { key: "extends", path: "app/base.yaml" },
      {
        key: "env_file",
        path: "app/must.env",
        where: { path: "services.a.env_file", line: 8, column: 57 },
      },
      {
        key: "env_file",
        path: "app/must.labels",
        where: { path: "services.b.label_file", line: 9, column: 45 },
      },
    ]);
  });
});

describe("nearestName()", () => {
  const known = ["HTTP_PORT", "HTTP_PROXY", "WEBHOOK_SECRET", "LOG_LEVEL", "TZ"];
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["HTTP_PROT", "HTTP_PORT"],
    ["HTTP_POR", "HTTP_PORT"],
    ["WEBHOOK_SECERT", "WEBHOOK_SECRET"],
    ["LOGLEVEL", "LOG_LEVEL"],
    ["HTTP_HOME", undefined],
    ["http_proxy", undefined],
    ["T", undefined],
    ["PATH", undefined],
  ];
  for (const [name, near] of rows) {
    it(`nearestName() takes ${name} for ${near ?? "nothing of ours"}`, () => {
      assert.equal(nearestName(name, known), near);
    });
  }

  it("finds a long name with any two pairs of neighbours swapped", () => {
    const swapped = (text: string, at: number) =>
      text.slice(0, at) + (text[at + 1] ?? "") + (text[at] ?? "") + text.slice(at + 2);
    for (const name of ["ABCDEFGHIJKL", "WEBHOOK_SECRET", "MAX_CONCURRENT_DEPLOYMENTS"]) {
      for (let first = 0; first < name.length - 3; first++) {
        for (let second = first + 2; second < name.length - 1; second++) {
          const slip = swapped(swapped(name, first), second);
          assert.equal(nearestName(slip, [name]), name, slip);
        }
      }
    }
  });
});
