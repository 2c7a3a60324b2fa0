import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJobLabels } from "../../../src/config/mod.ts";

const OWN = { project: "shop", service: "backup" };

function read(labels: Record<string, string>, prefix = "stackwright.job.") {
  const all = Object.entries(labels).map(([name, value]) => [`${prefix}${name}`, value]);
  return readJobLabels(Object.fromEntries(all), OWN);
}

const GOOD = { enabled: "true", schedule: "0 2 * * *" };

describe("readJobLabels()", () => {
  it("reads what a service says, and the defaults", () => {
    assert.equal(read({ schedule: "x" }), undefined);
    assert.equal(read({ enabled: "false" })?.enabled, false);
    assert.deepEqual(read(GOOD), {
      enabled: true,
      schedule: "0 2 * * *",
      mode: "restart",
      skipRunning: false,
      notifyOn: "all",
      stopServices: [],
    });
    const all = {
      enabled: "1",
      schedule: "CRON_TZ=Europe/Berlin @every 5s",
      execution_mode: "one_shot",
      skip_running: "T",
      notify_on: "failure",
      stop_services: "web, ,blog/db",
      "stop_services.timeout": "90",
      max_duration: "1h30m",
    };
    const spec = read(all);
    assert.deepEqual(spec?.stopServices, [
      { project: "shop", service: "web" },
      { project: "blog", service: "db" },
    ]);
    assert.deepEqual(
      [spec?.mode, spec?.skipRunning, spec?.notifyOn, spec?.stopTimeoutSeconds, spec?.maxSeconds],
      ["one_off", true, "failure", 90, 5400],
    );
    assert.deepEqual(read(all, "cd.doco.job."), spec);
  });

  it("leaves a job to the instance that its labels name", () => {
    for (const prefix of ["stackwright.job.", "cd.doco.job."]) {
      assert.equal(read({ ...GOOD, owner: "host-b" }, prefix)?.enabled, false);
      assert.equal(read({ ...GOOD, owner: " " }, prefix)?.enabled, true);
    }
  });

  const wrong: [labels: Record<string, string>, problem: RegExp][] = [
    [{ enabled: "maybe" }, /enabled: expected true or false, found "maybe"/],
    [{ enabled: "true" }, /schedule: a job that is enabled needs a schedule/],
    [{ ...GOOD, schedule: "* * * *" }, /schedule: .*five fields/],
    [{ ...GOOD, schedule: "@every 0s" }, /schedule: .*1s/],
    [{ ...GOOD, execution_mode: "always" }, /execution_mode: expected one of restart, one_off/],
    [{ ...GOOD, wait_running_jobs: "x" }, /wait_running_jobs: expected true or false/],
    [{ ...GOOD, max_duration: "0" }, /max_duration: expected more than 0/],
    [{ ...GOOD, "stop_services.timeout": "2h" }, /stop_services.timeout: expected at most 3600 s/],
    [{ ...GOOD, "stop_services.timeout": "soon" }, /stop_services.timeout: .*no duration/],
    [{ ...GOOD, stop_services: "a/b/c" }, /stop_services: expected service or project\/service/],
    [{ ...GOOD, stop_services: "/db" }, /stop_services: expected/],
    [{ ...GOOD, stop_services: "shop/backup" }, /stop_services: a job cannot stop itself/],
    [
      { ...GOOD, stop_services: "a,".repeat(100) + "a" },
      /stop_services: it names more services than 100, which is the most$/,
    ],
    [{ ...GOOD, max_duration: "0s".repeat(50) + "1s" }, /a duration has at most 100 characters/],
    [{ ...GOOD, "swarm.replicas": "0" }, /swarm\.replicas: expected a whole number from 1 to 1000/],
    [{ ...GOOD, "swarm.replicas": "999999" }, /expected a whole number from 1 to 1000, found/],
  ];
  for (const [labels, problem] of wrong) {
    it(`says what is wrong with ${JSON.stringify(labels).slice(0, 150)}`, () => {
      assert.throws(() => read(labels), (error: Error) => problem.test(error.message));
    });
  }
});
