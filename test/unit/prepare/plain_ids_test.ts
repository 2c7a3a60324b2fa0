import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainIds } from "../../../src/prepare/content.ts";
import { processorMs } from "../processor_time.ts";

describe("plainIds()", () => {
  it("takes little time with as many paths and encrypted files as there may be", async () => {
    const files = Array.from({ length: 5000 }, (_, at) => `secrets/of/the/stack/${at}.yaml`);
    const identities = new Map(files.map((each) => [each, "1"]));
    const ids = new Map(files.map((_, at) => [`config/of/the/stack/${at}`, "file:1"]));
    ids.set("secrets", "directory:1");
    const source = { list: () => Promise.resolve(new Map()) };
    const start = processorMs();
    const { signal } = new AbortController();
    const plain = await plainIds(source as never, {} as never, { ids, identities }, signal);
    assert.ok(processorMs() - start < 500, `${processorMs() - start} ms`);
    assert.match(plain.get("secrets") ?? "", /^plain:/);
    assert.equal(plain.get("config/of/the/stack/7"), "file:1");
  });
});
