import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  parsePollConfig,
  parsePollRequest,
  type PollEntry,
  type PollOptions,
} from "../../../src/config/mod.ts";
import { errorOf, problemsOf } from "./problems.ts";

function parse(text: string, options: Partial<PollOptions> = {}): PollEntry[] {
  return parsePollConfig(text, { file: "POLL_CONFIG", ...options });
}

const PLAIN: PollEntry = {
  request: {
    kind: "git",
    url: "https://h/o/r",
    reference: "refs/heads/main",
    target: "",
    deployments: [],
  },
  intervalSeconds: 180,
  runOnce: false,
  watch: true,
};

describe("parsePollConfig", () => {
  const accepted: [string, Partial<PollEntry>][] = [
    ["", {}],
    ["interval: 10", { intervalSeconds: 10 }],
    ["interval: '90'", { intervalSeconds: 90 }],
    ["interval: 1h30m", { intervalSeconds: 5400 }],
    ["interval: 0", { intervalSeconds: 0 }],
    ["interval: ~", { intervalSeconds: 0 }],
    ["schedule: '0 4 * * *'", { intervalSeconds: 0, schedule: "0 4 * * *" }],
    ["schedule: '@every 5m', interval: 0", { intervalSeconds: 0, schedule: "@every 5m" }],
    ["schedule: ''", {}],
    ["run_once: yes", { runOnce: true }],
    ["watch: false", { watch: false }],
    ["deployments: ~", {}],
    ["deployments: []", {}],
    ["reference: 1.10", { request: { ...PLAIN.request, reference: "1.10" } }],
    ["target: prod", { request: { ...PLAIN.request, target: "prod" } }],
  ];
  for (const [text, change] of accepted) {
    it(`parsePollConfig() reads {${text}}`, () => {
      const entries = parse(`- {url: "https://h/o/r"${text === "" ? "" : `, ${text}`}}\n`);
      assert.deepEqual(entries, [{ ...PLAIN, ...change }]);
    });
  }

  it("parsePollConfig() reads artifacts and local repositories", () => {
    const text = "- {url: 'ghcr.io/o/r:v1', source: OCI, reference: x}\n- url: /srv/r\n";
    assert.deepEqual(
      parse(text).map(({ request }) => [request.kind, request.url, request.reference]),
      [
        ["oci", "ghcr.io/o/r:v1", "v1"],
        ["git", "file:///srv/r", "refs/heads/main"],
      ],
    );
  });

  it("parsePollConfig() takes an empty list, one of comments, and JSON", () => {
    assert.deepEqual(parse("[]"), []);
    assert.deepEqual(parse("# A list:\n\n  # - url: https://h/o/r\n"), []);
    assert.throws(() => parse("\n"), { code: "config_invalid" });
    assert.throws(() => parse("---\n# - url: https://h/o/r\n"), { code: "config_invalid" });
    assert.deepEqual(parse('[{"url": "https://h/o/r"}]'), [PLAIN]);
  });

  it("parsePollConfig() trusts inline deployments and keeps what they say, falsy or not", () => {
    const text = [
      "- url: https://h/o/r",
      "  deployments:",
      "    - name: a",
      "      remove_orphans: false",
      "      reconciliation: false",
      "      oci: {verify: true}",
      "",
    ].join("\n");
    const [inline] = parse(text)[0]?.request.deployments ?? [];
    assert.equal(inline?.deployment.removeOrphans, false);
    assert.equal(inline?.deployment.reconciliation.enabled, false);
    assert.equal(inline?.deployment.oci.verify, true);
    assert.deepEqual([...inline?.given ?? []].sort(), [
      "name",
      "oci",
      "oci.verify",
      "reconciliation",
      "reconciliation.enabled",
      "remove_orphans",
    ]);
  });

  it("parsePollConfig() takes one name in several contexts, targets and references", () => {
    const deployments = "deployments: [{name: a}]";
    const more = ["target: x", "reference: next", "deployments: [{name: a, context: nas}]"];
    const text = [
      deployments,
      ...more.map((each) => /^d/.test(each) ? each : `${each}, ${deployments}`),
    ]
      .map((each) => `- {url: /r, ${each}}\n`).join("");
    assert.equal(parse(text).length, 4);
  });

  const refused: [string, string][] = [
    ["- {}", '1:3: [0].url: the key "url" is required'],
    ["- {url: ''}", "1:9: [0].url: expected a repository URL or an artifact, found an empty text"],
    ["- {url: 1}", "1:9: [0].url: expected a repository URL or an artifact, found 1"],
    ["- {url: x}", "1:9: [0].url: expected a repository URL"],
    ["- {url: /r, branch: main}", '1:13: [0].branch: unknown key "branch"'],
    ["- {url: /r, source: hg}", "1:21: [0].source: expected git or oci"],
    ["- {url: ghcr.io/r, source: oci}", "1:9: [0].url: the artifact needs a tag"],
    ["- {url: /r, target: ../x}", "1:21: [0].target: expected letters"],
    ["- {url: /r, interval: 9}", "1:23: [0].interval: expected 0 or at least 10 seconds, found 9"],
    ["- {url: /r, interval: -1}", "1:23: [0].interval: expected whole seconds"],
    ["- {url: /r, interval: 1.5}", "1:23: [0].interval: expected whole seconds"],
    ["- {url: /r, interval: 500ms}", "1:23: [0].interval: expected a whole number of seconds"],
    ["- {url: /r, interval: ''}", "1:23: [0].interval: expected whole seconds"],
    ["- {url: /r, schedule: '* *'}", "1:23: [0].schedule: expected a cron expression"],
    ["- {url: /r, schedule: 5}", "1:23: [0].schedule: expected a cron expression"],
    [
      "- {url: /r, schedule: '@daily', interval: 60}",
      "1:23: [0].schedule: a schedule and an interval",
    ],
    ["- {url: /r, run_once: 1}", "1:23: [0].run_once: expected true or false"],
    ["- {url: /r, watch: 'no'}", "1:20: [0].watch: expected true or false"],
    ["- {url: /r, deployments: {}}", "1:26: [0].deployments: expected a list"],
    ["- {url: /r, deployments: [{name: A}]}", "1:34: [0].deployments[0].name: "],
    [
      "- {url: /r, deployments: [{name: a}]}\n- {url: /r, deployments: [{name: b}, {name: a}]}",
      '2:3: [1].deployments: a deployment of an entry before, of the same url, is called "a" too',
    ],
    ["- /r", "1:3: [0]: expected a mapping"],
    ["url: /r", "1:1: expected a list of poll entries"],
    ["- url: /r\n---\n- url: /s", "3:1: expected a single document"],
    ["- {url: /r", "1:11: not valid YAML"],
  ];
  for (const [text, start] of refused) {
    it(`parsePollConfig() refuses ${text} with its position`, () => {
      const [first = "", ...others] = problemsOf(() => parse(text));
      const wanted = `POLL_CONFIG:${start}`;
      assert.equal(first.slice(0, wanted.length), wanted);
      assert.deepEqual(others, []);
    });
  }

  it("parsePollConfig() reports all problems of all entries", () => {
    const text =
      "- {url: /r, x: 1}\n- url: /s\n  deployments:\n  - {name: a}\n  - {name: a, y: 1}\n" +
      "- {url: ftp://u:hunter2@h}\n";
    const problems = problemsOf(() => parse(text));
    assert.deepEqual(problems.map((line) => line.split(": ")[1]), [
      "[0].x",
      "[1].deployments[1].y",
      "[2].url",
    ]);
    assert.doesNotMatch(problems.join("\n"), /hunter2/);
  });

  it("parsePollConfig() asks the given check about a schedule of the right shape", () => {
    const checkSchedule = (schedule: string) =>
      schedule.startsWith("61") ? "no such minute" : undefined;
    const text = "- {url: /r, schedule: '61 * * * *'}\n- {url: /r, schedule: '1 * * * *'}\n";
    assert.deepEqual(problemsOf(() => parse(text, { checkSchedule })), [
      "POLL_CONFIG:1:23: [0].schedule: no such minute",
    ]);
  });
});

describe("parsePollRequest", () => {
  it("parsePollRequest() validates scheduling keys and ignores them", () => {
    const body = [
      { url: "https://h/o/r", interval: 5, run_once: true },
      { url: "https://h/o/r", schedule: "@daily" },
    ];
    assert.deepEqual(parsePollRequest(body), [PLAIN.request, PLAIN.request]);
  });

  const refused: [unknown, RegExp][] = [
    [null, /at least one/],
    [[], /at least one/],
    [{}, /expected a JSON array/],
    ["x", /expected a JSON array/],
    [Array(33).fill({ url: "/r" }), /at most 32 poll configurations, found 33/],
    [Array(2).fill({ url: "/r", deployments: Array(251).fill(1) }), /at most 500 dep.*, found 502/],
    [
      [{ url: "/r" }, {}],
      /index 1 is invalid: request body: \[1\]\.url: the key "url" is required/,
    ],
    [[{ url: "/r", interval: true }], /index 0 .*interval: expected whole seconds/],
    [[{ url: "/r", schedule: "@daily", interval: "60s" }], /exclude each other/],
    [[{ url: "/r", schedule: "x" }], /cron expression/],
    [[{ url: "/r", run_once: "yes" }], /run_once: expected true or false/],
    [
      [{ url: "/r", deployments: [{ name: "a" }, { name: "a" }] }],
      /deployments\[1\]\.name: another/,
    ],
    [
      [{ url: "/r", deployments: [{ name: "a", build: { no_cash: 1 } }] }],
      /build\.no_cash: unknown/,
    ],
  ];
  for (const [body, message] of refused) {
    it(`parsePollRequest() refuses ${JSON.stringify(body).slice(0, 60)}`, () => {
      const error = errorOf(() => parsePollRequest(body));
      assert.equal(error.code, "bad_request");
      assert.match(error.message, message);
    });
  }

  it("parsePollRequest() takes 32 entries", () => {
    assert.equal(parsePollRequest(Array(32).fill({ url: "/r" })).length, 32);
  });

  it("parsePollRequest() refuses scheduling keys where the caller says so", () => {
    for (
      const extra of [{ run_once: false }, { interval: 0 }, { schedule: "" }, { interval: null }]
    ) {
      const body = [{ url: "/r", ...extra }];
      assert.match(
        errorOf(() => parsePollRequest(body, { scheduling: "refuse" })).message,
        /not accepted here/,
      );
    }
  });
});
