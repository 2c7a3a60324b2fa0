import assert from "node:assert/strict";
import { describe, it } from "node:test";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Execute } from "../../src/intake.ts";
import type { Run } from "../../src/model/mod.ts";
import { sendOnce } from "../fakes/send_once.ts";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import { itAtLength } from "../fakes/sample.ts";
import { type HttpService, startHttpService, WEBHOOK_SECRET } from "./http_service.ts";

const WEBHOOKS = 500;
const REPOSITORIES = 50;
/** Longer than a burst may be. */
const A_WHILE_MS = 1000;

/** What is pushed and what is deployed, by repository, and the most runs that were open at once. */
interface Site {
  readonly pushed: Map<string, number>;
  readonly deployed: Map<string, number>;
  readonly most: { running: number; open: number; early: number };
  /** What is done for a run: look what is pushed, and have that deployed in the end. */
  readonly execute: Execute;
  /** Lets no run end until the function that it returns is called. */
  hold(): () => void;
  watch(service: HttpService): void;
}

function createSite(): Site {
  const pushed = new Map<string, number>();
  const deployed = new Map<string, number>();
  const states = new Map<string, Map<string, Run["status"]>>();
  const most = { running: 0, open: 0, early: 0 };
  let held = Promise.resolve();
  const note = (run: Run) => {
    const runs = states.get(run.repository) ?? new Map<string, Run["status"]>();
    states.set(run.repository, runs.set(run.id, run.status));
    const count = (...wanted: Run["status"][]) =>
      [...runs.values()].filter((status) => wanted.includes(status)).length;
    most.running = Math.max(most.running, count("running"));
    most.open = Math.max(most.open, count("running", "accepted"));
    if (count("running", "accepted") === 0) states.delete(run.repository);
  };
  return {
    pushed,
    deployed,
    most,
    async execute({ sources }, reporter) {
      const name = sources[0]?.identity ?? "";
      const commit = pushed.get(name) ?? 0;
      await held;
      deployed.set(name, commit);
      reporter.target({ context: "default", stack: name, status: "succeeded" });
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    watch: ({ runs }) => void runs.subscribe(note),
  };
}

interface Answer {
  readonly status: number;
  readonly id: unknown;
}

/** Pushes once more to a repository, and announces it. */
async function push(number: number, url: string, { pushed }: Site): Promise<Answer> {
  const name = `acme/shop${number}`;
  const identity = `git.example.org/${name}`;
  pushed.set(identity, (pushed.get(identity) ?? 0) + 1);
  const webhook = signed("github", {
    event: "push",
    payload: githubPush({ name }),
    secret: WEBHOOK_SECRET,
  });
  const { status, body } = await sendOnce(`${url}/v1/webhook`, webhook);
  return { status, id: body["job_id"] };
}

/**
 * All webhooks at once; when they are answered and the runs have looked at their repositories, pushes
 * that these cannot have seen; then every run ends.
 */
async function storm(service: HttpService, site: Site): Promise<readonly Answer[]> {
  const pushes = (count: number) =>
    Array.from({ length: count }, (_, index) => push(index % REPOSITORIES, service.url, site));
  const finish = site.hold();
  const answers = await Promise.all(pushes(WEBHOOKS));
  site.most.early = service.runs.list({ limit: WEBHOOKS, status: "running" }).length;
  await service.clock.advance(A_WHILE_MS);
  answers.push(...await Promise.all(pushes(REPOSITORIES)));
  finish();
  await allOver(service);
  return answers;
}

/** Lets the clock run until no run is open. */
async function allOver({ runs, clock }: HttpService): Promise<void> {
  const isOpen = (status: "accepted" | "running") => runs.list({ limit: 1, status }).length > 0;
  for (let turns = 0; isOpen("accepted") || isOpen("running"); turns++) {
    assert.ok(turns < 1000, "a run does not end");
    await clock.advance(A_WHILE_MS);
    await setTimeout(1);
  }
}

/** A collection, which each runtime lets one ask for in its own way. */
function garbageCollection(): () => void {
  const { Bun: bun } = globalThis as { readonly Bun?: { gc(now: boolean): void } };
  if (bun !== undefined) return () => bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

/** Bytes that are still held after a storm. */
async function heldAfter(service: HttpService, site: Site, collect: () => void): Promise<number> {
  await storm(service, site);
  service.log.clear();
  await setTimeout(20);
  collect();
  return process.memoryUsage().heapUsed;
}

describe("a storm of webhooks", () => {
  it("begins when it is answered, and becomes one and one more of each target", async () => {
    const site = createSite();
    const service = await startHttpService({ execute: site.execute, bursts: true });
    site.watch(service);
    try {
      const answers = await storm(service, site);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
      assert.ok(answers.every(({ id }) => typeof id === "string" && id.length === 36));
      const runs = new Set(answers.map(({ id }) => id)).size;
      // One for each repository, then one that has seen the last push.
      assert.ok(runs >= REPOSITORIES && runs <= 2 * REPOSITORIES + 1, `${runs} runs`);
      assert.equal(site.most.running, 1, "running for one target");
      assert.equal(site.most.early, 0, "running before the storm was answered");
      assert.ok(site.most.open <= 2, `${site.most.open} running or waiting for one target`);
      assert.equal(site.pushed.size, REPOSITORIES);
      assert.deepEqual(site.deployed, site.pushed, "what was pushed last is deployed");
    } finally {
      await service.stop();
    }
  });

  itAtLength("leaves no memory behind", async () => {
    const collect = garbageCollection();
    const site = createSite();
    const service = await startHttpService({ execute: site.execute, bursts: true });
    try {
      // Code is compiled and the limits of what is kept are reached before anything is compared.
      for (let round = 0; round < 2; round++) await heldAfter(service, site, collect);
      const before = await heldAfter(service, site, collect);
      const after = await heldAfter(service, site, collect);
      assert.ok(after < before * 1.05, `${before} bytes became ${after} with one more storm`);
    } finally {
      await service.stop();
    }
  });
});
