import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { visibleLines } from "../../../src/cli/colours.ts";
import { EXIT } from "../../../src/cli/io.ts";
import { VERSION } from "../../../src/cli/version.ts";
import { deploymentJsonSchema } from "../../../src/config/mod.ts";
import { COMMANDS, run, withFiles } from "./command_line.ts";

const CANARY = "canary-4711-nest";

/** An error as `--json` prints it. */
function errorOf(err: string): { code: string; message: string; problems?: { file: string }[] } {
  assert.ok(err.endsWith("\n") && err.indexOf("\n") === err.length - 1, err);
  const { error, ...rest } = JSON.parse(err);
  assert.deepEqual(rest, {});
  return error;
}

describe("runCommand for help", () => {
  for (const args of [[], ["help"], ["--help"], ["-h"], ["--json", "--help"]]) {
    it(`runCommand() lists every command with ${args.join(" ")}`, async () => {
      const { code, out, err } = await run(args);
      assert.deepEqual([code, err], [EXIT.ok, ""]);
      for (const name of COMMANDS) {
        assert.match(out, new RegExp(`^  ${name} +[A-Z]`, "m"));
      }
    });
  }

  for (const name of COMMANDS) {
    it(`runCommand() explains ${name}, wherever --help stands, and does not run it`, async () => {
      const { code, out, err } = await run([name, "--help"]);
      assert.deepEqual([code, err], [EXIT.ok, ""]);
      assert.ok(out.includes("Usage: stackwright "), out);
      assert.match(out, new RegExp(`\\b${name}\\b.*\\[--json\\]`));
      for (const line of out.split("\n")) assert.ok(line.length <= 100, line);
      const same = [[name, "-h"], [name, "--json", "--help"], [name, "x", "--help", "y"]];
      for (const args of [["help", name], ["--help", name], ...same]) {
        assert.deepEqual(await run(args), { code: EXIT.ok, out, err: "" });
      }
    });
  }
});

describe("runCommand for version and schema", () => {
  const versions: [string[], string][] = [
    [["version"], `stackwright ${VERSION}\n`],
    [["--version"], `stackwright ${VERSION}\n`],
    [["-v"], `stackwright ${VERSION}\n`],
    [["-V"], `stackwright ${VERSION}\n`],
    [["version", "--json"], `{"version":"${VERSION}"}\n`],
    [["--version", "--json"], `{"version":"${VERSION}"}\n`],
  ];
  for (const [args, out] of versions) {
    it(`runCommand() prints the version for ${args.join(" ")}`, async () => {
      assert.deepEqual(await run(args), { code: EXIT.ok, out, err: "" });
    });
  }

  it("the version is that of the package", () => {
    const file = new URL("../../../package.json", import.meta.url);
    assert.equal(JSON.parse(readFileSync(file, "utf8")).version, VERSION);
  });

  it("runCommand() prints the schema of the configuration, the same with --json", async () => {
    const { code, out, err } = await run(["schema"]);
    assert.deepEqual([code, err], [EXIT.ok, ""]);
    assert.deepEqual(JSON.parse(out), deploymentJsonSchema(VERSION));
    assert.equal(JSON.parse(out)["x-service-version"], `v${VERSION}`);
    assert.equal((await run(["schema", "--json"])).out, out);
  });
});

it("runCommand() says what the system refuses in its words, without a stack", () =>
  withFiles({ "plan.json/file": "" }, async (cwd) => {
    const { code, err } = await run(["apply", "--plan", "plan.json"], { cwd });
    assert.equal(code, EXIT.failed);
    assert.match(err, /^stackwright: EISDIR: [^\n]*\n$/);
  }));

describe("runCommand for usage errors", () => {
  const lines: [string[], string][] = [
    [["deploy"], "there is no command deploy"],
    [["Version"], "there is no command Version"],
    [[""], "there is no command"],
    [["stauts"], "there is no command stauts: did you mean status?"],
    [["--bogus"], "options come after a command"],
    [["--version", "--bogus"], "--bogus"],
    [["version", "extra"], "unexpected argument extra"],
    [["serve", "extra"], "unexpected argument extra"],
    [["schema", "extra"], "unexpected argument extra"],
    [["healthcheck", "extra"], "unexpected argument extra"],
    [["validate", "a", "b"], "unexpected argument b"],
    [["plan", "a", "b"], "unexpected argument b"],
    [["apply", "a", "b"], "unexpected argument b"],
    [["plan", "--ref"], "--ref needs a value"],
    [["plan", "--ref", "--target", "x"], "--ref needs a value"],
    [["plan", "--reff", "x"], "there is no option --reff: did you mean --ref?"],
    [["status", "--jsn"], "there is no option --jsn: did you mean --json?"],
    [["status", "-x"], "there is no option -x; see"],
    [["status", "--json=yes"], "--json takes no value"],
    [["plan", "--plan", "x"], "--plan"],
    [["explain"], "the name of a stack is missing"],
    [["history", ""], "the name of a stack is missing"],
    [["history", "a", "b"], "unexpected argument b"],
    [["diff", "web"], "two release numbers"],
    [["diff", "web", "1"], "two release numbers"],
    [["retry"], "the name of a stack is missing"],
    [["rollback"], "the name of a stack is missing"],
    [["rollback", "web", "0"], "0 is no release number"],
    [["rollback", "web", "1.5"], "1.5 is no release number"],
    [["unpin"], "the name of a stack is missing"],
    ...COMMANDS.map((name): [string[], string] => [[name, "--bogus"], "--bogus"]),
  ];
  for (const [args, text] of lines) {
    it(`runCommand() refuses "${args.join(" ")}" in words and in JSON, with 64`, async () => {
      const plain = await run(args);
      assert.deepEqual([plain.code, plain.out], [EXIT.usage, ""]);
      assert.ok(plain.err.startsWith("stackwright: "), plain.err);
      assert.ok(plain.err.includes(text), plain.err);
      assert.match(plain.err, /; see (?:stackwright )?(?:--help|history)$/m);
      assert.doesNotMatch(plain.err, /\n\s+at /);
      const json = await run([...args.slice(0, 1), "--json", ...args.slice(1)]);
      assert.deepEqual([json.code, json.out], [EXIT.usage, ""]);
      const { code, message } = errorOf(json.err);
      assert.equal(code, "bad_request");
      assert.ok(message.includes(text), message);
    });
  }

  it("runCommand() refuses numbers of releases that are none, before it looks for the stack", async () => {
    await withFiles({}, async (directory) => {
      const env = { DATA_DIR: join(directory, "data"), DATA_HOST_DIR: directory };
      const { code, err } = await run(["diff", "web", "1", "two"], { env });
      assert.equal(code, EXIT.usage);
      assert.match(err, /two is no release number/);
    });
  });
});

describe("runCommand for settings", () => {
  const bad = {
    DATA_DIR: "/nonexistent-4711/data",
    HTTP_PORT: "x",
    TZ: "Mars/Base",
    API_SECRET: CANARY,
    API_SECRET_FILE: "/nowhere",
    HTTP_PROXY: `proxy:${CANARY}@h`,
    SYNC_WINDOWS: CANARY,
    GIT_AUTH_DOMAINS: `- {domains: [a], git_access_token: [${CANARY}]}`,
  };
  const wrong = [
    "API_SECRET",
    "GIT_AUTH_DOMAINS",
    "HTTP_PORT",
    "HTTP_PROXY",
    "SYNC_WINDOWS",
    "TZ",
  ];
  const lines = [
    ["serve"],
    ["plan", "/"],
    ["apply", "/"],
    ["explain", "web"],
    ["history", "web"],
    ["diff", "web", "1", "2"],
    ["rollback", "web"],
    ["retry", "web"],
    ["unpin", "web"],
    ["hold", "web"],
    ["resume", "web"],
  ];
  for (const args of lines) {
    it(`runCommand() names every wrong setting and no secret for "${args.join(" ")}", with 78`, async () => {
      const plain = await run(args, { env: bad });
      assert.deepEqual([plain.code, plain.out], [EXIT.configuration, ""]);
      const [head = "", ...rest] = plain.err.trimEnd().split("\n");
      assert.equal(head, "stackwright: 6 settings are invalid:");
      assert.deepEqual(rest.map((line) => line.split(":")[0]).sort(), wrong);
      const json = await run([...args, "--json"], { env: bad });
      assert.deepEqual([json.code, json.out], [EXIT.configuration, ""]);
      const { code, problems } = errorOf(json.err);
      assert.equal(code, "settings_invalid");
      assert.deepEqual(problems?.map((each) => each.file).sort(), wrong);
      assert.doesNotMatch(plain.err + json.err, /canary/);
    });
  }

  it("runCommand() asks the health of the service although other settings are wrong", async () => {
    const { code } = await run(["healthcheck"], { env: { ...bad, HTTP_PORT: "1" } });
    assert.equal(code, EXIT.failed);
    const wrongPort = await run(["healthcheck"], { env: bad });
    assert.equal(wrongPort.code, EXIT.configuration);
  });

  it("runCommand() gives up with 69 when the service cannot run here", async () => {
    await withFiles({ file: "" }, async (directory) => {
      const env = { DATA_DIR: join(directory, "file/data"), API_SECRET: CANARY };
      const { code, out, err } = await run(["serve"], { env });
      assert.deepEqual([code, out], [EXIT.unavailable, ""]);
      const lines = err.trimEnd().split("\n").map((line) => JSON.parse(line));
      const last = lines.at(-1);
      assert.equal(last.level, "critical");
      assert.match(last.msg, /^could not start: DATA_DIR .*file\/data cannot be written/);
      assert.equal(last.error, undefined, "said once");
      assert.equal(typeof last.code, "string");
      assert.doesNotMatch(err, /canary/);
    });
  });

  it("runCommand() warns of settings that nothing acts on, a line each, before it starts", async () => {
    await withFiles({ file: "" }, async (directory) => {
      const env = {
        DATA_DIR: join(directory, "file/data"),
        APPRISE_API_URL: CANARY,
        SELF_UPDATE_ENABLED: "true",
      };
      const { err } = await run(["serve"], { env });
      const lines = err.trimEnd().split("\n").map((line) => JSON.parse(line));
      const warnings = lines.filter(({ level }) => level === "warning").map(({ msg }) => msg);
      assert.deepEqual(warnings.map((each) => each.split(" ")[0]), [
        "APPRISE_API_URL",
        "SELF_UPDATE_ENABLED",
      ]);
      assert.doesNotMatch(err, /canary/);
    });
  });
});

describe("runCommand for texts that steer a terminal", () => {
  it("runCommand() shows escape sequences of others instead of passing them on", async () => {
    const { err } = await run(["\u001b[2J\u009b31m"]);
    assert.match(err, /there is no command \\u001b\[2J\\u009b31m/);
    const json = await run(["\u001b[2J\u009b31m", "--json"]);
    assert.ok(errorOf(json.err).message.includes("there is no command \u001b[2J\u009b31m"));
  });
});

describe("visibleLines()", () => {
  it("visibleLines() leaves whole lines in our colours, and shows what is inside them", () => {
    const line = "\u001b[32m+ a\u001b[2Jb\u001b[0m";
    assert.equal(
      visibleLines(`${line}\nc\u001b[31md`),
      "\u001b[32m+ a\\u001b[2Jb\u001b[0m\nc\\u001b[31md",
    );
  });
});
