import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { Compose, type ComposeCall } from "../../../../src/deploy/mod.ts";
import { builtNames, isStackwrightError, StackwrightError } from "../../../../src/model/mod.ts";
import {
  type Command,
  type CommandResult,
  type Commands,
  createFairLimiter,
  type Lend,
  systemFiles,
} from "../../../../src/system/mod.ts";
import { settle } from "../../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";

const SIGNAL = new AbortController().signal;
const CALL: ComposeCall = {
  project: { name: "shop", directory: "/dir", files: ["-"], envFiles: [], profiles: [] },
  variables: { A: "1" },
  model: { name: "shop", services: {} },
};
const SCRATCH = { files: systemFiles, prefix: join(tmpdir(), "swt-compose-scratch-") };
/** Builds find no builders of this machine, and leave nothing there. */
const NO_BUILDERS = { BUILDX_CONFIG: "/dev/null/buildx" };
const UP = { mode: "replace", scale: { web: 1 }, noStart: false, timeoutMs: 5000 } as const;
const BUILD = { services: ["web"], pull: false, noCache: false, quiet: false };

/** Answers every program with `result`, after its lines, and keeps what was asked for. */
function scripted(result: { code?: number; stdout?: string; stderr?: string }) {
  const asked: Command[] = [];
  const commands: Commands = {
    run(command): Promise<CommandResult> {
      asked.push(command);
      const { code = 0, stdout = "", stderr = "" } = result;
      for (const line of stderr.split("\n")) command.onLine?.(line);
      return Promise.resolve({ code, stdout: new TextEncoder().encode(stdout), stderr });
    },
    start: () => assert.fail("compose is never talked to while it runs"),
  };
  const log = createRecordingLog();
  const programEnvironment = { PATH: "/bin", DOCKER_HOST: "unix:///e.sock", ...NO_BUILDERS };
  return {
    compose: new Compose({ commands, programEnvironment, log, scratch: SCRATCH }),
    asked,
    log,
  };
}

async function messageOf(work: Promise<unknown>, code: string): Promise<string> {
  let message = "";
  await assert.rejects(work, (error) => {
    assert.ok(isStackwrightError(error), String(error));
    assert.equal(error.code, code);
    message = error.message;
    return true;
  });
  return message;
}

describe("Compose and the programs it runs", () => {
  it("says paths of a checkout as its authors know them", async () => {
    const project = {
      ...CALL.project,
      tree: "/data/trees/a1",
      configurationTree: "/data/trees/b2",
    };
    const stderr = 'level=warning msg="/data/trees/a1/compose.yaml: version is obsolete"\n' +
      "open /data/trees/a1/none.yaml: no such file in /data/trees/a1 or /data/trees/b2/x.env\n";
    const failing = scripted({ code: 1, stderr });
    const failed = failing.compose.render({ ...CALL, project }, SIGNAL);
    assert.equal(
      await messageOf(failed, "render_failed"),
      "docker compose config failed: open none.yaml: no such file in . or x.env",
    );
    const good = scripted({ stderr, stdout: '{"name":"shop","services":{}}' });
    await good.compose.render({ ...CALL, project }, SIGNAL);
    assert.equal(good.log.lines[0]?.message, "compose.yaml: version is obsolete");
  });

  it("lets a rendering read its own checkout, and of that of its configuration dotenv files", async () => {
    const own = "/data/trees/a1";
    const project = {
      ...CALL.project,
      directory: `${own}/app`,
      files: ["-", `${own}/app/compose.yaml`],
      envFiles: ["/data/trees/b2/common.env", `${own}/.env`],
      tree: own,
      configurationTree: "/data/trees/b2",
    };
    const { compose, asked } = scripted({ stdout: "{}" });
    await compose.render({ ...CALL, project }, SIGNAL);
    assert.deepEqual(asked[0]?.mayRead, [
      ...[project.directory, own, `${own}/app/compose.yaml`],
      ...project.envFiles,
    ]);
  });

  it("says in which files to look, and what to do, where compose refuses a project", async () => {
    const project = { ...CALL.project, files: ["/t/a.yaml", "/t/b.yaml"], tree: "/t" };
    const said: readonly (readonly [string, RegExp])[] = [
      [
        'service "web" refers to undefined network front: invalid compose project',
        /below networks:/,
      ],
      ['service "web" refers to undefined volume data: invalid compose project', /below volumes:/],
      [
        'service "web" depends on undefined service "db"',
        /: name a service of the project; where it is one whose profile is off, .*required: false/,
      ],
      ["env file prod.env not found: stat prod.env: no such file", /required: false/],
      ["validating a.yaml: (root) Additional property service is not allowed", /knows no such key/],
      ["validating a.yaml: services additional properties 'webb' not allowed", /knows no such key/],
      ["required variable A is missing a value: set A", /env_files or external_secrets/],
      ["Invalid containerPort: eighty", /TARGET/],
      ["open base.yaml: no such file or directory", /commit it/],
    ];
    for (const [stderr, hint] of said) {
      const { compose } = scripted({ code: 1, stderr });
      const [first, second = ""] = (await messageOf(
        compose.render({ ...CALL, project }, SIGNAL),
        "render_failed",
      )).split("\n");
      assert.equal(first, `docker compose config failed: ${stderr}`);
      assert.match(second, /^in a\.yaml, b\.yaml: /);
      assert.match(second, hint);
    }
  });

  it("hands the model over on standard input, with no variable of the repository", async () => {
    const { compose, asked } = scripted({});
    const variables = { A: "1", AWS_CONFIG_FILE: "/x", "BASH_FUNC_read%%": "() { id; }" };
    await compose.up({ ...CALL, variables }, UP, SIGNAL);
    const [command] = asked;
    assert.equal(command?.argv[0], "docker");
    assert.equal(command?.stdin, JSON.stringify(CALL.model));
    assert.deepEqual(command?.env, {
      PATH: "/bin",
      DOCKER_HOST: "unix:///e.sock",
      ...NO_BUILDERS,
      COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
      COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
      BUILDX_BAKE_ENTITLEMENTS_FS: "0",
      BUILDX_GIT_INFO: "false",
      GIT_DIR: "/dev/null",
      BUILDKIT_NO_CLIENT_TOKEN: "1",
    });
    assert.equal(command?.timeoutMs, 5000);
    assert.equal(command?.endsWithUs, true);
  });

  it("builds, pulls and starts without any dotenv file or profile of the repository", async () => {
    const { compose, asked } = scripted({});
    const project = { ...CALL.project, envFiles: ["/repository/.env"], profiles: ["p"] };
    const call = { ...CALL, project };
    await compose.build(call, BUILD, SIGNAL);
    await compose.pull(call, ["web"], SIGNAL);
    await compose.up(call, UP, SIGNAL);
    assert.equal(asked.length, 3);
    // What a policy beside a Dockerfile names `cwd://` must not be ours.
    assert.equal(asked[0]?.cwd, call.project.directory);
    // A policy, or an expression in a label, may ask for any, and an engine may answer without end.
    assert.deepEqual(asked.map(({ mostMemory }) => mostMemory), [1024 ** 3, 1024 ** 3, 1024 ** 3]);
    for (const { argv } of asked) {
      const given = argv.filter((_, index) => argv[index - 1] === "--env-file");
      assert.deepEqual(given, ["/dev/null"]);
      assert.equal(argv.includes("--profile"), false);
    }
  });

  it("gives the values of configs and secrets under names of ours, and no others", async () => {
    const { compose, asked } = scripted({});
    const model = {
      name: "shop",
      services: { web: { image: "a", profiles: ["p"] } },
      secrets: { s: { name: "s", environment: "AWS_CONFIG_FILE" }, f: { file: "/x" } },
      configs: { c: { environment: "LD_PRELOAD=/x.so" }, d: { environment: "DOCKER_HOST" } },
    };
    await compose.up({ ...CALL, variables: { AWS_CONFIG_FILE: "a$b", B: "2" }, model }, UP, SIGNAL);
    const { env = {}, stdin } = asked[0] ?? {};
    assert.equal(env["STACKWRIGHT_VALUE_AWS_CONFIG_FILE"], "a$b");
    assert.deepEqual(
      Object.keys(env).filter((name) =>
        !/^(?:PATH|DOCKER_HOST|COMPOSE_EXP.*|BUILDX_.*|GIT_DIR|BUILDKIT_NO_CLIENT_TOKEN)$/.test(
          name,
        )
      ),
      ["STACKWRIGHT_VALUE_AWS_CONFIG_FILE"],
    );
    assert.deepEqual(JSON.parse(String(stdin)), {
      name: "shop",
      services: { web: { image: "a" } },
      secrets: {
        s: { name: "s", environment: "STACKWRIGHT_VALUE_AWS_CONFIG_FILE" },
        f: { file: "/x" },
      },
      configs: {
        c: { environment: "STACKWRIGHT_VALUE_OF_NO_NAME" },
        d: { environment: "STACKWRIGHT_VALUE_DOCKER_HOST" },
      },
    });
  });

  it("hands over nothing that compose would evaluate with its own variables, or follow", async () => {
    const { compose, asked } = scripted({});
    const environment = { GIT_DIR: null, STACKWRIGHT_VALUE_S: null, DOCKER_CONFIG: null, B: null };
    const web = { image: "a", environment, extends: { file: "/o.yml", service: "s2" } };
    const model = { services: { web }, secrets: { s: { environment: "S" } } };
    await compose.up({ ...CALL, variables: { S: "1" }, model }, UP, SIGNAL);
    const { services } = JSON.parse(String(asked[0]?.stdin));
    assert.deepEqual(services, { web: { image: "a", environment: { B: null } } });
    const runs = { services: { web: { image: "a", provider: { type: "/x" } } } };
    const refused = compose.up({ ...CALL, model: runs }, UP, SIGNAL);
    assert.match(await messageOf(refused, "unsupported"), /is not handed service web: provider/);
    assert.equal(asked.length, 1);
  });

  it("gives builds their own secrets alone, and pulls none: there may be more than a program takes", async () => {
    const { compose, asked } = scripted({});
    const model = {
      name: "shop",
      services: { web: { build: { context: ".", secrets: [{ source: "s" }] }, configs: ["c"] } },
      secrets: { s: { environment: "S" }, t: { environment: "T" } },
      configs: { c: { environment: "C" }, s: { environment: "D" } },
    };
    const call = { ...CALL, variables: { S: "1", T: "2", C: "3", D: "4" }, model };
    await compose.build(call, BUILD, SIGNAL);
    await compose.pull({ ...call, model: { ...model, services: {} } }, ["web"], SIGNAL);
    await compose.up(call, UP, SIGNAL);
    const given = asked.map(({ env }) =>
      Object.keys(env).flatMap((name) => /^STACKWRIGHT_VALUE_(.)$/.exec(name)?.[1] ?? []).join("")
    );
    assert.deepEqual(given, ["S", "", "CDST"]);
  });

  it("renders what steers programs from a private file that is gone afterwards", async () => {
    let file = "";
    const commands: Commands = {
      run({ argv, env }) {
        assert.deepEqual(Object.keys(env).filter((name) => !/^COMPOSE_EXP/.test(name)), [
          "A",
          "PATH",
          "PWD",
        ]);
        const given = argv.filter((_, index) => argv[index - 1] === "--env-file");
        file = given[0] ?? "";
        assert.deepEqual(given, [file, "/t/.env", file]);
        assert.equal(readFileSync(file, "utf8"), 'AWS_REGION="a\\$b\\"c\\\\d\\ne"\n');
        assert.equal(statSync(file).mode & 0o777, 0o600);
        assert.equal(statSync(dirname(file)).mode & 0o777, 0o700);
        const stdout = new TextEncoder().encode('{"services":{"w":{"labels":{"a$$b":"c$$d"}}}}');
        return Promise.resolve({ code: 0, stdout, stderr: "" });
      },
      start: () => assert.fail(),
    };
    const program = { PATH: "/bin" };
    const compose = new Compose({
      commands,
      programEnvironment: program,
      log: createRecordingLog(),
      scratch: SCRATCH,
    });
    const project = { ...CALL.project, envFiles: ["/t/.env"] };
    const variables = { A: "1", AWS_REGION: 'a$b"c\\d\ne' };
    const model = await compose.render({ ...CALL, project, variables }, SIGNAL);
    // Compose doubles the dollar of keys too, but takes only those of values back.
    assert.deepEqual(model, { services: { w: { labels: { "a$b": "c$$d" } } } });
    assert.notEqual(file, "");
    assert.equal(existsSync(dirname(file)), false);
  });

  it("builds with a private directory for temporary files that is gone afterwards", async () => {
    const { compose, asked } = scripted({ code: 1 });
    await messageOf(compose.build(CALL, BUILD, SIGNAL), "build_failed");
    const directory = asked[0]?.env?.["TMPDIR"] ?? "";
    assert.ok(directory.startsWith(SCRATCH.prefix), directory);
    // Buildx keeps a record of each build, which nobody reads.
    assert.equal(asked[0]?.env?.["BUILDX_CONFIG"], join(directory, "buildx"));
    assert.equal(existsSync(directory), false);
  });

  it("collects garbage seldom where it is told that no file names a variable of that", async () => {
    const { compose, asked } = scripted({ stdout: "{}" });
    await compose.render(CALL, SIGNAL);
    await compose.render({ ...CALL, collectsSeldom: true }, SIGNAL);
    const set = asked.map(({ env }) => [env["GOGC"], env["GOMEMLIMIT"], env["A"]]);
    assert.deepEqual(set, [[undefined, undefined, "1"], ["400", "536870912", "1"]]);
  });

  it("gives no standard input when there is no model", async () => {
    const { compose, asked } = scripted({ stdout: "{}" });
    const { model: _model, ...files } = CALL;
    await compose.render(files, SIGNAL);
    assert.equal(asked[0] !== undefined && "stdin" in asked[0], false);
  });

  for (const name of ["DOCKER_HOST", "BASH_FUNC_read%%", "a.b", "", "9A", "STACKWRIGHT_VALUE_A"]) {
    it(`renders nothing with a variable ${JSON.stringify(name)}`, async () => {
      const { compose, asked } = scripted({});
      const call = { ...CALL, variables: { [name]: "tcp://elsewhere" } };
      const message = await messageOf(compose.render(call, SIGNAL), "config_invalid");
      assert.ok(message.startsWith("environment"), message);
      assert.ok(message.includes(name), message);
      assert.deepEqual(asked, []);
    });
  }

  it("logs progress for the stack, and never what rendering prints", async () => {
    const stderr = " Container shop-web-1  Starting\n\n Container shop-web-1  Started";
    const up = scripted({ stderr });
    await up.compose.up(CALL, UP, SIGNAL);
    assert.deepEqual(up.log.lines.map(({ level, message, fields }) => [level, message, fields]), [
      ["debug", "Container shop-web-1  Starting", { stack: "shop" }],
      ["debug", "Container shop-web-1  Started", { stack: "shop" }],
    ]);
    const render = scripted({ stdout: '{"services":{}}', stderr: "PASSWORD=secret" });
    await render.compose.render(CALL, SIGNAL);
    assert.deepEqual(render.log.lines, []);
  });

  it("passes warnings on, as sentences", async () => {
    const stderr = [
      'time="2026-11-21T06:00:00Z" level=warning msg="The \\"TAG\\" variable is not set. Defaulting to a blank string."',
      'time="2026-11-21T06:00:00Z" level=warning msg="`version` is obsolete"',
      "level=warning without a message",
    ].join("\n");
    const { compose, log } = scripted({ stdout: "{}", stderr });
    await compose.render(CALL, SIGNAL);
    assert.deepEqual(log.lines.map(({ level, message }) => [level, message]), [
      ["warning", 'The "TAG" variable is not set. Defaulting to a blank string.'],
      ["warning", "`version` is obsolete"],
      ["warning", "level=warning without a message"],
    ]);
  });

  it("cuts a warning about a name as long as a file", async () => {
    const one = (name: string) => `level=warning msg="The \\"${name}\\" variable is not set."`;
    const names = ["A".repeat(3000), "A".repeat(80_000), "A".repeat(80_000) + "B"];
    const { compose, log } = scripted({ stdout: "{}", stderr: names.map(one).join("\n") });
    await compose.render(CALL, SIGNAL);
    assert.deepEqual(log.lines.map(({ message }) => message), [
      `The "${"A".repeat(995)}…`,
      // What comes later may not be as in a name of a variable.
      'The "***… (a dollar in a value is written $$)',
    ]);
  });

  it("passes each of the first fifty warnings on once, and says how many more there are", async () => {
    const one = (name: number) => `level=warning msg="The \\"A${name}\\" variable is not set."`;
    const stderr = Array.from({ length: 90 }, (_, at) => `${one(at)}\n${one(at)}`).join("\n");
    const { compose, log } = scripted({ stdout: "{}", stderr });
    await compose.render(CALL, SIGNAL);
    const told = log.lines.map(({ message }) => message);
    assert.equal(told.length, 51);
    assert.equal(told.at(-2), 'The "A49" variable is not set.');
    assert.equal(told.at(-1), "docker compose printed 40 more warnings");
  });

  for (const [quiet, level] of [[undefined, "debug"], [true, "debug"], [false, "info"]] as const) {
    it(`tells the program's progress at ${level} when quiet is ${quiet}`, async () => {
      const commands: Commands = {
        run({ onLine }) {
          onLine?.("Container web Started ");
          onLine?.("  ");
          return Promise.resolve({ code: 0, stdout: new Uint8Array(), stderr: "" });
        },
        start: () => assert.fail(),
      };
      const log = createRecordingLog();
      const more = quiet === undefined ? {} : { quiet };
      const compose = new Compose({
        commands,
        programEnvironment: NO_BUILDERS,
        log,
        scratch: SCRATCH,
        ...more,
      });
      await compose.up(CALL, UP, SIGNAL);
      assert.deepEqual(log.lines.map((line) => [line.level, line.message]), [
        [level, "Container web Started"],
      ]);
    });
  }

  it("does not tell the names by which it is known what a build has made", async () => {
    const name = `${builtNames("shop")}0123456789abcdef`;
    const { compose, log } = scripted({ stderr: `#8 naming to docker.io/${name} done` });
    await compose.build(CALL, BUILD, SIGNAL);
    assert.deepEqual(log.lines.map(({ message }) => message), [
      "#8 naming to docker.io/stackwright/kept:built-… done",
    ]);
  });

  it("does not take what follows the dollar of a password for the name of a variable", async () => {
    for (const name of ["w0rdXyz", "Canary", "canary4", "x-y"]) {
      const stderr = `level=warning msg="The \\"${name}\\" variable is not set. Defaulting."`;
      const { compose, log } = scripted({ stdout: "{}", stderr });
      await compose.render(CALL, SIGNAL);
      assert.deepEqual(log.lines.map(({ message }) => message), [
        'The "***" variable is not set (a dollar in a value is written $$). Defaulting.',
      ]);
    }
  });

  for (
    const [ended, says] of [["it printed more than 9 bytes", /has more than 4 MiB; long ranges/], [
      "it took more than 9 bytes of memory",
      /needed more than 1024 MiB of memory/,
    ]] as const
  ) {
    it(`says what to do about a project of which ${ended}`, async () => {
      const commands: Commands = {
        run: () => Promise.reject(new StackwrightError("payload_too_large", ended)),
        start: () => assert.fail(),
      };
      const log = createRecordingLog();
      const compose = new Compose({
        commands,
        programEnvironment: NO_BUILDERS,
        log,
        scratch: SCRATCH,
      });
      assert.match(await messageOf(compose.render(CALL, SIGNAL), "render_failed"), says);
      const building = await messageOf(compose.build(CALL, BUILD, SIGNAL), "build_failed");
      if (ended.endsWith("memory")) {
        assert.match(building, /^docker compose build failed: .*policy/);
      }
    });
  }

  for (
    const [version, has, builds] of [
      ["5.5.0", false, false],
      ["v6.0.0-rc.1", false, false],
      ["5.5.0", true, true],
      ["2.40.3", false, true],
    ] as const
  ) {
    it(`${builds ? "builds" : "does not build"} with compose ${version} and${has ? "" : " no"} buildx`, async () => {
      const asked: Command[] = [];
      const commands: Commands = {
        run(command) {
          asked.push(command);
          const stdout = new TextEncoder().encode(version);
          return Promise.resolve({ code: 0, stdout, stderr: "" });
        },
        start: () => assert.fail(),
      };
      const compose = new Compose({
        commands,
        hasBuildx: () => Promise.resolve(has),
        programEnvironment: NO_BUILDERS,
        log: createRecordingLog(),
        scratch: SCRATCH,
      });
      const building = compose.build(CALL, BUILD, SIGNAL);
      if (builds) await building;
      else {assert.match(
          await messageOf(building, "build_failed"),
          /buildx, which is not installed/,
        );}
      assert.equal(asked.some(({ argv }) => argv.includes("build")), builds);
    });
  }

  it("passes the signal on", async () => {
    const reason = new Error("stopped by the test");
    const commands: Commands = {
      run: (_command, signal) => Promise.reject(signal.reason),
      start: () => assert.fail(),
    };
    const compose = new Compose({
      commands,
      programEnvironment: NO_BUILDERS,
      log: createRecordingLog(),
      scratch: SCRATCH,
    });
    await assert.rejects(compose.up(CALL, UP, AbortSignal.abort(reason)), reason);
  });
});

describe("Compose.version()", () => {
  it("is what compose prints, without the line break", async () => {
    const { compose, asked } = scripted({ stdout: "2.26.1\n" });
    assert.equal(await compose.version(SIGNAL), "2.26.1");
    assert.deepEqual(asked[0]?.argv, ["docker", "compose", "version", "--short"]);
  });

  it("says what to install when there is no plugin", async () => {
    const stderr = "usage\ndocker: 'compose' is not a docker command.\n";
    const { compose } = scripted({ code: 1, stderr });
    assert.equal(
      await messageOf(compose.version(SIGNAL), "command_failed"),
      "docker compose is not usable: docker: 'compose' is not a docker command.; " +
        "install the compose plugin 2.26 or newer",
    );
  });
});

describe("Compose.lending()", () => {
  it("renders for sources in turns, and lends what each holds while it waits", async () => {
    const asked: string[] = [];
    const ends: (() => void)[] = [];
    const commands: Commands = {
      run: async ({ cwd = "" }) => {
        asked.push(cwd);
        await new Promise<void>((resolve) => ends.push(resolve));
        return { code: 0, stdout: new TextEncoder().encode("{}"), stderr: "" };
      },
      start: () => assert.fail(),
    };
    const compose = new Compose({
      commands,
      programEnvironment: NO_BUILDERS,
      log: createRecordingLog(),
      scratch: SCRATCH,
      rendering: createFairLimiter(1),
    });
    let lent = 0;
    const lend: Lend = async (_hosts, work) => {
      lent++;
      return await work();
    };
    const all = ["/a1", "/a2", "/a3", "/b1"].map((directory) =>
      compose.lending(lend, directory.charAt(1))
        .render({ ...CALL, project: { ...CALL.project, directory } }, SIGNAL)
    );
    assert.equal(lent, 4);
    while (ends.length < 4) {
      await settle();
      ends.at(-1)?.();
    }
    await Promise.all(all);
    assert.deepEqual(asked, ["/a1", "/a2", "/b1", "/a3"]);
  });
});

describe("Compose.render()", () => {
  it("is the model that compose printed", async () => {
    const { compose } = scripted({ stdout: '{"name":"shop","services":{"web":{}}}' });
    assert.deepEqual(await compose.render(CALL, SIGNAL), { name: "shop", services: { web: {} } });
  });

  for (const stdout of ["", "services: {}", "[]", "null", "3"]) {
    it(`refuses ${JSON.stringify(stdout)}, which is no model`, async () => {
      const { compose } = scripted({ stdout });
      assert.match(
        await messageOf(compose.render(CALL, SIGNAL), "render_failed"),
        /^docker compose config printed no (?:JSON|object)/,
      );
    });
  }
});

const TWO_IMAGES = {
  services: { web: { image: "nginx:alpine" }, db: { image: "ghcr.io/me/db:1" } },
};

/** What compose 2.26 and 2.40 and their builders print, and what of it is told. */
const FAILURES: readonly {
  readonly what: string;
  readonly run: (compose: Compose) => Promise<unknown>;
  readonly code: string;
  /** Exit code; 1 when absent. */
  readonly ended?: number;
  readonly stdout?: string;
  readonly stderr: string;
  readonly message: string;
}[] = [
  {
    what: "a compose file that is not valid",
    run: (compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: "validating /t/compose.yaml: services.web Additional property imagee is not allowed\n",
    message:
      "docker compose config failed: validating /t/compose.yaml: services.web Additional property imagee is not allowed\n" +
      "in its compose files: compose knows no such key there: look for a misspelled or wrongly indented one",
  },
  {
    what: "a format of an env_file that a newer compose knows",
    run: (compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: 'unsupported env_file format "raw"\n',
    message: 'docker compose config failed: unsupported env_file format "raw"\n' +
      "in its compose files: this compose is too old for format: install compose 2.30 or newer, " +
      "or write NAME=value",
  },
  {
    what: "a value that cannot be interpolated",
    run: (compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: "invalid interpolation format for services.web.environment.A.\n" +
      "You may need to escape any $ with another $.\ncanary${\n",
    message: "docker compose config failed: invalid interpolation format for " +
      "services.web.environment.A.\nYou may need to escape any $ with another $.",
  },
  ...[
    [`line 2: unexpected character "'" in variable name`, ` "'canary'#y"`],
    ["failed to read /t/a.env: line 2: unterminated quoted value", ' "canary\rcanary'],
  ].map(([said = "", rest = ""]) => ({
    what: `a line of a dotenv file that cannot be read (${said})`,
    run: (compose: Compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: `${said}${rest}\n`,
    message:
      `docker compose config failed: ${said}\nin its compose files: a dotenv file (env_file, ` +
      "env_files) has that line: write NAME=value, and end each quote",
  })),
  {
    what: "a value of a dotenv file that cannot be interpolated",
    run: (compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: 'failed to read /t/a.env: Invalid template: "${canary canary"\n',
    message: "docker compose config failed: failed to read /t/a.env: Invalid template",
  },
  ...[
    "fatal error: out of memory allocating heap arena metadata",
    "fatal error: runtime: cannot allocate memory",
    "fatal error: runtime: out of memory",
    "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort",
  ].map((said) => ({
    what: `what Go says without memory (${said.slice(0, 40)})`,
    run: (compose: Compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: `${said}\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1\n`,
    message:
      "docker compose config failed: it needed more than 1024 MiB of memory, or the machine " +
      "has none left; variables and files that repeat each other several times over do that: " +
      "write them out, or take out what repeats them",
  })),
  {
    what: "a build that takes all memory",
    run: (compose) => compose.build(CALL, BUILD, SIGNAL),
    code: "build_failed",
    stderr:
      "#1 DONE 0.0s\nfatal error: runtime: cannot allocate memory\n\ngoroutine 1 [running]:\n",
    message:
      "docker compose build failed: it needed more than 1024 MiB of memory, or the machine " +
      "has none left; expressions (%{ }) in what is built, and a policy beside the Dockerfile, do " +
      "that: take out what repeats them",
  },
  ...[137, 152].map((ended) => ({
    what: `a rendering that the kernel ends with ${ended}`,
    run: (compose: Compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    ended,
    stderr: "",
    message:
      "docker compose config failed: it was killed: it took more than 30 seconds of processor time, " +
      "or the machine has no memory left; files that include or extend each other several times over " +
      "do that: include each of them once",
  })),
  {
    what: "an engine whose answers take all memory",
    run: (compose) => compose.pull(CALL, ["web"], SIGNAL),
    code: "pull_failed",
    stderr: "fatal error: runtime: cannot allocate memory\n\ngoroutine 1 [running]:\n",
    message:
      "docker compose pull failed: it needed more than 1024 MiB of memory, or the machine has none " +
      "left; an engine whose answers do not end does that: is it one?",
  },
  {
    what: "a warning before the error",
    run: (compose) => compose.render(CALL, SIGNAL),
    code: "render_failed",
    stderr: 'time="T" level=warning msg="x is not set"\nrequired variable TAG is missing a value',
    message: "docker compose config failed: required variable TAG is missing a value\n" +
      "in its compose files: set it by environment, env_files or external_secrets of the deployment",
  },
  {
    what: "progress around the error",
    run: (compose) => compose.up(CALL, UP, SIGNAL),
    code: "deploy_failed",
    stderr: [
      " Network shop_default  Creating",
      " Network shop_default  Created",
      " Container shop-web-1  Recreate",
      " Container shop-web-1  Recreated",
      " Container shop-web-1  Starting",
      "Error response from daemon: driver failed programming external connectivity: port is already allocated",
    ].join("\n"),
    message:
      "docker compose up failed: Error response from daemon: driver failed programming external connectivity: port is already allocated",
  },
  {
    what: "the images that compose 5 tells it builds",
    run: (compose) => compose.build(CALL, BUILD, SIGNAL),
    code: "build_failed",
    stderr: " Image shop-web Building \n Image shop-db Built \nunknown instruction: FOO\n",
    message: "docker compose build failed: unknown instruction: FOO",
  },
  {
    what: "steps of a pull around the error",
    run: (compose) => compose.pull(CALL, ["web", "db", "other"], SIGNAL),
    code: "pull_failed",
    stderr: [
      " web Skipped - Image is already being pulled by db",
      " db Pulling ",
      " 0d1c3b6a4f2e Pulling fs layer ",
      " 0d1c3b6a4f2e Downloading [==>  ]  1kB/2kB",
      " other Interrupted ",
      " db Error Get https://registry.example/v2/: no such host",
      "Error response from daemon: Get https://registry.example/v2/: no such host",
    ].join("\n"),
    message: "docker compose pull failed: db Error Get https://registry.example/v2/: no such host",
  },
  {
    what: "the images of services that cannot be fetched, and each reason once",
    run: (compose) => compose.pull({ ...CALL, model: TWO_IMAGES }, ["web", "db"], SIGNAL),
    code: "pull_failed",
    stderr: [
      " web Error Get https://registry.example/v2/: no such host",
      " db Error response from daemon: denied",
      "Error response from daemon: Get https://registry.example/v2/: no such host",
      "Error response from daemon: something else",
    ].join("\n"),
    message: [
      "docker compose pull failed: service web, image nginx:alpine: " +
      "Get https://registry.example/v2/: no such host",
      "service db, image ghcr.io/me/db:1: denied",
      "Error response from daemon: something else",
    ].join("\n"),
  },
  {
    what: "an image as newer versions of compose name it",
    run: (compose) => compose.pull({ ...CALL, model: TWO_IMAGES }, ["web", "db"], SIGNAL),
    code: "pull_failed",
    stderr: [
      " Image nginx:alpine Error Get https://registry.example/v2/: no such host",
      " Image ghcr.io/me/db:1 Interrupted ",
      "Error response from daemon: Get https://registry.example/v2/: no such host",
    ].join("\n"),
    message: "docker compose pull failed: Image nginx:alpine Error " +
      "Get https://registry.example/v2/: no such host",
  },
  {
    what: "the step at which a build failed, and what it printed",
    run: (compose) => compose.build(CALL, BUILD, SIGNAL),
    code: "build_failed",
    stdout: [
      "#9 [api 2/2] RUN npm ci",
      "#9 1.216 npm ERR no such package",
      "------",
      " > [api 2/2] RUN npm ci:",
      ...Array.from({ length: 12 }, (_, index) => `1.2 line ${index}`),
      "------",
      "",
    ].join("\n"),
    stderr: "failed to solve: process did not complete successfully: exit code: 4",
    message: [
      "docker compose build failed: > [api 2/2] RUN npm ci:",
      ...Array.from({ length: 10 }, (_, index) => `1.2 line ${index + 2}`),
      "failed to solve: process did not complete successfully: exit code: 4",
    ].join("\n"),
  },
  {
    what: "steps of a build around the error",
    run: (compose) => compose.build(CALL, BUILD, SIGNAL),
    code: "build_failed",
    stderr: [
      "#0 building with default instance",
      "#1 [web internal] load build definition from Dockerfile",
      "#1 transferring dockerfile: 90B done",
      "#1 DONE 0.0s",
      "#4 ERROR: process did not complete successfully: exit code: 3",
      "failed to solve: process did not complete successfully: exit code: 3",
    ].join("\n"),
    message: "docker compose build failed: #0 building with default instance\n" +
      "#4 ERROR: process did not complete successfully: exit code: 3\n" +
      "failed to solve: process did not complete successfully: exit code: 3",
  },
  {
    what: "nothing but progress",
    run: (compose) => compose.up(CALL, UP, SIGNAL),
    code: "deploy_failed",
    stderr: " Container shop-web-1  Starting\n",
    message: "docker compose up failed: Container shop-web-1  Starting",
  },
  {
    what: "nothing",
    run: (compose) => compose.up(CALL, UP, SIGNAL),
    code: "deploy_failed",
    stderr: "",
    message: "docker compose up failed: it gave no reason",
  },
  {
    what: "a registry that wants credentials",
    run: (compose) => compose.pull(CALL, ["web"], SIGNAL),
    code: "pull_failed",
    stderr: "Error response from daemon: pull access denied for r.example/app",
    message:
      "docker compose pull failed: Error response from daemon: pull access denied for r.example/app",
  },
  {
    what: "an image that is not there, without the hint about credentials",
    run: (compose) => compose.pull(CALL, ["web"], SIGNAL),
    code: "pull_failed",
    stderr: "Error response from daemon: manifest for r.example/app:9 not found",
    message:
      "docker compose pull failed: Error response from daemon: manifest for r.example/app:9 not found",
  },
  {
    what: "a refusal while starting, without the hint about registries",
    run: (compose) => compose.up(CALL, UP, SIGNAL),
    code: "deploy_failed",
    stderr: "Error response from daemon: permission denied",
    message: "docker compose up failed: Error response from daemon: permission denied",
  },
];

describe("Compose and failures", () => {
  for (const { what, run, code, ended = 1, stdout = "", stderr, message } of FAILURES) {
    it(`tells ${what}`, async () => {
      const { compose } = scripted({ code: ended, stdout, stderr });
      assert.equal(await messageOf(run(compose), code), message);
    });
  }

  it("tells the end of a long text", async () => {
    const stderr = Array.from({ length: 40 }, (_, index) => `line ${index}`).join("\n");
    const { compose } = scripted({ code: 1, stderr });
    const message = await messageOf(compose.up(CALL, UP, SIGNAL), "deploy_failed");
    assert.deepEqual(message.split("\n").length, 15);
    assert.ok(message.endsWith("line 39"));
  });
});
