import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asPolled } from "../../../src/app/as_polled.ts";
import { createGate } from "../../../src/app/gate.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("what is polled under another address", () => {
  const infra = `{url: "https://h.example/o/r"}`;
  const rewrites = "{h.example/o: /srv/git}";
  const at = (url: string, identity?: string) => ({
    ...{ url, reference: "HEAD", target: "" },
    ...(identity === undefined ? {} : { identity }),
  });
  const cases: [string, string, ReturnType<typeof at>, string | undefined][] = [
    ["stands for what is polled", infra, at("/srv/git/r"), "h.example/o/r"],
    ["as a URL too", infra, at("file:///srv/git/r"), "h.example/o/r"],
    ["also where it was cloned from", infra, at("/srv/git/r", "x.example/r"), "h.example/o/r"],
    ["not where it is another", infra, at("/srv/git/s"), undefined],
    ["not where it is polled itself", `{url: /srv/git/r}`, at("/srv/git/r"), undefined],
    [
      "not where it is polled itself, too",
      `${infra}, {url: /srv/git/r}`,
      at("/srv/git/r"),
      undefined,
    ],
    [
      "as well where several polls are of it",
      `${infra}, {url: "https://H.example/o//r", reference: next}`,
      at("/srv/git/r"),
      "h.example/o/r",
    ],
    ["not by its own address", infra, at("https://h.example/o/r"), undefined],
  ];
  for (const [what, polls, input, identity] of cases) {
    it(what, () => {
      const env = { POLL_CONFIG: `[${polls}]`, SOURCE_URL_REWRITES: rewrites };
      const settings = readSettings(env, () => "", { uid: 0 });
      const log = createRecordingLog();
      assert.deepEqual(asPolled(input, settings, log), {
        ...input,
        ...(identity === undefined ? {} : { identity }),
      });
      assert.equal(log.lines.length, identity === undefined ? 0 : 1);
    });
  }

  it("is what a poll by the API has by its place, too", async () => {
    const env = { POLL_CONFIG: `[${infra}]`, SOURCE_URL_REWRITES: rewrites };
    const clock = createFakeClock();
    const log = createRecordingLog();
    const names = new Set<string | undefined>();
    const sync = ({ sources }: { sources: readonly { identity?: string }[] }) => {
      for (const { identity } of sources) names.add(identity);
      return Promise.resolve();
    };
    const { operations } = createGate(
      readSettings(env, () => "", { uid: 0 }),
      { clock, log, redactor: createRedactor() } as never,
      {
        assembly: {
          ...{ ledger: createMemoryLedger(clock), ids: { next: () => "r" } },
          engines: { names: () => Promise.resolve([]), has: () => Promise.resolve(false) },
        } as never,
        performers: { sync } as never,
      },
    );
    const call = { signal: new AbortController().signal, log };
    const poll = (url: string) =>
      operations.runPolls.call({ configs: [{ url }], wait: true }, call);
    await poll("/srv/git/r");
    await poll("file:///srv/git/r");
    assert.deepEqual([...names], ["h.example/o/r"]);
    await poll("https://h.example/o/r");
    assert.deepEqual([...names], ["h.example/o/r", undefined]);
    await assert.rejects(poll("nothing"), { code: "bad_request" });
  });
});
