import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Revision,
  type RunTarget,
  StackwrightError,
  type TargetDecision,
  type TargetEvent,
  type TargetListener,
  type TargetNews,
  type ToldDecision,
} from "../../../src/model/mod.ts";
import { noMeter } from "../../../src/system/mod.ts";
import {
  createTeller,
  decisionListener,
  logListener,
  meterListener,
  runListener,
} from "../../../src/tell/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const WEB = {
  key: { context: "default", name: "web" },
  repository: "forge.test/shop",
  trigger: "poll",
  origin: "automatic",
} as const;
const never = new AbortController().signal;

function revision(id: string): Revision {
  const source = { kind: "git", name: "forge.test/shop", url: "https://forge.test/shop" } as const;
  return { source, reference: "refs/heads/main", id };
}

const services = [{ name: "web", action: "create", because: ["it is new"] }] as const;

function decided(more: Partial<ToldDecision> & Pick<ToldDecision, "kind">): TargetNews {
  return { kind: "decided", decision: { message: "create web", changes: [], services, ...more } };
}

const PENDING: TargetNews = { kind: "pending" };
const ADMITTED: TargetNews = { kind: "admitted" };
const STARTED: TargetNews = { kind: "started" };
const succeeded: TargetNews = { kind: "ended", end: { status: "succeeded", message: "done" } };
const skipped: TargetNews = { kind: "ended", end: { status: "skipped", message: "as it is" } };
const rolledBack: TargetNews = { kind: "ended", end: { status: "failed", message: "web ended" } };
const thrown: TargetNews = {
  kind: "ended",
  end: {
    status: "failed",
    message: "no engine",
    error: new StackwrightError("engine_unreachable", "no engine"),
  },
};

function tellAll(listener: TargetListener, ...news: readonly TargetNews[]): void {
  const teller = createTeller([listener], WEB, revision("a"));
  for (const each of news) teller.tell(each);
}

describe("begin()", () => {
  it("tells of a decision, and then that it is carried out", () => {
    const heard: TargetEvent[] = [];
    const teller = createTeller([() => (event) => heard.push(event)], WEB, revision("a"));
    teller.begin("repair", "release 3 comes back", services);
    teller.begin("restart", "web is unhealthy");
    const told = (decision: ToldDecision) => [{ kind: "decided", decision }, STARTED];
    assert.deepEqual(heard.map(({ revision: _about, ...news }) => news), [
      ...told({ kind: "repair", message: "release 3 comes back", changes: [], services }),
      ...told({ kind: "restart", message: "web is unhealthy", changes: [], services: [] }),
    ]);
  });
});

describe("a teller", () => {
  it("tells every listener in order, each step once, with the revision looked at", () => {
    const heard: string[] = [];
    const listener = (name: string): TargetListener => ({ key }) => (event: TargetEvent) =>
      void heard.push(`${name} ${key.name} ${event.kind} ${event.revision.id}`);
    const teller = createTeller([listener("1"), listener("2")], WEB, revision("a"));
    teller.tell(PENDING);
    teller.lookAt(revision("b"));
    for (let count = 0; count < 3; count++) teller.tell({ kind: "step", text: "pulling web" });
    assert.deepEqual(heard, [
      "1 web pending a",
      "2 web pending a",
      "1 web step b",
      "2 web step b",
    ]);
  });

  it("tells nothing of any length, whoever named what it tells of", () => {
    const heard: number[] = [];
    const listener: TargetListener = () => (event) => {
      const { text, decision, end } = { text: "", decision: undefined, end: undefined, ...event };
      heard.push((decision ?? end ?? { message: text }).message.length);
    };
    const teller = createTeller([listener], WEB, revision("a"));
    const long = "y".repeat(20 << 20);
    teller.tell({ kind: "step", text: long });
    teller.begin("destroy", long);
    teller.tell({ kind: "ended", end: { status: "succeeded", message: long } });
    teller.fail("removing web", new Error(long), never);
    assert.equal(heard.length, 5);
    assert.ok(heard.every((each) => each < 100_000), String(heard));
  });

  it("tells an abort as the end, whatever was thrown because of it", () => {
    const ends: string[] = [];
    const listener: TargetListener = () => (event) => {
      if (event.kind === "ended") ends.push(`${event.end.status}: ${event.end.message}`);
    };
    const teller = createTeller([listener], WEB, revision("a"));
    const reason = new StackwrightError("cancelled", "a person cancelled it");
    const told = teller.fail("deploying web", new Error("killed"), AbortSignal.abort(reason));
    assert.equal(told, reason);
    teller.fail("deploying web", new Error("killed"), never);
    assert.deepEqual(ends, [
      "failed: a person cancelled it",
      "failed: deploying web failed: killed",
    ]);
  });
});

describe("the record of a run", () => {
  function entries(...news: readonly TargetNews[]): Partial<RunTarget>[] {
    const told: Partial<RunTarget>[] = [];
    const keep = ({ context: _c, stack: _s, revision: _r, ...entry }: RunTarget) => {
      told.push(entry);
    };
    tellAll(runListener({ target: keep }), ...news);
    return told;
  }

  it("shows a deployment from waiting to its end, with the services decided on", () => {
    assert.deepEqual(
      entries(
        PENDING,
        ADMITTED,
        { kind: "step", text: "rendering" },
        decided({ kind: "deploy" }),
        STARTED,
        { kind: "step", text: "starting web" },
        succeeded,
      ),
      [
        { status: "pending" },
        { status: "pending", message: "rendering" },
        { status: "running" },
        { status: "running", message: "starting web" },
        { status: "succeeded", message: "done", services },
      ],
    );
  });

  it("says why something is skipped, what is paused, and when it is tried again", () => {
    const retryAt = new Date(5);
    const later = decided({ kind: "skip", reason: "delay", retryAt });
    assert.deepEqual(entries(later, skipped), [
      { status: "skipped", reason: "delay", message: "as it is", services, retryAt },
    ]);
    const [paused] = entries(decided({ kind: "repair", reason: "paused" }), skipped);
    assert.equal(paused?.reason, "paused: as it is");
    const reason = "paused: held by a person: CPU bug";
    const [held] = entries(decided({ kind: "skip", reason }), skipped);
    assert.equal(held?.reason, "paused: as it is");
    const end = { status: "skipped", reason: "nothing_to_destroy", message: "gone" } as const;
    const [gone] = entries(decided({ kind: "destroy" }), { kind: "ended", end });
    assert.equal(gone?.reason, "nothing_to_destroy");
  });

  it("shows what failed without a reason to skip it, also when nothing was decided", () => {
    const later = decided({ kind: "repair", reason: "delay", retryAt: new Date(5) });
    assert.deepEqual(entries(later, rolledBack), [
      { status: "failed", message: "web ended", services },
    ]);
    assert.deepEqual(entries(thrown), [{ status: "failed", message: "no engine" }]);
  });
});

describe("the log of decisions", () => {
  /** What was recorded: the kinds of decisions, with what became of those that were tried. */
  function recorded(...news: readonly TargetNews[]): string[] {
    return recordedOf(false, ...news);
  }
  function recordedOf(isStrangers: boolean, ...news: readonly TargetNews[]): string[] {
    const kept: string[] = [];
    const decisions = {
      add: (_key: unknown, { kind, code, message }: TargetDecision) =>
        kept.push(`${[kind, ...(code ? [code] : [])].join(" ")}: ${message}`),
      end(
        _key: unknown,
        id: number,
        outcome: { readonly status: string; readonly message: string },
      ) {
        kept[id - 1] += ` -> ${outcome.status}: ${outcome.message}`;
      },
    };
    const parts = { decisions, clock: createFakeClock(), log: createRecordingLog() };
    tellAll(decisionListener({ ...parts, isStrangers: () => isStrangers }), ...news);
    return kept;
  }

  it("notes what became of each attempt, and of a decision to do nothing nothing", () => {
    assert.deepEqual(recorded(decided({ kind: "skip" }), skipped), ["skip: create web"]);
    for (const kind of ["deploy", "destroy", "repair"] as const) {
      assert.deepEqual(recorded(decided({ kind }), STARTED, rolledBack), [
        `${kind}: create web -> failed: web ended`,
      ]);
    }
    // What the source wants is held back all the same, so a repair ends as skipped.
    assert.deepEqual(recorded(decided({ kind: "repair" }), STARTED, skipped), [
      "repair: create web -> succeeded: as it is",
    ]);
  });

  it("notes an error that kept a decision from being made or tried", () => {
    assert.deepEqual(recorded(thrown), ["error engine_unreachable: no engine"]);
    assert.deepEqual(recorded(decided({ kind: "destroy" }), STARTED, thrown), [
      "destroy: create web -> failed: no engine",
      "error engine_unreachable: no engine",
    ]);
  });

  it("notes the outcome of the decision that was made last", () => {
    const again = decided({ kind: "deploy", message: "recreate web" });
    assert.deepEqual(recorded(decided({ kind: "deploy" }), STARTED, again, STARTED, succeeded), [
      "deploy: create web",
      "deploy: recreate web -> succeeded: done",
    ]);
    assert.deepEqual(
      recorded(decided({ kind: "deploy" }), STARTED, decided({ kind: "skip" }), skipped),
      ["deploy: create web -> skipped: create web", "skip: create web"],
    );
  });

  it("notes that what was left before it was done is skipped", () => {
    for (const kind of ["destroy", "repair"] as const) {
      const left = decided({ kind: "skip", message: "a newer commit came" });
      assert.deepEqual(recorded(decided({ kind }), left, skipped), [
        `${kind}: create web -> skipped: a newer commit came`,
        "skip: a newer commit came",
      ]);
    }
    assert.deepEqual(recorded(decided({ kind: "destroy" }), STARTED, skipped), [
      "destroy: create web -> skipped: as it is",
    ]);
  });

  it("notes nothing of a stranger who speaks of another's stack", () => {
    assert.deepEqual(recordedOf(true, decided({ kind: "skip" }), skipped), []);
    assert.deepEqual(recordedOf(true, decided({ kind: "destroy" }), STARTED, thrown), []);
  });

  it("that cannot be written stops a decision, and no end", () => {
    const full = () => {
      throw new StackwrightError("ledger_unusable", "the disk is full");
    };
    const log = createRecordingLog();
    const decisions = { add: full, end: full };
    const listener = decisionListener({
      decisions,
      clock: createFakeClock(),
      log,
      isStrangers: () => false,
    });
    assert.throws(() => tellAll(listener, decided({ kind: "deploy" })), /the disk is full/);
    tellAll(listener, thrown);
    assert.deepEqual(log.lines.map(({ level }) => level), ["warning"]);
  });
});

describe("the log", () => {
  function said(...news: readonly TargetNews[]): string[] {
    const log = createRecordingLog();
    tellAll(logListener(log), ...news);
    return log.lines.map(({ level, message }) => `${level} ${message}`);
  }

  it("says what is done, how it ended, and nothing of what is left as it is", () => {
    assert.deepEqual(said(PENDING, ADMITTED, decided({ kind: "skip" }), skipped), []);
    assert.deepEqual(said(decided({ kind: "deploy" }), STARTED, succeeded), [
      "info deploying: create web",
      "info deployed: done",
    ]);
    assert.deepEqual(said(decided({ kind: "destroy", message: "it is gone" }), STARTED, thrown), [
      "info removing the stack: it is gone",
      "error the stack was not removed: no engine",
    ]);
    assert.deepEqual(said(thrown), ["error deployment failed: no engine"]);
  });

  it("has what a person asked for and is refused as a warning, and a poll's refusal as an error", () => {
    const error = new StackwrightError("conflict", "held");
    const news = { kind: "ended", end: { status: "failed", message: "held", error } } as const;
    const levels = (["project", "poll"] as const).map((trigger) => {
      const log = createRecordingLog();
      logListener(log)({ ...WEB, trigger })({ ...news, revision: revision("a") });
      return log.lines[0]?.level;
    });
    assert.deepEqual(levels, ["warning", "error"]);
  });

  it("has the cause of an error, and not the mark by which it is known", () => {
    const causes = [Symbol("a mark"), new Error("a cause")].map((cause) => {
      const log = createRecordingLog();
      const error = new StackwrightError("deploy_failed", "no network", { cause });
      tellAll(logListener(log), { kind: "ended", end: { status: "failed", message: "", error } });
      return log.lines[0]?.fields["cause"];
    });
    assert.deepEqual(causes, [undefined, new Error("a cause")]);
  });
});

describe("the metrics", () => {
  /** Counted deployments, counted failures, and how waiting for the stack ended. */
  function measured(...news: readonly TargetNews[]) {
    const counts: Record<string, number> = {};
    const durations: string[] = [];
    const meter = {
      ...noMeter,
      count(name: string, _labels: unknown, by = 1) {
        counts[name] = (counts[name] ?? 0) + by;
      },
      observe: (name: string, { outcome = "" }: Readonly<Record<string, string>>) =>
        void durations.push(`${name} ${outcome}`.trim()),
    };
    tellAll(meterListener({ meter, clock: createFakeClock() }), ...news);
    const { deployments_total: all, deployment_errors_total: failures } = counts;
    return { all, failures, durations };
  }

  const waited = "deployment_admission_duration_seconds";
  const took = "deployment_duration_seconds";

  it("count what was done and what failed, removals and rollbacks too, and no skip", () => {
    assert.deepEqual(measured(PENDING, ADMITTED, decided({ kind: "skip" }), skipped), {
      all: 0,
      failures: 0,
      durations: [`${waited} admitted`],
    });
    for (const kind of ["deploy", "destroy"] as const) {
      assert.deepEqual(measured(decided({ kind }), STARTED, succeeded), {
        all: 1,
        failures: 0,
        durations: [took],
      });
    }
    for (const kind of ["start", "stop", "restart"] as const) {
      assert.deepEqual(measured(decided({ kind }), STARTED, succeeded), {
        all: 0,
        failures: 0,
        durations: [],
      });
    }
    assert.deepEqual(measured(PENDING, thrown), {
      all: 1,
      failures: 1,
      durations: [`${waited} gave_up`, took],
    });
  });
});
