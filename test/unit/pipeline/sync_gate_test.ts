import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatOwner, type Revision, stackKey } from "../../../src/model/mod.ts";
import { noteDeferred } from "../../../src/pipeline/sync_gate.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const WEB = stackKey("", "web");
const CLOSED = { reason: "sync_window" } as const;
const PAUSED = { reason: "paused" } as const;

const MAIN = (name: string) => `${name} (refs/heads/main)`;

function setUp(options = { queuesDeferred: true }) {
  const ledger = createMemoryLedger(createFakeClock());
  const { deferred, owners } = ledger;
  const note = (place: string, hold?: Parameters<typeof noteDeferred>[2]) => {
    const [name = "", reference = "refs/heads/main"] = place.split(" ");
    const url = `https://${name}`;
    const source = { kind: "git", url, name } as const;
    const configuration: Revision = { source, id: "1".repeat(40), reference };
    const target = { key: WEB, trigger: "poll", origin: "automatic", configuration } as const;
    const request = { kind: "git", url, reference: "main", target: "", deployments: [] } as const;
    noteDeferred(
      { ledger, options } as Parameters<typeof noteDeferred>[0],
      { target, request },
      hold,
    );
  };
  const waiting = () => deferred.all().map(({ asker }) => formatOwner(asker)).sort();
  const own = (source: string) => owners.settle(WEB, { source, reference: "refs/heads/main" });
  return { note, waiting, own };
}

describe("noteDeferred()", () => {
  it("lets no repository speak for another one, while nobody owns the stack", () => {
    const { note, waiting } = setUp();
    note("victim", CLOSED);
    note("other", CLOSED);
    assert.deepEqual(waiting(), [MAIN("other"), MAIN("victim")]);
    for (const hold of [PAUSED, undefined]) {
      note("other", CLOSED);
      note("other", hold);
      assert.deepEqual(waiting(), [MAIN("victim")]);
    }
  });

  it("lets no branch speak for another one, while nobody owns the stack; a tag is any branch", () => {
    const { note, waiting, own } = setUp();
    const [dev, both] = ["a (refs/heads/dev)", ["a (refs/heads/dev)", MAIN("a")]];
    note("a", CLOSED);
    note("a refs/heads/dev", CLOSED);
    assert.deepEqual(waiting(), both);
    note("a", PAUSED);
    assert.deepEqual(waiting(), [dev]);
    note("a refs/tags/v1", CLOSED);
    assert.deepEqual(waiting(), ["a"]);
    note("a", CLOSED);
    note("a refs/heads/dev", CLOSED);
    assert.deepEqual(waiting(), both);
    own("a");
    note("a", CLOSED);
    assert.deepEqual(waiting(), [MAIN("a")]);
  });

  it("lets the owner settle what all asked for, and nobody else say anything", () => {
    for (
      const [hold, left] of [[CLOSED, [MAIN("owner")]], [PAUSED, []], [undefined, []]] as const
    ) {
      const { note, waiting, own } = setUp();
      note("owner", CLOSED);
      note("other", CLOSED);
      own("owner");
      note("other", PAUSED);
      assert.deepEqual(waiting(), [MAIN("other"), MAIN("owner")]);
      note("owner", hold);
      assert.deepEqual(waiting(), left);
    }
  });

  it("keeps nothing where nothing is queued", () => {
    const { note, waiting } = setUp({ queuesDeferred: false });
    note("owner", CLOSED);
    assert.deepEqual(waiting(), []);
  });
});
