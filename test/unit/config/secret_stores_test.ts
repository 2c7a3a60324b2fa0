import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSecretFile, parseSecretStores } from "../../../src/config/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

const ONE = "url: https://s.test/v1/{{ .remote_ref.key }}\njson_path: data.value\n";

describe("parseSecretStores()", () => {
  it("reads mappings, lists and single stores of several documents", () => {
    const stores = parseSecretStores(
      `
stores:
  a: {url: "https://a.test/x", json_path: v}
  b: {name: other, url: "http://b.test/x", json_path: v, method: post, body: '{"k": 1}'}
---
stores:
  - name: c
    version: v1
    url: https://c.test/{{ .remote_ref.z }}/{{ .remote_ref.a | urlencode }}
    json_path: "x[?k=='{{ .remote_ref.a }}']"
    headers: {Authorization: "Bearer {{ .auth.token }}", X-None: ~}
---
name: d
${ONE}`,
      "stores",
    );
    assert.deepEqual(
      stores.map(({ name, method, needs, needsAuth, headers, body }) => ({
        name,
        method,
        needs,
        needsAuth,
        headers: headers.map((each) => each.name),
        body: body !== undefined,
      })),
      [
        { name: "a", method: "GET", needs: [], needsAuth: [], headers: [], body: false },
        { name: "other", method: "POST", needs: [], needsAuth: [], headers: [], body: true },
        {
          name: "c",
          method: "GET",
          needs: ["a", "z"],
          needsAuth: ["token"],
          headers: ["Authorization"],
          body: false,
        },
        { name: "d", method: "GET", needs: ["key"], needsAuth: [], headers: [], body: false },
      ],
    );
  });

  const rows: readonly (readonly [string, string, string | RegExp])[] = [
    ["a list", "- a\n", /^stores:1:1: expected a mapping with stores/],
    ["no stores", "stores: {}\n", /stores: expected a mapping or a list of at least one store/],
    ["nothing", "", /it is empty/],
    ["no name", ONE, /name: expected the name of the store/],
    ["no url", "name: a\njson_path: v\n", /the key "url" is required/],
    ["no json_path", "name: a\nurl: https://a.test/\n", /the key "json_path" is required/],
    ["an empty json_path", "name: a\nurl: https://a.test/\njson_path: ''\n", /3:\d+: json_path: /],
    ["another version", `name: a\nversion: v2\n${ONE}`, /2:10: version: the only version is v1/],
    ["another method", `name: a\nmethod: HEAD\n${ONE}`, /method: expected GET, POST/],
    ["a body of GET", `name: a\nbody: x\n${ONE}`, /body: a GET has no body/],
    ["a body of DELETE", `name: a\nbody: x\nmethod: delete\n${ONE}`, /a DELETE has no body/],
    ["an unknown key", `name: a\nheader: {}\n${ONE}`, /unknown key "header".*headers/],
    ["two of a name", `name: a\n${ONE}---\nname: a\n${ONE}`, /the store a is given twice/],
    ["more beside stores", `stores: {a: {}}\nname: x\n`, /2:1: name: is not known beside stores/],
    ["a bad header", `name: a\nheaders: {"a b": x}\n${ONE}`, /expected the name of a header/],
    [
      "a bad template",
      "stores:\n  a:\n    url: https://a.test/{{ nope }}\n    json_path: v\n",
      /^stores:3:10: stores\.a\.url: character 19 of the template: there is no function nope/,
    ],
    ...[
      "{{ .remote_ref.host }}",
      "https://{{ .remote_ref.host }}/x",
      "https://a.test{{ .remote_ref.key }}",
      "https://a.test:{{ .remote_ref.key }}/",
      "ftp://a.test/",
      "a.test/x",
    ].map((url) =>
      [
        `the address ${url}`,
        `name: a\nurl: "${url}"\njson_path: v\n`,
        /2:6: url: expected (?:an address that begins|a \/ after the host)/,
      ] as const
    ),
  ];
  for (const [what, text, message] of rows) {
    it(`refuses ${what}`, () => {
      assert.throws(() => parseSecretStores(text, "stores"), (error: unknown) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.match(
          error.message.replace(/^stores is invalid: |^the YAML text of /, ""),
          message as RegExp,
        );
        return true;
      });
    });
  }

  it("never repeats what a header says", () => {
    const text = `name: a\nheaders: {Authorization: "Bearer canary {{ x }}"}\n${ONE}`;
    assert.throws(() => parseSecretStores(text, "stores"), (error: unknown) => {
      assert.ok(!String(error).includes("canary"), String(error));
      return true;
    });
  });
});

describe("parseSecretFile()", () => {
  it("reads references of both shapes, and keeps the text of scalars", () => {
    assert.deepEqual(
      parseSecretFile(
        "A: op://v/i/f\nB: {store_ref: s, remote_ref: {k: 010}}\nC: ~\nD: 1.10\n",
        "f",
      ),
      {
        A: { kind: "text", text: "op://v/i/f" },
        B: { kind: "store", storeRef: "s", remoteRef: { k: "010" } },
        D: { kind: "text", text: "1.10" },
      },
    );
    assert.deepEqual(parseSecretFile("{}", "f"), {});
    const deep = "A: {store_ref: s, remote_ref: {k: {a: 010, b: ~, c: {d: [x]}}, n: ~}}";
    assert.deepEqual(parseSecretFile(deep, "f")["A"], {
      kind: "store",
      storeRef: "s",
      remoteRef: {
        "k": '{"a":"010","b":null,"c":{"d":["x"]}}',
        "k.a": "010",
        "k.c": '{"d":["x"]}',
        "k.c.d": '["x"]',
        "k.c.d.0": "x",
      },
    });
  });

  for (
    const [text, message] of [
      ["- a", /f:1:1: expected one mapping/],
      ["A: b\n---\nC: d", /expected one mapping/],
      ["A: {store_ref: s, other: x}", /1:19: A\.other: unknown key "other"/],
      ["A: {storeRef: s}", /A\.storeRef: unknown key "storeRef"/],
      ["A: {remote_ref: {}}", /A\.store_ref: the key "store_ref" is required/],
      ["A: [x]", /1:4: A: expected a secret reference/],
      ["A: b\nA: c", /2:1: the key "A" is given twice/],
    ] as const
  ) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseSecretFile(text, "f"), { code: "config_invalid", message });
    });
  }
});
