import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ContextLines } from "../../../src/system/context_lines.ts";
import { StackwrightError } from "../../../src/model/mod.ts";
import {
  createLog,
  createRedactor,
  createTimeFormat,
  formatTime,
  type Log,
  type LogLevel,
  type LogOptions,
  visible,
  writesToJournal,
} from "../../../src/system/mod.ts";

/** What a log writes while `use` uses it. */
function written(use: (log: Log) => void, options: Partial<LogOptions> = {}): string[] {
  const lines: string[] = [];
  use(createLog({
    level: "debug",
    timeZone: "UTC",
    format: "json",
    redactor: createRedactor(),
    write: (line) => void lines.push(line),
    ...options,
  }));
  return lines;
}

/** The only line, read as JSON. */
function json(use: (log: Log) => void, options: Partial<LogOptions> = {}): Record<string, unknown> {
  const lines = written(use, options);
  assert.equal(lines.length, 1);
  return JSON.parse(lines[0] ?? "");
}

describe("a line in JSON", () => {
  it("has nothing that steers a terminal, and says the same", () => {
    const said = "\u009b31m \u007f \u202e \u001b[2J \u2028";
    const [line = ""] = written((log) => log.info(said, { name: said }));
    assert.match(line, /^[\x20-\x7e]+\n$/);
    const { msg, name } = JSON.parse(line);
    assert.deepEqual([msg, name], [said, said]);
  });
});

describe("formatTime", () => {
  const table: [string, string, string][] = [
    ["2026-03-10T11:00:00.123Z", "UTC", "2026-03-10T11:00:00.123+00:00"],
    ["2026-03-10T11:00:00.123Z", "Europe/Berlin", "2026-03-10T12:00:00.123+01:00"],
    // Clocks in Berlin go forward at 01:00 UTC on 29 March, and back at 01:00 UTC on 25 October.
    ["2026-03-29T00:59:59.999Z", "Europe/Berlin", "2026-03-29T01:59:59.999+01:00"],
    ["2026-03-29T01:00:00.000Z", "Europe/Berlin", "2026-03-29T03:00:00.000+02:00"],
    ["2026-10-25T00:30:00.000Z", "Europe/Berlin", "2026-10-25T02:30:00.000+02:00"],
    ["2026-10-25T01:30:00.000Z", "Europe/Berlin", "2026-10-25T02:30:00.000+01:00"],
    ["2026-03-08T06:59:59.000Z", "America/New_York", "2026-03-08T01:59:59.000-05:00"],
    ["2026-03-08T07:00:00.000Z", "America/New_York", "2026-03-08T03:00:00.000-04:00"],
    ["2026-01-01T00:00:00.007Z", "Asia/Kolkata", "2026-01-01T05:30:00.007+05:30"],
    ["2026-01-01T00:00:00.000Z", "Asia/Kathmandu", "2026-01-01T05:45:00.000+05:45"],
    ["2026-07-01T00:00:00.000Z", "Australia/Lord_Howe", "2026-07-01T10:30:00.000+10:30"],
    ["2026-01-01T00:00:00.000Z", "Australia/Lord_Howe", "2026-01-01T11:00:00.000+11:00"],
    ["2026-01-01T02:00:00.000Z", "America/St_Johns", "2025-12-31T22:30:00.000-03:30"],
    ["2026-01-01T10:00:00.000Z", "Pacific/Kiritimati", "2026-01-02T00:00:00.000+14:00"],
    ["2026-07-01T12:00:00.050Z", "Europe/London", "2026-07-01T13:00:00.050+01:00"],
    ["2026-01-01T00:00:00.000Z", "Europe/London", "2026-01-01T00:00:00.000+00:00"],
    ["1969-12-31T23:59:59.001Z", "UTC", "1969-12-31T23:59:59.001+00:00"],
  ];
  for (const [instant, timeZone, text] of table) {
    it(`formatTime() shows ${instant} in ${timeZone} as ${text}`, () => {
      assert.equal(formatTime(new Date(instant), timeZone), text);
      assert.equal(new Date(text).toISOString(), instant);
    });
  }
});

describe("createTimeFormat()", () => {
  it("prints instants in any order, of the same second or not", () => {
    const print = createTimeFormat("Europe/Berlin");
    const instants = [
      "2026-03-29T00:59:59.001Z",
      "2026-03-29T00:59:59.999Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-29T00:59:59.002Z",
    ];
    assert.deepEqual(instants.map((each) => print(new Date(each))), [
      "2026-03-29T01:59:59.001+01:00",
      "2026-03-29T01:59:59.999+01:00",
      "2026-03-29T03:00:00.000+02:00",
      "2026-03-29T01:59:59.002+01:00",
    ]);
  });

  it("prints as the zone's own clocks do, around every change of them", () => {
    for (const zone of ["America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]) {
      const print = createTimeFormat(zone);
      for (let day = 0; day < 1500; day++) {
        const instant = new Date(
          Date.UTC(2024, 0, 1, 0, day * 31, day % 60, day) + day * 86_400_000,
        );
        const parts = new Intl.DateTimeFormat("sv-SE", {
          timeZone: zone,
          dateStyle: "short",
          timeStyle: "medium",
        }).format(instant);
        const text = print(instant);
        assert.equal(text.slice(0, 19), parts.replace(" ", "T"));
        assert.equal(new Date(text).getTime(), instant.getTime());
      }
    }
  });

  it("prints instants of the past, when clocks changed at any second", () => {
    const print = createTimeFormat("Europe/Paris");
    assert.equal(print(new Date("1900-01-01T00:00:00Z")).slice(0, 19), "1900-01-01T00:09:21");
    assert.equal(
      createTimeFormat("America/St_Johns")(new Date("2006-04-02T03:31:00Z")),
      "2006-04-02T01:01:00.000-02:30",
    );
  });
});

describe("lines about the context of somebody else's engine", () => {
  const flood = (log: Log, fields: Record<string, unknown>, count = 20_000) => {
    for (let at = 0; at < count; at++) {
      log.info("job scheduled", { ...fields, job: "x".repeat(900) });
    }
  };

  it("have a limit, which other lines and what requests did do not share", () => {
    const lines = written((log) => {
      flood(log, { context: "nas" });
      log.info("other", { context: "other" });
      log.info("own", { context: "default" });
      log.info("asked", { context: "nas", request_id: "1" });
      log.warning("mounts the socket", { context: "nas" });
      log.critical("last", { context: "nas" });
    });
    assert.ok(lines.join("").length < 9 << 20);
    assert.deepEqual(lines.slice(-6).map((each) => JSON.parse(each).msg), [
      "too many lines about this context: more are left out for up to five minutes",
      ...["other", "own", "asked", "mounts the socket", "last"],
    ]);
    assert.equal(written((log) => flood(log, { context: "default" })).length, 20_000);
  });

  it("are cut where one is longer than what is left, whichever text of it", () => {
    const long = "y".repeat(20 << 20);
    const error = new Error(long);
    const nas = { context: "nas", stack: "shop" };
    for (
      const say of [
        (log: Log) => log.info(long, nas),
        (log: Log) => log.error("failed", { ...nas, error, names: [long, { long }] }),
        (log: Log) => log.warning(long, { error, request_id: "1" }),
        (log: Log) => log.critical(long, { error }),
      ]
    ) {
      const [line = ""] = written(say);
      assert.match(line, /y…/);
      assert.ok(line.length < 300_000, `${line.length} characters`);
    }
    const share = (lines: readonly string[]) =>
      lines.filter((each) => !each.includes("too many lines")).join("").length;
    const many = written((log) => {
      for (let at = 0; at < 40; at++) log.info("y".repeat(250_000), nas);
    });
    assert.ok(share(many) <= (8 << 20) + 1000, `${share(many)} characters`);
  });

  it("are written again after five minutes, with the number of those left out", () => {
    const said: string[] = [];
    const lines = new ContextLines(({ message }) => said.push(message) && 1 << 20);
    const write = (message: string, now: number) =>
      lines.write({ level: "info", message, fields: { context: "nas" } }, now);
    for (let at = 0; at < 20; at++) write(`line ${at}`, 1_000_000);
    write("later", 1_299_999);
    write("again", 1_300_000);
    assert.equal(said.length, 11);
    assert.deepEqual(said.slice(-2), ["13 lines about this context were left out", "again"]);
  });
});

describe("createLog as JSON", () => {
  it("a line is one JSON object: time, level, message, then the fields as they are", () => {
    const [line = ""] = written((log) => log.info("deployed", { stack: "web", services: 3 }));
    assert.ok(line.endsWith("\n") && line.indexOf("\n") === line.length - 1);
    const { time, ...rest } = JSON.parse(line);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    assert.deepEqual(rest, { level: "info", msg: "deployed", stack: "web", services: 3 });
    assert.deepEqual(Object.keys(JSON.parse(line)), ["time", "level", "msg", "stack", "services"]);
  });

  it("a line shows the time in the zone of the options", () => {
    const { time } = json((log) => log.info("x"), { timeZone: "Asia/Kolkata" });
    assert.match(String(time), /\+05:30$/);
  });

  const all = ["debug", "info", "warning", "error", "critical"];
  const levels: [LogLevel, string[]][] = [
    ["debug", all],
    ["info", all.slice(1)],
    ["warn", all.slice(2)],
    ["error", all.slice(3)],
  ];
  for (const [level, expected] of levels) {
    it(`the level ${level} lets ${expected.join(", ")} through`, () => {
      const lines = written((log) => {
        log.debug("x");
        log.info("x");
        log.warning("x");
        log.error("x");
        log.critical("x");
      }, { level });
      assert.deepEqual(lines.map((line) => JSON.parse(line).level), expected);
    });
  }

  const messages = [
    "{stack} is {} not {{replaced}}",
    "{*}",
    "}{",
    "100% %s %d \\n",
    "two\nlines\tand \u0007 \u001b[31m",
    "",
  ];
  for (const message of messages) {
    it(`a message is finished text: ${JSON.stringify(message)}`, () => {
      assert.equal(json((log) => log.info(message, { stack: "web" }))["msg"], message);
      const lines = written((log) => log.info(message, { stack: "web" }), { format: "text" });
      const shown = visible(message).replaceAll("\n", `\n${" ".repeat(18)}`);
      assert.ok(lines[0]?.includes(` ${shown} stack=web`));
    });
  }

  it("with() puts fields on every line; those of the line and of later calls win", () => {
    const line = json((log) =>
      log.with({ stack: "a", job_id: "1" }).with({ stack: "b", stage: "x" }).info("m", {
        stage: "y",
      })
    );
    assert.deepEqual(
      [line["stack"], line["job_id"], line["stage"]],
      ["b", "1", "y"],
    );
  });

  it("debug() asks for fields only to show them", () => {
    const fields = () => ({ stack: "web" });
    const never = () => assert.fail("asked for");
    assert.deepEqual(written((log) => log.debug("m", never), { level: "info" }), []);
    assert.equal(json((log) => log.with({ job_id: "1" }).debug("m", fields))["stack"], "web");
  });

  it("with() leaves the log it was called on alone", () => {
    const lines = written((log) => {
      log.with({ stack: "a" });
      log.info("m");
    });
    assert.equal("stack" in JSON.parse(lines[0] ?? ""), false);
  });

  const errors: [string, Error, string][] = [
    ["an error", new TypeError("no"), "no"],
    ["one of ours", new StackwrightError("timeout", "too slow"), "timeout: too slow"],
    [
      "a chain of causes",
      new StackwrightError("deploy_failed", "up failed", {
        cause: new Error("refused", { cause: new StackwrightError("timeout", "slow") }),
      }),
      "deploy_failed: up failed; cause: refused; cause: timeout: slow",
    ],
    ["a cause that is no error", new Error("up", { cause: "down" }), "up; cause: down"],
  ];
  for (const [what, error, text] of errors) {
    it(`a field with ${what} is its message and causes, without a stack`, () => {
      assert.equal(json((log) => log.error("m", { error }))["error"], text);
      const lines = written((log) => log.error("m", { error }), { format: "text" });
      assert.ok(lines[0]?.endsWith(` m error=${text}\n`), lines[0]);
    });
  }

  it("no form of a secret is written, in a message, a field, a cause or a URL", () => {
    const redactor = createRedactor();
    redactor.add('can"ary-4711');
    const error = new Error("x", { cause: new Error('no can"ary-4711 here') });
    for (const format of ["json", "text"] as const) {
      const text = written((log) => {
        const inner = log.with({ repository: "https://u:canary@h/r" });
        inner.info('got can"ary-4711', { error, list: ['can"ary-4711'] });
      }, { redactor, format }).join("");
      assert.doesNotMatch(text, /can\\?"?ary/);
      assert.equal(text.split("***").length - 1, 4);
    }
  });

  it("two logs write their own lines, each from its own level on", () => {
    const levels = ["debug", "info", "warning", "error", "critical"] as const;
    const all = written((log) => {
      const errors = written((other) => levels.forEach((level) => other[level]("theirs")), {
        level: "error",
      });
      assert.deepEqual(errors.map((line) => JSON.parse(line).level), ["error", "critical"]);
      levels.forEach((level) => log[level]("ours"));
    });
    assert.deepEqual(all.map((line) => [JSON.parse(line).level, JSON.parse(line).msg]), [
      ...levels.map((level) => [level, "ours"]),
    ]);
  });

  it("a line that cannot be written keeps nobody from going on", () => {
    const write = () => {
      throw new Error("the pipe is broken");
    };
    assert.deepEqual(written((log) => log.error("m"), { write }), []);
  });

  const awkward: [string, unknown][] = [
    ["a bigint", 10n],
    ["a value that contains itself", circular()],
    ["an error that is its own cause", ownCause()],
    ["an error caused by null", new Error("x", { cause: null })],
    ["nothing", undefined],
    ["a function", () => 1],
  ];
  for (const [what, value] of awkward) {
    for (const format of ["json", "text"] as const) {
      it(`a line with ${what} in a field is written all the same, as ${format}`, () => {
        const lines = written((log) => log.warning("kept", { value, stack: "web" }), { format });
        assert.equal(lines.length, 1);
        assert.match(lines[0] ?? "", /kept.*web/);
      });
    }
  }
});

describe("createLog as text", () => {
  it("a line is time of day, level, message and fields for a person", () => {
    const lines = written(
      (log) => log.warning("slow", { stack: "web", n: 3, list: ["a"], gone: undefined }),
      { format: "text" },
    );
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^\d\d:\d\d:\d\d warning {2}slow stack=web n=3 list=\["a"\]\n$/);
  });

  it("no line of a message looks like one of the log", () => {
    const forged = "no\n12:00:00 critical all is lost\n\nx";
    const [text = ""] = written((log) => log.error(forged, { of: "a\nb" }), { format: "text" });
    const [, ...more] = text.trimEnd().split("\n");
    assert.ok(more.length >= 3);
    for (const line of more) assert.match(line, /^ {18}/);
  });
});

function circular(): unknown {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

function ownCause(): Error {
  const error = new Error("x");
  error.cause = error;
  return error;
}

describe("lines for the journal", () => {
  it("begin with their priority, each of them, and have no time; further ones are indented", () => {
    const lines = written((log) => {
      log.error("two\nlines", { stack: "web" });
      log.warning("careful");
      log.info("fine");
    }, { format: "journal" });
    assert.deepEqual(lines, [
      `<3>two\n<3>${" ".repeat(18)}lines stack=web\n`,
      "<4>careful\n",
      "<6>fine\n",
    ]);
  });

  it("are written where standard error is what the journal gave", () => {
    const error = () => ({ dev: 8n, ino: 42n });
    assert.equal(writesToJournal({ JOURNAL_STREAM: "8:42" }, error), true);
    assert.equal(writesToJournal({ JOURNAL_STREAM: "8:43" }, error), false);
    assert.equal(writesToJournal({}, error), false);
  });
});
