import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDeployments } from "../../../src/config/mod.ts";
import type { Engine } from "../../../src/docker/engine.ts";
import type { ContainerDetails } from "../../../src/docker/mod.ts";
import {
  isStackwrightError,
  type NotedRun,
  type ObservedContainer,
  stackKey,
} from "../../../src/model/mod.ts";
import { waitForJobs } from "../../../src/pipeline/mod.ts";
import type { Ledger } from "../../../src/record/mod.ts";
import { releaseOf } from "../record/releases.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const KEY = stackKey("", "shop");
const ONE_OFF = { "com.docker.compose.project": "shop", "com.docker.compose.oneoff": "True" };

function container(more: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: "1",
    name: "shop-stackwright-job-backup-1",
    service: "backup",
    state: "running",
    health: "none",
    exitCode: undefined,
    imageId: "i",
    labels: ONE_OFF,
    ...more,
  };
}

/** Waits with an engine that lists each of `looks` once, then its last for ever. */
async function wait(
  looks: readonly (readonly ObservedContainer[])[],
  lines = "",
  prepare: (ledger: Ledger) => void = () => {},
): Promise<number> {
  const [declared] = parseDeployments(`name: shop\n${lines}`, { file: "f", trusted: true });
  assert.ok(declared);
  let look = 0;
  let slept = 0;
  let runs = 0;
  const engine: Pick<Engine, "listContainers" | "inspectContainer"> = {
    // A run of another stack's job has ended at the third look.
    inspectContainer: (id) =>
      Promise.resolve({
        container: container({ id, state: runs++ < 2 ? "running" : "exited" }),
      } as ContainerDetails),
    listContainers: (labels) => {
      assert.deepEqual(labels, { "com.docker.compose.project": "shop" });
      return Promise.resolve([...looks[Math.min(look++, looks.length - 1)] ?? []]);
    },
  };
  const clock = {
    now: () => new Date(0),
    uptime: () => 0,
    sleep: (milliseconds: number) => {
      slept += milliseconds;
      return Promise.resolve();
    },
  };
  const ledger = createMemoryLedger(clock);
  prepare(ledger);
  const log = createRecordingLog();
  const parts = { host: { engine: engine as Engine }, clock, ledger, log };
  await waitForJobs(parts, {
    key: KEY,
    deployment: declared.deployment,
    progress: () => {},
  }, new AbortController().signal);
  return slept;
}

describe("waitForJobs()", () => {
  const never: readonly (readonly [what: string, more: Partial<ObservedContainer>])[] = [
    ["a job that ended", { state: "exited" }],
    ["a one-off container that is no job", { name: "shop-backup-run-1" }],
    ["a service whose name looks like one", { labels: { "com.docker.compose.oneoff": "False" } }],
    ["a job that need not be waited for", {
      labels: { ...ONE_OFF, "stackwright.job.wait_running_jobs": "false" },
    }],
  ];
  for (const [what, more] of never) {
    it(`does not wait for ${what}`, async () => assert.equal(await wait([[container(more)]]), 0));
  }

  const always:
    readonly (readonly [what: string, more: Partial<ObservedContainer>, lines?: string])[] = [
      ["a one-off job", {}],
      ["a job service that runs", {
        name: "shop-b-1",
        labels: { "stackwright.job.enabled": "true" },
      }],
      ["one of the migration", { name: "shop-b-1", labels: { "cd.doco.job.enabled": "1" } }],
      [
        "a job that says so, whatever the deployment says",
        { labels: { ...ONE_OFF, "stackwright.job.wait_running_jobs": "true" } },
        "wait_running_jobs: false",
      ],
    ];
  for (const [what, more, lines] of always) {
    it(`waits until ${what} has ended`, async () => {
      const job = container(more);
      assert.equal(await wait([[job], [job], []], lines), 2000);
    });
  }

  it("waits for a run of another stack's job that has stopped something of it, which nobody looks after", async () => {
    const notedFor = (project: string, more: Partial<NotedRun> = {}) => (ledger: Ledger) => {
      const stopServices = [{ project, service: "web" }];
      ledger.stoppedByJobs.of(stackKey("", "backup"), "job")
        .set({ id: "2", stops: ["3"], mayRun: true, stopServices, ...more });
    };
    assert.equal(await wait([[]], "", notedFor("shop")), 2000);
    assert.equal(await wait([[]], "", notedFor("other")), 0);
    assert.equal(await wait([[]], "", notedFor("shop", { isOver: true })), 0);
    assert.equal(await wait([[]], "", notedFor("shop", { mayRun: false })), 0);
    assert.equal(await wait([[]], "wait_running_jobs: false", notedFor("shop")), 0);
    // A stack that was handed over waits for nothing that its former owner runs.
    const handedOver = (ledger: Ledger) => {
      ledger.owners.settle(KEY, { source: "host/b/shop", reference: "refs/heads/main" });
      ledger.owners.settle(stackKey("", "backup"), {
        source: "host/a",
        reference: "refs/heads/main",
      });
      notedFor("shop")(ledger);
    };
    assert.equal(await wait([[]], "", handedOver), 0);
  });

  it("wait_running_jobs: false waits for none that does not say so", async () => {
    assert.equal(await wait([[container()]], "wait_running_jobs: false"), 0);
  });

  it("waits for none of a former owner's release, before and after that was ever healthy", async () => {
    const heir = { source: "host/b/shop", reference: "refs/heads/main" };
    for (const isHealthy of [true, false]) {
      const prepare = (ledger: Ledger) => {
        const intent = ledger.beginDeploy(releaseOf(KEY, "a1"));
        if (isHealthy) ledger.succeed(intent, {}, "done");
        ledger.handOver(KEY, heir);
      };
      assert.equal(await wait([[container()], []], "", prepare), 0);
    }
    const deployed = (ledger: Ledger) =>
      ledger.succeed(ledger.beginDeploy(releaseOf(KEY, "a1")), {}, "");
    assert.equal(await wait([[container()], []], "", deployed), 1000);
  });

  it("waits for a run that doco-cd left, also of a stack that was here before", async () => {
    const labels = { ...ONE_OFF, "cd.doco.job.enabled": "true", "cd.doco.job.ephemeral": "true" };
    const run = container({ name: "shop-once-run-cf6dd74bbbd3", labels });
    const before = (ledger: Ledger) =>
      ledger.succeed(ledger.beginDeploy(releaseOf(KEY, "a1")), {}, "");
    assert.equal(await wait([[run], []]), 1000);
    assert.equal(await wait([[run], [run], []], "", before), 2000);
    assert.equal(await wait([[run], []], "wait_running_jobs: false", before), 0);
    const built = container({ name: "keen_wozniak", labels });
    assert.equal(await wait([[built], []], "", before), 0);
  });

  it("gives up at the deployment's timeout and names the container", async () => {
    await assert.rejects(wait([[container()]], "timeout: 7s"), (error) => {
      assert.ok(isStackwrightError(error, "timeout"));
      assert.match(
        error.message,
        /timed out waiting 7 seconds .*\(shop-stackwright-job-backup-1\)/,
      );
      return true;
    });
  });
});
