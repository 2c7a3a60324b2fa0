import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonLines, parseEvent } from "../../../src/docker/events.ts";
import type { ContainerEvent } from "../../../src/docker/mod.ts";
import {
  type DriftPolicy,
  type Heard,
  LABELS,
  MANAGER,
  type ReconciliationEvent,
  type StackKey,
  stackKey,
  StackwrightError,
} from "../../../src/model/mod.ts";
import { newsOf, Reconciler, SharedEvents } from "../../../src/trigger/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const EVENTS = ["die", "destroy", "unhealthy"] as const;

interface Told {
  readonly stack?: string;
  readonly id?: string;
  readonly action?: string;
  readonly detail?: string;
  readonly time?: bigint;
  readonly attributes?: Readonly<Record<string, string>>;
}

function told(
  { stack = "shop", id = "c1", action = "die", detail = "", ...more }: Told = {},
): ContainerEvent {
  const { time = 1n, attributes = {} } = more;
  return {
    action,
    detail,
    containerId: id,
    time,
    attributes: { [LABELS.manager]: MANAGER, [LABELS.deployment]: stack, ...attributes },
  };
}

/** A reconciler on a clock that stands still, and an engine that says what a test says. */
function setUp(
  {
    events = EVENTS as readonly ReconciliationEvent[],
    strayed = [] as StackKey[],
    drift = "ignore" as DriftPolicy,
  } = {},
) {
  const clock = createFakeClock();
  const log = createRecordingLog();
  const stop = new AbortController();
  const looks: string[] = [];
  const streams: bigint[] = [];
  const state = {
    strayed,
    end: "settled" as "settled" | "failed",
    hangs: false,
    /** What a look at one stack waits for. */
    inOtherHands: Promise.resolve(),
    /** What a look at everything waits for. */
    looking: Promise.resolve(),
  };
  let push: (next: ContainerEvent | undefined) => void = () => {};
  let queue: ContainerEvent[] = [];
  const reconciler = new Reconciler({
    context: "default",
    events: new SharedEvents({
      async *events(since, signal) {
        streams.push(since);
        for (;;) {
          for (const event of queue.splice(0)) yield event;
          const next = await new Promise<ContainerEvent | undefined>((resolve) => {
            push = resolve;
            signal.addEventListener("abort", () => resolve(undefined), { once: true });
          });
          signal.throwIfAborted();
          if (next === undefined) throw new StackwrightError("engine_unreachable", "gone");
          yield next;
        }
      },
      clock,
      log,
      random: () => 1,
    }, stop.signal),
    stackOf: () => undefined,
    optionsOf: ({ name }) =>
      name === "quiet" ? undefined : {
        enabled: true,
        events,
        drift,
        restartTimeoutSeconds: 10,
        restartSignal: "",
        restartLimit: 5,
        restartWindowSeconds: 300,
      },
    async strayed() {
      const { strayed, looking } = state;
      await looking;
      return strayed;
    },
    async reconcile(key, why) {
      await state.inOtherHands;
      looks.push(`${key.name} ${textOf(why().heard)}`);
      return state.end;
    },
    clock,
    log,
  });
  const running = reconciler.run(stop.signal);
  return {
    clock,
    looks,
    streams,
    state,
    /** Lets the engine say things, one after the other. */
    async say(...all: readonly ContainerEvent[]) {
      queue = all.slice(1);
      push(all[0]);
      await settle();
    },
    async cut() {
      push(undefined);
      await settle();
    },
    async close() {
      stop.abort(new DOMException("over", "AbortError"));
      await running;
    },
  };
}

function textOf(heard: Heard | undefined): string {
  if (heard === undefined) return "all";
  return [...heard].map(([id, events]) => `${id}:${[...events].sort().join("+")}`).sort().join(" ");
}

describe("newsOf()", () => {
  const cases: readonly (readonly [string, Told, readonly ReconciliationEvent[] | undefined])[] = [
    ["the end of a process", {}, ["die"]],
    ["a check that fails", { action: "health_status", detail: "unhealthy" }, ["unhealthy"]],
    ["a check that is good", { action: "health_status", detail: "healthy" }, undefined],
    ["SIGKILL", { action: "kill", attributes: { signal: "9" } }, ["kill"]],
    ["SIGTERM, which asks", { action: "kill", attributes: { signal: "15" } }, ["kill", "stop"]],
    ["SIGHUP, which only tells", { action: "kill", attributes: { signal: "1" } }, undefined],
    ["a container of no stack of ours", { stack: "" }, undefined],
    ["a single run", { attributes: { "com.docker.compose.oneoff": "True" } }, undefined],
    ["what nobody asked for", { action: "exec_start" }, undefined],
  ];
  for (const [title, event, events] of cases) {
    it(`knows ${title}`, () => {
      const stackOf = () => undefined;
      assert.deepEqual(newsOf(told(event), stackOf)?.events, events);
    });
  }

  it("knows a service of a swarm by its name, and what its events mean", () => {
    const news = (action: string, name: string) =>
      newsOf(
        { ...told({ action }), type: "service", attributes: { name } },
        (service) => service === "shop_web" ? "shop" : undefined,
      );
    assert.deepEqual(news("remove", "shop_web"), {
      stack: "shop",
      containerId: "c1",
      events: ["destroy"],
      drifts: true,
    });
    assert.deepEqual(news("update", "shop_web")?.events, ["update"]);
    assert.equal(news("create", "shop_web"), undefined);
    assert.equal(news("remove", "app_web"), undefined);
  });

  it("knows nothing of what another tool made", () => {
    const foreign = { ...told(), attributes: { [LABELS.deployment]: "shop" } };
    assert.equal(newsOf(foreign, () => undefined), undefined);
  });
});

describe("Reconciler", () => {
  it("looks once, when nothing more is heard", async () => {
    const { clock, looks, say, close } = setUp();
    await settle();
    await say(told(), told({ id: "c2", time: 2n }));
    await clock.advance(200);
    await say(told({ id: "c2", action: "destroy", time: 3n }));
    await clock.advance(250);
    assert.deepEqual(looks, []);
    await clock.advance(250);
    assert.deepEqual(looks, ["shop c1:die c2:destroy+die"]);
    await clock.advance(60_000);
    assert.equal(looks.length, 1);
    await close();
  });

  it("looks once at all that was heard until nobody else had the stack", async () => {
    const { clock, looks, say, state, close } = setUp();
    const hands = Promise.withResolvers<void>();
    state.inOtherHands = hands.promise;
    await settle();
    await say(told());
    await clock.advance(1_000);
    await say(told({ id: "c2", time: 2n }));
    await clock.advance(1_000);
    assert.deepEqual(looks, []);
    hands.resolve();
    await settle();
    await clock.advance(10_000);
    assert.deepEqual(looks, ["shop c1:die c2:die"]);
    await say(told({ id: "c3", time: 3n }));
    await clock.advance(1_000);
    assert.deepEqual(looks.slice(1), ["shop c3:die"]);
    await close();
  });

  it("looks at the latest after eight pauses at a stack that is never quiet", async () => {
    const { clock, looks, say, close } = setUp();
    await settle();
    for (let count = 0; count < 12; count++) {
      await say(told({ time: BigInt(count) }));
      await clock.advance(200);
    }
    assert.equal(looks.length, 1);
    await close();
  });

  it("takes a storm of 10,000 events over 200 stacks for one look at each, and loses none", async () => {
    const { clock, looks, say, close } = setUp();
    await settle();
    const storm = Array.from(
      { length: 10_000 },
      (_, count) => told({ stack: `s${count % 200}`, id: `c${count}`, time: BigInt(count) }),
    );
    await say(...storm);
    await clock.advance(2_000);
    assert.equal(looks.length, 200);
    const heard = new Set(looks.flatMap((look) => look.split(" ").slice(1)));
    assert.equal(heard.size, 10_000);
    await close();
  });

  it("looks at what may have been changed by hand, unless nobody wants to know", async () => {
    for (
      const [drift, expected] of [
        ["report", ["shop c1:", "shop c2:die"]],
        ["ignore", []],
      ] as const
    ) {
      const { clock, looks, say, close } = setUp({ events: ["unhealthy"], drift });
      await settle();
      await say(told({ action: "rename" }), told({ action: "top", time: 2n }));
      await clock.advance(1_000);
      await say(told({ id: "c2", time: 3n }));
      await clock.advance(1_000);
      assert.deepEqual(looks, expected);
      await close();
    }
  });

  it("does not look for what no configuration names, nor at stacks that are left alone", async () => {
    const { clock, looks, say, close } = setUp();
    await settle();
    const [oom, stop] = [told({ action: "oom" }), told({ action: "stop" })];
    await say(oom, stop, told({ stack: "quiet" }));
    await clock.advance(10_000);
    assert.deepEqual(looks, []);
    await close();
  });

  it("remembers who was told to end until it does", async () => {
    const { clock, looks, say, close } = setUp();
    await settle();
    await say(told({ action: "kill", attributes: { signal: "15" } }));
    await clock.advance(8_000);
    await say(told({ id: "c2", time: 2n }));
    await clock.advance(1_000);
    await say(told({ time: 3n }));
    await clock.advance(1_000);
    await say(told({ time: 4n }));
    await clock.advance(1_000);
    assert.deepEqual(looks, [
      "shop c1:kill+stop c2:die",
      "shop c1:die+kill+stop",
      "shop c1:die",
    ]);
    await close();
  });

  it("remembers what killed one that takes its time to end", async () => {
    for (const drift of ["report", "ignore"] as const) {
      const { clock, looks, say, close } = setUp({ events: ["kill"], drift });
      await settle();
      await say(told({ action: "kill", attributes: { signal: "9" } }));
      await clock.advance(8_000);
      await say(told({ time: 2n }));
      await clock.advance(1_000);
      assert.deepEqual(looks, ["shop c1:kill", "shop c1:die+kill"]);
      await close();
    }
  });

  it("tries again what failed, ever later, and forgets that when it worked", async () => {
    const { clock, looks, state, say, close } = setUp();
    await settle();
    state.end = "failed";
    await say(told());
    await clock.advance(500);
    assert.deepEqual(looks, ["shop c1:die"]);
    await clock.advance(11_000);
    assert.deepEqual(looks.slice(1), ["shop all"]);
    await clock.advance(11_000);
    assert.equal(looks.length, 2);
    state.end = "settled";
    await clock.advance(10_000);
    assert.equal(looks.length, 3);
    await clock.advance(60_000);
    assert.equal(looks.length, 3);
    await close();
  });

  it("looks at everything at the start, when the stream ended, and every ten minutes", async () => {
    const { clock, looks, state, streams, cut, close } = setUp({ strayed: [stackKey("", "a")] });
    await clock.advance(1_000);
    assert.deepEqual(looks, ["a all"]);
    state.strayed = [stackKey("", "b")];
    await cut();
    await clock.advance(2_000);
    assert.deepEqual(looks, ["a all", "b all"]);
    assert.equal(streams.length, 2);
    await clock.advance(600_000);
    assert.deepEqual(looks, ["a all", "b all", "b all"]);
    await close();
  });

  it("looks at everything once more where the stream ended during such a look", async () => {
    const looked = Promise.withResolvers<void>();
    const { clock, looks, state, cut, close } = setUp();
    await clock.advance(1_000);
    state.looking = looked.promise;
    await cut();
    // The engine answers late, and what it says was so before it was restarted.
    await clock.advance(2_000);
    state.strayed = [stackKey("", "a")];
    await cut();
    await clock.advance(4_000);
    assert.deepEqual(looks, []);
    looked.resolve();
    await clock.advance(1_000);
    assert.deepEqual(looks, ["a all"]);
    await close();
  });
});

describe("a stream of events that is cut", () => {
  const NOW = BigInt(Date.parse("2026-03-10T11:00:00.123Z")) * 1_000_000n;
  const LINES = ["die", "oom", "health_status: unhealthy", "destroy"].map((Action, count) => {
    const Attributes = {
      [LABELS.manager]: MANAGER,
      [LABELS.deployment]: "shop",
      signal: "9",
    };
    const timeNano = Number(NOW) + count * 2_000_000;
    return JSON.stringify({ Action, Actor: { ID: `c${count % 2}`, Attributes }, timeNano }) + "\n";
  });
  const TEXT = new TextEncoder().encode(LINES.join(""));

  /** What is heard when the first stream ends after so many bytes. */
  async function heardAfterCut(at: number): Promise<string[]> {
    const clock = createFakeClock();
    const log = createRecordingLog();
    const stop = new AbortController();
    const looks: string[] = [];
    let streams = 0;
    const reconciler = new Reconciler({
      context: "default",
      events: new SharedEvents({
        async *events(since, signal) {
          const isFirst = ++streams === 1;
          async function* bytes() {
            await Promise.resolve();
            yield isFirst ? TEXT.subarray(0, at) : TEXT;
          }
          for await (const line of jsonLines(bytes())) {
            const event = parseEvent(line);
            if (event.time >= since) yield event;
          }
          if (isFirst) throw new StackwrightError("engine_unreachable", "cut");
          await clock.sleep(Number.MAX_SAFE_INTEGER, signal);
        },
        clock,
        log,
        random: () => 1,
      }, stop.signal),
      stackOf: () => undefined,
      optionsOf: () => ({
        enabled: true,
        events: ["die", "oom", "unhealthy", "destroy"],
        drift: "ignore",
        restartTimeoutSeconds: 10,
        restartSignal: "",
        restartLimit: 5,
        restartWindowSeconds: 300,
      }),
      strayed: () => Promise.resolve([]),
      reconcile(_key, why) {
        for (const [id, events] of why().heard ?? []) {
          for (const each of events) looks.push(`${id} ${each}`);
        }
        return Promise.resolve("settled");
      },
      clock,
      log,
    });
    const running = reconciler.run(stop.signal);
    while (streams < 2 || looks.length < LINES.length) {
      await clock.advance(100);
    }
    await clock.advance(1_000);
    stop.abort();
    await running;
    return looks.sort();
  }

  it("at any byte tells the same in the end, and nothing twice", async () => {
    const whole = ["c0 die", "c0 unhealthy", "c1 destroy", "c1 oom"];
    for (let at = 0; at <= TEXT.length; at++) {
      assert.deepEqual(await heardAfterCut(at), whole, `cut after ${at} bytes`);
    }
  });
});
