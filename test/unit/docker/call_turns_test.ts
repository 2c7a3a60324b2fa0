import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import type { Transport } from "../../../src/docker/transport.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const PROJECT = "com.docker.compose.project";
const LONG = new TextEncoder().encode(" ".repeat(5 << 20));

/** Id of a container, of which the first characters tell whose it is. */
function idOf(whose: "e" | "b", at: number): string {
  return whose.repeat(10) + String(at).padStart(54, "0");
}

/**
 * An engine with containers of two sources. Answers about those of "e" are 5 MiB of spaces and what is
 * asked for twice ends only when it may.
 */
function createWorld() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const go = Promise.withResolvers<void>();
  let open = 0;
  async function* body(text: string, isLong: boolean, isHeld: boolean) {
    open++;
    try {
      if (isLong) yield LONG;
      if (isHeld) await go.promise;
      await Promise.resolve();
      yield new TextEncoder().encode(text);
    } finally {
      open--;
    }
  }
  const transport: Transport = {
    description: "engine",
    request({ path }) {
      const answer = (text: string, isLong = false, isHeld = false) =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: body(text, isLong, isHeld),
          discard() {},
        });
      if (path === "/version") return answer('{"ApiVersion":"1.45"}');
      const [, id = ""] = /containers\/(\w+)\/json/.exec(path) ?? [];
      if (id === "") return answer(listed(path));
      const isHeld = asked.includes(id);
      asked.push(id);
      return answer(JSON.stringify({ Id: id }), true, isHeld);
    },
    close() {},
  };
  const calls = containerCalls(new EngineApi(transport, { clock }));
  return { calls, asked, clock, go, open: () => open };
}

/** The list of containers of a project. */
function listed(path: string): string {
  const whose = path.includes("bob") ? "b" : "e";
  const place = { [PROJECT]: whose, "com.docker.compose.container-number": "1" };
  const Labels = { ...place, "stackwright.source.name": whose };
  return JSON.stringify(
    Array.from({ length: 200 }, (_, at) => ({ Id: idOf(whose, at), Names: [], Labels })),
  );
}

/** Waits for a while until something is so. */
async function settled(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000 && !isSo(); turn++) await settle();
  assert.ok(isSo());
}

describe("CallTurns", () => {
  it("gives each call its whole time beside the waits for others that are read", async () => {
    const clock = createFakeClock();
    let begun = 0;
    async function* slow() {
      begun++;
      await clock.sleep(100_000, never);
      yield new TextEncoder().encode("{}");
    }
    async function* version() {
      await Promise.resolve();
      yield new TextEncoder().encode('{"ApiVersion":"1.45"}');
    }
    const transport: Transport = {
      description: "engine",
      request: ({ path }) =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: path === "/version" ? version() : slow(),
          discard() {},
        }),
      close() {},
    };
    const api = new EngineApi(transport, { clock });
    const ask = (_: unknown, at: number) => api.find(`/x${at}`, never);
    const all = Promise.allSettled(Array.from({ length: 16 }, ask));
    await settled(() => begun === 8);
    await clock.advance(201_000);
    assert.deepEqual(new Set((await all).map(({ status }) => status)), new Set(["fulfilled"]));
  });

  it("gives long answers up until it is their turn, and sources take turns", async () => {
    const { calls, asked, clock, go, open } = createWorld();
    await calls.listContainers({ [PROJECT]: "evil" }, never);
    await calls.listContainers({ [PROJECT]: "bob" }, never);
    const evil = Array.from(
      { length: 40 },
      (_, at) => calls.inspectContainer(idOf("e", at), never),
    );
    // Two have their turn, and all others hold nothing.
    await settled(() => asked.length >= 42 && open() === 2);
    const bob = calls.inspectContainer(idOf("b", 0), never);
    await settled(() => asked.length >= 43 && open() === 2);
    assert.equal(open(), 2);
    go.resolve();
    const all = Promise.all([...evil, bob]);
    let isOver = false;
    all.then(() => isOver = true);
    while (!isOver) {
      await settle();
      await clock.advance(40);
    }
    const turns = asked.slice(43);
    assert.equal(turns.length, 39);
    assert.ok(turns.indexOf(idOf("b", 0)) < 2, String(turns.indexOf(idOf("b", 0))));
  });
});
