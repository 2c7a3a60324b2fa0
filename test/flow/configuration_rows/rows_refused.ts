import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import { service } from "../compose_text.ts";
import type { Row, Step } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

/** Something that runs, which no refusal may touch. */
const RUNNING: Step = {
  files: { [CONFIG]: "name: {{stack}}\n", "compose.yaml": app("x") },
  status: "succeeded",
  running: ["web-1"],
};

/** A configuration that is refused, nothing being touched. */
function refused([written, says]: readonly [string, RegExp]): Step {
  return {
    files: { [CONFIG]: `name: {{stack}}\n${written}\n` },
    status: "failed",
    says: [says],
    running: ["web-1"],
    untouched: true,
  };
}

/** The deployment of a request, whose author is trusted. */
function inline(written: string): Record<string, unknown> {
  return parse(`{name: "{{stack}}", ${written}}`) as Record<string, unknown>;
}

/** A configuration that means the same as none. */
function same(written: string): Step {
  return {
    files: { [CONFIG]: `name: {{stack}}\n${written}\n` },
    status: "skipped",
    untouched: true,
  };
}

/**
 * A deployment for every field that this version reads and does not act on, and what is refused by
 * name because of it. A field that is made to work gets a row that shows it instead.
 */
export const UNSUPPORTED: Readonly<Record<string, string>> = {};

/** The same of what is deployed with a warning, because it only means that less is done. */
export const IGNORED: Readonly<Record<string, string>> = {
  "oci.verify": "oci: {verify: true}",
  "oci.keyless_identities": "oci: {keyless_identities: []}",
  "oci.keyless_identities.issuer": "oci: {keyless_identities: [{issuer: a}]}",
  "oci.keyless_identities.subject": "oci: {keyless_identities: [{subject: a}]}",
  "oci.keyless_identities.subject_regexp": "oci: {keyless_identities: [{subject_regexp: a}]}",
  "oci.public_keys": "oci: {public_keys: [a]}",
  "oci.ignore_tlog": "oci: {ignore_tlog: true}",
};

/** Fields whose values are refused, or that this version does not act on. */
export const REFUSED_ROWS: readonly Row[] = [
  {
    rule: "decisions.md: nothing is read and ignored",
    title: "what this version does not act on is refused by name",
    covers: Object.keys(UNSUPPORTED),
    steps: [
      RUNNING,
      refused(["source: oci", /does not act on source: oci yet/]),
    ],
  },
  {
    rule: "interface.md §2.8 reconciliation",
    title: "restarts what is unhealthy with its signal and timeout, as often as its limit says",
    covers: [
      "reconciliation.restart_timeout",
      "reconciliation.restart_signal",
      "reconciliation.restart_limit",
      "reconciliation.restart_window",
    ],
    steps: [{
      files: {
        [CONFIG]:
          "name: {{stack}}\nreconciliation: {restart_timeout: 5s, restart_signal: sigint, " +
          "restart_limit: 1, restart_window: 1m}\n",
        "compose.yaml": JSON.stringify({
          services: { web: service({ healthcheck: { test: ["CMD", "true"] } }) },
        }),
      },
      status: "succeeded",
      running: ["web-1"],
      see: async ({ world, stack }) => {
        // A container of the real engine is sick when it likes; a flow of its own shows that.
        if (world.fake === undefined) return;
        const restarts = () => world.proxy.calls.filter(({ path }) => path.includes("/restart?"));
        world.proxy.reset();
        world.fake.setHealth(`${stack}-web-1`, "unhealthy");
        const isRestarted = /^restarted: container \S+-web-1 is unhealthy$/;
        while (!world.lines.some((line) => isRestarted.test(line.message))) await pause(5);
        assert.match(restarts()[0]?.path ?? "", /\?t=5&signal=SIGINT$/);
        world.fake.setHealth(`${stack}-web-1`, "unhealthy");
        const suppressed = /was restarted 1 times within 60 s: it is left alone/;
        while (!world.lines.some((line) => suppressed.test(line.message))) await pause(5);
        assert.equal(restarts().length, 1);
      },
    }],
  },
  {
    rule: "interface.md §2.8 reconciliation; deploy.md §1.3",
    title: "switched off, or without events, changes nothing",
    covers: ["reconciliation", "reconciliation.enabled", "reconciliation.events"],
    steps: [
      RUNNING,
      same("reconciliation: false"),
      same("reconciliation: ~"),
      same("reconciliation: {enabled: off}"),
      same("reconciliation: {events: []}"),
    ],
  },
  {
    rule: "interface.md §2.8 reconciliation",
    title: "values that are none are refused with their place",
    covers: [],
    steps: [
      RUNNING,
      ...([
        ["reconciliation: 1", /:2:17: reconciliation: expected true, false or a mapping, found 1/],
        ["reconciliation: {events: [pause]}", /:2:27: reconciliation\.events\[0\]: expected die/],
        ["reconciliation: {events: ['']}", /:2:27: reconciliation\.events\[0\]: expected die/],
        ["reconciliation: {events: die}", /:2:26: reconciliation\.events: expected a list/],
        ["reconciliation: {restart_timeout: -1}", /:2:35: reconciliation\.restart_timeout: exp/],
        ["reconciliation: {restart_signal: a b}", /:2:34: reconciliation\.restart_signal: expe/],
        ["reconciliation: {restart_limit: -1}", /:2:33: reconciliation\.restart_limit: expecte/],
        ["reconciliation: {restart_window: 0}", /:2:34: reconciliation\.restart_window: expect/],
        ["reconciliation: {restart: 1}", /:2:18: reconciliation\.restart: unknown key/],
      ] as const).map(refused),
    ],
  },
  {
    rule: "interface.md §2.9 oci; deploy.md §1.5",
    title: "is deployed with a warning, since artifacts have signatures and repositories have none",
    covers: Object.keys(IGNORED).filter((key) => key.startsWith("oci")),
    steps: [
      {
        files: { [CONFIG]: "name: {{stack}}\n", "compose.yaml": app("x") },
        entry: { deployments: [inline("oci: {verify: true}")] },
        status: "succeeded",
        running: ["web-1"],
        see: ({ world }) => {
          const warned = world.lines.filter((line) => /no signature/.test(JSON.stringify(line)));
          assert.ok(warned.length > 0);
        },
      },
      ...Object.entries(IGNORED).filter(([key]) => key.startsWith("oci")).map((
        [, written],
      ): Step => ({
        ...same(written),
        see: ({ world, stack }) => {
          const warned = world.lines.filter((line) => JSON.stringify(line).includes("oci"));
          assert.ok(warned.length > 0, `no warning about ${stack}`);
        },
      })),
    ],
  },
  {
    rule: "interface.md §2.9 oci",
    title: "values that are none are refused with their place",
    covers: ["oci"],
    steps: [
      RUNNING,
      ...([
        ["oci: true", /:2:6: oci: expected a mapping, found true/],
        ["oci: {verify: 1}", /:2:15: oci\.verify: expected true or false/],
        ["oci: {verfy: true}", /:2:7: oci\.verfy: unknown key "verfy"; did you mean "verify"/],
        ["oci: {keyless_identities: [{issue: x}]}", /oci\.keyless_identities\[0\]\.issue: unknown/],
        ["oci: {public_keys: a}", /:2:20: oci\.public_keys: expected a list/],
        ["oci: {ignore_tlog: 'no'}", /:2:20: oci\.ignore_tlog: expected true or false/],
      ] as const).map(refused),
    ],
  },
  {
    rule: "interface.md §2.5 external_secrets",
    title: "references that are none are refused with their place, and all need a provider",
    covers: ["external_secrets"],
    steps: [
      RUNNING,
      ...([
        ["external_secrets: [a]", /:2:19: external_secrets: expected a mapping/],
        ["external_secrets: {A: [x]}", /:2:23: external_secrets\.A: expected a secret reference/],
        ["external_secrets: {A: {}}", /:2:23: .*the key "store_ref" is required/],
        ["external_secrets: {A: {store_ref: ''}}", /:2:35: .*expected the name of a secret store/],
        ["external_secrets: {A: {store_ref: 1}}", /:2:35: .*expected the name of a secret store/],
        [
          "external_secrets: {A: {store_ref: s, remote_ref: [a]}}",
          /:2:50: external_secrets\.A\.remote_ref: expected a mapping/,
        ],
        ["external_secrets: {A: {storeRef: s}}", /:2:24: .*unknown key "storeRef"/],
        ["external_secrets: {A: kv:a:b}", /\bA\b.*SECRET_PROVIDER/],
        [
          "external_secrets_files: [../x]",
          /:2:26: external_secrets_files\[0\]: the file is outside/,
        ],
        ["external_secrets_files: [gone.yaml]", /gone\.yaml/],
      ] as const).map(refused),
      same("external_secrets: ~"),
      same("external_secrets: {}\nexternal_secrets_files: ~"),
    ],
  },
  {
    rule: "interface.md §2.1 repository_url; deploy.md §1.6",
    title: "what is no URL of a repository is refused",
    covers: ["repository_url"],
    steps: [
      RUNNING,
      ...([
        ["repository_url: nonsense", /:2:17: repository_url: expected a repository URL/],
        ["repository_url: ftp://h/x", /:2:17: repository_url: expected a repository URL/],
        ["repository_url: --upload-pack=x@h:o", /:2:17: repository_url: expected a repository/],
        ["repository_url: [a]", /:2:17: repository_url: expected text, a number or a boolean/],
      ] as const).map(refused),
      same("repository_url: ~"),
      same("repository_url: ''"),
    ],
  },
];
