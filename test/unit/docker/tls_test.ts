import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { createEngine } from "../../../src/docker/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import {
  type EngineCertificates,
  makeEngineCertificates,
  startTlsFront,
  type TlsFront,
} from "../../fakes/tls_front.ts";
import { type HostileEngine, startHostileEngine } from "../../fakes/hostile_engine.ts";

const never = new AbortController().signal;
const ALL = ["ca.pem", "cert.pem", "key.pem"];

describe("an engine by TLS", () => {
  let ours: EngineCertificates;
  let others: EngineCertificates;
  let engine: HostileEngine;
  let front: TlsFront;
  let expired: TlsFront;
  before(async () => {
    [ours, others] = [makeEngineCertificates(), makeEngineCertificates()];
    engine = await startHostileEngine();
    front = await startTlsFront(engine.socketPath, ours);
    const root = dirname(ours.server);
    const old = join(root, "old");
    await fs.cp(ours.server, old, { recursive: true });
    const signed = ["-CA", join(root, "ca.pem"), "-CAkey", join(root, "ca-key.pem"), "-days", "0"];
    const files = ["-extfile", join(root, "server.ext"), "-out", join(old, "cert.pem")];
    const request = ["-req", "-in", join(root, "server.csr"), "-CAcreateserial"];
    execFileSync("openssl", ["x509", ...request, ...signed, ...files], { stdio: "ignore" });
    expired = await startTlsFront(engine.socketPath, { ...ours, server: old });
    // It lasts to the end of the second.
    await new Promise((resolve) => setTimeout(resolve, 2000));
  });
  after(async () => {
    for (const each of [front, expired, engine]) await each.close();
    for (const each of [ours, others]) each.remove();
  });

  const ask = async (port: number, tls?: { certificates: string; files: readonly string[] }) => {
    const endpoint = { kind: "tcp", host: "127.0.0.1", port } as const;
    const client = createEngine({ endpoint: tls === undefined ? endpoint : { ...endpoint, tls } });
    try {
      return await client.apiVersion(never);
    } finally {
      client.close();
    }
  };

  it("answers who has its certificates", async () => {
    assert.equal(await ask(front.port, { certificates: ours.client, files: ALL }), "1.45");
  });

  it("gets no word where it cannot show who it is, or does not know us, whatever else is set", async () => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const before = engine.asked.length;
      const mine = { certificates: ours.client, files: ALL };
      const cases = [
        ["another authority", front.port, { certificates: others.client, files: ALL }],
        ["public authorities", front.port, { ...mine, files: ["cert.pem", "key.pem"] }],
        ["no key of ours", front.port, { ...mine, files: ["ca.pem"] }],
        ["a certificate that is over", expired.port, mine],
        ["no TLS", front.port, undefined],
      ] as const;
      for (const [what, port, tls] of cases) {
        await assert.rejects(
          ask(port, tls),
          (error) => isStackwrightError(error, "engine_unreachable"),
          what,
        );
      }
      assert.equal(engine.asked.length, before);
    } finally {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    }
  });
});
