import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseStoreTemplate, TemplateProblem } from "../../../../src/config/mod.ts";
import { escapeForJsonPath, searchValue } from "../../../../src/secrets/external/json_path.ts";
import { renderTemplate } from "../../../../src/secrets/external/render_template.ts";

const VALUES = {
  remote_ref: { key: "a b/c?", quote: `x'"\\`, upper: "UP", b64: "aMOk", url: "a%20b+c", bad: "%" },
  auth: { username: "bob", token: "t" },
};

describe("renderTemplate()", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["", ""],
    ["plain { } text", "plain { } text"],
    ["{{ .remote_ref.key }}", "a b/c?"],
    ["{{.remote_ref.key}}", "a b/c?"],
    ["a {{- .auth.username -}} b", "abobb"],
    ["a {{/* nothing */}}b", "a b"],
    ["a {{/* nothing */ -}}  b", "a b"],
    ["{{ .remote_ref.key | urlencode }}", "a+b%2Fc%3F"],
    ["{{ urlencode .remote_ref.key }}", "a+b%2Fc%3F"],
    ["{{ .remote_ref.url | urldecode }}", "a b c"],
    ["{{ .remote_ref.b64 | b64dec }}", "hä"],
    ['{{ print .auth.username ":" .auth.token | b64enc }}', btoa("bob:t")],
    ['{{ (print .auth.username ":x") | toUpper }}', "BOB:X"],
    ["{{ .remote_ref.upper | toLower }}", "up"],
    ['{{ "  a\\tb " | trim }}', "a\tb"],
    ["{{ `raw \\n` }}", "raw \\n"],
    ["{{ .remote_ref.quote | json }}", JSON.stringify(VALUES.remote_ref.quote)],
    ['{{ .auth.token | print "Bearer " }}', "Bearer t"],
  ];
  for (const [template, expected] of rows) {
    it(`makes ${JSON.stringify(expected)} of ${template}`, () => {
      assert.equal(renderTemplate(parseStoreTemplate(template), VALUES), expected);
    });
  }

  for (
    const [template, message] of [
      ["{{ .remote_ref.gone }}", ".remote_ref.gone has no value"],
      ["{{ .remote_ref.constructor }}", ".remote_ref.constructor has no value"],
      ["{{ .auth.password }}", ".auth.password has no value"],
      ["{{ .remote_ref.key | b64dec }}", "b64dec was given something that is not base64"],
      [
        "{{ .remote_ref.bad | urldecode }}",
        "urldecode was given something that is not URL-encoded",
      ],
    ] as const
  ) {
    it(`refuses ${template}: ${message}`, () => {
      const template_ = parseStoreTemplate(template);
      assert.throws(() => renderTemplate(template_, VALUES), {
        code: "secret_unresolved",
        message,
      });
    });
  }
});

describe("parseStoreTemplate()", () => {
  for (
    const [template, at, message] of [
      ["ab{{ .auth.x", 6, /expected \.remote_ref/],
      ["{{ .auth.token", 15, /has no }}/],
      ["{{ }}", 4, /an action is empty/],
      ["{{ if .remote_ref.a }}", 4, /if is not supported: no control structures/],
      ["{{ range .remote_ref }}", 4, /range is not supported/],
      ["{{ env }}", 4, /there is no function env; there are print, b64enc/],
      ["{{ .remote_ref }}", 4, /expected \.remote_ref\.<field>/],
      ["{{ .remote_ref.a..b }}", 4, /expected \.remote_ref\.<field>/],
      ["{{ .other.a }}", 4, /expected \.remote_ref/],
      ["{{ .remote_ref.a .remote_ref.b }}", 4, /only a function takes values/],
      ["{{ toUpper }}", 4, /toUpper takes one value, it has 0/],
      ["{{ .auth.token | trim .auth.token }}", 18, /trim takes one value, it has 2/],
      ["{{ .auth.token ) }}", 16, /unexpected \)/],
      ["{{ (.auth.token }}", 17, /unexpected }}/],
      ["{{ $x }}", 4, /expected a field/],
      ['{{ "\\q" }}', 4, /an escape that is not known/],
    ] as const
  ) {
    it(`refuses ${template} at character ${at}`, () => {
      assert.throws(() => parseStoreTemplate(template), (error: unknown) => {
        assert.ok(error instanceof TemplateProblem, String(error));
        assert.match(error.message, message);
        assert.equal(error.at, at);
        return true;
      });
    });
  }
});

const ANSWER = {
  data: { password: "pw", n: 5, yes: true, none: null, list: ["first", "second"], deep: { a: {} } },
  items: [{ name: "x'y", value: "odd" }, { name: "b\\", value: "slash" }, {
    name: 'd"',
    value: "q",
  }],
  'k"ey': "quoted",
};

describe("searchValue()", () => {
  for (
    const [expression, expected] of [
      ["data.password", "pw"],
      ["data.n", "5"],
      ["data.yes", "true"],
      ["data.list", "first"],
      ["items[?value=='odd'].value", "odd"],
      ["data.none", /json_path finds nothing/],
      ["data.gone", /json_path finds nothing/],
      ["items[?value=='none'].value", /json_path finds nothing/],
      ["data.deep", /finds a list or an object/],
      ["data.[", /not a valid JMESPath expression/],
      [" ", /is empty after its template/],
    ] as const
  ) {
    it(`of ${expression} gives ${expected}`, () => {
      if (typeof expected === "string") assert.equal(searchValue(ANSWER, expression), expected);
      else assert.throws(() => searchValue(ANSWER, expression), { message: expected });
    });
  }
});

describe("escapeForJsonPath()", () => {
  const find = (template: string, value: string) => {
    const values = { remote_ref: { v: value }, auth: {} };
    return searchValue(
      ANSWER,
      renderTemplate(parseStoreTemplate(template), values, escapeForJsonPath),
    );
  };
  const BY_NAME = "items[?name=='{{ .remote_ref.v }}'].value";
  for (
    const [template, value, expected] of [
      [BY_NAME, "x'y", "odd"],
      [BY_NAME, "b\\", "slash"],
      ['"{{ .remote_ref.v }}"', 'k"ey', "quoted"],
      ['items[?name==`"{{ .remote_ref.v }}"`].value', 'd"', "q"],
      ["data.{{ .remote_ref.v }}", "password", "pw"],
      ["{{ .remote_ref.v }}", "data.list[1]", "second"],
    ] as const
  ) {
    it(`keeps ${value} one value in ${template}`, () => {
      assert.equal(find(template, value), expected);
    });
  }
  for (const value of ["password || items[0].value", "x.y | z", "", "a-b", "*", "[*]", "x'"]) {
    it(`refuses ${JSON.stringify(value)} outside of quotes`, () => {
      assert.throws(() => find("data.{{ .remote_ref.v }}", value), /without quotes there/);
    });
  }
  for (const quote of ["'", '"', "`"]) {
    it(`refuses a backslash in front of a value between ${quote}: it would end what escapes the value`, () => {
      const value = String.raw`\{{ .remote_ref.v }}`;
      const message = /has a backslash in front of it/;
      for (const before of ["", "{{ .remote_ref.v }}", String.raw`\\`]) {
        assert.throws(() => find(`data.none || ${quote}${before}${value}${quote}`, "a"), message);
      }
    });
  }
  it("sees every value in front of a value", () => {
    const path =
      "items[?name=='{{ .remote_ref.v }}{{ .remote_ref.v }}' || name=='{{ .remote_ref.v }}'].value";
    assert.equal(find(path, "b\\"), "slash");
    assert.equal(find(path, "x'y"), "odd");
    assert.throws(() => find(path, "\\' || data.password || '"), /finds nothing/);
    assert.equal(find(String.raw`'a\\{{ .remote_ref.v }}'`, "'"), String.raw`a\'`);
  });
  for (const attack of ["x' || 'pw", "x\\' || 'pw", "'] | [0] || data.password | ['"]) {
    it(`does not let ${attack} out of its quotes`, () => {
      assert.throws(() => find(BY_NAME, attack), /json_path finds nothing/);
      assert.throws(() => find("data.password && '{{ .remote_ref.v }}' && data.none", attack));
    });
  }
});
