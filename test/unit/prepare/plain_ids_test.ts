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

  it("refuses directories in one another that hold too many files together", async () => {
    const deep = Array.from({ length: 2000 }, (_, at) => Array(at + 1).fill("a").join("/"));
    const ids = new Map(deep.map((each) => [each, "directory:1"]));
    const identities = new Map([[`${deep.at(-1)}/secret.yaml`, "1"]]);
    let asked = 0;
    const listed = new Map(Array.from({ length: 10_000 }, (_, at) => [`${at}`, { kind: "file" }]));
    const source = { list: () => Promise.resolve(void asked++).then(() => listed) };
    const { signal } = new AbortController();
    const plain = plainIds(source as never, {} as never, { ids, identities }, signal);
    await assert.rejects(plain, /such as a\/.*, hold more than 1000000 files together/);
    assert.equal(asked, 101);
  });
});
