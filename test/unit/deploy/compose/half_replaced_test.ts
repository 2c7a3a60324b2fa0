import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clearHalfReplaced, isHalfReplaced } from "../../../../src/deploy/mod.ts";
import { COMPOSE_LABELS, type ObservedContainer, stackKey } from "../../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";

const WAITING: ObservedContainer = {
  id: "2",
  name: "0123456789ab_shop-web-1",
  service: "web",
  state: "created",
  health: "none",
  exitCode: undefined,
  imageId: "sha256:1",
  labels: { "com.docker.compose.replace": "0123456789abcdef" },
};

describe("isHalfReplaced()", () => {
  it("is true of a container that waits to take another one's place", () => {
    assert.equal(isHalfReplaced(WAITING), true);
  });

  const others: readonly (readonly [title: string, change: Partial<ObservedContainer>])[] = [
    ["has its final name", { name: "shop-web-1" }],
    ["was named like that by its author", { labels: {} }],
    ["runs", { state: "running" }],
    ["ran once", { state: "exited", exitCode: 0 }],
  ];
  for (const [title, change] of others) {
    it(`is false when it ${title}`, () => {
      assert.equal(isHalfReplaced({ ...WAITING, ...change }), false);
    });
  }
});

describe("clearHalfReplaced()", () => {
  const waiting = { ...WAITING, labels: { ...WAITING.labels, [COMPOSE_LABELS.project]: "shop" } };
  const clear = async (others: readonly ObservedContainer[]) => {
    const engine = createMemoryEngine([waiting, ...others]);
    await clearHalfReplaced(engine, stackKey("", "shop"), new AbortController().signal);
    return engine.calls;
  };

  it("removes one whose predecessor exists", async () => {
    const old = runningContainer("shop", "web", { id: `0123456789ab${"0".repeat(52)}` });
    assert.deepEqual(await clear([old]), ["remove 2"]);
    assert.deepEqual(await clear([{ ...old, name: "moved", state: "exited" }]), ["remove 2"]);
  });

  it("removes one whose name another has", async () => {
    assert.deepEqual(await clear([runningContainer("shop", "web")]), ["remove 2"]);
  });

  it("lets one take the place of a predecessor that is gone: it has its anonymous volumes", async () => {
    assert.deepEqual(await clear([]), ["rename 2 shop-web-1"]);
  });
});
