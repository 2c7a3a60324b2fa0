import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPrometheus } from "../../../src/record/mod.ts";
import { METRICS } from "../../../src/system/mod.ts";

describe("createPrometheus()", () => {
  it("shows every metric of the table with its help and type, before anything was measured", async () => {
    const text = await createPrometheus().text();
    for (const [name, { kind, help }] of Object.entries(METRICS)) {
      assert.ok(text.includes(`# HELP service_${name} ${help}\n`), name);
      assert.ok(text.includes(`# TYPE service_${name} ${kind}\n`), name);
    }
  });

  it("counts, moves and observes under the given labels", async () => {
    const meter = createPrometheus();
    meter.count("polls_total", { repository: "git.test/me/shop" });
    meter.count("polls_total", { repository: "git.test/me/shop" }, 2);
    meter.move("deployments_active", { repository: "a" }, 1);
    meter.move("deployments_active", { repository: "a" }, 1);
    meter.move("deployments_active", { repository: "a" }, -1);
    meter.observe("poll_duration_seconds", { repository: "a" }, 0.3);
    const text = await meter.text();
    assert.match(text, /^service_polls_total\{repository="git\.test\/me\/shop"\} 3$/m);
    assert.match(text, /^service_deployments_active\{repository="a"\} 1$/m);
    assert.match(text, /^service_poll_duration_seconds_bucket\{le="0\.25",repository="a"\} 0$/m);
    assert.match(text, /^service_poll_duration_seconds_bucket\{le="0\.5",repository="a"\} 1$/m);
    assert.match(text, /^service_poll_duration_seconds_sum\{repository="a"\} 0\.3$/m);
  });

  it("shows the process, and no number that the runtime makes up", async () => {
    const text = await createPrometheus().text();
    assert.match(text, /^process_resident_memory_bytes [1-9]\d+$/m);
    assert.match(text, /^process_cpu_seconds_total \d/m);
    const values = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    for (const line of values) {
      assert.match(line, /^[a-z_]+(\{.*\})? (-?\d+(\.\d+)?(e[+-]?\d+)?|NaN|\+Inf)$/);
    }
    assert.doesNotMatch(text, /eventloop/);
  });

  it("keeps two meters apart", async () => {
    const [one, two] = [createPrometheus(), createPrometheus()];
    one.count("mutations_total", { by: "engine" });
    assert.match(await one.text(), /^service_mutations_total\{by="engine"\} 1$/m);
    assert.doesNotMatch(await two.text(), /^service_mutations_total\{/m);
  });
});
