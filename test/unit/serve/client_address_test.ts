import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientAddress } from "../../../src/serve/client_address.ts";
import { createNetworks } from "../../../src/system/mod.ts";

const networks = createNetworks(["127.0.0.0/8", "10.0.0.0/8", "::1/128", "fd00::/8"]);

describe("clientAddress()", () => {
  const rows: readonly [string, string, Record<string, string>, string, string?][] = [
    ["without a proxy it is the peer", "203.0.113.9", {}, "203.0.113.9"],
    [
      "a stranger cannot say who he is",
      "203.0.113.9",
      { "x-forwarded-for": "1.2.3.4" },
      "203.0.113.9",
    ],
    ["a proxy says it", "10.0.0.1", { "x-forwarded-for": "198.51.100.7" }, "198.51.100.7"],
    [
      "the last hop that is no proxy counts, not what the client claimed before",
      "10.0.0.1",
      { "x-forwarded-for": "1.1.1.1, 198.51.100.7, 10.2.3.4" },
      "198.51.100.7",
    ],
    [
      "when all are proxies, the first",
      "127.0.0.1",
      { "x-forwarded-for": "10.9.9.9, 10.1.1.1" },
      "10.9.9.9",
    ],
    [
      "nonsense is passed over",
      "10.0.0.1",
      { "x-forwarded-for": "unknown, 198.51.100.7:443" },
      "198.51.100.7",
    ],
    [
      "IPv4 in IPv6 form is IPv4",
      "::ffff:10.0.0.1",
      { "x-forwarded-for": "::ffff:198.51.100.7" },
      "198.51.100.7",
    ],
    ["IPv6 with a port", "::1", { "x-forwarded-for": "[2001:db8::7]:99" }, "2001:db8::7"],
    ["Forwarded where there is no other", "10.0.0.1", {
      forwarded: 'for="[2001:db8::7]";proto=https, for=10.0.0.3',
    }, "2001:db8::7"],
    ["nothing said", "10.0.0.1", {}, "10.0.0.1"],
    [
      "a header of another name",
      "10.0.0.1",
      { "cf-connecting-ip": "198.51.100.7" },
      "198.51.100.7",
      "CF-Connecting-IP",
    ],
    [
      "that header without an address",
      "10.0.0.1",
      { "cf-connecting-ip": "x" },
      "10.0.0.1",
      "CF-Connecting-IP",
    ],
  ];
  for (const [what, remote, headers, expected, header = "X-Forwarded-For"] of rows) {
    it(what, () => {
      assert.equal(clientAddress(remote, new Headers(headers), { networks, header }), expected);
    });
  }

  it("has networks of single addresses, and leaves out what is none", () => {
    const few = createNetworks(["192.0.2.1", "nonsense", "x/8"]);
    assert.deepEqual(["192.0.2.1", "192.0.2.2", "nonsense"].map(few.contains), [
      true,
      false,
      false,
    ]);
  });
});
