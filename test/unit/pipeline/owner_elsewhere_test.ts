import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownerElsewhere } from "../../../src/pipeline/stack_owner.ts";
import { systemClock } from "../../../src/system/mod.ts";

const NO_SIGNAL = new AbortController().signal;
type Parts = Parameters<typeof ownerElsewhere>[0];

describe("ownerElsewhere()", () => {
  const engine = (id: string, cluster = "") => ({ id, cluster });
  const rows: [string, Parameters<typeof ask>[0], boolean][] = [
    ["one engine", { here: engine("a"), there: engine("a") }, true],
    ["another engine", { here: engine("a"), there: engine("b") }, false],
    ["neither manages a swarm", { here: engine("a"), there: engine("b"), isStack: true }, false],
    ["a stack of one swarm", {
      ...{ here: engine("a", "s"), there: engine("b", "s"), isStack: true },
    }, true],
    ["containers on two of its managers", {
      ...{ here: engine("a", "s"), there: engine("b", "s") },
    }, false],
    ["one that is away", { here: engine("a") }, false],
    ["one that is away, and something there", { here: engine("a"), isThere: true }, true],
    ["one's own", { here: engine("a"), there: engine("a"), source: "me" }, false],
  ];
  const ask = (
    { here, there, isStack = false, isThere = false, source = "them" }: {
      readonly here: ReturnType<typeof engine>;
      readonly there?: ReturnType<typeof engine>;
      readonly isStack?: boolean;
      readonly isThere?: boolean;
      readonly source?: string;
    },
  ) => {
    const host = (info: unknown) => ({
      info: () => info === undefined ? Promise.reject(new Error("away")) : Promise.resolve(info),
    });
    const parts = {
      clock: systemClock,
      host: host(here),
      hosts: { of: () => Promise.resolve(host(there)) },
      ledger: {
        owners: { elsewhere: () => [{ context: "two", source, reference: "" }] },
        current: () => isStack ? { swarm: {} } : undefined,
      },
    } as unknown as Parts;
    const key = { context: "default", name: "shop" };
    const wants = { source: "me", reference: "" };
    return ownerElsewhere(parts, { key, wants, isThere }, NO_SIGNAL);
  };
  for (const [what, given, isTheirs] of rows) {
    it(`${what}: ${isTheirs ? "theirs" : "not theirs"}`, async () => {
      const told = (await ask(given))?.words;
      assert.equal(told !== undefined, isTheirs, told);
      if (told !== undefined) assert.match(told, /^belongs to them in context two, which /);
    });
  }
});
