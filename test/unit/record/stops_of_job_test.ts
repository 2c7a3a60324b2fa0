import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { whoseStop } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const JOB = stackKey("", "job");
const MAIN = { source: "host/a/shop", reference: "refs/heads/main" };
const DEV = { ...MAIN, reference: "refs/heads/dev" };
const OTHERS = { source: "host/b/shop", reference: "refs/heads/main" };

describe("whoseStop()", () => {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.owners.settle(JOB, MAIN);
  ledger.owners.settle(stackKey("", "dev"), DEV);
  const whose = (project: string, more = {}) =>
    whoseStop(ledger, JOB, project, { labelled: [], ...more });

  it("lets a job stop its own stack, and what its branch deployed or nobody did", () => {
    assert.equal(whose("job"), undefined);
    assert.equal(whose("nobody"), undefined);
    assert.equal(whose("nobody", { labelled: [MAIN.source] }), undefined);
    assert.equal(whose("there", { elsewhere: MAIN, labelled: [OTHERS.source] }), undefined);
  });

  it("names who owns another, in this context, by another one, or by its labels", () => {
    assert.match(whose("dev") ?? "", /heads\/dev/);
    assert.match(whose("there", { elsewhere: DEV, labelled: [MAIN.source] }) ?? "", /heads\/dev/);
    assert.equal(whose("labelled", { labelled: [OTHERS.source] }), OTHERS.source);
  });
});
