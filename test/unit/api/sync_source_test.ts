import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  agreedPlans,
  applySourceOperation,
  planSourceOperation,
} from "../../../src/api/sync_source.ts";
import type { Intake } from "../../../src/intake.ts";
import {
  isStackwrightError,
  type SourceRequest,
  StackwrightError,
} from "../../../src/model/mod.ts";
import type { PlannedStacks } from "../../../src/pipeline/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const SHOP = { context: "default", name: "shop" };
const WEB = { name: "web", action: "create", because: ["it does not run"] } as const;
const PLANS: PlannedStacks = {
  stacks: [{
    ...SHOP,
    id: "one",
    plan: { kind: "deploy", message: "create web", services: [WEB] },
    before: "",
    after: "services: {}",
  }],
  failures: [{
    context: "default",
    name: "bad",
    error: new StackwrightError("config_invalid", "no such file", {
      problems: [{ file: "a.yaml", line: 3, message: "no such file" }],
    }),
  }],
};
const INPUT = { url: "/srv/shop", reference: "HEAD", identity: "h.example/o/shop" };

/** Parts that plan {@link PLANS}, and an intake that must not be asked for anything. */
function createWorld() {
  const asked: SourceRequest[] = [];
  const plan = (request: SourceRequest) => {
    asked.push(request);
    return Promise.resolve(PLANS);
  };
  const intake = {
    submit: () => assert.fail("nothing may be deployed"),
  } as unknown as Intake;
  const call = { signal: new AbortController().signal, log: createRecordingLog() };
  return { asked, call, parts: { plan, intake, timeZone: "UTC" } };
}

describe("the operations on a source", () => {
  it("planSource answers what its schema says, of the source that was named", async () => {
    const { asked, call, parts } = createWorld();
    const operation = planSourceOperation(parts);
    const view = await operation.call(INPUT, call);
    assert.deepEqual(operation.output.parse(JSON.parse(JSON.stringify(view))), view);
    assert.deepEqual(view.stacks.map(({ id, plan }) => [id, plan.kind]), [["one", "deploy"]]);
    assert.deepEqual(view.failures.map(({ name, code }) => [name, code]), [
      ["bad", "config_invalid"],
    ]);
    assert.deepEqual(asked, [{ kind: "git", ...INPUT, target: "", deployments: [] }]);
    const isBad = (error: unknown) => isStackwrightError(error, "bad_request");
    await assert.rejects(operation.call({ ...INPUT, url: "" }, call), isBad);
  });

  it("applySource refuses plans that are out of date, also by what cannot be planned", async () => {
    const { call, parts } = createWorld();
    const operation = applySourceOperation(parts);
    const now = await planSourceOperation(parts).call(INPUT, call);
    const stale = [
      { ...now, failures: [] },
      { ...now, stacks: [] },
      { stacks: [{ id: "two" }], failures: now.failures },
    ];
    for (const plan of stale) {
      await assert.rejects(
        operation.call({ ...INPUT, plan }, call),
        (error) => isStackwrightError(error, "conflict") && /out of date/.test(error.message),
      );
    }
    await assert.rejects(
      operation.call({ ...INPUT, plan: agreedPlans.parse(now) }, call),
      /nothing may be deployed/,
    );
  });
});
