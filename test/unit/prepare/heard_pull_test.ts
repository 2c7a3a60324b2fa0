import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HeardPull, layerTold } from "../../../src/prepare/heard_pull.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const [A, B] = ["f007c82a8d5c", "d1f616eeb616"];

describe("a line of a pull's progress", () => {
  // As docker compose 2.26 and 5.5 print them.
  const cases: Record<string, string | undefined> = {
    [` ${A} Pulling fs layer `]: "fetched",
    [` ${A} Pulling fs layer 0B`]: "fetched",
    [` ${A} Downloading [>     ]  69.52kB/5MB`]: "fetched",
    [` ${A} Downloading 5MB`]: "fetched",
    [` ${A} Retrying in 5 seconds `]: "fetched",
    [` ${A} Waiting `]: "waits",
    [` ${A} Waiting 0B`]: "waits",
    [` ${A} Already exists `]: "rests",
    [` ${A} Verifying Checksum `]: "rests",
    [` ${A} Download complete 0B`]: "rests",
    [` ${A} Extracting [==>   ]  1MB/5MB`]: "rests",
    [` ${A} Pull complete `]: "rests",
    " web Pulling ": undefined,
    " Image 127.0.0.1:5000/a Pulling ": undefined,
    [` Image ${A} Pulling`]: undefined,
    "": undefined,
  };
  for (const [line, state] of Object.entries(cases)) {
    it(`${JSON.stringify(line)} tells ${state ?? "of no layer"}`, () => {
      assert.deepEqual(layerTold(line)?.state, state);
      assert.deepEqual(layerTold(line)?.id, state && A);
    });
  }
});

/** A pull that says nothing but what the test has it say, until it is ended. */
function begin(left = new Map<string, number>()) {
  const clock = createFakeClock();
  const pull = new HeardPull(clock, left);
  let hear = (_line: string) => {};
  const end = new AbortController();
  const over = Promise.withResolvers<void>();
  let outcome: string | undefined;
  const done = pull.run("pulling web of shop", (heard, signal) => {
    hear = heard;
    signal.addEventListener("abort", () => over.reject(signal.reason));
    return over.promise;
  }, end.signal).then(() => "pulled", (error: Error) => error.message);
  done.then((value) => outcome = value);
  return {
    say: (...lines: readonly string[]) => lines.forEach((line) => hear(line)),
    async pass(seconds: number) {
      await clock.advance(seconds * 1000);
      await settle();
      return outcome;
    },
    async close() {
      over.resolve();
      end.abort(new Error("over"));
      await done;
      assert.equal(clock.sleepers, 0);
    },
    pull,
    left,
  };
}

describe("a pull of which nothing comes for two minutes", () => {
  const cases: Record<string, [lines: readonly string[], isEnded: boolean]> = {
    "is ended while a layer is about to be fetched": [[`${A} Pulling fs layer`], true],
    "is ended in the middle of a layer": [[`${A} Pulling fs layer`, `${A} Downloading 1MB`], true],
    "is ended after the engine's own attempts": [[`${A} Retrying in 1 second`], true],
    "is ended where one layer waits for another": [[`${A} Waiting`, `${B} Downloading`], true],
    "goes on where all layers wait for a place": [
      [`${A} Pulling fs layer`, `${A} Waiting`, `${B} Waiting`],
      false,
    ],
    "goes on while what was fetched is unpacked": [
      [`${A} Pulling fs layer`, `${A} Download complete`, `${A} Extracting 1MB`],
      false,
    ],
    "goes on where the registry has said nothing of the image: it has no place": [
      ["web Pulling"],
      false,
    ],
  };
  for (const [what, [lines, isEnded]] of Object.entries(cases)) {
    it(what, async () => {
      const { say, pass, close } = begin();
      say(...lines);
      assert.equal(await pass(119), undefined);
      const outcome = await pass(31);
      assert.equal(outcome !== undefined, isEnded);
      if (isEnded) {
        assert.match(
          outcome ?? "",
          /^pulling web of shop was ended: for 2 minutes nothing came of /,
        );
        assert.match(outcome ?? "", /max-concurrent-downloads\) are free again/);
      } else assert.equal(await pass(3600), undefined);
      await close();
    });
  }

  it("goes on with each word, and is ended two minutes and a half after the last one, at most", async () => {
    const { say, pass, close } = begin();
    for (let each = 0; each < 30; each++) {
      say(` ${A} Downloading ${each}MB`);
      assert.equal(await pass(100), undefined);
    }
    assert.match(await pass(50) ?? "", /nothing came of f007c82a8d5c\./);
    await close();
  });

  it("is told what it waited for, where it only waits", async () => {
    const { say, pull, close } = begin();
    assert.equal(pull.waitsFor(), "");
    say(`${A} Pulling fs layer`);
    assert.equal(pull.waitsFor(), "");
    say(`${A} Waiting`);
    assert.match(pull.waitsFor(), /max-concurrent-downloads.* others had all places: f007c82a8d5c/);
    await close();
  });

  it("goes on where its layer still waits for the turn of an earlier pull that ended", async () => {
    const first = begin();
    first.say(`${A} Pulling fs layer`, `${A} Waiting`, `${B} Pulling fs layer`);
    await first.close();
    assert.deepEqual([...first.left.keys()], [A]);
    const again = begin(first.left);
    again.say(`${A} Pulling fs layer`);
    assert.equal(await again.pass(3600), undefined);
    again.say(`${A} Downloading 1MB`);
    assert.match(await again.pass(150) ?? "", /nothing came/);
    assert.deepEqual([...first.left.keys()], []);
  });

  it("is ended where its layer waited in a pull that ended a quarter of an hour ago", async () => {
    const first = begin();
    first.say(`${A} Waiting`);
    await first.close();
    const old = [...first.left].map(([id, at]) => [id, at - 15 * 60_000] as const);
    const again = begin(new Map(old));
    again.say(`${A} Pulling fs layer`);
    assert.match(await again.pass(150) ?? "", /nothing came/);
  });

  it("remembers so many of these layers, and no more", async () => {
    const { say, close, left } = begin();
    for (let each = 0; each < 12_000; each++) say(`${each.toString(16).padStart(12, "0")} Waiting`);
    left.set("first", 0);
    await close();
    assert.equal(left.size, 1000);
    assert.ok(!left.has("first"));
  });
});
