import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { portTold } from "../../../../src/deploy/engine/taken_port.ts";

const DRIVER =
  "engine refused POST /x/start: 500 driver failed programming external connectivity: ";

describe("portTold()", () => {
  const rows = [
    [
      "Error starting userland proxy: listen tcp4 127.0.0.1:8100: bind: address already in use",
      /^port 127\.0\.0\.1:8100 of the host is taken by a program .*sport = :8100/,
    ],
    [
      "failed to bind host port for 0.0.0.0:53:172.17.0.2:53/udp: address already in use",
      /^port 0\.0\.0\.0:53 of the host is taken by a program/,
    ],
    [
      "failed to bind host port [2001:db8::1]:80/tcp: address already in use",
      /^port \[2001:db8::1\]:80 of the host is taken by a program/,
    ],
    [
      "Bind for 0.0.0.0:80 failed: port is already allocated",
      /^port 0\.0\.0\.0:80 of the host is taken by another container .*publish=80 says which/,
    ],
    [
      "Bind for ::1:31880 failed: port is already allocated",
      /^port ::1:31880 of the host is taken by another container .*publish=31880 says which/,
    ],
    [
      "Bind for :::443 failed: port is already allocated",
      /^port :::443 of the host is taken by another container .*publish=443 says which/,
    ],
  ] as const;
  for (const [refusal, told] of rows) {
    it(refusal, () => assert.match(portTold(DRIVER + refusal), told));
  }

  it("leaves other refusals as they are", () => {
    assert.equal(portTold(`${DRIVER}no such network`), `${DRIVER}no such network`);
  });
});
