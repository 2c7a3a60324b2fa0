import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineVerdict, ReleaseService } from "../../../src/model/mod.ts";
import { judgeVerdict } from "../../../src/plan/engine_verdicts.ts";

const release = (number: number, digest: string) => ({
  number,
  services: [{ name: "web", digest } as ReleaseService],
});
const [first, second, third] = [release(1, "a"), release(2, "b"), release(3, "c")];
const TAKEN: EngineVerdict = {
  service: "web",
  id: "x",
  state: "rollback_completed",
  digest: "a",
  why: "rollback completed: exit 3",
  tasksFailed: true,
};

describe("judgeVerdict()", () => {
  const judge = (verdict: Partial<EngineVerdict>, isMixed = false) =>
    judgeVerdict({
      verdict: { ...TAKEN, ...verdict },
      current: isMixed ? first : second,
      history: isMixed ? [third, first] : [second, first],
      isMixed,
    });

  it("is a failure of the deployed release where the swarm took a service of it back", () => {
    assert.deepEqual(judge({}), {
      message: "the swarm took service web back by itself (rollback completed: exit 3): " +
        "it runs what release 1 says",
      fails: true,
    });
    assert.deepEqual(judge({ digest: undefined, why: "" }), {
      message: "the swarm took service web back by itself: it runs what no known release says",
      fails: true,
    });
  });

  it("is none where a person did that, or somebody else's update was taken back", () => {
    const byHand = judge({ tasksFailed: false });
    assert.match(
      byHand.message,
      /^somebody had the swarm take service web back .* release 1 says$/,
    );
    assert.equal(byHand.fails, false);
    const others = judge({ digest: "b" });
    assert.match(others.message, /it runs what release 2 says$/);
    assert.equal(others.fails, false);
  });

  it("is none of the release before where another one failed and stayed", () => {
    const { message, fails } = judge({}, true);
    assert.match(message, /it runs what release 1 says$/);
    assert.equal(fails, false);
  });

  it("says that an update was stopped, or could not be taken back", () => {
    assert.deepEqual(judge({ state: "paused" }), {
      message: "the swarm stopped an update of service web by itself (rollback completed: exit 3)",
      fails: false,
    });
    assert.match(judge({ state: "rollback_paused" }).message, /could not take back service web/);
  });
});
