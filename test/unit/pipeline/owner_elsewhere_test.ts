import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import {
  askBeforeHandOver,
  type AskParts,
  ownersElsewhere,
} from "../../../src/pipeline/owner_elsewhere.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const NO_SIGNAL = new AbortController().signal;
type Parts = Parameters<typeof ownersElsewhere>[0];
type Asked = Parameters<typeof ownersElsewhere>[1];
const [HERE, THERE] = [stackKey("", "shop"), stackKey("two", "shop")];
const [MAIN, DEV] = ["main", "dev"].map((branch) => `refs/heads/${branch}`) as [string, string];

interface Given {
  readonly here: Identity;
  /** Absent while it cannot be asked. */
  readonly there?: Identity;
  /** What the other engine said before. */
  readonly said?: Identity;
  /** Whether the other stack is one of a swarm, as far as a release of it tells. */
  readonly isStack?: boolean;
  readonly isThere?: boolean;
  readonly source?: string;
}

interface Identity {
  readonly id: string;
  readonly hostname?: string;
  readonly cluster: string;
}

const engine = (id: string, cluster = ""): Identity => ({ id, cluster });

function given({ here, there, said, isStack, source = "them" }: Given) {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  ledger.owners.settle(THERE, { source, reference: MAIN });
  if (said !== undefined) ledger.owners.noteEngine("two", said);
  if (isStack !== undefined) {
    const swarm = isStack ? { swarm: {} } : {};
    ledger.beginDeploy({ ...releaseOf(THERE, "a".repeat(40)), ...swarm });
  }
  let asked = 0;
  const info = () => {
    asked++;
    return there === undefined ? Promise.reject(new Error("away")) : Promise.resolve(there);
  };
  const host = { info: () => Promise.resolve(here) };
  const hosts = { of: () => Promise.resolve({ info }) };
  const parts = { clock, ledger, host, hosts } as unknown as Parts;
  const askAll = (more: Partial<Asked> = {}) => {
    const wants = { source: "me", reference: MAIN };
    return ownersElsewhere(parts, { key: HERE, wants, isThere: false, ...more }, NO_SIGNAL);
  };
  const ask = async (more: Partial<Asked> = {}) => {
    const [first, ...others] = await askAll(more);
    assert.deepEqual(others, []);
    return first;
  };
  return { ledger, ask, askAll, asked: () => asked };
}

describe("askBeforeHandOver()", () => {
  const ME = { source: "me", reference: MAIN };
  const asking = (ids: Readonly<Record<string, string>>) => {
    const clock = createFakeClock();
    const { owners } = createMemoryLedger(clock);
    const asked: string[] = [];
    const hosts = {
      of: (context: string) => {
        asked.push(context);
        const id = ids[context];
        const away = () => Promise.reject(new Error("away"));
        return Promise.resolve({
          info: id === undefined ? away : () => Promise.resolve(engine(id)),
        });
      },
    };
    const parts = { clock, ledger: { owners }, hosts } as unknown as AskParts;
    return { owners, asked, ask: () => askBeforeHandOver(parts, THERE, ME, NO_SIGNAL) };
  };

  it("asks no engine while nobody else has a stack of that name", async () => {
    const { owners, asked, ask } = asking({});
    owners.settle(THERE, { source: "them", reference: MAIN });
    owners.settle(HERE, ME);
    await ask();
    assert.deepEqual(asked, []);
  });

  it("asks all that may be one, also those that said before what they were", async () => {
    const { owners, ask } = asking({ default: "a", two: "a" });
    owners.settle(HERE, { source: "them", reference: MAIN });
    owners.noteEngine("two", engine("b"));
    await ask();
    assert.equal(owners.beside(THERE)[0]?.context, "default");
  });

  for (const away of ["default", "two"]) {
    it(`refuses while that of ${away} cannot be asked, and never said what it is`, async () => {
      const { owners, ask } = asking(away === "two" ? { default: "a" } : { two: "a" });
      owners.settle(HERE, { source: "them", reference: MAIN });
      await assert.rejects(ask, {
        code: "conflict",
        message: new RegExp(
          `^shop was not handed over: by context default it belongs to them .* context ${away} never`,
        ),
      });
      owners.noteEngine(away, engine("b"));
      await ask();
    });
  }
});

describe("ownersElsewhere()", () => {
  const rows: [string, Given, boolean][] = [
    ["one engine", { here: engine("a"), there: engine("a") }, true],
    ["another engine", { here: engine("a"), there: engine("b") }, false],
    ["two that do not say what they are", { here: engine(""), there: engine("") }, false],
    ["neither manages a swarm", { here: engine("a"), there: engine("b"), isStack: true }, false],
    ["a stack of one swarm", {
      ...{ here: engine("a", "s"), there: engine("b", "s"), isStack: true },
    }, true],
    ["what may be a stack of one swarm", {
      ...{ here: engine("a", "s"), there: engine("b", "s") },
    }, true],
    ["containers on two of its managers", {
      ...{ here: engine("a", "s"), there: engine("b", "s"), isStack: false },
    }, false],
    ["one that is away", { here: engine("a") }, false],
    ["one that is away, and something there", { here: engine("a"), isThere: true }, true],
    ["one that is away, and said that it is this one", {
      ...{ here: engine("a"), said: engine("a") },
    }, true],
    ["one that is away, and said that it is another, with something there", {
      ...{ here: engine("a"), said: engine("b"), isThere: true },
    }, false],
    ["one's own", { here: engine("a"), there: engine("a"), source: "me" }, false],
  ];
  for (const [what, facts, isTheirs] of rows) {
    it(`${what}: ${isTheirs ? "theirs" : "not theirs"}`, async () => {
      const told = await given(facts).ask({ isThere: facts.isThere === true });
      assert.equal(told !== undefined, isTheirs, told?.words);
      if (told === undefined) return;
      assert.match(told.words, /^belongs to them \(.*main\) in context two, which /);
      assert.equal(told.isOwn, false);
    });
  }

  it("asks those that have the name what they are by now, and no others", async () => {
    const renamed = {
      here: { ...engine("a"), hostname: "new" },
      said: { ...engine("a"), hostname: "old" },
    };
    const other = given({ ...renamed, there: renamed.said });
    assert.equal(await other.ask(), undefined);
    assert.equal(other.asked(), 1);
    assert.equal(await other.ask({ key: stackKey("", "other") }), undefined);
    assert.equal(other.asked(), 1);
    for (const there of [renamed.here, undefined]) {
      const told = await given({ ...renamed, ...(there && { there }) }).ask();
      assert.match(told?.words ?? "", /^belongs to them .* which leads to this engine$/);
    }
    const replaced = given({ here: engine("b"), said: engine("a"), there: engine("b") });
    assert.match((await replaced.ask())?.words ?? "", /which leads to this engine$/);
  });

  it("tells of all of them: one of the engines may lie, and those that cannot be asked come last", async () => {
    const { ledger, askAll } = given({ here: engine("a"), source: "away" });
    for (
      const [context, source] of [["three", "me"], ["lying", "evil"], ["true", "them"]] as const
    ) {
      ledger.owners.settle({ ...HERE, context }, { source, reference: MAIN });
      ledger.owners.noteEngine(context, engine("a"));
    }
    const sources = async (more: Partial<Asked>) =>
      (await askAll(more)).map(({ owner }) => owner.source);
    assert.deepEqual(await sources({ isThere: true }), ["evil", "them", "away"]);
    const all = await askAll({ isThere: true, wants: undefined } as unknown as Partial<Asked>);
    assert.equal(all.length, 4);
    assert.deepEqual(await sources({ wants: { source: "evil", reference: "" } }), ["me", "them"]);
  });

  it("tells branches of one source apart", async () => {
    const { ask } = given({ here: engine("a"), there: engine("a"), source: "me" });
    const by = (reference: string) => ask({ wants: { source: "me", reference } });
    assert.ok(await by(DEV));
    assert.equal(await by(MAIN), undefined);
    assert.equal(await by(""), undefined);
  });

  it("tells of another repository of the owner, where the stack was discovered", async () => {
    const { ledger, ask } = given({ here: engine("a"), there: engine("a"), source: "me" });
    const owner = { source: "me", target: "", reference: MAIN };
    const policy = { delete: false, removeVolumes: false, removeImages: false };
    const found = { key: HERE, owner, repository: "them", directory: "shop", policy };
    assert.equal(await ask({ found }), undefined);
    ledger.beginDeploy({ ...releaseOf(THERE, "a".repeat(40)) });
    const told = await ask({ found });
    assert.equal(told?.isOwn, true);
    assert.match(told?.words ?? "", /^shop is deployed from .* by context two, so it was not/);
    const [{ revision } = assert.fail()] = ledger.history(THERE, 1);
    for (const repository of [revision.source.name, "me"]) {
      const own = await ask({ found: { ...found, repository } });
      assert.match(own?.words ?? "", /^shop is deployed by context two, which leads/);
    }
  });
});
