import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRunView, runView } from "../../../src/api/run_view.ts";
import type { Run } from "../../../src/model/mod.ts";

const at = new Date("2026-03-10T11:00:00.007Z");
const accepted: Run = {
  id: "0199",
  trigger: "webhook",
  status: "accepted",
  repository: "",
  target: "",
  revision: "",
  message: "",
  targets: [],
  createdAt: at,
  updatedAt: at,
};
const finished: Run = {
  ...accepted,
  status: "failed",
  repository: "example.org/acme/shop",
  target: "prod",
  revision: "refs/heads/main (4f1c2d3)",
  message: "shop: pull failed",
  startedAt: at,
  finishedAt: at,
  targets: [
    {
      context: "edge",
      stack: "shop",
      status: "skipped",
      reason: "delay",
      retryAt: at,
      message: "waits",
      revision: "refs/heads/main (4f1c2d3)",
      services: [{ name: "web", action: "keep", because: ["unchanged"] }],
    },
    { context: "default", stack: "a", status: "succeeded", message: "", services: [] },
  ],
};

describe("createRunView()", () => {
  it("leaves out what is empty or unknown", () => {
    assert.deepEqual(createRunView("Europe/Berlin")(accepted), {
      job_id: "0199",
      trigger: "webhook",
      status: "accepted",
      created_at: "2026-03-10T12:00:00.007+01:00",
      updated_at: "2026-03-10T12:00:00.007+01:00",
    });
  });

  it("shows everything else, times in the zone", () => {
    const time = "2026-03-10T11:00:00.007+00:00";
    assert.deepEqual(createRunView("UTC")(finished), {
      job_id: "0199",
      trigger: "webhook",
      status: "failed",
      repository: "example.org/acme/shop",
      target: "prod",
      revision: "refs/heads/main (4f1c2d3)",
      deployments: [
        {
          context: "edge",
          stack: "shop",
          status: "skipped",
          reason: "delay",
          retry_at: time,
          message: "waits",
          revision: "refs/heads/main (4f1c2d3)",
          services: [{ name: "web", action: "keep", because: ["unchanged"] }],
        },
        { context: "default", stack: "a", status: "succeeded" },
      ],
      message: "shop: pull failed",
      created_at: time,
      started_at: time,
      finished_at: time,
      updated_at: time,
    });
  });

  it("gives what its schema describes", () => {
    for (const run of [accepted, finished]) {
      const view = createRunView("UTC")(run);
      assert.deepEqual(runView.parse(view), view);
    }
  });

  it("puts a run together once, and anew when it has changed", () => {
    const view = createRunView("UTC");
    assert.equal(view(finished), view(finished));
    assert.deepEqual(view({ ...finished, message: "again" }), {
      ...view(finished),
      message: "again",
    });
  });
});
