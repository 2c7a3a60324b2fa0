import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { env } from "node:process";
import {
  checkArtifactUrl,
  checkRepositoryUrl,
  checkScheduleShape,
  checkSideFile,
  checkWorkingDir,
  compilePattern,
  composePaths,
  composeReferences,
  isProjectName,
  normaliseName,
  parseDeployments,
  tooMuchYaml,
  validateCheckout,
} from "../../src/config/mod.ts";
import { parseStoreTemplate } from "../../src/config/store_template.ts";
import { claimsOf } from "../../src/compose/claims.ts";
import { followedPaths } from "../../src/compose/mod.ts";
import { type ComposeModel, parseDuration } from "../../src/model/mod.ts";
import { failureOf, lastLine, warnings } from "../../src/deploy/compose/compose_failure.ts";
import { limitedOutput } from "../../src/deploy/compose/limited_output.ts";
import { layerTold } from "../../src/prepare/heard_pull.ts";
import { registryHint } from "../../src/deploy/compose/registry_hint.ts";
import { helperConfiguration } from "../../src/deploy/swarm/registry_auth.ts";
import { dotenvEntries } from "../../src/compose/dotenv.ts";
import { parseInfisicalReference } from "../../src/secrets/external/infisical.ts";
import { readSopsText } from "../../src/secrets/sops/detect.ts";
import { classifyFailure, gitError, lostHostKey } from "../../src/source/git/git_failure.ts";
import { parseRemoteRefs } from "../../src/source/git/remote_refs.ts";
import { requireSuccess } from "../../src/source/git/git_result.ts";
import { nearestNames } from "../../src/source/git/reference.ts";
import { parseSubmoduleConfig, submoduleUrl } from "../../src/source/git/gitmodules.ts";
import { parseRepositoryUrl } from "../../src/source/git/repository_url.ts";
import {
  assignedIn,
  createRedactor,
  embeddedSecrets,
  namedSecrets,
  secretsOfFile,
} from "../../src/system/mod.ts";
import { whyNotStarted } from "../../src/system/process_group.ts";
import { checkSchedule } from "../../src/plan/mod.ts";
import {
  createLocate,
  deliveryOf,
  detectProvider,
  readWebhook,
  WEBHOOK_PROVIDERS,
  type WebhookProvider,
} from "../../src/trigger/mod.ts";
import { takesAtMost } from "./processor_time.ts";

/** Longest processor time for which one scanner may keep everything else waiting. */
const MOST_MS = 200;

/**
 * So many characters of each: what makes one pattern or another start at every place and run on. What
 * does that takes minutes also for the fewer that the usual run has.
 */
const LENGTH = Number(env["HOSTILE_LENGTH"] ?? 500_000);
const of = (text: string) => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
const rows = (row: (index: number) => string, length: number) =>
  Array.from({ length: Math.floor(LENGTH / length) }, (_, index) => row(index)).join("\n");
const SHAPES: Readonly<Record<string, string>> = {
  "one word": of("aB3"),
  "one word before a sign": `${of("a.b-")}=:`,
  "a run of blanks": `a${of(" ")}b = c`,
  "a run of line ends": of("\n"),
  "a run of other line ends": `a${of("\r\u2028")}b`,
  "a comment": `# ${of("a b9 ")}`,
  "many keys": rows((index) => `key${index}: v`, 12),
  "many variables": rows((index) => `A_TOKEN${index}=v${index}hunter2`, 26),
  "brackets": of("["),
  "maps in maps": of("{a: "),
  "lists in lists": of("- "),
  "indented maps": Array.from({ length: 1400 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
  "aliases": `a: &a b\n${rows((index) => `k${index}: *a`, 12)}`,
  "anchors": rows((index) => `k${index}: &a${index} b`, 16),
  "URLs in URLs": of("x://x:"),
  "URLs with users": of("a://b:c@"),
  "one long user": `a://${of("a@")}`,
  "quotes": of("'\""),
  "quotes behind names": of("a:'"),
  "names in a text": `a: '${of("token:x,")}`,
  "backslashes": of('A="\\'),
  "assignments": of("a="),
  "colons": of(":"),
  "slashes": `https://host/${of("/")}a`,
  "dashes": `a${of("-")}a`,
  "dots": of("."),
  "digits": of("1"),
  "templates": of("{{ .a | b }}{{/*"),
  "cipher texts": `sops:\n${of("#ENC[AES256_GCM,")}`,
  "what git says": `remote: ${of("could not create 'object file ")}`,
  "what compose says": `${of("env file ")}\nadditional property ${of("image ")}`,
  "sections": `[sops]\n[b]\na${of(" ")}`,
};

/** More of them, for what reads the output of programs. */
const PRINTED: Readonly<Record<string, string>> = {
  "a warning": `level=warning msg="The \\"${of("V")}\\" variable is not set."`,
  "a warning without an end": `level=warning msg="${of('The \\"')}`,
  "many warnings": rows((index) => `level=warning msg="The \\"V${index}\\" variable is`, 46),
  "a step of a build": `------\n > [${of("x\n")}`,
  "steps of builds": of("------\n > [a]\n"),
  "steps without an end": of("\r------\n > ["),
  "steps whose ends are none": of("\u2028------\n > [\r------\r"),
  "memory": `fatal error: ${of("out of ")}\n${of("\nfatal error: ")}`,
  "what prlimit says": `prlimit: failed to execute ${of(": ")}`,
  "progress of compose": ` ${of("Container a  ")}`,
  "progress of builds": `#${of("1")}`,
  "values of interpolations": of("You may need to escape any $ with another $."),
  "lines of dotenv files": of('unterminated quoted value "'),
  "errors of the engine": rows((index) => `a${index} Error response from daemon: b`, 35),
};

/** The longest beginning of a text that YAML is parsed of. */
function parsable(text: string): string {
  let [least, most] = [0, Math.min(text.length, 256 * 1024)];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (tooMuchYaml(text.slice(0, middle)) === undefined) least = middle;
    else most = middle - 1;
  }
  return text.slice(0, least);
}

const OPTIONS = { file: "f.yaml", trusted: false, allowLocalRepositoryUrl: false };
const checkout = (file: string) => (text: string) =>
  validateCheckout({
    name: "x",
    names: () => Promise.resolve([".stackwright.yaml"]),
    exists: () => Promise.resolve(true),
    read: (path) => Promise.resolve(path === file ? text : "name: a\n"),
    holds: () => Promise.resolve(true),
    list: () => Promise.resolve(new Map()),
  }, { baseDir: "." });
const knowing = createRedactor();
for (const each of ["aB3aB3aB3aB3", "very-secret-1", "        9", "----------a"]) knowing.add(each);

type Scan = (text: string) => unknown;
/** What reads a text that others wrote, of any length. */
const SCANNERS: Readonly<Record<string, Scan>> = {
  "what a text is redacted with": (text) => knowing.redact(text),
  "what makes a text unprintable": (text) => createRedactor().add(text),
  embeddedSecrets,
  namedSecrets,
  secretsOfFile,
  assignedIn,
  dotenvEntries,
  checkRepositoryUrl: (text) => checkRepositoryUrl(text, true),
  checkArtifactUrl,
  checkWorkingDir,
  checkSideFile: (text) => checkSideFile(text, "."),
  checkScheduleShape,
  checkSchedule: (text) => checkSchedule(text, { now: new Date(0) }),
  isProjectName,
  normaliseName,
  compilePattern,
  parseStoreTemplate,
  parseDuration,
  parseRepositoryUrl,
  parseSubmoduleConfig: (text) => parseSubmoduleConfig(`submodule.a.path\n${text}\0${text}`),
  submoduleUrl: (text) =>
    submoduleUrl(`../${text}`, parseRepositoryUrl("https://h/a/b"), undefined),
  nearestNames: (text) =>
    nearestNames(
      "b".repeat(99),
      Array.from({ length: LENGTH / 100 }, (_, index) => text.slice(index, index + 99)),
    ),
  "followedPaths, a layout": (text) =>
    followedPaths(modelOf({
      build: { context: "/t", additional_contexts: { a: `oci-layout://${text}/` } },
    })),
  "followedPaths, a profile": (text) =>
    followedPaths(modelOf({
      security_opt: [`seccomp=${text}`],
      volumes_from: [`container:${text}`],
      build: { context: text, cache_to: [text], ssh: [text] },
    })),
  claimsOf: (text) =>
    claimsOf(modelOf({ volumes: [{ type: "bind", source: `/${text}/a` }] }), "web"),
  parseInfisicalReference: (text) => parseInfisicalReference(`a:b:/${text}a/b`),
  "headers of webhooks": (text) => {
    for (const start of ["", "Basic ", "sha256="]) {
      const headers = { get: () => start + text };
      attempt(() => detectProvider(headers), "");
      attempt(() => readWebhook({ headers, body: Buffer.from("{}") }, "secret"), "");
    }
  },
  ...Object.fromEntries(
    WEBHOOK_PROVIDERS.map((each) => [`webhooks of ${each.name}`, delivered(each)]),
  ),
};
const modelOf = (web: Record<string, unknown>) => ({ services: { web } }) as ComposeModel;

/** What reads the output of programs, before anything is cut off there. */
const READERS: Readonly<Record<string, Scan>> = {
  classifyFailure,
  "failureOf compose": (text) => {
    const said = {
      result: { code: 1, stderr: text, stdout: Buffer.from(text) },
      command: { argv: ["docker", "compose", "config"] as const, env: {} },
      project: { name: "a", directory: "/a", files: ["a"], envFiles: [], profiles: [] },
    };
    const { message } = failureOf("render_failed", said);
    assert.ok(
      !/^.*\bimage\b.*: already exists/m.test(failureOf("build_failed", said).message + message),
    );
  },
  warnings,
  lastLine,
  "failureOf a pull": (text) => {
    const said = {
      result: { code: 1, stderr: text, stdout: Buffer.from(text) },
      command: { argv: ["docker", "compose", "pull"] as const, env: {} },
      project: { name: "a", directory: "/a", files: ["a"], envFiles: [], profiles: [] },
      model: { services: { a: { image: "b" } } },
    };
    return failureOf("pull_failed", said);
  },
  limitedOutput: (text) => limitedOutput(() => {})(text),
  layerTold: (text) => layerTold(text),
  registryHint: (text) => registryHint(text, [text, "a/b"], { path: "a", text }),
  helperConfiguration: (text) => helperConfiguration(text, { program: "a", server: "b" }),
  gitError: (stderr) => gitError({ doing: "reading", failure: "other", stderr }),
  lostHostKey,
  requireSuccess: (stderr) =>
    requireSuccess({ code: 1, stdout: Buffer.from(""), stderr, failure: "other" }, "reading"),
  parseRemoteRefs,
  whyNotStarted: (text) => whyNotStarted(127, text),
};

/** What the events of every sender that can be about pushes are called. */
const EVENTS = ["push", "create", "Push Hook", "System Hook", "repo:push", "repo:refs_changed"];
/** Texts of payloads that are longer are not looked at. */
const LONGEST_IN_PAYLOAD = 2048;

/** Reads a webhook with a hostile text everywhere, and with many that are just short enough. */
function delivered(provider: WebhookProvider): Scan {
  const options = {
    locate: createLocate({
      rewrite: () => undefined,
      allowLocal: false,
      nameOf: (url) => JSON.stringify(parseRepositoryUrl(url)),
      hasSshKey: () => true,
      agree: () => true,
      configured: () => undefined,
    }),
  };
  return (text) => {
    const short = text.slice(0, LONGEST_IN_PAYLOAD);
    for (const payload of [payloadOf(text, 1), payloadOf(short, LENGTH / LONGEST_IN_PAYLOAD)]) {
      for (const event of [...EVENTS, text]) {
        attempt(() => deliveryOf(provider.read(event, payload), text, options), "");
        attempt(() => deliveryOf(provider.read(event, payload), "", options), "");
      }
    }
  };
}

/** A payload with a text wherever one sender or the other has one, and so many changes. */
function payloadOf(text: string, changes: number) {
  const change = {
    new: { name: text, type: "tag", target: { hash: text } },
    ref: { id: text, type: "TAG" },
    toHash: text,
    name: text,
    newObjectId: text,
  };
  const list = Array.from({ length: changes }, () => change);
  const links = { html: { href: text }, clone: [{ name: "https", href: text }] };
  const urls = { clone_url: text, ssh_url: text, git_http_url: text, git_ssh_url: text };
  const azure = { remoteUrl: text, sshUrl: text, name: text, project: { name: text, key: text } };
  const repository = { full_name: text, slug: text, links, ...urls, ...azure };
  return {
    ref: text,
    ref_type: "branch",
    before: text,
    after: text,
    checkout_sha: text,
    object_kind: "push",
    project: { path_with_namespace: text, ...urls },
    repository,
    push: { changes: list },
    changes: list,
    eventType: "git.push",
    resource: { repository, refUpdates: list },
    source: "oci",
    artifact: text,
    digest: text,
  };
}

/** What parses YAML: it refuses what is too large, and is fed with the largest that it takes as well. */
const PARSERS: Readonly<Record<string, Scan>> = {
  parseDeployments: (text) => parseDeployments(text, OPTIONS),
  composePaths: (text) => composePaths(text, "f.yaml"),
  composeReferences,
  "validate": checkout(".stackwright.yaml"),
  "readSopsText, YAML": (text) =>
    readSopsText("yaml", Buffer.from(`${text}\nsops: ENC[AES256_GCM,`)),
  "readSopsText, JSON": (text) =>
    readSopsText("json", Buffer.from(`{"sops": "ENC[AES256_GCM,${text}`)),
  "readSopsText, dotenv": (text) =>
    readSopsText("other", Buffer.from(`sops_mac=ENC[AES256_GCM,\n${text}`)),
  "readSopsText, INI": (text) =>
    readSopsText("other", Buffer.from(`[sops]\n[b]\nENC[AES256_GCM,\n${text}`)),
};

/** Refusing is right, too: what counts is the time, and that no stack overflows. */
function attempt(scan: Scan, text: string): void {
  try {
    const answer = scan(text);
    if (answer instanceof Promise) answer.catch(() => {});
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) throw error;
  }
}

/** A text that no engine has in pieces any more. */
const flat = (text: string) => Buffer.from(text).toString("utf8");
const flatten = (shapes: Readonly<Record<string, string>>) =>
  Object.entries(shapes).map(([shape, text]) => [shape, flat(text)] as const);
const TEXTS = flatten(SHAPES);
const YAML_TEXTS = TEXTS.map(([shape, text]) => [shape, flat(parsable(text))] as const);

describe("texts that others wrote", () => {
  const rowsOf = (scans: Readonly<Record<string, Scan>>, texts: typeof TEXTS, what: string) => {
    for (const [name, scan] of Object.entries(scans)) {
      for (const [shape, text] of texts) {
        it(`${name} does not take long for ${shape}, ${what}`, async () => {
          assert.ok(
            await takesAtMost(MOST_MS, () => attempt(scan, text)),
            `it takes longer than ${MOST_MS} ms`,
          );
        });
      }
    }
  };
  rowsOf(SCANNERS, TEXTS, `${LENGTH} characters`);
  rowsOf(READERS, [...TEXTS, ...flatten(PRINTED)], `${LENGTH} characters, as a program prints it`);
  rowsOf(PARSERS, TEXTS.slice(0, 1), `${LENGTH} characters`);
  rowsOf(PARSERS, YAML_TEXTS, "as much as is parsed");
});
