import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  boolean,
  choice,
  lenientBoolean,
  positiveInteger,
  requireKnownNames,
  seconds,
  text,
} from "../../../src/serve/query.ts";

const query = (text: string) => new URLSearchParams(text);

describe("boolean()", () => {
  const rows: [string, boolean, boolean][] = [
    ["", true, true],
    ["wait=", false, false],
    ["other=false", true, true],
    ...["1", "t", "T", "TRUE", "true", "True"].map((word): [string, boolean, boolean] => [
      `wait=${word}`,
      false,
      true,
    ]),
    ...["0", "f", "F", "FALSE", "false", "False"].map((word): [string, boolean, boolean] => [
      `wait=${word}`,
      true,
      false,
    ]),
    ["wait=false&wait=true", true, false],
  ];
  for (const [text, fallback, expected] of rows) {
    it(`is ${expected} for "${text}", by default ${fallback}`, () => {
      assert.equal(boolean(query(text), "wait") ?? fallback, expected);
    });
  }
  for (const word of ["yes", "tRuE", "2", "%20true", "on"]) {
    it(`refuses ${word}`, () => {
      assert.throws(() => boolean(query(`wait=${word}`), "wait"), {
        code: "bad_request",
        message: "invalid parameter: wait",
      });
    });
  }
});

describe("lenientBoolean()", () => {
  const cases: [string, boolean][] = [
    ["", false],
    ["wait=true", true],
    ["wait=True", true],
    ["wait=1", true],
    ["wait=t", false],
    ["wait=yes", false],
    ["wait=", false],
    ["wait=%00", false],
  ];
  for (const [query, expected] of cases) {
    it(`is ${expected} for "${query}"`, () => {
      assert.equal(lenientBoolean(new URLSearchParams(query), "wait"), expected);
    });
  }
});

describe("positiveInteger()", () => {
  const rows: [string, number | undefined][] = [
    ["", undefined],
    ["limit=", undefined],
    ["limit=1", 1],
    ["limit=%2B7", 7],
    ["limit=%20200%20", 200],
    ["limit=9007199254740991", 9007199254740991],
  ];
  for (const [text, expected] of rows) {
    it(`is ${expected} for "${text}"`, () => {
      assert.equal(positiveInteger(query(text), "limit"), expected);
    });
  }
  for (const word of ["0", "-1", "1.5", "1e3", "0x10", "many", "9007199254740992"]) {
    it(`refuses ${word}`, () => {
      assert.throws(() => positiveInteger(query(`limit=${word}`), "limit"), {
        message: "invalid parameter: limit",
      });
    });
  }
});

describe("choice()", () => {
  const colour = choice("colour of things", ["red", "green"]);
  const read = (text: string) => colour(query(text), "colour");
  it("ignores case and spaces around it", () => {
    assert.deepEqual([read("colour=%20RED%20"), read("colour="), read("")], [
      "red",
      undefined,
      undefined,
    ]);
  });
  it("names the choices when it is none of them", () => {
    assert.throws(() => read("colour=blue"), (error: Error & { problems?: unknown }) => {
      assert.equal(error.message, "invalid colour of things");
      assert.deepEqual(error.problems, [
        { file: "request", message: "valid colour values: red, green" },
      ]);
      return true;
    });
  });
});

describe("seconds()", () => {
  const read = (given: string) => seconds(100)(query(`timeout=${given}`), "timeout");
  it("reads whole numbers in its range", () => {
    assert.deepEqual([read(""), read("1"), read("%20100%20")], [undefined, 1, 100]);
  });
  for (
    const [given, message] of [
      ["x", "invalid parameter: timeout"],
      ["1.5", "invalid parameter: timeout"],
      ["0", "invalid project timeout"],
      ["-3", "invalid project timeout"],
      ["101", "invalid project timeout"],
    ] as const
  ) {
    it(`refuses ${given}`, () =>
      assert.throws(() => read(given), { code: "bad_request", message }));
  }
});

describe("white space that only looks like none", () => {
  const trigger = choice("deployment run trigger", ["poll", "webhook"]);
  it("is no empty parameter", () => {
    for (const value of ["%C2%A0", "%E2%80%83", "%09", "%0A", "%C2%A0poll"]) {
      const parameters = query(`x=${value}`);
      for (const read of [trigger, text, positiveInteger, seconds(10)]) {
        assert.throws(() => read(parameters, "x"), { code: "bad_request" }, value);
      }
    }
  });

  it("is not what a blank around a value is", () => {
    assert.equal(trigger(query("x=%20Poll+"), "x"), "poll");
    assert.equal(text(query("x=+default%20"), "x"), "default");
    assert.equal(positiveInteger(query("x=+7"), "x"), 7);
    assert.equal(text(query("x=++"), "x"), undefined);
  });
});

describe("requireKnownNames()", () => {
  const known = ["volumes", "context"];
  const rows: readonly (readonly [string, RegExp])[] = [
    ["contxt=nas", /^there is a parameter that is not known here: did you mean 'context'\?$/],
    ["context=nas&Context=nas", /did you mean 'context'/],
    ["volume=false", /did you mean 'volumes'/],
    ["contxt", /did you mean 'context'/],
    ["dry_run=true", /not known here: it takes volumes, context$/],
    ["=nas", /not known here: it takes volumes, context$/],
  ];
  for (const [given, expected] of rows) {
    it(`refuses ${given}`, () => {
      assert.throws(() => requireKnownNames(query(given), known), ({ code, message, problems }) => {
        assert.deepEqual([code, message], ["bad_request", "unknown parameter"]);
        assert.match(problems[0].message, expected);
        return true;
      });
    });
  }

  it("takes what is known, and the common timeout", () => {
    requireKnownNames(query(""), []);
    requireKnownNames(query("context=a&volumes=true&context=b&timeout=3"), known);
  });

  it("says where there are none", () => {
    assert.throws(() => requireKnownNames(query("x".repeat(500)), []), ({ problems }) => {
      assert.match(problems[0].message, /not known here: it takes none$/);
      return true;
    });
  });
});
