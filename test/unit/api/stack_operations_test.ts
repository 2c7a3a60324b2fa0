import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { adoptOperation } from "../../../src/api/adopt.ts";
import { diffReleasesOperation } from "../../../src/api/diff_releases.ts";
import { forgetOperation } from "../../../src/api/forget.ts";
import { getDeploymentOperation } from "../../../src/api/get_deployment.ts";
import { holdOperation, resumeOperation } from "../../../src/api/hold.ts";
import { listDecisionsOperation } from "../../../src/api/list_decisions.ts";
import { listReleasesOperation } from "../../../src/api/list_releases.ts";
import { stackStatuses } from "../../../src/api/stack_statuses.ts";
import { unpinOperation } from "../../../src/api/unpin.ts";
import { isStackwrightError, stackKey } from "../../../src/model/mod.ts";
import { createRuns, type RecordedRelease } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger, recordShop, SHOP } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

function createWorld() {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  recordShop(ledger, clock);
  const parts = {
    ledger,
    clock,
    hosts: { of: () => Promise.reject(new Error("nobody is asked")) },
    timeZone: "UTC",
    deployments: () => Promise.resolve([]),
    shownDigest: ({ name }: { readonly name: string }, digest: string) => `${name} ${digest}`,
    shownModel: ({ number }: RecordedRelease) =>
      Promise.resolve(["one", `two ${number}`, "three"].join("\n")),
  };
  const log = createRecordingLog();
  return { clock, ledger, parts, log, call: { signal: new AbortController().signal, log } };
}

/** Follows the pages of an operation from the first to the last. */
async function pages<Page extends { readonly next?: number | undefined }>(
  ask: (before: number | undefined) => Promise<Page>,
): Promise<Page[]> {
  const all: Page[] = [];
  let next: number | undefined;
  for (;;) {
    const page = await ask(next);
    all.push(page);
    if (page.next === undefined) return all;
    next = page.next;
  }
}

describe("the operations on one stack", () => {
  it("say what a hold may last until, to who gives neither a time nor a duration", async () => {
    const { parts, clock, call } = createWorld();
    const operation = holdOperation({ ...parts, clock, learned: () => Promise.resolve() });
    for (
      const [until, what] of [
        ["soon", "neither a time nor a duration"],
        ["36", "a number without a unit"],
        ["2026-13-04T18:00:00Z", "neither a time nor a duration"],
      ]
    ) {
      await assert.rejects(operation.call({ name: "shop", until }, call), (error) => {
        assert.ok(isStackwrightError(error) && error.code === "bad_request");
        assert.ok(error.message.startsWith(`until is ${until}, which is ${what}`), error.message);
        assert.match(error.message, /2026-05-04T18:00:00Z\) or a duration/);
        return true;
      });
    }
    // An example of a time would be as past as what was typed from the documents.
    for (const until of ["-1h", "2001-05-04T18:00:00Z"]) {
      await assert.rejects(
        operation.call({ name: "shop", until }, call),
        new RegExp(`until is ${until}, which is not in the future: it is \\d{4}-.*Z now\\. Give`),
      );
    }
  });

  it("hold for days and weeks, which durations elsewhere do not have", async () => {
    const { parts, clock, call } = createWorld();
    const operation = holdOperation({ ...parts, clock, learned: () => Promise.resolve() });
    for (
      const [until, hours] of [["36h", 36], ["2d", 48], ["1w", 168], ["1w2d12h", 228]] as const
    ) {
      const held = await operation.call({ name: "shop", until }, call);
      const ms = Date.parse(held.until ?? "") - clock.now().getTime();
      assert.equal(ms / 3_600_000, hours, until);
    }
    for (const until of ["2 d", "d", "2days", "9999999999w"]) {
      await assert.rejects(operation.call({ name: "shop", until }, call), /neither a time nor/);
    }
  });

  it("list releases in pages, newest first, and say which one is deployed", async () => {
    const { parts, call } = createWorld();
    const operation = listReleasesOperation(parts);
    const found = await pages((before) => operation.call({ name: "shop", limit: 2, before }, call));
    const shown = found.map(({ releases }) =>
      releases.map(({ number, current, status }) => `${number} ${current} ${status}`)
    );
    assert.deepEqual(shown, [["3 false rolled_back", "2 true deployed"], ["1 false deployed"]]);
  });

  it("say of a stack without releases where the reason is", async () => {
    const { parts, call, ledger, clock } = createWorld();
    const begun = {
      trigger: "poll",
      origin: "automatic",
      revision: "refs/heads/main (a)",
    } as const;
    const failed = {
      ...begun,
      kind: "error",
      message: "pull failed",
      changes: [],
      services: [],
    } as const;
    for (const [context, words] of [["", "new"], ["nas", "--context nas new"]] as const) {
      ledger.decisions.add(stackKey(context, "new"), failed, clock.now());
      const says = new RegExp(`none was begun; stackwright explain ${words} says why`);
      const stack = { context, name: "new" };
      await assert.rejects(listReleasesOperation(parts).call(stack, call), says);
      const diff = { ...stack, from: 1, to: 2, limit: 9 };
      await assert.rejects(diffReleasesOperation(parts).call(diff, call), says);
    }
  });

  it("list decisions in pages, newest first", async () => {
    const { parts, call } = createWorld();
    const operation = listDecisionsOperation(parts);
    const found = await pages((before) => operation.call({ name: "shop", limit: 2, before }, call));
    const shown = found.map(({ decisions }) => decisions.map(({ message }) => message));
    const [first, second, third] = [1, 2, 3].map((each) => `recreate web with web:${each}`);
    assert.deepEqual(shown, [[third, second], [first]]);
  });

  it("show a difference in pages, which together are the whole", async () => {
    const { parts, call } = createWorld();
    const operation = diffReleasesOperation(parts);
    const asked = { name: "shop", from: 1, to: 2 };
    const whole = await operation.call(asked, call);
    assert.match(whole.diff, /^--- release 1\n\+\+\+ release 2\n[^]*^-two 1\n\+two 2\n/m);
    const found = await pages((after) => operation.call({ ...asked, limit: 2, after }, call));
    assert.equal(found.length > 2, true);
    assert.equal(found.map(({ diff }) => diff).join(""), whole.diff);
    const same = await operation.call({ ...asked, to: 1 }, call);
    assert.deepEqual(same, { equal: true, diff: "" });
  });

  it("show a difference in the words of who wrote it, with files and images", async () => {
    const { parts, call } = createWorld();
    const shownModel = ({ number }: RecordedRelease) =>
      Promise.resolve(JSON.stringify({
        services: {
          web: {
            image: `app:${number}`,
            labels: { "stackwright.digest": `d${number}`, mine: "1" },
            volumes: [{
              type: "bind",
              source: "/data/releases/default/shop/current/site",
              target: "/site",
              read_only: true,
            }],
          },
        },
      }));
    const { diff } = await diffReleasesOperation({ ...parts, shownModel })
      .call({ name: "shop", from: 1, to: 2 }, call);
    assert.match(diff, /^-\s+image: app:1\n\+\s+image: app:2$/m);
    assert.match(diff, /^ +- \.\/site:\/site:ro$/m);
    assert.doesNotMatch(diff, /digest|current/);
    assert.match(
      diff,
      /^ # web: file web\/page\.html is shop f1\n-# web: image is a\n\+# web: image is b$/m,
    );
  });

  it("show a difference in what a model does not say", async () => {
    const { parts, call, ledger } = createWorld();
    const services: typeof ledger.services = ({ id }) => {
      const number = ledger.release(id)?.number ?? 0;
      return ledger.services({ id }).map((each) => ({
        ...each,
        inputs: { build_arguments: `b${number}` },
        expectation: { ...each.expectation, replicas: number },
      }));
    };
    const shownModel = () => Promise.resolve("{}");
    const changed = {
      ...parts,
      shownModel,
      ledger: Object.assign(Object.create(ledger), { services }),
    };
    const { diff } = await diffReleasesOperation(changed)
      .call({ name: "shop", from: 1, to: 2 }, call);
    assert.match(diff, /^-# web: build\.args is shop b1$/m);
    assert.match(diff, /^\+# web: build\.args is shop b2$/m);
    assert.match(diff, /^\+# web: replicas is 2$/m);
  });

  it("show that the images of a release that failed are not known, and of an equal one nothing", async () => {
    const { parts, call, ledger } = createWorld();
    const last = ledger.history(SHOP, 1)[0]?.number ?? 0;
    for (let attempt = 0; attempt < 2; attempt++) {
      ledger.fail(ledger.beginDeploy(releaseOf(SHOP, "c3")), "failed", "no");
    }
    const operation = diffReleasesOperation({ ...parts, shownModel: () => Promise.resolve("{}") });
    const asked = { name: "shop", from: 2, to: last + 1 };
    const { diff } = await operation.call(asked, call);
    const unknown = "web: image is not known: it is recorded when a release is healthy";
    assert.match(diff, new RegExp(`^-# web: image is b\\n\\+# ${unknown}$`, "m"));
    const same = await operation.call({ name: "shop", from: last + 1, to: last + 2 }, call);
    assert.deepEqual(same, { equal: true, diff: "" });
  });

  it("say of a stack that is not asked for any more what it was", async () => {
    const { parts, call, ledger, clock } = createWorld();
    ledger.destroyed(ledger.beginDestroy(SHOP, {}), "gone");
    const detail = await getDeploymentOperation({ ...parts }).call({ name: "shop" }, call);
    assert.deepEqual([detail.state, detail.current], ["unknown", undefined]);
    assert.equal(detail.decisions.length, 3);
    assert.equal(detail.decisions[0]?.last_at.slice(0, 10), clock.now().toISOString().slice(0, 10));
  });

  it("forget a stack that was never deployed, with the failures that are known of it", async () => {
    const { parts, call, ledger, clock } = createWorld();
    const hasContext = () => Promise.resolve(true);
    const operation = forgetOperation({ ...parts, clock, hasContext });
    const told = {
      trigger: "poll",
      origin: "automatic",
      revision: "main (1)",
      kind: "error",
      message: "refused",
      changes: [],
      services: [],
    } as const;
    const REFUSED = { ...SHOP, name: "refused" };
    ledger.decisions.add(REFUSED, told, clock.now());
    const FAILED = { ...SHOP, name: "failed" };
    ledger.owners.settle(FAILED, { source: "github.com/me/infra", reference: "main" });
    const intent = ledger.beginDeploy(releaseOf(FAILED, "a".repeat(40)));
    ledger.decisions.add(FAILED, told, clock.now());
    await assert.rejects(operation.call(FAILED, call), /something is being done to failed/);
    ledger.fail(intent, "failed", "no such image");
    const failure = { release: "a", source: "", message: "no such image", at: clock.now() };
    ledger.failures.fail(FAILED, { ...failure, automatic: true });
    const engineOf = () => Promise.reject(new Error("away"));
    const all = { engineOf, ledger, runs: { list: () => [] }, clock, dataDir: "/data" };
    const listed = async () => (await stackStatuses(all, call.signal)).map(({ key }) => key.name);
    assert.deepEqual(await listed(), ["failed", "refused", "shop"]);
    for (const each of [REFUSED, FAILED]) {
      assert.deepEqual(await operation.call(each, call), { forgotten: true });
    }
    assert.deepEqual(await listed(), ["shop"]);
    assert.equal(ledger.failures.get(FAILED), undefined);
    // An attempt may have made volumes: the name stays its owner's.
    assert.equal(ledger.owners.get(FAILED)?.source, "github.com/me/infra");
    assert.match(ledger.decisions.of(FAILED, 1)[0]?.message ?? "", /no release of it is deployed/);
  });

  it("forget a stack whose context is gone, and no other that is deployed", async () => {
    const { parts, call, ledger, clock } = createWorld();
    const NAS = { context: "nas", name: "shop" };
    recordShop(ledger, clock, NAS);
    ledger.leave(ledger.beginDestroy(NAS, {}));
    let contexts = ["default", "nas"];
    const hasContext = (name: string) => Promise.resolve(contexts.includes(name));
    const operation = forgetOperation({ ...parts, clock, hasContext });
    await assert.rejects(operation.call(NAS, call), /^StackwrightError: the context nas is there/);
    contexts = ["default"];
    await assert.rejects(operation.call(SHOP, call), /the context default is there/);
    const nobody = { ...NAS, name: "nobody" };
    for (const each of [nobody, { ...SHOP, name: "nobody" }]) {
      await assert.rejects(operation.call(each, call), /nothing is recorded about nobody/);
    }
    const stopped = ledger.stoppedByJobs.of(NAS, "backup");
    stopped.set({ id: "1", stops: ["2"], mayRun: true });
    assert.deepEqual(await operation.call(NAS, call), { forgotten: true });
    assert.equal(stopped.get(), undefined);
    assert.equal(ledger.current(NAS), undefined);
    assert.deepEqual(ledger.underWay(), []);
    assert.notEqual(ledger.current(SHOP), undefined);
    const runs = { list: () => [] };
    const engineOf = () => Promise.reject(new Error("away"));
    const statuses = await stackStatuses(
      { engineOf, ledger, runs, clock, dataDir: "/data" },
      call.signal,
    );
    assert.deepEqual(statuses.map(({ key }) => key), [SHOP]);
    const [decision] = ledger.decisions.of(NAS, 1);
    assert.deepEqual([decision?.kind, decision?.outcome?.status], ["destroy", "succeeded"]);
  });

  it("refuse a stack that nobody knows, and a release that is none", async () => {
    const { parts, call } = createWorld();
    const operations = [
      listReleasesOperation(parts),
      listDecisionsOperation(parts),
      getDeploymentOperation(parts),
    ];
    const isMissing = (error: unknown) => isStackwrightError(error, "not_found");
    for (const operation of operations) {
      await assert.rejects(operation.call({ name: "none" }, call), isMissing);
    }
    const diff = diffReleasesOperation(parts);
    await assert.rejects(diff.call({ name: "shop", from: 1, to: 9 }, call), isMissing);
    await assert.rejects(diff.call({ name: "none", from: 1, to: 2 }, call), isMissing);
  });

  it("hold and resume, and say what else is to be known", async () => {
    const { parts, call, ledger, clock } = createWorld();
    const learned = () => Promise.resolve();
    const notes = async (name: string) => {
      const held = await holdOperation({ ...parts, clock, learned }).call({ name }, call);
      const resumed = await resumeOperation(parts).call({ name }, call);
      return [held.note, resumed.note];
    };
    assert.deepEqual(await notes("shop"), [undefined, undefined]);
    const intent = ledger.beginDeploy(releaseOf(SHOP, "next"));
    assert.deepEqual(await notes("shop"), [
      "a deployment that is under way, or was interrupted, is finished first",
      undefined,
    ]);
    ledger.fail(intent, "failed", "no");
    const decision = { kind: "skip", message: "no", changes: [], services: [], revision: "main" };
    const by = { trigger: "poll", origin: "automatic" };
    ledger.decisions.add({ ...SHOP, name: "new" }, { ...decision, ...by } as never, clock.now());
    assert.deepEqual(await notes("new"), Array(2).fill("nothing of it is deployed"));
  });

  it("show a hand-over of what was never deployed here, until it is forgotten", async () => {
    const { parts, call, ledger, clock } = createWorld();
    const adopt = adoptOperation({ ...parts, clock, polls: [] });
    await assert.rejects(
      adopt.call({ name: "hand" }, call),
      /^StackwrightError: nobody was refused hand .* made with docker compose needs no adopt: the first deployment of its name takes it over/,
    );
    const asked = { name: "hand", source: "github.com/acme/infra" };
    assert.equal((await adopt.call(asked, call)).before, undefined);
    await adopt.call(asked, call);
    const engineOf = () => Promise.reject(new Error("no engine"));
    const runs = createRuns({ clock });
    const deployments: Parameters<typeof getDeploymentOperation>[0]["deployments"] = (signal, of) =>
      stackStatuses({ engineOf, ledger, runs, clock, dataDir: "/data" }, signal, of);
    const listed = (await deployments(call.signal, { context: "default" })).map((
      { key, state },
    ) => [key.name, state]);
    assert.deepEqual(listed, [["hand", "unknown"], ["shop", "failed"]]);
    const get = getDeploymentOperation({ ...parts, deployments });
    const found = await get.call({ name: "hand" }, call);
    assert.match(found.why, /^a person handed it over to github\.com\/acme\/infra, whose next /);
    assert.deepEqual(found.owner?.handed_over, true);
    assert.equal(found.decisions.length, 1);
    const hasContext = () => Promise.resolve(true);
    await forgetOperation({ ...parts, clock, hasContext }).call({ name: "hand" }, call);
    assert.equal(ledger.owners.get(stackKey("", "hand")), undefined);
  });

  it("unpin and hand over, and the log has a line for each", async () => {
    const { parts, call, ledger, clock, log } = createWorld();
    const releaseId = ledger.current(SHOP)?.id ?? "";
    ledger.pins.set(SHOP, { releaseId, revision: "x", pinnedAt: clock.now() });
    const unpin = unpinOperation(parts);
    assert.deepEqual(await unpin.call({ name: "shop" }, call), { unpinned: true });
    assert.deepEqual(await unpin.call({ name: "shop" }, call), { unpinned: false });
    ledger.holds.set(SHOP, { reason: "", heldAt: clock.now() });
    const { note } = await unpin.call({ name: "shop" }, call);
    assert.match(
      note ?? "",
      /^it is still held by a person since .* until stackwright resume shop$/,
    );
    ledger.holds.remove(SHOP);
    const adoption = await adoptOperation({ ...parts, clock, polls: [] })
      .call({ name: "shop", source: "github.com/acme/shop", reference: "edge" }, call);
    assert.deepEqual(adoption.owner, {
      source: "github.com/acme/shop",
      reference: "refs/heads/edge",
    });
    assert.equal(adoption.before?.source, "h.example/o/r");
    assert.equal(adoption.asked, false);
    const poll = { kind: "git", url: "https://h.example/o/new" } as never;
    await assert.rejects(
      adoptOperation({ ...parts, clock, polls: [poll] })
        .call({ name: "shop", source: "h.example/o/nwe" }, call),
      /not name h.example\/o\/nwe, .* never refused shop: is it spelt right\? Polled are h.example\/o\/new\./,
    );
    for (const source of ["deploy@nas_2222/infra", "ssh://deploy@nas:2222/infra.git"]) {
      const { owner, asked } = await adoptOperation({ ...parts, clock, polls: [] }).call({
        name: "shop",
        source,
      }, call);
      assert.equal(owner.source, "deploy@nas_2222/infra");
      assert.equal(asked, source.startsWith("ssh:"), "the second time it has it");
    }
    for (const source of ["gitea_3000/o/r", "gitea_3000_0/o/r"]) {
      const { owner } = await adoptOperation({ ...parts, clock, polls: [] }).call(
        { name: "shop", source },
        call,
      );
      assert.equal(owner.source, source);
    }
    assert.deepEqual(log.lines.map(({ message }) => message), [
      "a command asked to unpin stack shop: done",
      "a command asked to unpin stack shop: done",
      "a command asked to unpin stack shop: done",
      "a command asked to adopt stack shop: done",
      "a command asked to adopt stack shop: failed",
      ...[1, 2, 3, 4].map(() => "a command asked to adopt stack shop: done"),
    ]);
  });
});
