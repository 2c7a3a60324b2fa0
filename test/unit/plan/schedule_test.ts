import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkSchedule, nextFiring, readSchedule } from "../../../src/plan/schedule.ts";
import { processorMs, takesAtMost } from "../processor_time.ts";

const NOW = "2026-03-10T11:07:30.500Z"; // a Tuesday

describe("nextFiring()", () => {
  const rows: [schedule: string, zone: string, expected: string | undefined, after?: string][] = [
    ["30 4 * * 1-5", "UTC", "2026-03-11T04:30:00Z"],
    ["30 4 * * 1-5", "Europe/Berlin", "2026-03-11T03:30:00Z"],
    ["*/15 * * * *", "UTC", "2026-03-10T11:15:00Z"],
    ["0 0 1 * 1", "UTC", "2026-03-16T00:00:00Z"], // the 1st, or a Monday
    ["0 0 * * 7", "UTC", "2026-03-15T00:00:00Z"], // 7 is Sunday
    ["0 0 * jan MON", "UTC", "2027-01-04T00:00:00Z"],
    ["0 0 30 2 *", "UTC", undefined],
    ["@yearly", "UTC", "2027-01-01T00:00:00Z"],
    ["@annually", "UTC", "2027-01-01T00:00:00Z"],
    ["@monthly", "UTC", "2026-04-01T00:00:00Z"],
    ["@weekly", "UTC", "2026-03-15T00:00:00Z"],
    ["@daily", "Europe/Berlin", "2026-03-10T23:00:00Z"],
    ["@midnight", "UTC", "2026-03-11T00:00:00Z"],
    ["@hourly", "UTC", "2026-03-10T12:00:00Z"],
    ["@every 90s", "UTC", "2026-03-10T11:09:00.500Z"],
    ["@every 1h30m", "UTC", "2026-03-10T12:37:30.500Z"],
    ["TZ=America/New_York 0 8 * * *", "Europe/Berlin", "2026-03-10T12:00:00Z"],
    ["CRON_TZ=Asia/Tokyo @daily", "UTC", "2026-03-10T15:00:00Z"],
    // The clocks of Berlin skip 02:00-03:00 on 29 March and repeat 02:00-03:00 on 25 October.
    ["30 2 * * *", "Europe/Berlin", "2026-03-30T00:30:00Z", "2026-03-28T12:00:00Z"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-24T12:00:00Z"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-26T01:30:00Z", "2026-10-25T01:30:00Z"],
    ["0 3 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T00:59:59Z"],
    ["0 0 29 2 *", "Europe/Berlin", "2028-02-28T23:00:00Z"],
    // Leap days that are a Sunday come every 28 years, and after 40 across 2100.
    ["0 0 * 2 0#5", "UTC", "2032-02-29T00:00:00Z"],
    ["0 0 * 2 0#5", "Europe/Berlin", "2128-02-28T23:00:00Z", "2088-03-01T00:00:00Z"],
    // Only on the days on which clocks skip that time.
    ["30 1 * 3 0L", "Europe/Dublin", undefined],
    ["*/7 2 * 3 0#2,0#2", "America/New_York", undefined],
    ["30 2 * 10 0#1", "Australia/Melbourne", undefined],
    ["30 1,4 * 3 0L", "Europe/Dublin", "2026-03-29T03:30:00Z"],
    // The day that Samoa skipped, and an hour of Morocco's that moves with Ramadan.
    ["0 12 30 12 *", "Pacific/Apia", "2012-12-29T22:00:00Z", "2010-12-31T00:00:00Z"],
    ["30 2 * 3 0#3", "Africa/Casablanca", "2027-03-21T01:30:00Z", "2026-03-16T00:00:00Z"],
    // A firing is after the time asked about, never at it.
    ["0 12 * * *", "UTC", "2026-03-11T12:00:00Z", "2026-03-10T12:00:00Z"],
  ];
  for (const [schedule, zone, expected, after = NOW] of rows) {
    it(`${schedule} in ${zone} after ${after} is ${expected ?? "never"}`, () => {
      const next = nextFiring(schedule, new Date(after), zone);
      assert.equal(next?.getTime(), expected === undefined ? undefined : Date.parse(expected));
    });
  }

  for (const schedule of ["99 * * * *", "* * * * * *", "* * * *", "soon"]) {
    it(`throws for ${schedule}`, () => {
      assert.throws(() => nextFiring(schedule, new Date(NOW), "UTC"), { code: "bad_request" });
    });
  }
});

/** Milliseconds of the processor that the slowest of these schedules may take. */
const MOST_MS = 40;

describe("schedules that fire rarely or never", () => {
  // Only at hours that clocks skip; on a leap day that is a Sunday; never.
  const days = ["3 0L", "3 0#2", "3 0#5", "4 5L", "9 0L", "10 0#1", "2 0#5"];
  const patterns = [...days.map((day) => `30 0,1,2,3 * ${day}`), "0 0 31W,31 2,4,6,9,11 *"];
  for (const hour of [0, 1, 2, 3]) patterns.push(...days.map((day) => `*/7 ${hour} * ${day}`));
  it("are looked at in milliseconds in every zone", async () => {
    let never = 0;
    for (const [index, zone] of Intl.supportedValuesOf("timeZone").entries()) {
      // Each zone has every fourth of them.
      for (const pattern of patterns.filter((_, at) => at % 4 === index % 4)) {
        const look = () => {
          if (nextFiring(pattern, new Date(NOW), zone) === undefined) never++;
        };
        assert.ok(await takesAtMost(MOST_MS, look), `${pattern} in ${zone}`);
      }
    }
    assert.ok(never > 100, `${never}`);
  });

  it("are checked in milliseconds", async () => {
    for (const pattern of patterns) {
      const check = () => {
        for (let count = 0; count < 10; count++) checkSchedule(pattern, { now: new Date(NOW) });
      };
      assert.ok(await takesAtMost(2 * MOST_MS, check), pattern);
    }
  });

  it("are searched for the last start of the longest window in milliseconds", async () => {
    const since = new Date(Date.parse(NOW) - 366 * 24 * 3_600_000);
    // The last start is many months back, after thousands of others.
    const schedule = readSchedule("* * * 4 *", "Europe/Berlin");
    const look = () => {
      const last = schedule.last(new Date(NOW), since)?.toISOString();
      assert.equal(last, "2025-04-30T21:59:00.000Z");
    };
    assert.ok(await takesAtMost(MOST_MS, look));
  });
});

describe("checkSchedule()", () => {
  const options = { now: new Date(NOW) };
  it("ends with the last instant there is", () => {
    const late = new Date(8.64e15 - 1000);
    assert.equal(nextFiring("@every 1m", late, "UTC"), undefined);
  });

  for (const schedule of ["0 4 * * *", "@every 10s", "TZ=Asia/Tokyo @daily", "0 0 L * ?"]) {
    it(`finds nothing wrong with ${schedule}`, () => {
      assert.equal(checkSchedule(schedule, options), undefined);
    });
  }
  const wrong: [string, RegExp][] = [
    ["61 * * * *", /61/],
    ["0 0 30 2 *", /never/],
    ["@every 9s", /10s/],
    ["@sometimes", /@every/],
    ["TZ=Mars/Base @daily", /Mars/],
    [`${"0-59,".repeat(100)}0 * * * *`, /at most 500 characters/],
  ];
  for (const [schedule, pattern] of wrong) {
    it(`says what is wrong with ${schedule}`, () => {
      assert.match(checkSchedule(schedule, options) ?? "", pattern);
    });
  }

  it("looks at those of all jobs of several large stacks in a moment", () => {
    const before = processorMs();
    for (let count = 0; count < 2000; count++) {
      checkSchedule("CRON_TZ=Africa/Casablanca 0 0 29 2 *", options);
    }
    const took = processorMs() - before;
    assert.ok(took < 2000, `${took} ms`);
  });
});
