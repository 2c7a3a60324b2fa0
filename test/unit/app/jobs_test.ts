import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { JobBoards } from "../../../src/app/jobs.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createRedactor, stackAsOwner } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { longestStretch } from "../processor_time.ts";

const never = new AbortController().signal;

describe("JobBoards", () => {
  it("masks the words of a stack in what is wrong with its job", async () => {
    const labels = {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "hunterwolf * * * *",
    };
    const redactor = createRedactor();
    redactor.add("hunterwolf", stackAsOwner(stackKey("", "shop")));
    const client = createMemoryEngine(
      ["shop", "wiki"].map((stack) => runningContainer(stack, `${stack}-job`, { labels })),
    );
    const parts = {
      engines: { of: () => Promise.resolve({ client }) },
      ledger: { current: () => undefined, history: () => [], owners: { get: () => undefined } },
      clock: createFakeClock(),
      log: createRecordingLog(),
      events: () => ({}),
      hasSwarmFeatures: false,
      redactor,
    };
    const boards = new JobBoards(
      parts as unknown as ConstructorParameters<typeof JobBoards>[0],
      never,
    );
    const [shop, wiki] = await boards.of("default").list(never);
    assert.match(shop?.problem ?? "", /\*\*\*/);
    assert.doesNotMatch(shop?.problem ?? "", /hunterwolf/);
    assert.match(wiki?.problem ?? "", /hunterwolf/);
  });

  it("lets others work while it looks at hundreds of jobs that never run", async () => {
    const labels = {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "0 0 30 2 *",
    };
    const client = createMemoryEngine(
      Array.from({ length: 600 }, (_, at) => runningContainer("shop", `job${at}`, { labels })),
    );
    const parts = {
      engines: { of: () => Promise.resolve({ client }) },
      ledger: { current: () => undefined, history: () => [], owners: { get: () => undefined } },
      clock: createFakeClock(),
      log: createRecordingLog(),
      events: () => ({}),
      hasSwarmFeatures: false,
      redactor: createRedactor(),
    };
    const board = new JobBoards(
      parts as unknown as ConstructorParameters<typeof JobBoards>[0],
      never,
    )
      .of("default");
    let problems: (string | undefined)[] = [];
    const longest = await longestStretch(async () => {
      problems = (await board.list(never)).map(({ problem }) => problem);
    });
    assert.deepEqual(problems, Array(600).fill("schedule: it never fires"));
    assert.ok(longest < 400, `${longest} ms`);
  });
});
