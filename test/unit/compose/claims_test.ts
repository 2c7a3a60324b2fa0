import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clashes, portHolders } from "../../../src/compose/mod.ts";
import type { HostPort } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";

const MODEL = {
  name: "shop",
  services: {
    web: {
      container_name: "front",
      ports: [
        { mode: "ingress", host_ip: "127.0.0.1", target: 80, published: "8080", protocol: "tcp" },
        { mode: "ingress", target: 53, published: "53", protocol: "udp" },
      ],
    },
    range: { ports: [{ mode: "ingress", target: 80, published: "9000-9005", protocol: "tcp" }] },
  },
};

const two = () => ({ named: 2, started: 2 });

function holding(...hostPorts: HostPort[]) {
  return runningContainer("other", "x", { hostPorts });
}

describe("clashes()", () => {
  const table: readonly (readonly [HostPort, boolean])[] = [
    [{ address: "127.0.0.1", port: 8080, protocol: "tcp" }, true],
    [{ address: "0.0.0.0", port: 8080, protocol: "tcp" }, true],
    [{ address: "", port: 8080, protocol: "tcp" }, true],
    [{ address: "::", port: 8080, protocol: "tcp" }, false],
    [{ address: "::1", port: 8080, protocol: "tcp" }, false],
    [{ address: "::1", port: 53, protocol: "udp" }, true],
    [{ address: "127.0.0.2", port: 8080, protocol: "tcp" }, false],
    [{ address: "0.0.0.0", port: 8080, protocol: "udp" }, false],
    [{ address: "0.0.0.0", port: 8081, protocol: "tcp" }, false],
    [{ address: "10.0.0.1", port: 53, protocol: "udp" }, true],
    [{ address: "10.0.0.1", port: 53, protocol: "tcp" }, false],
  ];
  for (const [held, expected] of table) {
    it(`${expected ? "finds" : "does not mind"} ${JSON.stringify(held)}`, () => {
      assert.equal(clashes(MODEL, ["web"], [holding(held)]).length, expected ? 1 : 0);
    });
  }

  it("says who needs what, and who has it", () => {
    const other = { ...holding({ address: "::", port: 53, protocol: "udp" }), name: "front" };
    assert.deepEqual(clashes(MODEL, ["web"], [other]), [
      "service web needs port 53/udp, which container front of project other holds",
      "service web needs the container name front, which container front of project other has",
    ]);
    const { labels: _labels, ...stray } = other;
    assert.match(clashes(MODEL, ["web"], [{ ...stray, labels: {} }])[0] ?? "", /front holds$/);
  });

  it("says of what is left alone of the stack itself how it makes room", () => {
    const held = { address: "::", port: 53, protocol: "udp" };
    const left = { ...runningContainer("shop", "old"), name: "front", hostPorts: [held] };
    const [port = "", name = ""] = clashes(MODEL, ["web"], [left]);
    assert.match(
      port,
      /front of project shop holds; it is of this very stack, but Stackwright did not make it and leaves it alone: .* \(docker update --restart no front; docker stop front\)$/,
    );
    assert.match(name, /front of project shop has; .* \(docker rename front front-old\)$/);
  });

  it("finds who has the name that a container gets without one of its author's", () => {
    const taker = { ...runningContainer("evil", "x"), name: "shop-range-1" };
    assert.deepEqual(clashes(MODEL, ["range"], [taker]), [
      "service range needs the container name shop-range-1, which container shop-range-1 of project " +
      "evil has",
    ]);
    assert.deepEqual(clashes(MODEL, ["web"], [taker]), []);
  });

  it("finds who has the name of any of a service's containers", () => {
    const taker = { ...runningContainer("evil", "x"), name: "shop-range-3" };
    assert.deepEqual(clashes(MODEL, ["range"], [taker], two), []);
    assert.match(
      clashes(MODEL, ["range"], [taker], () => ({ named: 3, started: 3 }))[0] ?? "",
      /^service range needs the container name shop-range-3, which container shop-range-3 of/,
    );
  });

  it("counts a name that another stack's container left for the moment, not one that its own left", () => {
    const aside = (stack: string) => ({
      ...runningContainer(stack, "x"),
      name: "0123456789ab_shop-range-1",
    });
    assert.deepEqual(clashes(MODEL, ["range"], [aside("evil")]), [
      "service range needs the container name shop-range-1, which container " +
      "0123456789ab_shop-range-1 of project evil has",
    ]);
    assert.deepEqual(clashes(MODEL, ["range"], [aside("shop")]), []);
  });

  it("leaves a range to the engine as long as enough of it is free", () => {
    const from = (first: number, address = "0.0.0.0", count = 6) =>
      holding(
        ...Array.from({ length: count }, (_, at) => ({
          address,
          port: first + at,
          protocol: "tcp",
        })),
      );
    assert.deepEqual(clashes(MODEL, ["range"], [from(9001)]), []);
    assert.deepEqual(clashes(MODEL, ["range"], [from(9001, "127.0.0.1", 4)], two), []);
    assert.deepEqual(clashes(MODEL, ["range"], [from(9001)], two), [
      "service range needs 2 of the ports 9000-9005/tcp (free: 1), which container other-x-1 of project " +
      "other holds",
    ]);
    assert.equal(clashes(MODEL, ["range"], [from(9000, "::1", 3), from(9003)]).length, 1);
  });

  it("minds no port of a service that is not started", () => {
    const held = { address: "0.0.0.0", port: 8080, protocol: "tcp" };
    assert.equal(clashes(MODEL, ["web"], [holding(held)]).length, 1);
    assert.deepEqual(
      clashes(MODEL, ["web"], [holding(held)], () => ({ named: 1, started: 0 })),
      [],
    );
    assert.deepEqual(
      clashes(MODEL, [], [holding({ address: "0.0.0.0", port: 8080, protocol: "tcp" })]),
      [],
    );
  });

  it("does not mind containers that hold no port now", () => {
    const { hostPorts: _ports, ...stopped } = holding();
    assert.deepEqual(clashes(MODEL, ["web"], [stopped]), []);
  });

  it("looks each port of a long range up, instead of comparing all with all", () => {
    let looks = 0;
    const ports = (protocol: string) =>
      Array.from({ length: 1000 }, (_, at) => ({
        address: "127.0.0.1",
        get port() {
          looks++;
          return 10_000 + at;
        },
        protocol,
      }));
    assert.equal(portHolders([{ hostPorts: ports("tcp") }])(ports("udp")).size, 0);
    assert.ok(looks < 10_000, `${looks} looks`);
    const holder = { hostPorts: ports("tcp").slice(5) };
    assert.equal(portHolders([holder])(ports("tcp")).get(holder)?.port, 10_005);
  });
});
