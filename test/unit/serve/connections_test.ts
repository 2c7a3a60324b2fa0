import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Connection, Connections } from "../../../src/serve/connections.ts";

interface FakeConnection extends Connection {
  readonly destroyed: boolean;
  /** Says that it is closed, which takes a while after `destroy`. */
  close(): void;
}

function connection(remotePort: number): FakeConnection {
  const listeners: (() => void)[] = [];
  let destroyed = false;
  return {
    remoteAddress: "192.0.2.1",
    remotePort,
    get destroyed() {
      return destroyed;
    },
    destroy: () => destroyed = true,
    once: (_event, listener) => listeners.push(listener),
    close: () => listeners.splice(0).forEach((listener) => listener()),
  };
}

/** As many connections as there may be. */
function fullHouse(most = 3) {
  const connections = new Connections(most);
  const open = Array.from({ length: most }, (_, index) => connection(index + 1));
  open.forEach((each) => connections.open(each));
  return { connections, open };
}

const receiving = { complete: false };
const received = () => ({ complete: true });

describe("Connections", () => {
  it("open() keeps as many as there may be and forgets those that close", () => {
    const { connections, open } = fullHouse();
    assert.equal(connections.size, 3);
    open[1]?.close();
    assert.equal(connections.size, 2);
    connections.open(connection(4));
    assert.deepEqual(open.map(({ destroyed }) => destroyed), [false, false, false]);
  });

  it("open() closes the one that takes in its answer the longest when no other makes room", () => {
    const { connections, open } = fullHouse();
    const requests = open.map((each) => {
      const request = received();
      connections.begin(each, request);
      return request;
    });
    const [first, second, third] = open;
    assert.ok(first && second && third && requests[1]);
    [second, third, first].forEach((each) => connections.send(each));
    // It has its answer, and waits for that of its next request.
    connections.end(second, requests[1]);
    connections.begin(second, received());
    connections.open(connection(4));
    assert.deepEqual(open.map(({ destroyed }) => destroyed), [false, false, true]);
  });

  it("mayBegin() takes so many requests of a connection, and of all, until others had their turn", async () => {
    const connections = new Connections(50);
    const all = Array.from({ length: 50 }, (_, at) => connection(at + 1));
    all.forEach((each) => connections.open(each));
    const begun = all.map((each) =>
      Array.from({ length: 40 }, () => connections.mayBegin(each)).indexOf(false)
    );
    assert.equal(begun[0], 32);
    // Of the last ones no more than one.
    assert.equal(begun.at(-1), 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(all.every((each) => connections.mayBegin(each) && connections.mayBegin(each)));
  });

  it("mayBegin() takes no more of a connection than may wait for answers, however slowly they come", async () => {
    const { connections, open: [one] } = fullHouse(1);
    assert.ok(one !== undefined);
    const requests = Array.from({ length: 32 }, received);
    for (const each of requests) {
      assert.equal(connections.mayBegin(one), true);
      connections.begin(one, each);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(connections.mayBegin(one), false);
    for (const each of requests) connections.end(one, each);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(connections.mayBegin(one), true);
  });

  it("mayBegin() takes one of each while many wait behind others, until their connections close", async () => {
    const connections = new Connections(50);
    const all = Array.from({ length: 50 }, (_, at) => connection(at + 1));
    all.forEach((each) => connections.open(each));
    const [last] = all.splice(-1);
    assert.ok(last !== undefined);
    connections.begin(last, received());
    for (const each of all.slice(0, 5)) {
      for (let count = 0; count < 21; count++) connections.begin(each, received());
    }
    assert.deepEqual(all.slice(5).map((each) => connections.mayBegin(each)), Array(44).fill(true));
    assert.equal(connections.mayBegin(last), false);
    for (const each of all) each.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(connections.mayBegin(last), true);
  });

  const houses: [string, (readonly { complete: boolean }[])[], number | undefined][] = [
    ["the oldest without a request", [[received()], [], []], 1],
    ["one without a request before one that is still sending", [[receiving], [received()], []], 2],
    ["the oldest that is still sending", [[received()], [{ ...receiving }], [receiving]], 1],
    ["nobody who waits for an answer", [[received()], [received()], [received()]], undefined],
    ["one of whose requests one is still coming in", [
      [received()],
      [received(), receiving],
      [received()],
    ], 1],
  ];
  for (const [who, requests, gone] of houses) {
    it(`open() with a full house cuts ${who}`, () => {
      const { connections, open } = fullHouse();
      requests.forEach((list, index) => {
        const owner = open[index];
        if (owner !== undefined) list.forEach((request) => connections.begin(owner, request));
      });
      const late = connection(9);
      connections.open(late);
      assert.deepEqual(
        open.map(({ destroyed }) => destroyed),
        open.map((_, index) => index === gone),
      );
      assert.equal(late.destroyed, gone === undefined);
      assert.equal(connections.size, 3);
      // The one that was cut closes at last, and that changes nothing.
      if (gone !== undefined) open[gone]?.close();
      assert.equal(connections.size, 3);
    });
  }

  it("knows a connection by its address, whichever object stands for it", () => {
    const connections = new Connections(1);
    connections.open(connection(1));
    const request = received();
    connections.begin(connection(1), request);
    assert.equal(connections.isBusy(connection(1)), true);
    assert.equal(connections.isBusy(connection(2)), false);
    assert.equal(connections.end(connection(1), request), false);
    assert.equal(connections.isBusy(connection(1)), false);
  });

  it("keeps the new connection of an address when the old one says late that it closed", () => {
    const connections = new Connections(1);
    const [old, young] = [connection(1), connection(1)];
    connections.open(old);
    connections.open(young);
    assert.deepEqual([old.destroyed, young.destroyed], [true, false]);
    old.close();
    assert.equal(connections.size, 1);
    young.close();
    assert.equal(connections.size, 0);
  });

  it("end() tells whether the connection has another request", () => {
    const { connections, open: [one] } = fullHouse(1);
    assert.ok(one !== undefined);
    const requests = [received(), received()] as const;
    requests.forEach((each) => connections.begin(one, each));
    assert.equal(connections.end(one, requests[0]), true);
    assert.equal(connections.end(one, requests[1]), false);
  });

  it("drain() cuts the idle at once and ends when the others are closed", async () => {
    const { connections, open } = fullHouse(2);
    const [idle, busy] = open;
    assert.ok(idle !== undefined && busy !== undefined);
    connections.begin(busy, received());
    let over = false;
    const drained = connections.drain().then(() => over = true);
    assert.deepEqual([idle.destroyed, busy.destroyed, connections.closing], [true, false, true]);
    const late = connection(9);
    connections.open(late);
    assert.equal(late.destroyed, true);
    idle.close();
    await Promise.resolve();
    assert.equal(over, false);
    busy.close();
    await drained;
    await connections.drain();
  });

  it("cut() destroys all of them", () => {
    const { connections, open } = fullHouse();
    connections.begin(connection(1), received());
    connections.cut();
    assert.ok(open.every(({ destroyed }) => destroyed));
  });
});
