import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import * as api from "../../src/api/mod.ts";
import { diffReleasesOperation } from "../../src/api/diff_releases.ts";
import { getDeploymentOperation } from "../../src/api/get_deployment.ts";
import { listDecisionsOperation } from "../../src/api/list_decisions.ts";
import { listReleasesOperation } from "../../src/api/list_releases.ts";
import { listDeploymentsOperation } from "../../src/api/deployments.ts";
import { plannedDiff, unifiedDiff } from "../../src/api/unified_diff.ts";
import { stackFigures } from "../../src/app/stack_figures.ts";
import { explainText } from "../../src/cli/explain_command.ts";
import { type ReleaseService, type RunTarget, stackKey } from "../../src/model/mod.ts";
import { isDeferred, reduceTargets } from "../../src/plan/run_outcome.ts";
import { RECORDED_BOUNDS } from "../../src/prepare/recorded_bounds.ts";
import { fittingTargets } from "../../src/record/fitting.ts";
import { chooseRelease, createRuns, type Ledger } from "../../src/record/mod.ts";
import { stackFamilies } from "../../src/record/stack_families.ts";
import { createFakeClock } from "../fakes/fake_clock.ts";
import { createMemoryLedger } from "../fakes/memory_ledger.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { longestStretch, processorMs } from "./processor_time.ts";
import { releaseOf } from "./record/releases.ts";

/** Processor time for which one stretch of work may keep everything else waiting, in milliseconds. */
const MOST_MS = 2000;
const KEY = stackKey("", "s0");
const STACKS = 40;
const clock = createFakeClock();

/** A release that has as much as one may have. */
function largest(key: typeof KEY, id: string) {
  const base = releaseOf(key, id);
  const [one] = base.services as [ReleaseService];
  const many = <T>(count: number, each: (index: number) => [string, T]): Record<string, T> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => each(index)));
  const { paths, files } = RECORDED_BOUNDS;
  const inputs = many(40, (at) => [`file:web/page${at}.html`, "f".repeat(40)]);
  return {
    ...base,
    services: Array.from({ length: 500 }, (_, at) => ({ ...one, name: `web${at}`, inputs })),
    inactive: Array.from({ length: 500 }, (_, at) => `${"s".repeat(250)}${at}`),
    closure: {
      ...base.closure,
      paths: many(paths.most, (at) => [`${"p".repeat(98)}${at}`, "absent"]),
    },
    live: {
      files: many(files.most, (at) => [`${"q".repeat(75)}${at}`, `file:${"a".repeat(40)}`]),
      directories: [],
    },
    model: {
      services: many(
        500,
        (at) => [`web${at}`, { image: "web:1", command: [id, "x".repeat(7000)] }],
      ),
    },
  };
}

/** Reasons for services, and changes, as many as may be. */
const SERVICES = Array.from({ length: 500 }, (_, at) => ({
  name: `web${at}`,
  action: "create" as const,
  because: Array.from({ length: 20 }, (_, each) => `it changed ${each} ${"y".repeat(200)}`),
}));
const CHANGES = Array.from({ length: RECORDED_BOUNDS.paths.most }, (_, at) => ({
  input: `${"p".repeat(98)}${at}`,
  from: "a".repeat(40),
  to: "absent",
}));

function fill(): Ledger {
  const ledger = createMemoryLedger(clock);
  for (const id of ["a", "b"]) {
    ledger.succeed(ledger.beginDeploy(largest(KEY, id)), {}, "done");
  }
  for (let stack = 1; stack < STACKS; stack++) {
    const { live: _, model: __, ...more } = largest(stackKey("", `s${stack}`), "a");
    const release = releaseOf(more.key, "a", { services: more.services, closure: more.closure });
    ledger.succeed(ledger.beginDeploy(release), {}, "done");
  }
  for (let stack = 0; stack < STACKS; stack++) {
    const key = stackKey("", `s${stack}`);
    for (let count = 0; count < (stack === 0 ? 100 : 2); count++) {
      const message = `${count} ${"m".repeat(9000)}`;
      const about = { trigger: "poll", origin: "automatic", revision: "main (a)" } as const;
      const told = { kind: "deploy", message, changes: CHANGES, services: SERVICES } as const;
      ledger.decisions.add(key, { ...about, ...told }, clock.now());
    }
    const failure = {
      release: "x",
      source: "s",
      message: "z".repeat(9000),
      at: clock.now(),
      automatic: true,
    };
    ledger.failures.fail(key, failure);
  }
  return ledger;
}

const ledger = fill();
const runs = createRuns({ clock });
const text = "web:\n" + Array.from({ length: 200_000 }, (_, at) => `  line ${at}\n`).join("");
const ENTRIES: RunTarget[] = Array.from({ length: 500 }, (_, at) => {
  const message = "m".repeat(2000);
  return { context: "", stack: `s${at}`, status: "failed", message, services: SERVICES };
});
const time = (at: Date) => at.toISOString();
const statuses = (signal: AbortSignal, scope?: api.StackScope) => {
  const engineOf = () => Promise.reject(new Error("no engine"));
  return api.stackStatuses({ engineOf, ledger, runs, clock, dataDir: "/data" }, signal, scope);
};
const parts = {
  ledger,
  timeZone: "UTC",
  deployments: statuses,
  clock,
  shownDigest: (_: unknown, digest: string) => digest,
  shownModel: ({ id }: { readonly id: string }) =>
    Promise.resolve(JSON.stringify(ledger.open(ledger.release(id) ?? assert.fail()).model)),
};
const call = { signal: new AbortController().signal, log: createRecordingLog() };
const input = { name: KEY.name };

/** What reads the ledger for people, called with as much as there may be. */
const SATURATING: Readonly<Record<string, () => unknown>> = {
  stackStatuses: () => statuses(call.signal),
  listDeploymentsOperation: () => listDeploymentsOperation(parts).call({}, call),
  getDeploymentOperation: () => getDeploymentOperation(parts).call(input, call),
  listReleasesOperation: () => listReleasesOperation(parts).call({ ...input, limit: 200 }, call),
  listDecisionsOperation: () => listDecisionsOperation(parts).call({ ...input, limit: 200 }, call),
  diffReleasesOperation: () =>
    diffReleasesOperation(parts).call({ ...input, from: 1, to: 2, limit: 5000 }, call),
  plannedDiff: () => plannedDiff({ before: text, after: text.replaceAll("line", "row") }),
  unifiedDiff: () => {
    unifiedDiff("a", "b", text, text.replaceAll("line", "row"));
    unifiedDiff("a", "b", text, text.replaceAll(/[13]\n/g, "\n"));
  },
  explainText: async () => {
    const detail = await getDeploymentOperation(parts).call(input, call);
    explainText(detail, String);
  },
  stackFigures: () => stackFigures(ledger, clock.now()),
  stackFamilies: () => stackFamilies("x_", stackFigures(ledger, clock.now())),
  chooseRelease: () => chooseRelease(ledger, KEY, 1),
  fittingTargets: () => fittingTargets(ENTRIES),
  reduceTargets: () => reduceTargets(ENTRIES, { formatTime: time } as never),
  isDeferred: () => isDeferred(ENTRIES),
};

/** What is not called here, and why. */
const EXCUSED: Readonly<Record<string, string>> = {
  containersText: "looks at one stack's numbers",
  jobText: "tells of one job",
  knownEngine: "asks for one row",
  noteEngines: "has a row for each context",
  seenOf: "a part of stackStatuses",
  handedOver: "asks for one row",
  ownerOfIntent: "asks for one row",
  ownerOfWhatRuns: "asks for one row",
  viewDeployment: "a part of listDeploymentsOperation",
  viewRelease: "a part of listReleasesOperation",
  viewCurrent: "a part of getDeploymentOperation",
  viewDecision: "a part of listDecisionsOperation",
  recordedOf: "a part of stackStatuses",
  heldBack: "a part of stackStatuses",
  standingDecision: "a part of stackStatuses",
  isOver: "looks at one decision",
  requireKnown: "asks for one row",
  recordedOwner: "asks for one row",
  placeOfRelease: "asks for two rows",
  ownerBeside: "asks for one row of each context",
  locksOfJob: "asks for one row of each stack",
  whoseStop: "asks for four rows",
  noRelease: "asks for one row",
  noteFormer: "keeps fifty rows",
  formerSources: "asks for fifty rows",
  sourceOfStack: "lists the releases as chooseRelease does",
  noteOn: "asks for one row, and for what is under way",
  unpinOperation: "asks for one row",
  rollBackOperation: "asks for one row",
  forgetReleases: "tried in bounded_ledger_test.ts",
  forgetGoneStacks: "tried in bounded_ledger_test.ts",
};

describe("a ledger that has as much as it may", () => {
  for (const [name, read] of Object.entries(SATURATING)) {
    it(`does not stop the service in ${name}()`, async () => {
      assert.ok(await longestStretch(read) < MOST_MS);
    });
  }
});

describe("the list of stacks", () => {
  it("has a pause after each stack that is as large as it may be", async () => {
    const shares: number[] = [];
    // The collector of garbage may make one stretch longer, but not that of each attempt.
    while (shares.length < 3 && !shares.some((each) => each < 1 / 5)) {
      const began = processorMs();
      const longest = await longestStretch(() => statuses(call.signal));
      shares.push(longest / (processorMs() - began));
    }
    assert.ok(Math.min(...shares) < 1 / 5, `shares of ${shares} in one go`);
  });
});

/** Types of what the ledger has any amount of. */
const LARGE =
  /\b(?:RecordedRelease|RecordedDecision|DecisionSummary|StackStatus|DeploymentDetail|DeploymentView|DecisionView|StackParts|DeploymentParts|StatusParts|Ledger|LedgerDatabase)\b|readonly (?:RunTarget|StackFigures)\[\]|before: string, after: string/;

describe("whatever tells people what the ledger has", () => {
  it("is tried with one that has as much as it may, or said why not", async () => {
    const found: string[] = [];
    for (const room of ["api", "cli", "plan", "record"]) {
      const directory = new URL(`../../src/${room}/`, import.meta.url);
      for (const file of await readdir(directory, { recursive: true })) {
        if (!file.endsWith(".ts")) continue;
        const source = await readFile(new URL(file, directory), "utf8");
        for (
          const match of source.matchAll(/^export (?:async )?function\*? (\w+)\(([^]*?)\n?\):/gm)
        ) {
          if (LARGE.test(match[2] ?? "")) found.push(match[1] ?? "");
        }
      }
    }
    const known = new Set([...Object.keys(SATURATING), ...Object.keys(EXCUSED)]);
    assert.ok(found.length > 15, String(found.length));
    assert.deepEqual(found.filter((name) => !known.has(name)), []);
    const tried = Object.keys(EXCUSED).filter((name) => !found.includes(name));
    assert.deepEqual(tried, [], "nobody is excused who is not there any more");
  });
});
