import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitHealthy } from "../../../src/deploy/mod.ts";
import {
  isStackwrightError,
  type ObservedContainer,
  type ReleaseService,
  stackKey,
} from "../../../src/model/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import {
  createMemoryEngine,
  type MemoryEngine,
  runningContainer,
} from "../../fakes/memory_engine.ts";
import { ALWAYS, serviceOf } from "./releases.ts";

type Sample = readonly ObservedContainer[];

const WEB = serviceOf("web");
const good: Sample = [runningContainer("shop", "web")];
const starting: Sample = [runningContainer("shop", "web", { health: "starting" })];

/** Waits on an engine that shows one sample after the other, the last one for ever. */
function waitOn(
  samples: readonly Sample[],
  services: readonly ReleaseService[] = [WEB],
  happens: readonly ((engine: MemoryEngine) => void)[] = [],
  known?: ReadonlySet<string>,
  limitMs = 10_000,
) {
  const clock = createFakeClock();
  const engine = createMemoryEngine();
  engine.logs = { "web-id": ["one", "two"] };
  const stop = new AbortController();
  let taken = 0;
  engine.onList = () => {
    engine.containers = [...samples[Math.min(taken, samples.length - 1)] ?? []];
    happens[Math.min(taken, happens.length - 1)]?.(engine);
    taken++;
  };
  const steps: string[] = [];
  const progress = (step: string) => void steps.push(step);
  const before = known === undefined ? {} : { known };
  const watching: number[] = [];
  const onWatching = () => void watching.push(clock.now().getTime());
  const watchMs = (service: string) => service === "slow" ? 5000 : 2000;
  const key = stackKey("", "shop");
  const wait = { engine, clock, key, services, progress, watchMs, onWatching, ...before };
  const began = clock.now().getTime();
  const deadline = clock.uptime() + limitMs;
  let ended: "healthy" | Error | undefined;
  const done = waitHealthy({ ...wait, deadline }, stop.signal).then(
    () => void (ended = "healthy"),
    (error) => void (ended = error),
  );
  return {
    clock,
    engine,
    stop,
    done,
    steps,
    taken: () => taken,
    ended: () => ended,
    /** Milliseconds from the beginning until all worked and were only watched. */
    watchedFrom: () => watching[0] === undefined ? undefined : watching[0] - began,
  };
}

describe("waitHealthy()", () => {
  it("watches a container without a health check for its time, and says so first", async () => {
    const wait = waitOn([good]);
    await wait.clock.advance(1999);
    assert.deepEqual([wait.taken(), wait.ended()], [2, undefined]);
    await wait.clock.advance(1);
    assert.deepEqual([wait.taken(), wait.ended()], [3, "healthy"]);
    assert.equal(wait.watchedFrom(), 0);
    assert.equal(wait.clock.sleepers, 0);
  });

  it("watches each container for the time of its service", async () => {
    const both: Sample = [...good, runningContainer("shop", "slow")];
    const wait = waitOn([both], [WEB, serviceOf("slow")]);
    await wait.clock.advance(4999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("counts the time of each from its own start, whatever the others do", async () => {
    const db = (health: "starting" | "healthy") => runningContainer("shop", "db", { health });
    const wait = waitOn(
      [...Array<Sample>(5).fill([...good, db("starting")]), [...good, db("healthy")]],
      [WEB, serviceOf("db")],
      [],
      new Set(),
    );
    await wait.clock.advance(3500);
    assert.deepEqual([wait.ended(), wait.watchedFrom()], [undefined, undefined]);
    wait.engine.happen();
    await wait.clock.advance(0);
    assert.equal(wait.ended(), "healthy");
  });

  it("is done at once when health checks, and work that is done, speak for all", async () => {
    const healthy = runningContainer("shop", "web", { health: "healthy" });
    const ended = runningContainer("shop", "job", { state: "exited", exitCode: 0 });
    const job = serviceOf("job", { expectation: { ...ALWAYS, restarts: false, mayFinish: true } });
    const wait = waitOn([[healthy, ended]], [WEB, job], [], new Set());
    await wait.clock.advance(0);
    assert.deepEqual([wait.taken(), wait.ended()], [1, "healthy"]);
  });

  it("does not believe the check of a container that ran before", async () => {
    const healthy: Sample = [runningContainer("shop", "web", { health: "healthy" })];
    const wait = waitOn([healthy], [WEB], [], new Set(["web-id"]));
    await wait.clock.advance(1999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("watches all when one has nothing that speaks for it", async () => {
    const healthy = runningContainer("shop", "web", { health: "healthy" });
    const wait = waitOn(
      [[healthy, runningContainer("shop", "db")]],
      [WEB, serviceOf("db")],
      [],
      new Set(),
    );
    await wait.clock.advance(1999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("looks as soon as something happens", async () => {
    const healthy: Sample = [runningContainer("shop", "web", { health: "healthy" })];
    const wait = waitOn([starting, starting, healthy], [WEB], [], new Set());
    await wait.clock.advance(10);
    assert.equal(wait.taken(), 1);
    wait.engine.happen();
    await wait.clock.advance(0);
    assert.deepEqual([wait.taken(), wait.ended()], [2, undefined]);
    wait.engine.happen();
    await wait.clock.advance(0);
    assert.deepEqual([wait.taken(), wait.ended()], [3, "healthy"]);
    assert.equal(wait.clock.sleepers, 0);
  });

  it("takes looks in between for no samples, and begins to watch with the first good one", async () => {
    const wait = waitOn([starting, good]);
    await wait.clock.advance(600);
    wait.engine.happen();
    await wait.clock.advance(0);
    for (let count = 0; count < 5; count++) {
      wait.engine.happen();
      await wait.clock.advance(10);
    }
    await wait.clock.advance(1949);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("looks every second where the engine tells nothing", async () => {
    const wait = waitOn([starting, good]);
    wait.engine.containerEvents = () => {
      throw new Error("no events here");
    };
    await wait.clock.advance(3000);
    assert.equal(wait.ended(), "healthy");
  });

  it("counts again from the start when a container does not work for a moment", async () => {
    const wait = waitOn([good, starting, good]);
    await wait.clock.advance(3999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("tells at every sample what is missing", async () => {
    const wait = waitOn([[], starting, good]);
    await wait.clock.advance(5000);
    assert.deepEqual(wait.steps, [
      "waiting for web: 0 of 1 containers exist",
      "waiting for web: health check is starting",
      ...Array(2).fill("making sure that it stays healthy"),
    ]);
  });

  it("tells from time to time how long it waits, and until when", async () => {
    const wait = waitOn([starting], [WEB], [], undefined, 40_000);
    await wait.clock.advance(25_000);
    assert.deepEqual([...new Set(wait.steps)], [
      "waiting for web: health check is starting",
      "waiting for web: health check is starting (10 s of at most 40 s)",
      "waiting for web: health check is starting (20 s of at most 40 s)",
    ]);
  });

  it("gives up on a container that somebody removed, long before the deadline", async () => {
    const wait = waitOn([good, []]);
    await wait.clock.advance(2500);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(500);
    const error = wait.ended();
    assert.ok(isStackwrightError(error, "unhealthy"), String(error));
    assert.match(error.message, /^web: 0 of 1 containers exist; somebody removed/);
  });

  it("asks nothing when there is nothing to wait for", async () => {
    const wait = waitOn([good], []);
    await wait.done;
    assert.deepEqual([wait.taken(), wait.ended()], [0, "healthy"]);
  });

  const hopeless: readonly (readonly [
    why: RegExp,
    container: Partial<ObservedContainer>,
    service?: ReleaseService,
  ])[] = [
    [/web: container shop-web-1 is unhealthy; health check: probe says no/, {
      health: "unhealthy",
    }],
    [/stopped with exit code 3/, { state: "exited", exitCode: 3 }],
    [/stopped with exit code 0/, { state: "exited", exitCode: 0 }],
    [/is dead/, { state: "dead" }],
    [
      /stopped with exit code 1/,
      { state: "exited", exitCode: 1 },
      serviceOf("web", { expectation: { ...ALWAYS, restarts: false, mayFinish: true } }),
    ],
  ];
  for (const [why, container, service = WEB] of hopeless) {
    it(`fails at once, with the last output, when it is ${JSON.stringify(container)}`, async () => {
      const wait = waitOn([good, [runningContainer("shop", "web", container)]], [service]);
      await wait.clock.advance(1000);
      const error = wait.ended();
      assert.ok(isStackwrightError(error, "unhealthy"), String(error));
      assert.match(error.message, why);
      assert.match(error.message, /; last output:\none\ntwo$/);
      assert.equal(wait.clock.sleepers, 0);
    });
  }

  /** Waits while something happens to the only container before each sample. */
  const waitWhile = (happens: readonly ((engine: MemoryEngine) => void)[]) =>
    waitOn([good], [WEB], happens);
  const restarted = (count: number) => (engine: MemoryEngine) => {
    engine.restarts = { "web-id": count };
    engine.starts = { "web-id": new Date(count * 1800) };
  };
  const restarting = (count: number) => (engine: MemoryEngine) => {
    restarted(count)(engine);
    engine.containers = [
      runningContainer("shop", "web", { state: "restarting", exitCode: 1 }),
    ];
  };

  it("watches one longer that the engine had to restart, also with a health check", async () => {
    const again: Sample = [runningContainer("shop", "web", { health: "healthy" })];
    const wait = waitOn([starting, again], [WEB], [restarted(0), restarted(1)], new Set());
    await wait.clock.advance(10_999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("does not count what ran before a restart", async () => {
    const wait = waitWhile([restarted(0), restarted(0), restarted(1)]);
    await wait.clock.advance(11_999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("waits for one that needs a second start", async () => {
    const wait = waitWhile([restarting(0), restarting(1), restarted(1)]);
    await wait.clock.advance(12_000);
    assert.equal(wait.ended(), "healthy");
  });

  it("fails one that is restarted again and again, though it runs at every look", async () => {
    const wait = waitWhile([0, 0, 1, 1, 2, 2, 3].map(restarted));
    await wait.clock.advance(6000);
    const error = wait.ended();
    assert.ok(isStackwrightError(error, "unhealthy"), String(error));
    assert.match(
      error.message,
      /keeps restarting: it ended, 3 times by now; last output:\none\ntwo$/,
    );
  });

  /** Tells of a start, and of an end 0.4 s later. */
  const tellEnd = async ({ engine }: ReturnType<typeof waitOn>, exitCode: string, time: bigint) => {
    const events = [
      { action: "start", containerId: "web-id", time },
      { action: "die", containerId: "web-id", attributes: { exitCode }, time: time + 400_000_000n },
    ];
    for (const event of events) {
      engine.happen(event);
      await settle();
    }
  };

  it("says how one ended that is restarted again and again, by the engine's events", async () => {
    for (const [code, said] of [["3", "exited with 3 after 0.4 s"], ["\n3", "ended"]] as const) {
      const wait = waitWhile([0, 0, 1, 1, 2, 2, 3].map(restarted));
      await settle();
      await tellEnd(wait, code, 5n);
      await wait.clock.advance(6000);
      const error = wait.ended();
      assert.ok(isStackwrightError(error, "unhealthy"), String(error));
      assert.ok(
        error.message.endsWith(
          `container shop-web-1 keeps restarting: it ${said}, 3 times by now; last output:\none\ntwo`,
        ),
        error.message,
      );
    }
  });

  it("says so at the deadline, too, of one that was restarted and does not work", async () => {
    const wait = waitWhile([restarting(0), restarting(0), restarting(1)]);
    await settle();
    await tellEnd(wait, "3", 5n);
    await wait.clock.advance(10_000);
    const error = wait.ended();
    assert.ok(isStackwrightError(error, "timeout"), String(error));
    assert.match(
      error.message,
      /; container shop-web-1 exited with 3 after 0.4 s; last output:\none\ntwo$/,
    );
  });

  it("does not count restarts from before", async () => {
    const wait = waitWhile([restarted(7)]);
    await wait.clock.advance(2000);
    assert.equal(wait.ended(), "healthy");
  });

  it("says so when a failed container wrote nothing", async () => {
    const wait = waitOn([[runningContainer("shop", "web", { state: "dead" })]]);
    wait.engine.logs = {};
    await wait.done;
    assert.match(String(wait.ended()), /is dead; it wrote no output$/);
  });

  it("fails for the container's reason also when its output cannot be read", async () => {
    const wait = waitOn([[runningContainer("shop", "web", { state: "dead" })]]);
    wait.engine.containerLogs = () => Promise.reject(new Error("no log driver"));
    await wait.done;
    assert.match(String(wait.ended()), /is dead; its output could not be read: no log driver$/);
  });

  it("fails also when its output does not come in time", async () => {
    const wait = waitOn([[runningContainer("shop", "web", { state: "dead" })]]);
    wait.engine.containerLogs = (_id, _lines, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    await settle();
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(20_000);
    await wait.done;
    assert.match(String(wait.ended()), /is dead; its output could not be read: not in time$/);
  });

  it("shows the last twenty lines only", async () => {
    const wait = waitOn([[runningContainer("shop", "web", { state: "dead" })]]);
    wait.engine.logs = { "web-id": Array.from({ length: 50 }, (_, line) => `line ${line}`) };
    await wait.done;
    const error = wait.ended();
    assert.ok(error instanceof Error);
    const lines = error.message.split("\n").slice(1);
    assert.deepEqual([lines.length, lines[0], lines.at(-1)], [20, "line 30", "line 49"]);
  });

  it("gives up at the deadline and names every service that is missing, with the reason", async () => {
    const created = runningContainer("shop", "db", { state: "created" });
    const wait = waitOn([[...starting, created]], [
      WEB,
      serviceOf("db"),
      serviceOf("ok", {
        expectation: { ...ALWAYS, replicas: 0 },
      }),
    ]);
    await wait.clock.advance(9_999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    const error = wait.ended();
    assert.ok(isStackwrightError(error, "timeout"), String(error));
    assert.equal(
      error.message,
      "not healthy within the deployment's timeout: " +
        "web: health check is starting, db: created but not started",
    );
  });

  it("gives a container its time, whatever the clock is set to meanwhile", async () => {
    for (const byMs of [3_600_000, -3_600_000]) {
      const wait = waitOn(Array<Sample>(99).fill(starting));
      await wait.clock.advance(2000);
      wait.clock.set(byMs);
      await wait.clock.advance(7999);
      assert.equal(wait.ended(), undefined);
      await wait.clock.advance(1);
      assert.match(String(wait.ended()), /not healthy within the deployment's timeout/);
    }
  });

  it("finishes its watch even past the deadline", async () => {
    const wait = waitOn([...Array<Sample>(10).fill(starting), good]);
    await wait.clock.advance(12_000);
    assert.equal(wait.ended(), "healthy");
  });

  it("waits for the end of a one-shot, which has to be a good one", async () => {
    const job = serviceOf("web", { expectation: { ...ALWAYS, oneShot: true } });
    const ended = [runningContainer("shop", "web", { state: "exited", exitCode: 0 })];
    const wait = waitOn([good, good, good, good, good, ended], [job]);
    await wait.clock.advance(3999);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1);
    assert.equal(wait.ended(), "healthy");
  });

  it("does not count one-off containers of a service", async () => {
    const oneOff = runningContainer("shop", "web", {
      id: "run",
      state: "exited",
      exitCode: 1,
      labels: { "com.docker.compose.oneoff": "True" },
    });
    const wait = waitOn([[...good, oneOff]]);
    await wait.clock.advance(2000);
    assert.equal(wait.ended(), "healthy");
  });

  it("ends with the signal's reason while it sleeps", async () => {
    const wait = waitOn([starting]);
    await wait.clock.advance(1500);
    const reason = new Error("stopped by the test");
    wait.stop.abort(reason);
    await wait.done;
    assert.equal(wait.ended(), reason);
  });

  it("ends on an engine that tells of a new start at each look", async () => {
    const wait = waitOn([good]);
    const list = wait.engine.onList;
    wait.engine.onList = () => {
      list?.();
      wait.engine.starts["web-id"] = new Date(wait.clock.now());
    };
    await wait.clock.advance(49_000);
    assert.equal(wait.ended(), undefined);
    await wait.clock.advance(1_000);
    assert.match(String(wait.ended()), /within the deployment's timeout: .*anew again and again/);
    assert.equal(wait.clock.sleepers, 0);
  });
});
