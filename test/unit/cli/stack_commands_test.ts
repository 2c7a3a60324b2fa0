import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { EXIT } from "../../../src/cli/io.ts";
import { stackKey, type TargetDecision } from "../../../src/model/mod.ts";
import { Ledger, loadInstanceKey } from "../../../src/record/mod.ts";
import { createIds, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { CANARY, releaseOf } from "../record/releases.ts";
import { type Ended, run, withFiles } from "./command_line.ts";

const WEB = stackKey("", "web");
const A = "a".repeat(40);
const B = "b".repeat(40);
const TIME = "2026-03-10T12:00:00.123+01:00";
/** The same for people. */
const SHOWN = "2026-03-10 12:00:00";

const decision: TargetDecision = {
  trigger: "poll",
  origin: "automatic",
  revision: "refs/heads/main (bbbbbbbbbbbb)",
  kind: "deploy",
  message: "1 service changes",
  changes: [{ input: "web/page.html", from: "1".repeat(40), to: "absent" }],
  services: [{ name: "web", action: "recreate", because: ["web/page.html changed"] }],
};

/** A data directory in which stack `web` has two good releases and a failed one. */
async function withHistory(
  work: (command: (...args: string[]) => Promise<Ended>, dataDir: string) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withFiles({}, async (directory) => {
    const dataDir = join(directory, "data");
    await mkdir(dataDir);
    const key = await loadInstanceKey(systemFiles, dataDir);
    const clock = createFakeClock();
    const ledger = new Ledger(join(dataDir, "state.db"), {
      key,
      clock,
      ids: createIds(clock),
      redact: String,
    });
    ledger.succeed(ledger.beginDeploy(releaseOf(WEB, A)), {}, "first");
    const model = { services: { web: { image: "web:2", environment: { PASSWORD: CANARY } } } };
    const second = ledger.beginDeploy(releaseOf(WEB, B, { model }));
    ledger.succeed(second, {}, "second\nwith more");
    ledger.fail(ledger.beginDeploy(releaseOf(WEB, A)), "failed", "web is unhealthy");
    for (const automatic of [true, false, false]) {
      const failed = { release: "x", source: "s", message: "web is unhealthy", at: clock.now() };
      ledger.failures.fail(WEB, { ...failed, automatic });
    }
    ledger.decisions.add(WEB, decision, clock.now());
    ledger.decisions.add(WEB, decision, clock.now());
    const releaseId = second.releaseId ?? "";
    ledger.pins.set(WEB, { releaseId, revision: A, pinnedAt: clock.now(), reason: "CPU bug" });
    ledger.close();
    const env = {
      DATA_DIR: dataDir,
      DATA_HOST_DIR: dataDir,
      TZ: "Europe/Berlin",
      DOCKER_HOST: "unix:///nonexistent-4711.sock",
      PATH: "/usr/bin:/bin",
      ...more,
    };
    await work((...args) => run(args, { env }), dataDir);
  });
}

describe("stackwright history", () => {
  it("history lists releases, newest first, and marks the current one", async () => {
    await withHistory(async (command) => {
      const { code, out, err } = await command("history", "web");
      assert.deepEqual([code, err], [EXIT.ok, ""]);
      assert.deepEqual(out.split("\n").map((line) => line.replaceAll(/ +/g, " ")), [
        " RELEASE TIME STATE COMMIT WHAT",
        ` 3 ${SHOWN} failed aaaaaaaaaaaa web is unhealthy`,
        `* 2 ${SHOWN} deployed bbbbbbbbbbbb second`,
        ` 1 ${SHOWN} deployed aaaaaaaaaaaa first`,
        "",
      ]);
      const json = await command("history", "--json", "web");
      const releases = JSON.parse(json.out);
      assert.equal(releases.length, 3);
      assert.deepEqual(releases[1], {
        number: 2,
        current: true,
        status: "deployed",
        revision: B,
        reference: "refs/heads/main",
        created_at: TIME,
        message: "second\nwith more",
      });
    });
  });
});

describe("stackwright explain", () => {
  it("explain says what is deployed, what is held back, what failed, and why", async () => {
    await withHistory(async (command) => {
      const { code, out, err } = await command("explain", "web");
      assert.deepEqual([code, err], [EXIT.ok, ""]);
      assert.doesNotMatch(out, /111111111111/, "what is recorded is the same for all stacks");
      assert.equal(
        // Keyed by this data directory.
        out.replace(/: [0-9a-f]{12} -> /, ": digest -> "),
        [
          "default/web: release 2 of bbbbbbbbbbbb (refs/heads/main)",
          "held, unknown ?/1",
          `held back at release 2 since ${SHOWN}, until a commit with other inputs than aaaaaaaaaaaa, or stackwright unpin: CPU bug`,
          `last failure ${SHOWN} (3 times): web is unhealthy`,
          "",
          `${SHOWN}, 2 times until ${SHOWN}: deploy: 1 service changes`,
          "  by automatic poll, at refs/heads/main (bbbbbbbbbbbb)",
          "  outcome: not known; it is under way, or was interrupted",
          "  input web/page.html: digest -> nothing",
          "  web: recreate: web/page.html changed",
          "",
        ].join("\n"),
      );
      const json = await command("explain", "web", "--json");
      const { context, name, current, decisions, failure, pin } = JSON.parse(json.out);
      assert.deepEqual([context, name, current.number], ["default", "web", 2]);
      assert.deepEqual([failure.failures, failure.failures_by_hand], [1, 2]);
      assert.deepEqual([pin.revision, decisions.length], [A, 1]);
      assert.equal(decisions[0].first_at, TIME);
      assert.deepEqual([pin.pinned_at, pin.reason], [TIME, "CPU bug"]);
      assert.doesNotMatch(json.out, /"[a-z]+[A-Z]\w*":/, "every name is in snake_case");
      assert.doesNotMatch(out + json.out, /canary/);
    });
  });
});

describe("a data directory that cannot be written", () => {
  it("is read by commands that only read, which say so, and refused by others", async () => {
    await withHistory(async (command, dataDir) => {
      // The check of a writer fails, whoever runs this test.
      await mkdir(join(dataDir, ".write-test"));
      for (
        const [expected, exit, ...args] of [
          [/ web .* 2 /, EXIT.ok, "status"],
          [/release 2 of bbbbbbbbbbbb/, EXIT.ok, "explain", "web"],
          [/\* +2 .*second/, EXIT.ok, "history", "web"],
          [/image: web:2/, EXIT.changes, "diff", "web", "1", "2"],
        ] as const
      ) {
        const { code, out, err } = await command(...args);
        assert.equal(code, exit, err);
        assert.match(out, expected);
        assert.match(err, /DATA_DIR \S+ cannot be written .*only reads what is recorded/);
      }
      const { code, err } = await command("hold", "web");
      assert.notEqual(code, EXIT.ok);
      assert.match(err, /DATA_DIR \S+ cannot be written/);
    });
  });
});

describe("stackwright status", () => {
  it("status names contexts that can be asked for, and is brief", async () => {
    await withHistory(async (command, dataDir) => {
      const clock = createFakeClock();
      const key = await loadInstanceKey(systemFiles, dataDir);
      const parts = { key, clock, ids: createIds(clock), redact: String };
      const ledger = new Ledger(join(dataDir, "state.db"), parts);
      const message = `${"x".repeat(600)}: ${"y".repeat(600)}`;
      for (const each of [stackKey("", "long"), stackKey("../../etc", "odd")]) {
        ledger.decisions.add(each, { ...decision, kind: "error", message }, new Date());
      }
      ledger.succeed(ledger.beginDeploy(releaseOf(stackKey("nas", "shop"), A)), {}, "done");
      ledger.close();
      const { out } = await command("status");
      assert.match(
        out,
        /\n\.\.\/\.\.\/etc\/odd failed: x+…y+\nfurther stacks on nas: stackwright status --context nas\n$/,
      );
      assert.match(out, / x{320}…y{319}\n/);
      assert.match((await command("status", "--json")).out, /"x{600}: y{600}"/);
      assert.match((await command("explain", "long")).out, / x{600}: y{600}\n/);
      const env = { DATA_DIR: dataDir, DOCKER_HOST: "unix:///nowhere.sock" };
      const named = (await run(["status", "long"], { env, columns: 80 })).out.split("\n");
      assert.ok(named.every((line) => line.length <= 80), named.join("\n"));
      assert.match(named.join("").replaceAll(" ", ""), /x{600}:y{600}$/);
    });
  });
});

describe("stackwright status while the service does not run", () => {
  it("says nothing of a next try", async () => {
    await withHistory(async (command, dataDir) => {
      const clock = createFakeClock();
      const key = await loadInstanceKey(systemFiles, dataDir);
      const parts = { key, clock, ids: createIds(clock), redact: String };
      const ledger = new Ledger(join(dataDir, "state.db"), parts);
      const outcome = { status: "failed", message: "no", retryAt: "2099-01-01T00:00:00Z" } as const;
      ledger.decisions.add(
        stackKey("", "shop"),
        { ...decision, kind: "error", outcome },
        new Date(),
      );
      ledger.close();
      assert.match((await command("status")).out, /^failed +shop .*; next try 2099-01-01 /m);
      // Left by one that was killed.
      await writeFile(join(dataDir, "serve.lock"), "");
      const { out } = await command("status");
      assert.doesNotMatch(out, /next try/);
      assert.match(out, /\nthe service does not run: .*\n$/);
    });
  });
});

describe("stackwright diff", () => {
  it("diff shows what differs and masks what sounds secret, with 2", async () => {
    await withHistory(async (command) => {
      const { code, out, err } = await command("diff", "web", "1", "2");
      assert.deepEqual([code, err], [EXIT.changes, ""]);
      assert.match(out, /^--- release 1\n\+\+\+ release 2\n/);
      assert.match(out, /^-.*web:1/m);
      assert.match(out, /^\+.*web:2/m);
      assert.doesNotMatch(out, /^[-+].*PASSWORD/m);
      const json = await command("diff", "--json", "web", "1", "2");
      assert.deepEqual([json.code, JSON.parse(json.out)], [
        EXIT.changes,
        { equal: false, diff: out },
      ]);
      assert.doesNotMatch(out + json.out, /canary/);
    });
  });

  it("diff of equal models is empty, with 0", async () => {
    await withHistory(async (command) => {
      assert.deepEqual(await command("diff", "web", "1", "3"), { code: EXIT.ok, out: "", err: "" });
      const json = await command("diff", "--json", "web", "1", "3");
      assert.deepEqual(JSON.parse(json.out), { equal: true, diff: "" });
    });
  });

  it("diff says which release there is not", async () => {
    await withHistory(async (command) => {
      const { code, err } = await command("diff", "web", "1", "9");
      assert.equal(code, EXIT.failed);
      assert.match(err, /web has no release 9; its history lists what there is/);
    });
  });
});

describe("stackwright unpin", () => {
  it("unpin lets updates happen again, and says when they were not held back", async () => {
    await withHistory(async (command) => {
      const first = await command("unpin", "web");
      assert.deepEqual([first.code, first.out], [EXIT.ok, "web follows its reference again\n"]);
      const second = await command("unpin", "web");
      assert.deepEqual([second.code, second.out], [EXIT.ok, "web was not held back\n"]);
      const json = await command("unpin", "--json", "web");
      assert.equal(json.out, '{"unpinned":false}\n');
    });
  });
});

describe("commands for a stack", () => {
  const unknown = [["explain", "db"], ["history", "db"], ["diff", "db", "1", "2"], [
    "rollback",
    "db",
  ], ["retry", "db"]];
  for (const args of unknown) {
    it(`${args[0]} of a stack that is not known fails with words, and JSON`, async () => {
      await withHistory(async (command) => {
        const plain = await command(...args);
        assert.deepEqual([plain.code, plain.out], [EXIT.failed, ""]);
        assert.match(plain.err, /^stackwright: .*\bdb\b.*[a-z][.?] Looked at was DATA_DIR \//m);
        assert.doesNotMatch(plain.err, /\n\s+at /);
        const json = await command(...args, "--json");
        assert.deepEqual([json.code, json.out], [EXIT.failed, ""]);
        assert.equal(JSON.parse(json.err).error.code, "not_found");
      });
    });
  }

  it("--context tells stacks of the same name apart", async () => {
    await withHistory(async (command) => {
      const { code, err } = await command("history", "--context", "prod", "web");
      assert.equal(code, EXIT.usage);
      assert.match(err, /unknown context: prod\ncontext: use one of default\n$/);
      assert.equal((await command("history", "--context", "Default", "web")).code, EXIT.ok);
    });
  });

  it("no secret of the settings is printed, also when the ledger has it in a message", async () => {
    await withHistory(async (command) => {
      for (const name of ["history", "explain"]) {
        for (const args of [[name, "web"], [name, "--json", "web"]]) {
          const { code, out } = await command(...args);
          assert.equal(code, EXIT.ok);
          assert.match(out, /web is \*\*\*/);
          assert.doesNotMatch(out, /unhealthy/);
        }
      }
      const { err } = await command("history", "unhealthy");
      assert.match(err, /nothing is recorded about \*\*\*/);
    }, { API_SECRET: "unhealthy" });
  });

  it("what is not found is said with the directory that was looked at", async () => {
    await withHistory(async (command, dataDir) => {
      const { code, err } = await command("history", "nobody");
      assert.equal(code, EXIT.failed);
      const asked = "are name and context right? Looked at was DATA_DIR ";
      assert.ok(err.includes(`${asked}${dataDir}: is that the service's?`), err);
      // Of a known stack, the directory is the right one.
      const known = await command("diff", "web", "1", "9");
      assert.match(known.err, /web has no release 9/);
      assert.doesNotMatch(known.err, /DATA_DIR/);
    });
  });

  it("a damaged ledger is words, not a stack trace", async () => {
    await withHistory(async (command, dataDir) => {
      await systemFiles.write(join(dataDir, "state.db"), "rubbish ".repeat(500));
      const { code, err } = await command("history", "web");
      assert.equal(code, EXIT.failed);
      assert.match(err, /^stackwright: the ledger .*state\.db is damaged/);
      assert.doesNotMatch(err, /\n\s+at /);
    });
  });
});

describe("plan and apply", () => {
  for (const name of ["plan", "apply"]) {
    it(`${name} fails with words, and JSON, on what is no repository`, async () => {
      await withHistory(async (command, dataDir) => {
        const plain = await command(name, dataDir);
        assert.deepEqual([plain.code, plain.out], [EXIT.failed, ""]);
        assert.match(plain.err, /^stackwright: .*\n/);
        assert.doesNotMatch(plain.err, /\n\s+at /);
        const json = await command(name, "--json", dataDir);
        assert.deepEqual([json.code, json.out], [EXIT.failed, ""]);
        assert.ok(JSON.parse(json.err).error.message.includes(dataDir));
      });
    });
  }

  it("apply refuses a plan that is missing, or none", async () => {
    await withHistory(async (command, dataDir) => {
      const missing = await command("apply", "--plan", join(dataDir, "no.json"), dataDir);
      assert.equal(missing.code, EXIT.failed);
      assert.match(missing.err, /there is no plan at .*no\.json/);
      await systemFiles.write(join(dataDir, "bad.json"), "{}");
      const bad = await command("apply", "--plan", join(dataDir, "bad.json"), dataDir);
      assert.equal(bad.code, EXIT.usage);
      assert.match(bad.err, /bad\.json is no plan/);
    });
  });
});

describe("a data directory that is not there", () => {
  it("is not made by commands about what is recorded, which say so", async () => {
    await withFiles({}, async (directory) => {
      const dataDir = join(directory, "forgotten");
      const env = { DATA_DIR: dataDir, DOCKER_HOST: "unix:///nonexistent-4711.sock" };
      for (
        const args of [
          ["status"],
          ["status", "web"],
          ["history", "web"],
          ["explain", "web"],
          ["diff", "web", "1", "2"],
          ["hold", "web"],
          ["resume", "web"],
          ["unpin", "web"],
          ["rollback", "web"],
          ["retry", "web"],
          ["forget", "web"],
        ]
      ) {
        const { code, out, err } = await run(args, { env });
        assert.deepEqual([code, out], [EXIT.failed, ""], args.join(" "));
        assert.equal(
          err,
          `stackwright: there is no state.db in ${dataDir}: no Stackwright has worked with this data ` +
            "directory, and nothing was made there. Set DATA_DIR to the service's, as its other " +
            "settings; the first stackwright serve or apply makes it\n",
          args.join(" "),
        );
        assert.equal(await systemFiles.stat(dataDir), undefined, args.join(" "));
      }
    });
  });
});
