import assert from "node:assert/strict";
import { env } from "node:process";
import { describe, it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import {
  overrideDeployment,
  parseDeploymentOverride,
  parseDeployments,
  parsePollConfig,
  parsePollRequest,
  parseRecreateIgnore,
  parseSecretFile,
  parseSecretStores,
} from "../../../src/config/mod.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { readSopsText } from "../../../src/secrets/sops/detect.ts";
import { SopsFormatError } from "../../../src/secrets/sops/sops_text.ts";
import { parseInlineDeployments } from "../../fakes/inline_deployments.ts";
import { type Random, randomFrom } from "../../fakes/random.ts";

/** One parser under attack: how many texts it gets, what they start from, and how it is called. */
interface Target {
  readonly title: string;
  readonly rounds: number;
  readonly seeds: readonly string[];
  /** Whether a rejection must name a line; labels have none. */
  readonly placed: boolean;
  /** Whether the texts are JSON, of which values and not letters are changed. */
  readonly json?: boolean;
  readonly run: (text: string) => unknown;
}

/** 3 gives 30,000 texts; FUZZ_TIMES asks for more of them, or fewer: the usual run has a third. */
const TIMES = Number(env["FUZZ_TIMES"] ?? 3);
/** No text of these sizes may keep everything else waiting for so long. */
const SLOW_MS = 1_000;
const POLL = {
  url: "https://example.org/acme/shop.git",
  reference: "main",
  run_once: true,
  deployments: [{
    name: "shop",
    environment: { A: 1, B: null },
    profiles: ["p"],
    build: { args: { V: true }, no_cache: false },
    retry: { limit: 2, delay: "10s" },
    destroy: { enabled: false },
    external_secrets: { K: { store_ref: "s", remote_ref: { k: "v" } } },
    timeout: 60,
  }],
};
const ENVIRONMENT = {
  DATA_DIR: "/data",
  HTTP_PORT: "8081",
  TZ: "Europe/Berlin",
  NO_PROXY: "a,.b",
  GIT_AUTH_DOMAINS: "- domains: [git.example.org]\n  git_access_token: t\n",
  SOURCE_URL_REWRITES: "a.example: https://b.example\n",
  POLL_CONFIG: "- url: https://example.org/a.git\n  interval: 60\n",
  TRUSTED_PROXY_NETWORKS: "10.0.0.0/8",
};
const BASE = "name: web\nenvironment: {A: '1'}\nprofiles: [a]\n";
const TARGETS: readonly Target[] = [
  {
    title: "parseDeployments()",
    rounds: 2_000,
    seeds: [
      "name: web\ntimeout: 3m\nbuild:\n  args: {A: 1}\n---\nname: b\nretry: {limit: 2}\n",
      '{"name": "j", "destroy": {"enabled": true}, "profiles": ["a"]}\n',
      "name: a\nexternal_secrets:\n  K: {store_ref: s, remote_ref: {k: v}}\n",
    ],
    placed: true,
    run: (text) => parseDeployments(text, { file: "f.yaml", trusted: true }),
  },
  {
    title: "overrideDeployment()",
    rounds: 1_000,
    seeds: ["environment: {B: x}\nprofiles: [b]\n", "build: {args: {A: 1}}\ntimeout: 2m\n"],
    placed: true,
    run: (text) => {
      const base = parseDeployments(BASE, { file: "f.yaml", trusted: true })[0]?.deployment;
      assert.ok(base !== undefined);
      overrideDeployment(base, parseDeploymentOverride(text, { file: "f.yaml", trusted: true }));
    },
  },
  {
    title: "parsePollConfig()",
    rounds: 1_000,
    seeds: [
      "- url: https://example.com/a.git\n  reference: main\n  interval: 60\n" +
      "  deployments:\n    - name: a\n",
    ],
    placed: true,
    run: (text) => parsePollConfig(text, { file: "f.yaml" }),
  },
  {
    title: "parseSecretStores()",
    rounds: 600,
    seeds: [
      "stores:\n  - name: s\n    version: v1\n    url: https://h/{{ .remote_ref.key }}\n" +
      "    method: GET\n    json_path: data.value\n",
      "name: s\nurl: https://h/{{ .remote_ref.key }}\njson_path: $.a\nheaders: {A: b}\n",
    ],
    placed: true,
    run: (text) => parseSecretStores(text, "f.yaml"),
  },
  {
    title: "parseRecreateIgnore()",
    rounds: 600,
    seeds: ["{configs: [a], secrets: []}", "configs:\n- a\n- b\n"],
    placed: false,
    run: (text) => parseRecreateIgnore({ ignore: text, signal: "SIGHUP" }),
  },
  {
    title: "parseSecretFile()",
    rounds: 1_000,
    seeds: ["A: ref\nB: {store_ref: s, remote_ref: {key: v}}\n"],
    placed: true,
    run: (text) => parseSecretFile(text, "s.yaml"),
  },
  {
    title: "parsePollRequest()",
    rounds: 1_500,
    seeds: [JSON.stringify([POLL]), JSON.stringify([{ ...POLL, source: "git", target: "prod" }])],
    placed: false,
    json: true,
    run: (text) => parsePollRequest(JSON.parse(text)),
  },
  {
    title: "parseInlineDeployments()",
    rounds: 1_500,
    seeds: [JSON.stringify(POLL.deployments)],
    placed: false,
    json: true,
    run: (text) => parseInlineDeployments(JSON.parse(text), "deployments"),
  },
  {
    title: "readSettings()",
    rounds: 600,
    seeds: [JSON.stringify(ENVIRONMENT)],
    placed: false,
    json: true,
    run: (text) => readSettings(environmentOf(JSON.parse(text)), () => "from a file"),
  },
  {
    title: "readSopsText()",
    rounds: 200,
    seeds: [
      "a: ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\nsops:\n  mac: ENC[x]\n" +
      "  lastmodified: '2026-01-01T00:00:00Z'\n  age: []\n",
      "A=ENC[x]\nsops_mac=ENC[y]\nsops_lastmodified=2026-01-01T00:00:00Z\n",
      '{"a": "ENC[x]", "sops": {"mac": "y", "lastmodified": "z", "age": []}}',
    ],
    placed: false,
    run: (text) => readSopsText("yaml", new TextEncoder().encode(text)),
  },
];
const LAUGHS = "a: &a [x,x,x,x,x,x,x,x]\n" +
  [..."bcdefghi"].map((key, at) => {
    const before = "*" + "abcdefgh"[at];
    return `${key}: &${key} [${Array(8).fill(before).join(",")}]\n`;
  }).join("");
const PIECES: readonly string[] = [
  ..."\n\t :-[]{}&*!|>'\"%@`#?,~\\\0\ud800é\u202e\ufeff\u2028",
  LAUGHS,
  "<<: *a",
  "&a ",
  "*a ",
  "---\n",
  "!!binary ",
  "__proto__: {x: 1}\n",
  "name: a\nname: a\n",
  "null",
  "1e999",
  "{{ .a | b }}",
  "[".repeat(400),
  "{a: ".repeat(400),
  "k".repeat(5_000) + ": 1\n",
];

describe("parsers on mutated texts", () => {
  for (const target of TARGETS) {
    it(`${target.title} takes the texts that the mutations start from`, () => {
      for (const seed of target.seeds) assert.equal(attempt(target, seed), "taken", seed);
    });
    it(`${target.title} answers mutated texts with a value or a placed refusal`, () => {
      const random = randomFrom(20261121);
      const rounds = target.rounds * TIMES;
      let refused = 0;
      for (let round = 0; round < rounds; round++) {
        let text = target.seeds[round % target.seeds.length] ?? "";
        if (target.json === true) text = JSON.stringify(reshape(JSON.parse(text), random));
        else for (let times = random(4); times >= 0; times--) text = mutate(text, random);
        const start = performance.now();
        const outcome = attempt(target, text);
        const isSlow = performance.now() - start >= SLOW_MS;
        if (outcome === "refused") refused++;
        else if (outcome !== "taken") assert.fail(`${outcome} for ${shrink(target, text)}`);
        if (isSlow) assert.ok(quickest(target, text) < SLOW_MS, `slow: ${JSON.stringify(text)}`);
      }
      assert.ok(refused < rounds, "nothing gets past the first look: the mutations are too coarse");
    });
  }
});

/** The time of the quickest of several attempts: the machine may be busy with something else. */
function quickest(target: Target, text: string): number {
  return Math.min(...Array.from({ length: 5 }, () => {
    const start = performance.now();
    attempt(target, text);
    return performance.now() - start;
  }));
}

/** "taken", "refused", or what is wrong with the failure. */
function attempt(target: Target, text: string): string {
  try {
    target.run(text);
    return "taken";
  } catch (error) {
    if (error instanceof SopsFormatError) return "refused";
    if (!isStackwrightError(error)) return `a crash: ${String(error).slice(0, 200)}`;
    if (!target.placed) return "refused";
    const placed = error.problems.length > 0 &&
      error.problems.every((each) => (each.line ?? 0) >= 1 && (each.column ?? 0) >= 1);
    return placed ? "refused" : `a refusal without a place: ${error.message.slice(0, 200)}`;
  }
}

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  " ",
  "\0",
  "../..",
  "ssh://-oProxyCommand=x/y",
  [],
  {},
  [[]],
  "x".repeat(5_000),
  { enabled: "maybe" },
  "99999h",
];

/** A value with one of its parts exchanged, doubled, renamed or taken away. */
function reshape(value: unknown, random: Random): unknown {
  if (random(4) === 0 || typeof value !== "object" || value === null) {
    return typeof value === "string" && random(2) === 0
      ? mutate(value, random)
      : ODD[random(ODD.length)];
  }
  if (Array.isArray(value)) {
    const at = random(value.length + 1);
    if (random(3) === 0) return [...value, ...value];
    return value.map((each, index) => index === at ? reshape(each, random) : each);
  }
  const entries = Object.entries(value);
  const at = random(entries.length + 1);
  return Object.fromEntries(entries.flatMap(([key, field], index) => {
    if (index !== at) return [[key, field]];
    if (random(6) === 0) return [];
    if (random(6) === 0) return [[mutate(key, random), field]];
    return [[key, reshape(field, random)]];
  }));
}

/** The texts of a mutated environment; a variable that is no text is not set. */
function environmentOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value).filter(([, field]) => typeof field === "string");
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Removes ever smaller parts as long as the text still fails. */
function shrink(target: Target, text: string): string {
  for (let size = Math.ceil(text.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < text.length;) {
      const shorter = text.slice(0, at) + text.slice(at + size);
      if (/^(taken|refused)$/.test(attempt(target, shorter))) at += size;
      else text = shorter;
    }
  }
  return JSON.stringify(text);
}

function mutate(text: string, random: Random): string {
  const at = random(text.length + 1);
  const length = random(12);
  const piece = PIECES[random(PIECES.length)] ?? "";
  const lines = text.split("\n");
  const line = random(lines.length);
  switch (random(6)) {
    case 0:
      return text.slice(0, at) + piece + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at) + text.slice(at, at + length).repeat(3) + text.slice(at + length);
    case 3:
      return lines.toSpliced(line, 0, lines[random(lines.length)] ?? "").join("\n");
    case 4:
      return lines.toSpliced(line, 1).join("\n");
    default:
      return text.slice(0, at) + piece + text.slice(at + length);
  }
}
