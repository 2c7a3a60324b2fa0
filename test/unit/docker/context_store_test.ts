import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createContextStore, readContext } from "../../../src/docker/context_store.ts";
import { describeEndpoint } from "../../../src/docker/endpoint.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";
import { writeContext } from "../../fakes/context_files.ts";

const NO_TLS = { tls: "/tls", files: [] };

describe("readContext()", () => {
  const text = (docker: unknown) => JSON.stringify({ Name: "two", Endpoints: { docker } });
  const ca = { tls: "/tls", files: ["ca.pem"] } as const;
  const cases = [
    [text({ Host: "unix:///run/two.sock" }), ca, "unix:///run/two.sock", undefined],
    [text({ Host: "tcp://two", SkipTLSVerify: false }), NO_TLS, "tcp://two:2375", undefined],
    [text({ Host: "tcp://two" }), ca, "tcp://two:2376 (TLS)", {
      certificates: "/tls",
      files: ["ca.pem"],
    }],
    [text({ Host: "ssh://me@two:22" }), ca, "ssh://me@two:22", undefined],
  ] as const;
  for (const [meta, beside, expected, tls] of cases) {
    it(`reads ${expected}`, () => {
      const endpoint = readContext(meta, beside);
      assert.equal(describeEndpoint(endpoint), expected);
      assert.deepEqual(endpoint.kind === "tcp" ? endpoint.tls : undefined, tls);
    });
  }

  const refused = [
    ["no JSON", "{", /no JSON/],
    ["no endpoint", "{}", /names no engine/],
    ["another kind of endpoint", '{"Endpoints":{"kubernetes":{}}}', /names no engine/],
    ["an endpoint of another type", '{"Endpoints":{"docker":[1]}}', /names no engine/],
    ["a scheme nobody speaks", text({ Host: "npipe:////./pipe/x" }), /npipe:\/\/ is not supported/],
    ["a lost certificate", text({ Host: "tcp://x:2376" }), /in the clear/],
    [
      "certificates that are not looked at",
      text({ Host: "tcp://x", SkipTLSVerify: true }),
      /skip-tls/,
    ],
  ] as const;
  const ownOnly = { tls: "/tls", files: ["cert.pem", "key.pem"] } as const;
  const allRefused = [
    ...refused.map((each) => [...each, NO_TLS] as const),
    ["no authority", text({ Host: "tcp://x" }), /compose would refuse/, ownOnly],
  ] as const;
  for (const [what, meta, message, beside] of allRefused) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => readContext(meta, beside),
        (error) => isStackwrightError(error, "settings_invalid") && message.test(error.message),
      );
    });
  }
});

describe("ContextStore", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), "swt-contexts-"));
  });
  afterEach(async () => {
    await fs.rm(directory, { recursive: true });
  });
  const store = () => createContextStore(systemFiles, directory);

  it("knows nothing where there is no store", async () => {
    assert.deepEqual(await store().names(), []);
    assert.equal(await store().find("two"), undefined);
  });

  it("finds a context by its name, and sees one that was made since", async () => {
    const contexts = store();
    assert.equal(await contexts.find("two"), undefined);
    writeContext(directory, "two", { host: "unix:///run/two.sock" });
    assert.deepEqual(await contexts.find("two"), { kind: "unix", socketPath: "/run/two.sock" });
    assert.deepEqual(await contexts.names(), ["two"]);
  });

  it("names what can be read, whatever lies beside it", async () => {
    writeContext(directory, "two", { host: "unix:///run/two.sock" });
    writeContext(directory, "one", { host: "npipe:////./pipe/one" });
    const meta = join(directory, "contexts", "meta");
    await fs.mkdir(join(meta, "broken"), { recursive: true });
    await fs.writeFile(join(meta, "broken", "meta.json"), "{");
    await fs.mkdir(join(meta, "liar"));
    await fs.writeFile(join(meta, "liar", "meta.json"), '{"Name":"two"}');
    await fs.writeFile(join(meta, "stray"), "");
    assert.deepEqual(await store().names(), ["one", "two"]);
    await assert.rejects(
      store().find("one"),
      (error) =>
        isStackwrightError(error, "settings_invalid") && /context one cannot/.test(error.message),
    );
  });

  it("makes no path of what is no name", async () => {
    for (const name of ["", "..", "../two", "a/b", "a b", "x"]) {
      assert.equal(await store().find(name), undefined, name);
    }
  });
});
