/**
 * What a thousand scheduled jobs cost: the processor time of a simulated day in which each is due once,
 * and of ten simulated minutes in which each is due every minute, as shares of one core. One timer
 * waits for the next of all. Fails when not all of them ran. Run it as `deno task bench`.
 */
import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { readJobLabels } from "../../src/config/mod.ts";
import { stackKey } from "../../src/model/mod.ts";
import { noMeter } from "../../src/system/mod.ts";
import { JobScheduler, type ScheduledJob } from "../../src/trigger/mod.ts";
import { createFakeClock } from "../fakes/fake_clock.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";

const JOBS = 1000;

function job(index: number, schedule: string): ScheduledJob {
  const service = `job${index}`;
  const labels = { "stackwright.job.enabled": "true", "stackwright.job.schedule": schedule };
  const spec = readJobLabels(labels, { project: "shop", service });
  if (spec === undefined) throw new Error("no job");
  const key = stackKey("", "shop");
  const what = { service, name: service, mode: "container", source: "" } as const;
  return {
    key,
    ...what,
    id: service,
    isRunning: false,
    spec,
    executions: [],
  };
}

/** Simulates minutes in which each job is due `times` times. */
async function simulate(
  schedule: (index: number) => string,
  { minutes, times }: { readonly minutes: number; readonly times: number },
): Promise<void> {
  const jobs = Array.from({ length: JOBS }, (_, index) => job(index, schedule(index)));
  const clock = createFakeClock("2026-01-01T00:00:00Z");
  const stop = new AbortController();
  let firings = 0;
  const scheduler = new JobScheduler({
    left: () => undefined,
    find: () => Promise.resolve(jobs),
    events: { follow: () => Promise.resolve() },
    whyLeft: () => undefined,
    submit: () => void firings++,
    clock,
    log: createRecordingLog(),
    meter: noMeter,
    intervals: () => () => ({}),
    timeZone: "Europe/Berlin",
  }, stop.signal);
  await scheduler.refresh();
  const before = process.cpuUsage();
  for (let minute = 0; minute < minutes; minute++) {
    await clock.advance(60_000);
    // Runs start with pauses of the machine's own clock, after which the next timer is set.
    while (clock.sleepers === 0) await pause(0);
  }
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1e6 / (minutes * 60) * 100;
  const timers = clock.sleepers;
  stop.abort();
  assert.equal(firings, JOBS * times, "not each job ran as often as it was due");
  assert.equal(timers, 1, "more than one timer waits");
  const what = `${JOBS} jobs, ${firings} firings in ${minutes} minutes, ${timers} timer`;
  process.stdout.write(`${what}: ${share.toFixed(4)} % of a core\n`);
}

await simulate((index) => `${index % 60} ${index % 24} * * *`, { minutes: 24 * 60, times: 1 });
await simulate(() => "* * * * *", { minutes: 10, times: 10 });
