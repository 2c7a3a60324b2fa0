import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type HttpServiceOptions, startHttpService } from "./http_service.ts";

const PATH = "/v1/api/storage/compact";
const SUMMARY = "repack of 1 mirror: 1 compacted; packfiles 2.0 KiB -> 1.0 KiB";
const options = (more: HttpServiceOptions = {}): HttpServiceOptions => ({
  mirrors: [{ repository: "example.org/acme/shop", path: "/m" }],
  compacted: { status: "succeeded", message: SUMMARY },
  ...more,
});

async function post(query: string, more?: HttpServiceOptions) {
  const service = await startHttpService(options(more));
  try {
    const response = await service.fetch(`${PATH}${query}`, { method: "POST" });
    const body = await response.json();
    const [run] = service.runs.list({ limit: 2, trigger: "mirror_compaction" });
    return { status: response.status, body, run };
  } finally {
    await service.stop();
  }
}

describe("POST /v1/api/storage/compact", () => {
  it("starts a run and does not wait for it", async () => {
    const { status, body, run } = await post("");
    assert.deepEqual([status, body.content], [202, "mirror compaction started"]);
    assert.equal(body.job_id, run?.id);
  });

  it("with wait is answered with the run", async () => {
    const { status, body, run } = await post(
      "?wait=true&repository=https://example.org/acme/shop.git&mode=Copy&max_size=0",
    );
    assert.equal(status, 200);
    assert.deepEqual([body.content.job_id, body.content.status, body.content.message], [
      run?.id,
      "succeeded",
      SUMMARY,
    ]);
    assert.equal(body.content.trigger, "mirror_compaction");
  });

  it("with wait is a 500 with the summary where a mirror failed", async () => {
    const compacted = {
      status: "failed",
      message: "1/3 mirror compactions failed: the summary",
    } as const;
    const { status, body, run } = await post("?wait=true", { compacted });
    assert.equal(status, 500);
    assert.deepEqual(body, {
      error: "1/3 mirror compactions failed",
      content: "the summary",
      job_id: run?.id,
    });
  });

  const refusals: readonly [string, number, string][] = [
    [
      "?mode=squeeze",
      400,
      'invalid mirror compaction request: unknown mode, want "repack" or "copy"',
    ],
    ["?max_size=-1", 400, "invalid mirror compaction request: max size is negative"],
    ["?max_size=x", 400, "invalid parameter: max_size"],
    ["?wait=maybe", 400, "invalid parameter: wait"],
    ["?repository=none", 404, "no git mirrors found"],
  ];
  for (const [query, expected, error] of refusals) {
    it(`${query} is ${expected} ${error}, and opens no run`, async () => {
      const { status, body, run } = await post(query);
      assert.deepEqual([status, body.error, run], [expected, error, undefined]);
    });
  }

  it("is a 404 where there is no mirror at all", async () => {
    const { status, body } = await post("", { mirrors: [] });
    assert.deepEqual([status, body.error], [404, "no git mirrors found"]);
  });

  it("is a 409 with the id of the compaction that is under way", async () => {
    const service = await startHttpService(options());
    service.runs.accept({ id: "busy", trigger: "mirror_compaction" });
    const response = await service.fetch(PATH, { method: "POST" });
    assert.equal(response.status, 409);
    assert.deepEqual(await response.json(), {
      error: "mirror compaction busy is already running",
      job_id: "busy",
    });
    await service.stop();
  });
});
