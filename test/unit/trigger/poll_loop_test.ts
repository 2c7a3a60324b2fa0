import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PollEntry } from "../../../src/config/mod.ts";
import { StackwrightError, type Sync } from "../../../src/model/mod.ts";
import { runPolls } from "../../../src/trigger/poll_loop.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const START = "2026-03-10T11:07:30Z";

function entry(rest: Partial<PollEntry> = {}): PollEntry {
  const request = {
    kind: "git",
    url: "https://example.org/acme/shop",
    reference: "main",
    target: "",
    deployments: [],
  } as const;
  return { request, intervalSeconds: 0, runOnce: false, watch: true, ...rest };
}

/** An intake that notes when work came, as seconds from the start; each run takes `seconds`. */
function createWorld({ seconds = 0, random = (): number => 0.5 } = {}) {
  const clock = createFakeClock(START);
  const log = createRecordingLog();
  const stop = new AbortController();
  const began: number[] = [];
  const works: Sync[] = [];
  const submit = (work: Sync) => {
    works.push(work);
    began.push((clock.now().getTime() - Date.parse(START)) / 1000);
    const finished = clock.sleep(seconds * 1000, new AbortController().signal);
    return { finished, gaveWay: finished };
  };
  const parts = { submit, clock, log, timeZone: "UTC", random };
  const start = (each: PollEntry) => runPolls([each], parts, stop.signal);
  return { clock, log, stop, began, works, parts, start };
}

describe("runPolls() of one entry", () => {
  it("polls at once, then the interval after the end of each run, failed or not", async () => {
    const { clock, began, works, start, stop } = createWorld({ seconds: 7 });
    const loop = start(entry({ intervalSeconds: 60 }));
    await clock.advance(200_000);
    assert.deepEqual(began, [0, 67, 134]);
    const { trigger, origin, sources } = works[0] ?? {};
    assert.deepEqual([trigger, origin, sources], ["poll", "automatic", [entry().request]]);
    stop.abort();
    await loop;
  });

  it("tells when an interval ends as soon as it begins", async () => {
    for (const look of [undefined, () => () => Promise.resolve("1")]) {
      const { clock, parts, stop } = createWorld({ seconds: 7 });
      const told: number[] = [];
      const planned = (each: PollEntry, at: Date) => {
        assert.equal(each.intervalSeconds, 60);
        told.push((at.getTime() - Date.parse(START)) / 1000);
      };
      const more = { planned, ...(look && { look }) };
      const loop = runPolls([entry({ intervalSeconds: 60 })], { ...parts, ...more }, stop.signal);
      await clock.advance(5_000);
      assert.deepEqual(told, []);
      await clock.advance(65_000);
      assert.deepEqual(told, [67]);
      await clock.advance(10_000);
      assert.deepEqual(told, [67, 134]);
      stop.abort();
      await loop;
    }
  });

  describe("of a repository that is watched", () => {
    /** What a look finds, and how often somebody looked. */
    function createRepository() {
      const repository = { state: "1", looks: 0 };
      const look = () => () => {
        repository.looks++;
        return Promise.resolve(repository.state);
      };
      return { repository, look };
    }

    it("polls at once when it changed, and at the interval else", async () => {
      const { clock, began, parts, stop } = createWorld({ seconds: 7 });
      const { repository, look } = createRepository();
      const loop = runPolls([entry({ intervalSeconds: 60 })], { ...parts, look }, stop.signal);
      await clock.advance(20_000);
      repository.state = "2";
      await clock.advance(2_000);
      assert.deepEqual(began, [0, 21]);
      await clock.advance(67_000);
      assert.deepEqual(began, [0, 21, 88]);
      stop.abort();
      await loop;
    });

    it("with interval 0 polls at the start, and then when it changed", async () => {
      const { clock, began, parts, stop, log } = createWorld({ seconds: 7 });
      const { repository, look } = createRepository();
      const loop = runPolls([entry()], { ...parts, look }, stop.signal);
      await clock.advance(100_000);
      assert.deepEqual(began, [0]);
      repository.state = "2";
      await clock.advance(2_000);
      repository.state = "3";
      await clock.advance(100_000);
      assert.equal(began.length, 3, "a change during a run is one for the next");
      assert.deepEqual(log.lines.filter(({ level }) => level === "info"), []);
      stop.abort();
      await loop;
    });

    for (
      const [what, changed] of [
        ["watch: false", { watch: false, intervalSeconds: 60 }],
        ["a schedule", { schedule: "0 0 1 1 *" }],
        ["run_once", { runOnce: true }],
      ] as const
    ) {
      it(`is not looked at with ${what}`, async () => {
        const { clock, parts, stop } = createWorld();
        const { repository, look } = createRepository();
        const loop = runPolls([entry(changed)], { ...parts, look }, stop.signal);
        await clock.advance(100_000);
        assert.equal(repository.looks, 0);
        stop.abort();
        await loop;
      });
    }
  });

  it("with run_once polls once and ends", async () => {
    const { clock, began, start } = createWorld();
    const loop = start(entry({ intervalSeconds: 60, runOnce: true }));
    await clock.advance(0);
    await loop;
    assert.deepEqual([began, clock.sleepers], [[0], 0]);
  });

  it("with run_once and interval 0 polls once", async () => {
    const { clock, began, start } = createWorld();
    const loop = start(entry({ runOnce: true }));
    await clock.advance(0);
    await loop;
    assert.deepEqual(began, [0]);
  });

  it("with interval 0 alone polls nothing and says so", async () => {
    const { began, log, start } = createWorld();
    await start(entry());
    assert.deepEqual([began, log.lines.map(({ level }) => level)], [[], ["info"]]);
  });

  it("with a schedule polls at its firings, not at the start", async () => {
    const { clock, began, start, stop } = createWorld({ seconds: 10 });
    const loop = start(entry({ schedule: "*/10 * * * *" }));
    await clock.advance(25 * 60_000);
    assert.deepEqual(began, [150, 750, 1350]);
    stop.abort();
    await loop;
  });

  it("drops firings that pass while a run is active", async () => {
    const { clock, began, start, stop } = createWorld({ seconds: 25 * 60 });
    const loop = start(entry({ schedule: "*/10 * * * *" }));
    await clock.advance(40 * 60_000);
    assert.deepEqual(began, [150, 150 + 30 * 60]);
    stop.abort();
    await loop;
  });

  it("with a schedule follows a clock that is set back", async () => {
    const { clock, works, start, stop } = createWorld();
    const loop = start(entry({ schedule: "0 0 * * *" }));
    await clock.advance(0);
    clock.set(-4 * 365 * 24 * 60 * 60 * 1000);
    await clock.advance(24 * 60 * 60 * 1000);
    assert.equal(works.length, 1);
    stop.abort();
    await loop;
  });

  it("with run_once polls at once and ends, whatever the schedule says", async () => {
    const { clock, began, start } = createWorld();
    const loop = start(entry({ schedule: "*/10 * * * *", runOnce: true }));
    await clock.advance(60 * 60_000);
    await loop;
    assert.deepEqual(began, [0]);
  });

  it("waits for a firing that is further away than a timer reaches", async () => {
    const { clock, began, start, stop } = createWorld();
    const loop = start(entry({ schedule: "0 0 9 4 *" }));
    await clock.advance(Date.parse("2026-04-09T00:00:01Z") - Date.parse(START));
    assert.deepEqual(began, [(Date.parse("2026-04-09T00:00:00Z") - Date.parse(START)) / 1000]);
    stop.abort();
    await loop;
  });

  it("ends with a warning when its schedule never fires", async () => {
    const { log, start } = createWorld();
    await start(entry({ schedule: "0 0 30 2 *" }));
    assert.deepEqual(log.lines.map(({ level }) => level), ["warning"]);
  });

  it("ends when aborted while it sleeps", async () => {
    const { clock, start, stop, log } = createWorld();
    const loop = start(entry({ intervalSeconds: 60 }));
    await clock.advance(1_000);
    stop.abort();
    await loop;
    assert.deepEqual([clock.sleepers, log.lines], [0, []]);
  });

  it("ends when aborted while a run is active, without waiting for it", async () => {
    const { began, start, stop, clock } = createWorld({ seconds: 3600 });
    const loop = start(entry({ intervalSeconds: 60 }));
    await settle();
    stop.abort();
    await loop;
    assert.deepEqual([began, clock.sleepers], [[0], 1]);
  });

  it("polls again after a run that gave way, but not what it polls once", async () => {
    const { clock, parts, began, stop } = createWorld({ seconds: 300 });
    const submit = (work: Sync) => {
      const { finished } = parts.submit(work);
      return { finished, gaveWay: clock.sleep(60_000, new AbortController().signal) };
    };
    const loop = runPolls([entry({ intervalSeconds: 10 })], { ...parts, submit }, stop.signal);
    await clock.advance(150_000);
    assert.deepEqual(began, [0, 70, 140]);
    let isOver = false;
    const once = runPolls([entry({ runOnce: true })], { ...parts, submit }, stop.signal)
      .then(() => isOver = true);
    await clock.advance(70_000);
    assert.equal(isOver, false);
    await clock.advance(230_000);
    assert.equal(isOver, true);
    stop.abort();
    await Promise.all([loop, once]);
  });

  it("polls nothing when it was aborted before", async () => {
    const { began, start, stop } = createWorld();
    stop.abort();
    await start(entry({ intervalSeconds: 60 }));
    assert.deepEqual(began, []);
  });

  it("ends quietly when nothing is let in any more", async () => {
    const { parts, stop, log } = createWorld();
    const submit = () => {
      throw new StackwrightError("shutting_down", "application is shutting down");
    };
    await runPolls([entry({ intervalSeconds: 60 })], { ...parts, submit }, stop.signal);
    assert.deepEqual(log.lines, []);
  });
});

/** An entry of another repository than those with other names. */
function of(name: string, rest: Partial<PollEntry> = {}, reference = "main"): PollEntry {
  const { request } = entry();
  return entry({ ...rest, request: { ...request, url: `https://example.org/${name}`, reference } });
}

describe("runPolls() of many entries", () => {
  const entries = (count: number, interval: number) =>
    Array.from(
      { length: count },
      (_, index) => of(`${index}`, { intervalSeconds: interval, runOnce: true }),
    );

  it("starts up to eight repositories at once", async () => {
    const { clock, parts, began, stop } = createWorld();
    const polls = runPolls(entries(8, 60), parts, stop.signal);
    await clock.advance(0);
    await polls;
    assert.deepEqual(began, Array(8).fill(0));
  });

  it("spreads more over the interval, 30 seconds at most", async () => {
    const values = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9];
    for (const [interval, span] of [[20, 20], [3600, 30]] as const) {
      const rest = [...values];
      const { clock, parts, began, stop } = createWorld({ random: () => rest.shift() ?? 0 });
      const polls = runPolls(entries(9, interval), parts, stop.signal);
      await clock.advance(span * 1000);
      await polls;
      assert.deepEqual(
        began.map((each) => each.toFixed(3)),
        values.map((v) => (v * span).toFixed(3)),
      );
    }
  });

  for (
    const [what, rhythm, times] of [
      ["interval", { intervalSeconds: 60 }, [0, 60, 120]],
      ["schedule", { schedule: "*/10 * * * *" }, [150, 750, 1350]],
    ] as const
  ) {
    it(`polls entries of one repository and ${what} in one round, each in a run of its own`, async () => {
      const { clock, parts, began, works, stop } = createWorld();
      const references = Array.from({ length: 20 }, (_, index) => `branch-${index % 2}`);
      const all = references.map((each) => of("shop", rhythm, each));
      const polls = runPolls(all, parts, stop.signal);
      await clock.advance((times[2] + 1) * 1000);
      assert.deepEqual(began, times.flatMap((each) => Array<number>(20).fill(each)));
      assert.deepEqual(
        works.map(({ sources }) => sources[0]),
        [1, 2, 3].flatMap(() => all.map(({ request }) => request)),
      );
      const rounds = works.map(({ round }) => round);
      assert.equal(new Set(rounds).size, 3, "one object for each of the times");
      assert.deepEqual(rounds[0]?.references, ["branch-0", "branch-1"]);
      stop.abort();
      await polls;
    });
  }

  it("shares no rounds between repositories, with watched ones and with other times", async () => {
    const { clock, parts, works, stop } = createWorld();
    const look = ({ url }: { readonly url: string }) =>
      url.endsWith("local") ? () => Promise.resolve("same") : undefined;
    const polls = runPolls(
      [
        of("shop", { intervalSeconds: 60 }),
        of("shop", { schedule: "* * * * *" }),
        of("bank", { intervalSeconds: 60 }),
        of("local", { intervalSeconds: 60 }),
        of("local", { intervalSeconds: 60 }),
      ],
      { ...parts, look },
      stop.signal,
    );
    await clock.advance(50_000);
    assert.equal(works.length, 5);
    assert.equal(new Set(works.map(({ round }) => round)).size, 5);
    stop.abort();
    await polls;
  });

  /** When each of these was polled within ten minutes, and in how many rounds. */
  async function roundsOf(entries: readonly PollEntry[], seconds = 0) {
    const { clock, parts, began, works, stop } = createWorld({ seconds });
    const polls = runPolls(entries, parts, stop.signal);
    await clock.advance(600_000);
    stop.abort();
    await polls;
    const times: Record<string, number[]> = {};
    for (const [index, { sources: [request] }] of works.entries()) {
      (times[request?.reference ?? ""] ??= []).push(began[index] ?? 0);
    }
    return { times, rounds: new Set(works.map(({ round }) => round)).size };
  }

  it("begins what has a longer interval with what has a shorter one, and once with all", async () => {
    const { times, rounds } = await roundsOf([
      of("shop", { intervalSeconds: 60 }, "fine"),
      of("shop", { intervalSeconds: 150 }, "coarse"),
      of("shop", { intervalSeconds: 400 }, "coarser"),
      of("shop", { intervalSeconds: 60, runOnce: true }, "once"),
    ]);
    assert.deepEqual(times, {
      fine: [0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600],
      // 30 seconds early at most, else with the next one.
      coarse: [0, 120, 240, 360, 480, 600],
      coarser: [0, 420],
      once: [0],
    });
    assert.equal(rounds, 11);
  });

  it("waits with what has a longer interval for no run of what has a shorter one", async () => {
    const { times } = await roundsOf([
      of("shop", { intervalSeconds: 100 }, "fine"),
      of("shop", { intervalSeconds: 110 }, "coarse"),
    ], 300);
    assert.deepEqual(times, { fine: [0, 400], coarse: [0, 400] });
    const world = createWorld();
    const submit = (work: Sync) => {
      const { finished } = world.parts.submit(work);
      const hangs = work.sources[0]?.reference === "fine";
      const end = hangs ? new Promise<void>(() => {}) : finished;
      return { finished: end, gaveWay: end };
    };
    const entries = [
      of("shop", { intervalSeconds: 100 }, "fine"),
      of("shop", { intervalSeconds: 110 }, "coarse"),
    ];
    const polls = runPolls(entries, { ...world.parts, submit }, world.stop.signal);
    await world.clock.advance(250_000);
    assert.deepEqual(world.began, [0, 0, 110, 220]);
    world.stop.abort();
    await polls;
  });

  it("begins schedules that fire at the same moment together", async () => {
    const { times, rounds } = await roundsOf([
      of("shop", { schedule: "*/2 * * * *" }, "even"),
      of("shop", { schedule: "*/4 * * * *" }, "four"),
      of("shop", { schedule: "0 0 30 2 *" }, "never"),
    ]);
    assert.deepEqual(times, { even: [30, 150, 270, 390, 510], four: [30, 270, 510] });
    assert.equal(rounds, 5);
  });

  it("asks in the next rounds for what deployments named as well, the last fifty of it", async () => {
    const { clock, parts, works, stop } = createWorld();
    const polls = runPolls([of("shop", { intervalSeconds: 60 })], parts, stop.signal);
    await clock.advance(1000);
    for (let index = 0; index < 60; index++) works[0]?.round?.note(`release-${index}`);
    works[0]?.round?.note("release-10");
    await clock.advance(60_000);
    const references = works[1]?.round?.references ?? [];
    assert.equal(references.length, 51);
    assert.deepEqual([references[0], references[1], references.at(-1)], [
      "main",
      "release-11",
      "release-10",
    ]);
    stop.abort();
    await polls;
  });

  it("leaves an entry out whose run goes on when the others are polled again", async () => {
    const { clock, parts, began, works, stop } = createWorld();
    const submit = (work: Sync) => {
      const isSlow = work.sources[0]?.reference === "slow";
      const { finished } = parts.submit(work);
      const end = isSlow ? clock.sleep(100_000, new AbortController().signal) : finished;
      return { finished: end, gaveWay: end };
    };
    const all = [of("shop", { intervalSeconds: 60 }, "slow"), of("shop", { intervalSeconds: 60 })];
    const polls = runPolls(all, { ...parts, submit }, stop.signal);
    await clock.advance(125_000);
    assert.deepEqual(
      works.map(({ sources }, index) => `${began[index]} ${sources[0]?.reference}`),
      ["0 slow", "0 main", "60 main", "120 slow", "120 main"],
    );
    assert.deepEqual(works[2]?.round?.references, ["main"]);
    stop.abort();
    await polls;
  });

  for (
    const [what, rhythm, times] of [
      ["an interval", { intervalSeconds: 60 }, [0, 315, 375]],
      ["a schedule", { schedule: "* * * * *" }, [30, 315, 330]],
    ] as const
  ) {
    it(`waits for a host that wants to be left alone, and then some, with ${what}`, async () => {
      const { clock, parts, began, stop, log } = createWorld();
      const held = new Date(Date.parse(START) + 300_000);
      const heldUntil = ({ url }: { readonly url: string }) =>
        url.endsWith("shop") && began.length > 0 && clock.now() < held ? held : undefined;
      const polls = runPolls([of("shop", rhythm)], { ...parts, heldUntil }, stop.signal);
      await clock.advance(376_000);
      assert.deepEqual(began.slice(0, 3), times);
      assert.equal(log.lines.filter(({ level }) => level === "info").length, 1);
      stop.abort();
      await polls;
    });
  }
});
