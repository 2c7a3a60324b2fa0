import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { EXIT } from "../../../src/cli/io.ts";
import { run, withFiles } from "./command_line.ts";

type Files = Readonly<Record<string, string>>;

const compose = { "compose.yaml": "services: {}\n" };

describe("stackwright validate", () => {
  const valid: [string, Files, Record<string, string>, string][] = [
    [
      "one file",
      { ...compose, ".stackwright.yaml": "name: web\n" },
      {},
      "valid: 1 deployment in .stackwright.yaml; docker compose decides the rest in plan\n",
    ],
    [
      "two targets and two documents",
      {
        ...compose,
        ".stackwright.yaml": "name: a\n---\nname: b\n",
        ".stackwright.prod.yml": "name: a\n",
      },
      {},
      "valid: 3 deployments in .stackwright.prod.yml, .stackwright.yaml; docker compose decides the rest in plan\n",
    ],
    [
      "a base directory",
      { ...compose, "ops/.stackwright.yaml": "name: web\n" },
      { DEPLOY_CONFIG_BASE_DIR: "/ops/" },
      "valid: 1 deployment in ops/.stackwright.yaml; docker compose decides the rest in plan\n",
    ],
    [
      "an empty base directory setting",
      { ...compose, ".stackwright.yaml": "name: web\n" },
      { DEPLOY_CONFIG_BASE_DIR: "" },
      "valid: 1 deployment in .stackwright.yaml; docker compose decides the rest in plan\n",
    ],
  ];
  for (const [what, files, env, expected] of valid) {
    it(`validate accepts a checkout with ${what}`, async () => {
      await withFiles(files, async (directory) => {
        assert.deepEqual(await run(["validate", directory], { env }), {
          code: EXIT.ok,
          out: expected,
          err: "",
        });
      });
    });
  }

  it("validate says where a file is too large, or a path too long, and goes on", async () => {
    const large = "#".repeat(256 * 1024 + 1024 * 1024 + 1);
    const long = "x".repeat(5000);
    const files = {
      "a.yaml": `${large}`,
      "c.yaml": `services: {a: {image: a, env_file: [${long}]}}`,
      ".stackwright.yaml": `name: a\ncompose_files: [a.yaml, c.yaml]\n`,
      ".stackwright.b.yaml": `name: b\ncompose_files:\n  - ${long}\n`,
      ".stackwright.c.yaml": large,
    };
    await withFiles(files, async (directory) => {
      const { code, out } = await run(["validate", directory]);
      assert.equal(code, EXIT.failed);
      const found = out.trimEnd().split("\n");
      const told = (file: string) =>
        `${file}:1:1: the file has 1310721 bytes, the most that is read`;
      assert.ok(found.some((line) => line.startsWith(told("a.yaml"))), out);
      assert.ok(found.some((line) => line.startsWith(told(".stackwright.c.yaml"))), out);
      const tooLong = "a path has at most 2048 characters, this one has 5000";
      for (
        const place of [/^\.stackwright\.b\.yaml:3:5: .*compose_files/, /^c\.yaml: .*env_file/]
      ) {
        assert.ok(found.some((line) => place.test(line) && line.includes(tooLong)), out);
      }
    });
  });

  it("validate says that it reads the files of all targets to who names one", async () => {
    for (const args of [["--target", "nas"], ["--target=nas"]]) {
      const { code, err } = await run(["validate", ...args, "."]);
      assert.match(err, /reads the files of all targets: leave --target out/);
      assert.equal(code, EXIT.usage);
    }
  });

  it("validate finds schedules that deployments fail of, and jobs that no scheduler runs", async () => {
    const labels = (schedule: string) =>
      `services: {a: {image: x, labels: ["cd.doco.job.enabled=true", "cd.doco.job.schedule=${schedule}"]}}`;
    const env = { SCHEDULER_ENABLED: "false" };
    for (
      const [schedule, code, says] of [
        ["61 * * * *", EXIT.failed, /^compose\.yaml:1:63: .*schedule: .*is no schedule/],
        ["0 2 * * *", EXIT.ok, /^warning: compose\.yaml:1:35: .*SCHEDULER_ENABLED is false\n/],
      ] as const
    ) {
      const files = { ".stackwright.yaml": "name: a\n", "compose.yaml": labels(schedule) };
      await withFiles(files, async (directory) => {
        const found = await run(["validate", directory], { env });
        assert.match(found.out, says);
        assert.equal(found.code, code);
      });
    }
  });

  it("validate warns of a job that stops a stack which the file does not have", async () => {
    const stops = "cd.doco.job.stop_services=app, b/app, other/db";
    const files = {
      ".stackwright.yaml": "name: a\n---\nname: b\n",
      "compose.yaml": 'services: {a: {image: x, labels: ["cd.doco.job.enabled=true", ' +
        `"cd.doco.job.schedule=@daily", "${stops}"]}}`,
    };
    await withFiles(files, async (directory) => {
      const { code, out } = await run(["validate", directory]);
      assert.equal(code, EXIT.ok);
      assert.match(
        out,
        /^warning: compose\.yaml:1:35: .*: the job stops services of other, which is/,
      );
      assert.doesNotMatch(out, /services of b/);
    });
  });

  it("validate finds what this version cannot deploy, and warns of what has no effect", async () => {
    const files = {
      ...compose,
      ".stackwright.yaml": "name: a\noci: {}\n---\nname: b\nsource: oci\n",
    };
    await withFiles(files, async (directory) => {
      const { code, out, err } = await run(["validate", directory]);
      assert.equal(code, EXIT.failed);
      assert.equal(err, "");
      const [problem = "", ...warnings] = out.trim().split("\n");
      assert.equal(warnings.pop(), "1 problem found");
      assert.match(problem, /^\.stackwright\.yaml:5:9 .*does not act on source: oci yet/);
      assert.ok(warnings.every((each) => each.startsWith("warning: ")), out);
      assert.match(warnings.join("\n"), /oci: ignored: /);
    });
  });

  it("validate looks into the directories that a discovery finds", async () => {
    const files = {
      ".stackwright.yaml": "working_dir: apps\nauto_discovery: true\n",
      "apps/a/compose.yaml": "",
      "apps/b/c/compose.yml": "",
      "apps/b/c/.stackwright.yml": "paus: true\n",
      "apps/node_modules/x/compose.yaml": "",
      ".git/apps/compose.yaml": "",
    };
    await withFiles(files, async (directory) => {
      const { code, out } = await run(["validate", directory]);
      assert.equal(code, EXIT.failed);
      assert.equal(
        out,
        'apps/b/c/.stackwright.yml:1:1: paus: unknown key "paus"; did you mean "pause"?\n' +
          "1 problem found\n",
      );
    });
  });

  const invalid: [string, Files, string[]][] = [
    ["no configuration", compose, [".stackwright.yaml: no deployment configuration found"]],
    [
      "an unknown key",
      { ...compose, ".stackwright.yaml": "name: web\ntimeoutt: 5\n" },
      [".stackwright.yaml:2:1: timeoutt: unknown"],
    ],
    [
      "broken YAML",
      { ...compose, ".stackwright.yaml": "name: web\nbuild: {\n" },
      [".stackwright.yaml:"],
    ],
    [
      "problems in two files and in the second document of one",
      {
        ...compose,
        ".stackwright.prod.yaml": "name: web\ngit_depth: many\n",
        ".stackwright.yaml": "name: web\n---\nname: b\ndestroy:\n  enabled: perhaps\n",
      },
      [
        ".stackwright.prod.yaml:2:12: git_depth: ",
        ".stackwright.yaml:5:12 (document 2): destroy.enabled: ",
      ],
    ],
    [
      "a missing compose file",
      { ".stackwright.yaml": "name: web\ncompose_files: [a.yaml, b.yaml]\n", "a.yaml": "" },
      [".stackwright.yaml:2:16: compose_files: b.yaml does not exist"],
    ],
    [
      "no compose file at all",
      { ".stackwright.yaml": "name: web\nworking_dir: app\n", "app/x": "", ...compose },
      [".stackwright.yaml:1:1: compose_files: app has no compose file"],
    ],
    [
      "a directory that is not there",
      { ".stackwright.yaml": "name: web\nworking_dir: app\n", ...compose },
      [".stackwright.yaml:2:14: working_dir: app does not exist"],
    ],
    [
      "a reference that Git cannot have",
      { ...compose, ".stackwright.yaml": "name: web\nreference: bad..ref\n" },
      [".stackwright.yaml:2:12: reference: "],
    ],
    [
      "a missing dotenv file",
      { ...compose, ".stackwright.yaml": "name: web\nenv_files: [prod.env]\n" },
      [".stackwright.yaml:2:12: env_files: prod.env does not exist"],
    ],
  ];
  for (const [what, files, starts] of invalid) {
    it(`validate refuses a checkout with ${what}, naming each place`, async () => {
      await withFiles(files, async (directory) => {
        const { code, out, err } = await run(["validate"], { cwd: directory });
        assert.deepEqual([code, err], [EXIT.failed, ""]);
        const lines = out.trimEnd().split("\n");
        const counted = `${starts.length} problem${starts.length === 1 ? "" : "s"} found`;
        assert.equal(lines.pop(), counted);
        assert.deepEqual(lines.map((line, at) => line.slice(0, starts[at]?.length)), starts);
        const json = await run(["validate", "--json"], { cwd: directory });
        assert.deepEqual([json.code, json.err], [EXIT.failed, ""]);
        const { valid, problems } = JSON.parse(json.out);
        assert.equal(valid, false);
        assert.equal(problems.length, starts.length);
        for (const [at, { file, line, path }] of problems.entries()) {
          assert.ok(starts[at]?.startsWith(file));
          if (line !== undefined) assert.ok(starts[at]?.startsWith(`${file}:`));
          if (path !== undefined && path !== "") assert.ok(starts[at]?.includes(path));
        }
      });
    });
  }

  it("validate prints what it found as JSON for a checkout that is right", async () => {
    await withFiles({ ...compose, ".stackwright.yaml": "name: web\n" }, async (directory) => {
      const { code, out, err } = await run(["validate", "--json", directory]);
      assert.deepEqual([code, err], [EXIT.ok, ""]);
      assert.deepEqual(JSON.parse(out), {
        valid: true,
        files: [".stackwright.yaml"],
        deployments: 1,
        problems: [],
        warnings: [],
      });
    });
  });

  it("validate takes a directory relative to the working directory", async () => {
    const files = { "repo/compose.yaml": "", "repo/.stackwright.yaml": "name: web\n" };
    await withFiles(files, async (directory) => {
      assert.equal((await run(["validate", "repo"], { cwd: directory })).code, EXIT.ok);
      assert.equal((await run(["validate", "other"], { cwd: directory })).code, EXIT.failed);
    });
  });

  it("validate follows links to compose files, and does not take a directory for one", async () => {
    const files = { ".stackwright.yaml": "name: web\ncompose_files: [c.yaml]\n", "real.yaml": "" };
    await withFiles(files, async (directory) => {
      await symlink("real.yaml", join(directory, "c.yaml"));
      assert.equal((await run(["validate", directory])).code, EXIT.ok);
    });
    await withFiles({ ...files, "c.yaml/inner": "" }, async (directory) => {
      const { code, out } = await run(["validate", directory]);
      assert.equal(code, EXIT.failed);
      assert.match(out, /c\.yaml does not exist/);
    });
  });

  const outside = {
    "outside/file.yaml": "hunter2: x\n",
    "outside/ops/compose.yaml": "hunter2: x\n",
  };
  const links: [
    what: string,
    Files,
    links: Record<string, string>,
    env?: Record<string, string>,
  ][] = [
    ["a configuration", {}, { ".stackwright.yaml": "../outside/file.yaml" }],
    ["a configuration of the checkout", { "real.yaml": "hunter2: x\n" }, {
      ".stackwright.yaml": "real.yaml",
    }],
    ["git's own configuration", { ".git/config": "hunter2: x\n" }, {
      ".stackwright.yaml": ".git/config",
    }],
    ["a compose file", { ".stackwright.yaml": "name: web\n" }, {
      "compose.yaml": "../outside/file.yaml",
    }],
    ["a compose file in .git", {
      ".stackwright.yaml": "name: web\n",
      ".git/config": "hunter2: x\n",
    }, {
      "compose.yaml": ".git/config",
    }],
    ["a working directory", { ".stackwright.yaml": "name: web\nworking_dir: ops\n" }, {
      "ops": "../outside/ops",
    }],
    [
      "a directory in which stacks are discovered",
      { ".stackwright.yaml": "working_dir: all\nauto_discovery: {enabled: true}\n" },
      { "all": "../outside" },
    ],
    ["a directory of configurations", {}, { "ops": "../outside/ops" }, {
      DEPLOY_CONFIG_BASE_DIR: "ops",
    }],
    ["a device", { ".stackwright.yaml": "name: web\n" }, { "compose.yaml": "/dev/zero" }],
    ["itself", { ".stackwright.yaml": "name: web\n" }, { "compose.yaml": "compose.yaml" }],
  ];
  for (const [what, files, made, env = {}] of links) {
    it(`validate follows no link out of the checkout to ${what}`, async () => {
      const below = Object.entries(files).map(([path, text]) => [`in/${path}`, text]);
      await withFiles(
        { "in/x": "", ...Object.fromEntries(below), ...outside },
        async (directory) => {
          for (const [path, target] of Object.entries(made)) {
            await symlink(target, join(directory, "in", path));
          }
          const { code, out } = await run(["validate", join(directory, "in")], { env });
          assert.equal(code, EXIT.failed, out);
          assert.doesNotMatch(out, /hunter2|ops\/compose/);
          const [path] = Object.keys(made);
          assert.ok(out.includes(`warning: ${path}: a link that is not followed`), out);
        },
      );
    });
  }
});
