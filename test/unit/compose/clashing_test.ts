import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Claims, clashing, portHolders } from "../../../src/compose/mod.ts";

const NOTHING: Claims = { ports: [], names: [], addresses: [], hostNetwork: false, writes: [] };
const service = (name: string, claims: Partial<Claims>) => ({
  name,
  claims: { ...NOTHING, ...claims },
});
const tcp = (port: number, address = "") => ({ address, port, protocol: "tcp" });

/** Numbers that look random and are the same every time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
}

describe("clashing()", () => {
  const clash = (held: Partial<Claims>, needed: Partial<Claims>) =>
    clashing([service("a", held)], [service("b", needed)]).has("a");
  const table: readonly (readonly [Partial<Claims>, Partial<Claims>, boolean])[] = [
    [{}, {}, false],
    [{ names: ["x"] }, { names: ["x"] }, true],
    [{ names: ["x"] }, { addresses: ["x"] }, false],
    [{ addresses: ["n 1.2.3.4"] }, { addresses: ["n 1.2.3.4"] }, true],
    [{ hostNetwork: true }, { hostNetwork: true }, true],
    [{ hostNetwork: true }, { ports: [tcp(80)] }, true],
    [{ ports: [tcp(80)] }, { hostNetwork: true }, true],
    [{ ports: [tcp(80)] }, { ports: [tcp(81)] }, false],
    [{ ports: [tcp(80)] }, { ports: [tcp(80, "127.0.0.1")] }, true],
    [{ ports: [tcp(80, "127.0.0.1")] }, { ports: [tcp(80, "127.0.0.2")] }, false],
    [{ ports: [tcp(80, "::")] }, { ports: [tcp(80, "0.0.0.0")] }, false],
    [{ writes: ["data"] }, { writes: ["data"] }, true],
    [{ writes: ["/a"] }, { writes: ["/a/b"] }, true],
    [{ writes: ["/a/b/c"] }, { writes: ["/a"] }, true],
    [{ writes: ["/a"] }, { writes: ["/a-b", "/ab", "/a b"] }, false],
    [{ writes: ["/"] }, { writes: ["/a"] }, true],
  ];
  for (const [held, needed, expected] of table) {
    it(`${JSON.stringify(held)} and ${JSON.stringify(needed)}: ${expected}`, () => {
      assert.equal(clash(held, needed), expected);
    });
  }

  it("minds no service that needs what it has itself", () => {
    const claims = { names: ["x"], ports: [tcp(80)], writes: ["/a"] };
    assert.deepEqual([...clashing([service("a", claims)], [service("a", claims)])], []);
    const both = [service("a", claims), service("b", claims)];
    assert.deepEqual([...clashing(both, both)], [["a", "b"], ["b", "a"]]);
  });

  it("finds the same as comparing everything with everything, and who is the first", () => {
    const below = numbers(4711);
    const path = () => `/${Array.from({ length: 1 + below(3) }, () => "ab-"[below(3)]).join("/")}`;
    const some = <T>(make: () => T) => Array.from({ length: below(3) }, make);
    const random = (name: string) =>
      service(name, {
        writes: some(path),
        names: some(() => `c${below(4)}`),
        ports: some(() => tcp(80 + below(3), ["", "1.2.3.4", "::1"][below(3)] ?? "")),
      });
    const overlap = (a: string, b: string) =>
      a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
    for (let round = 0; round < 500; round++) {
      const held = ["a", "b", "c"].map(random);
      const needed = ["b", "c", "d"].map(random);
      const expected = held.flatMap((one) => {
        const taker = needed.find((other) =>
          one.name !== other.name && (
            one.claims.names.some((each) => other.claims.names.includes(each)) ||
            portHolders([{ hostPorts: one.claims.ports }])(other.claims.ports).size > 0 ||
            one.claims.writes.some((each) =>
              other.claims.writes.some((path) => overlap(each, path))
            )
          )
        );
        return taker === undefined ? [] : [[one.name, taker.name]];
      });
      assert.deepEqual([...clashing(held, needed)], expected, JSON.stringify({ held, needed }));
    }
  });

  it("looks each port and path up, instead of comparing all with all", () => {
    let looks = 0;
    const counted = (path: string) =>
      ({
        toString: () => path,
        [Symbol.toPrimitive]: () => {
          looks++;
          return path;
        },
      }) as unknown as string;
    const many = (letter: string) =>
      Array.from({ length: 30 }, (_, at) =>
        service(`${letter}${at}`, {
          writes: Array.from({ length: 30 }, (_, of) => counted(`/${letter}/${at}/${of}`)),
        }));
    assert.deepEqual([...clashing(many("a"), many("b"))], []);
    assert.ok(looks < 10_000, `${looks} looks`);
  });
});
