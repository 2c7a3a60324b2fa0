import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ComposePaths, composePaths } from "../../../src/config/compose_paths.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { takesAtMost } from "../processor_time.ts";

const NOTHING = { reset: [], includes: [], extended: [], files: [], needed: [] };
const plain = (paths: readonly string[], more = {}) => ({
  paths,
  envFiles: [],
  projectDirectory: "",
  ...more,
});

describe("composePaths()", () => {
  for (
    const [what, text, found] of [
      ["nothing in an empty text", "", {}],
      ["nothing in plain services", "services: {a: {image: x}, b: }", {}],
      ["includes in each form", "include: [a, {path: b}, {path: [c, d], env_file: [e, f]}]", {
        includes: [plain(["a"]), plain(["b"]), plain(["c", "d"], { envFiles: ["e", "f"] })],
      }],
      ["a project directory", "include: [{path: a, project_directory: /b}]", {
        includes: [plain(["a"], { projectDirectory: "/b" })],
      }],
      [
        "what services extend",
        "services: {a: {extends: {file: /x, service: s}}, b: {extends: a}}",
        {
          extended: ["/x"],
        },
      ],
      [
        "env and label files",
        "services: {a: {env_file: [a, {path: $b}]}, b: {env_file: ~/c, label_file: d}}",
        { files: ["a", "$b", "~/c", "d"] },
      ],
      ["what anchors bring in", "x: &a {env_file: /e}\nservices: {a: {<<: [*a]}}", {
        files: ["/e"],
      }],
      ["nothing in a service called include", "x: &a {}\nservices: {include: {<<: *a}}", {}],
      ["tagged values", "services: {a: {env_file: !override [!!str a]}}", { files: ["a"] }],
      [
        "services that are taken back, in whichever words",
        "services: {a: !reset null, b: !reset , c: !reset [], d: !reset {env_file: e}, f: {}}",
        { reset: ["a", "b", "c", "d"], files: ["e"] },
      ],
      ["every document", "services: {a: {env_file: a}}\n---\n---\ninclude: b", {
        files: ["a"],
        includes: [plain(["b"])],
      }],
    ] as const
  ) {
    it(`composePaths() finds ${what}`, () => {
      const expected: Omit<ComposePaths, "unsure" | "services" | "resources"> = {
        ...NOTHING,
        ...found,
      };
      // Which of them may be missing, validateCompose() shows.
      const { needed, unsure: _, services: _s, resources: _r, ...others } = composePaths(
        text,
        "c.yaml",
      );
      assert.deepEqual(needed.filter(({ path }) => !expected.files.includes(path)), []);
      assert.deepEqual({ ...others, needed }, { ...expected, needed });
    });
  }

  it("composePaths() finds the services of every document under whichever profile", () => {
    const text =
      "x: &x {m: {}}\nservices: {<<: *x, a: {profiles: [p]}, b: , 1: {}}\n---\nservices: {c: {}}";
    const { services } = composePaths(text, "c.yaml");
    assert.deepEqual([...services].sort(), ["1", "a", "b", "c", "m"]);
  });

  it("composePaths() finds what every document says of networks and volumes, and of nothing else", () => {
    const text =
      "x: &x {name: other}\nvolumes: {a: , b: {<<: *x, external: true}, c: {name: $N}}\n" +
      "services: {v: {volumes: [d]}}\n---\nnetworks: {a: {external: {name: old}}, n: {external: false}}";
    assert.deepEqual(composePaths(text, "c.yaml").resources, [
      { kind: "volumes", key: "a" },
      { kind: "volumes", key: "b", name: "other", external: true },
      { kind: "volumes", key: "c", name: "$N" },
      { kind: "networks", key: "a", name: "old", external: true },
      { kind: "networks", key: "n", external: false },
    ]);
  });

  for (
    const [what, text, unsure] of [
      ["nothing without a merge key", "x: {env_file: a}\nservices: {a: {env_file: b}}", {}],
      [
        "what shows where a key is taken out before it merges",
        "services: {a: {<<: {env_file: /e}, env_file: !reset [b]}}",
        { files: ["/e", "b"] },
      ],
      [
        "what merges of merges bring in",
        "x: &a {env_file: [/e]}\ny: &b {<<: *a, label_file: [c]}\nservices: {a: {<<: *b}}",
        { files: ["/e", "c"] },
      ],
      [
        "files that services extend, by way of aliases",
        "x: &a {file: /x, service: s}\ny: &b {<<: *a}\nservices: {a: {extends: {<<: *b}}}",
        { extended: ["/x"] },
      ],
      ["aliases that lead to themselves", "x: &a {<<: {}, env_file: [*a]}", {}],
    ] as const
  ) {
    it(`composePaths() is not sure of ${what}`, () => {
      const found = composePaths(text, "c.yaml").unsure;
      assert.deepEqual(
        { files: found.files.toSorted(), extended: found.extended },
        { files: [], extended: [], ...unsure },
      );
    });
  }

  for (
    const [what, text, says] of [
      ["a text", "abc", /the file: expected a map/],
      ["a list", "- a", /the file: expected a map/],
      ["services that are a list", "services: [a]", /services: expected a map/],
      ["a service that is a text", "services: {a: b}", /services\.a: expected a map/],
      ["broken YAML", "services: {a: [", /c\.yaml:1:\d+.*not valid YAML/],
      ["a key twice", "include: a\ninclude: b", /c\.yaml:2:1.*not valid YAML/],
      ["an alias without anchor", "include: *a", /c\.yaml:1/],
      ["base64", "include: !!binary YQ==", /c\.yaml:1:\d+.*binary is not supported/],
      ["an unknown tag", "services: {a: !x {}}", /!x is not supported/],
      ["a quoted merge key", 'services: {a: {"<<": {}}}', /without quotes/],
      [
        "an alias as a key",
        "x: &a env_file\nservices: {a: {*a : b}}",
        /2:16.*plain text, not an alias/,
      ],
      ["a map as a key", "services: {a: {{b: c}: d}}", /plain text, not an alias/],
      ["a tagged key", "services: {a: {!!str env_file: b}}", /write the key without a tag/],
      [
        "the tag of a merge key",
        'services: {a: {!!merge "env_file": [{path: b}]}}',
        /merge is not supported/,
      ],
      [
        "a merge key at the top, with includes",
        "x: &a {}\n<<: *a\ninclude: b",
        /3:1.*write it out/,
      ],
      ["a merge key in an include", "include: [{<<: {path: a}}]", /1:1.*write it out/],
      [
        "an include by an alias, beside merge keys",
        "x: &x {<<: {path: a}, path: !reset b}\ninclude: [*x]",
        /2:1.*write it out/,
      ],
      ["an escaped line end before an empty line", 'x: "a\\\n\n b"', /1:4.*escaped line end/],
      ...["\\N", "\\L", "\\P", "\\_\\uFEFF", "\\x7f", "\\t", "\\0"].map((each) =>
        [
          `${each} in a path`,
          `services: {a: {extends: {file: "\${NOPE:-x}${each}.yaml", service: s}}}`,
          /extends\.file: a path must not hold control characters/,
        ] as const
      ),
      ["an include of nothing", 'include: [a, ""]', /include: expected the path/],
      ["an include of no path", "include: [{env_file: a}]", /include\.path: expected the path/],
      ["keys of an include in another case", "include: [{Path: a}]", /include\.Path: only path, /],
      [
        "two project directories",
        "include: [{path: a, project_directory: [b, c]}]",
        /project_directory: expected one path/,
      ],
      ["a byte order mark at a line", "x: 1\n\ufeffinclude: b", /c\.yaml:2.*byte order mark/],
      [
        "a text for some versions of compose, and a map for others",
        "services: {a: {env_file: [b, x/f:]}}",
        /1:30.*colon at the end/,
      ],
      [
        "a key for some versions of compose, whose name begins with a question mark for others",
        "services: {a: {image: b, ?env_file: /x}}",
        /1:26.*between quotes/,
      ],
      ["such a key at the top", "{?include: [/x], services: {}}", /1:2.*between quotes/],
      ["such a key in a list", "services: {a: {env_file: [?path: /x]}}", /1:27.*between quotes/],
      ["a question mark that ends a word", "services: {a: {b ? env_file: /x}}", /1:16.*quotes/],
      ["a question mark in a word", "services: {a: {b?env_file: /x}}", /1:16.*quotes/],
      ["a name with a colon", "services: {a: {env_file: [&x:/y b]}}", /1:27.*blank behind/],
      ["such a name in a list", "services:\n  a:\n    env_file:\n      - &x:/y", /4:9.*blank/],
      ["such a name of an alias", "x: &y a\nz: *y:", /2:4/],
      ["a tag that goes on", "services: {a: {env_file: [!override,x /y]}}", /1:27.*a tag has/],
      ["a tag that a colon follows", 'services: {a: {"env_file":!!str,:b c}}', /1:27.*a tag has/],
      ["a directive", "%TAG ! tag:x\n---\nservices: {}", /1:1.*directive/],
      ["a colon that begins a text", "services: {a: {b: [c, :d]}}", /1:23.*between quotes/],
      [
        "such a text below a merge key",
        "x: &m\n  env_file: [x/f:,b]\nservices: {a: {<<: *m}}",
        /2:14.*colon at the end/,
      ],
      ["a map without a path", "services: {a: {env_file: {x: }}}", /env_file\.x: only path, req/],
      [
        "a map as a label file",
        "services: {a: {label_file: {path: b}}}",
        /expected a path as text/,
      ],
      [
        "other keys of extends",
        "services: {a: {extends: {File: b}}}",
        /extends\.File: only file, s/,
      ],
      ["a list of extends", "services: {a: {extends: [b]}}", /extends: expected a text or a map/],
      ["a number as a path", "include: 3", /include: expected a path/],
      [
        "a map as a path",
        "services: {a: {env_file: [{path: {a: b}}]}}",
        /env_file: expected a path/,
      ],
      ["old line ends", "a: 1 # x\u0085include: b", /c\.yaml:1.*line end/],
      ["NUL", "a: 1\n\u0000", /c\.yaml:2.*line end/],
    ] as const
  ) {
    it(`composePaths() refuses ${what}`, () => {
      assert.throws(() => composePaths(text, "c.yaml"), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"));
        assert.match((error as Error).message, says);
        return true;
      });
    });
  }

  it("composePaths() takes a file that names 2000 others, and no more", () => {
    const text = (count: number) =>
      `include: [{path: [a, b], env_file: c}]\nservices:\n  a:\n    env_file: [${
        "x, ".repeat(count)
      }]\n`;
    assert.equal(composePaths(text(1996), "c.yaml").files.length, 1996);
    assert.throws(
      () => composePaths(text(1997), "c.yaml"),
      /it names 2001 files, the most is 2000/,
    );
  });

  it("composePaths() accepts or refuses any text, and nothing else", () => {
    const seeds = [
      "x: &a {env_file: [a, b]}\nservices:\n  a:\n    <<: *a\n    extends: {file: b, service: c}\n",
      "include:\n  - path: [a, b]\n    env_file: c\n    project_directory: d\n---\nservices: {}\n",
    ];
    const pieces = [..."{}[]:,&*!|>-#'\"\n\t %@`<\u2028\u0000aé"];
    let state = 42;
    const random = (below: number) => (state = (state * 1103515245 + 12345) % 2 ** 31) % below;
    for (let round = 0; round < 3000; round++) {
      const text = [...seeds[round % seeds.length] ?? ""];
      for (let edits = 1 + random(4); edits > 0; edits--) {
        text.splice(random(text.length), random(3), pieces[random(pieces.length)] ?? "");
      }
      try {
        composePaths(text.join(""), "c.yaml");
      } catch (error) {
        assert.ok(isStackwrightError(error, "config_invalid"), `${error}\n${text.join("")}`);
      }
    }
  });

  it("takes little time for thousands of keys called include with an alias", async () => {
    const services = Array.from({ length: 1500 }, (_, at) => ` s${at}: {include: *a}\n`).join("");
    const others = Array.from({ length: 3000 }, (_, at) => ` k${at}: 1\n`).join("");
    const text = `x: &a {a: b}\nservices:\n${services}x-others:\n${others}`;
    const read = () => assert.throws(() => composePaths(text, "c.yaml"), /Excessive alias count/);
    assert.ok(await takesAtMost(1000, read));
  });

  it("refuses merge keys that bring in too much", async () => {
    const keys = Array.from({ length: 1000 }, (_, key) => `k${key}`).join(",");
    const merged = (at: number, times: number) =>
      `x-${at}: &a${at} {${keys}}\nm-${at}: {<<: [${`*a${at},`.repeat(times)}]}\n`;
    const anchors = Array.from({ length: 15 }, (_, at) => merged(at, 99));
    const read = () =>
      assert.throws(() => composePaths(anchors.join(""), "c.yaml"), /bring in too/);
    assert.ok(await takesAtMost(1000, read));
    // Those of several documents together.
    composePaths(merged(0, 60), "c.yaml");
    const documents = [merged(0, 60), merged(0, 60)].join("---\n");
    assert.throws(() => composePaths(documents, "c.yaml"), /bring in too/);
    // Doubled thirty times.
    const doubled = Array.from(
      { length: 30 },
      (_, at) => `x-${at + 1}: &a${at + 1} {<<: [*a${at}, *a${at}]}\n`,
    );
    const start = "x-0: &a0 {image: b}\n";
    assert.throws(() => composePaths(start + doubled.join(""), "c.yaml"), /bring in too/);
    // Of itself, and through an alias of a list.
    assert.throws(() => composePaths("x: &a {b: {<<: *a}}", "c.yaml"), /bring in too/);
    const list = `x: &a [${"*b,".repeat(300)}]\ny: {<<: *a}\n`;
    const big = `z: &b {${Array.from({ length: 500 }, (_, at) => `k${at}`)}}\n`;
    assert.throws(() => composePaths(big + list, "c.yaml"), /bring in too/);
  });

  it("reads many services that have much in common", () => {
    const entries = Array.from({ length: 500 }, (_, at) => `  K${at}: v\n`).join("");
    const merge = "    <<: *common\n    environment: {<<: *env, OWN: a}\n";
    const services = Array.from({ length: 90 }, (_, at) => `  s${at}:\n${merge}`).join("");
    const first = `x-env: &env\n${entries}x-common: &common\n  env_file: a\n${entries}`;
    assert.equal(composePaths(`${first}services:\n${services}`, "c.yaml").files.length, 90);
  });
});
