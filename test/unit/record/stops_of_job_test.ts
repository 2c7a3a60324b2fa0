import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { locksOfJob, otherOwner, whoseStop } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "./releases.ts";

const JOB = stackKey("", "job");
const MAIN = { source: "host/a/shop", reference: "refs/heads/main" };
const DEV = { ...MAIN, reference: "refs/heads/dev" };
const OTHERS = { source: "host/b/shop", reference: "refs/heads/main" };

/** What containers say that are labelled with these sources. */
const labels = (...all: string[]) => ({
  anothers: (owner: { readonly source: string } | undefined) =>
    all.find((each) => each !== owner?.source),
});

describe("whoseStop()", () => {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.owners.settle(JOB, MAIN);
  ledger.owners.settle(stackKey("", "dev"), DEV);
  const whose = (project: string, more = {}) => whoseStop(ledger, JOB, project, more);

  it("lets a job stop its own stack, and what its branch deployed or nobody did", () => {
    assert.equal(whose("job"), undefined);
    assert.equal(whose("nobody"), undefined);
    assert.equal(whose("nobody", labels(MAIN.source)), undefined);
    assert.equal(whose("there", { elsewhere: [MAIN], ...labels(MAIN.source) }), undefined);
  });

  it("names who owns another, in this context, by another one, or by its labels", () => {
    assert.match(whose("dev") ?? "", /heads\/dev/);
    const two = { elsewhere: [MAIN, DEV], ...labels(MAIN.source) };
    assert.match(whose("there", two) ?? "", /heads\/dev/);
    assert.match(whose("there", { ...two, ...labels(OTHERS.source) }) ?? "", /heads\/dev/);
    assert.equal(whose("labelled", labels(OTHERS.source)), OTHERS.source);
  });

  it("names who owns another by its labels, also where another context calls it the job's own", () => {
    const told = { elsewhere: [MAIN], ...labels(MAIN.source, OTHERS.source) };
    assert.equal(whose("there", told), OTHERS.source);
  });
});

describe("whoseStop() where another manager's containers came under a name", () => {
  it("names that one, also of a stack that was handed over", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const [job, shop] = [JOB, stackKey("", "shop")];
    for (const key of [job, shop]) ledger.owners.settle(key, MAIN);
    const whose = (...labelled: string[]) => whoseStop(ledger, job, "shop", labels(...labelled));
    assert.equal(whose(MAIN.source), undefined);
    assert.equal(whose(MAIN.source, OTHERS.source), OTHERS.source);
    ledger.owners.adopt(shop, MAIN);
    assert.equal(whose(MAIN.source), undefined);
    assert.equal(whose(OTHERS.source), OTHERS.source);
    ledger.owners.adopt(stackKey("alias", "shop"), OTHERS);
    for (const context of ["default", "alias"]) {
      ledger.owners.noteEngine(context, { id: "a", cluster: "" });
    }
    assert.match(whose() ?? "", /^host\/b\/shop/);
  });
});

describe("whoseStop() where contexts lead to one engine", () => {
  it("names the other context that deploys a stack, whose locks a job does not hold", () => {
    const ledger = createMemoryLedger(createFakeClock());
    for (const key of [JOB, stackKey("same", "shop"), stackKey("nas", "blog")]) {
      ledger.owners.settle(key, MAIN);
      const base = releaseOf(key, key.name);
      const source = { ...base.revision.source, name: MAIN.source };
      ledger.succeed(
        ledger.beginDeploy({ ...base, revision: { ...base.revision, source } }),
        {},
        "",
      );
    }
    for (const [context, id] of [["default", "a"], ["same", "a"], ["nas", "b"]] as const) {
      ledger.owners.noteEngine(context, { id, cluster: "" });
    }
    assert.match(whoseStop(ledger, JOB, "shop") ?? "", /^the same source by context same/);
    assert.equal(whoseStop(ledger, JOB, "blog"), undefined);
    assert.deepEqual(locksOfJob(ledger, JOB, [{ project: "shop" }]), [JOB]);
  });
});

describe("otherOwner()", () => {
  it("tells who refuses a stack: its owner, and who contests it, also where no branch is asked for", () => {
    const contested = { ...MAIN, reference: "refs/heads/dev", context: "alias" };
    const source = { ...MAIN, reference: "" };
    assert.equal(otherOwner(undefined, MAIN), undefined);
    assert.equal(otherOwner(MAIN, source), undefined);
    assert.deepEqual(otherOwner({ ...MAIN, contested }, source), contested);
    assert.equal(otherOwner(MAIN, OTHERS)?.source, MAIN.source);
    assert.equal(otherOwner(MAIN, undefined)?.source, MAIN.source);
  });
});

describe("whoseStop() of a configuration that deploys other repositories", () => {
  const ledger = createMemoryLedger(createFakeClock());
  const deploy = (name: string, repository: string, works = true) => {
    const key = stackKey("", name);
    const base = releaseOf(key, "a".repeat(40));
    const source = (of: string) => ({ ...base.revision.source, name: of });
    const revision = { ...base.revision, source: source(repository) };
    const configuration = { ...base.revision, source: source(MAIN.source) };
    ledger.owners.settle(key, MAIN);
    const intent = ledger.beginDeploy({ ...base, revision, configuration });
    if (works) ledger.succeed(intent, {}, "done");
    else ledger.fail(intent, "failed", "it is unhealthy");
  };
  deploy("own", MAIN.source);
  deploy("app", OTHERS.source);
  deploy("app-too", OTHERS.source);
  deploy("third", "host/c/third");
  deploy("failed", OTHERS.source, false);
  const whose = (job: string, project: string, more = {}) =>
    whoseStop(ledger, stackKey("", job), project, more);

  it("lets a job of another repository stop that repository's stacks alone", () => {
    assert.equal(whose("app", "app-too"), undefined);
    assert.equal(whose("failed", "app"), undefined);
    assert.equal(whose("app", "third"), "host/c/third");
    assert.equal(whose("app", "own"), MAIN.source);
    assert.equal(whose("failed", "own"), MAIN.source);
    assert.equal(whose("app", "lost", labels(MAIN.source)), MAIN.source);
    assert.equal(whose("app", "there", { elsewhere: [MAIN] }), MAIN.source);
    assert.equal(whose("app", "nobody"), undefined);
  });

  it("lets a job of the configuration's repository stop all of them", () => {
    for (const project of ["app", "third", "failed"]) {
      assert.equal(whose("own", project), undefined);
    }
  });

  it("locks no more than that", () => {
    const stops = ["app-too", "third", "own", "nobody"].map((project) => ({ project }));
    const locked = (job: string) =>
      locksOfJob(ledger, stackKey("", job), stops).map(({ name }) => name);
    assert.deepEqual(locked("app"), ["app", "app-too"]);
    assert.deepEqual(locked("own"), ["app-too", "own", "third"]);
  });
});
