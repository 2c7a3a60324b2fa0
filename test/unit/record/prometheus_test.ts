import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { createPrometheus } from "../../../src/record/mod.ts";
import { MOST_SERIES } from "../../../src/record/series.ts";
import { METRICS } from "../../../src/system/mod.ts";

describe("createPrometheus()", () => {
  it("shows every metric of the table with its help and type, before anything was measured", async () => {
    const text = await createPrometheus().text();
    for (const [name, { kind, help }] of Object.entries(METRICS)) {
      assert.ok(text.includes(`# HELP service_${name} ${help}\n`), name);
      assert.ok(text.includes(`# TYPE service_${name} ${kind}\n`), name);
    }
  });

  it("masks secrets in labels, but not the names of stacks", async () => {
    const redact = (text: string) => text.replaceAll("s3cr3t", "***");
    const meter = createPrometheus(undefined, redact);
    meter.count("poll_errors_total", { repository: "git.test/s3cr3t/shop" });
    const labels = { repository: "a", deployment: "s3cr3t", context: "default" };
    meter.count("deployments_total", labels);
    const repository = "git.test/s3cr3t/shop";
    const succeededAt = new Date(7000);
    const flags = { isFailing: false, isSourceFailing: true, isHeld: false };
    const times = { succeededAt, lookedAt: undefined, drift: 0 };
    meter.showStacks(() => [{ ...labels, repository, ...flags, ...times }]);
    meter.showMirrors(() => Promise.resolve([{ repository, packs: 1, bytes: 7 }]));
    const text = await meter.text();
    assert.match(text, /service_poll_errors_total\{repository="git\.test\/\*\*\*\/shop"\} 1/);
    assert.match(text, /service_git_mirror_packs\{repository="git\.test\/\*\*\*\/shop"\} 1/);
    assert.match(text, /service_stack_last_success_timestamp_seconds\{[^}]*"s3cr3t"[^}]*\} 7$/m);
    assert.match(text, /service_stack_source_failing\{[^}]*\} 1$/m);
    assert.doesNotMatch(text, /\/s3cr3t/);
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

  it("makes no series of what is not a number", async () => {
    const meter = createPrometheus();
    meter.observe("poll_duration_seconds", { repository: "a" }, NaN);
    assert.doesNotMatch(await meter.text(), /repository="a"/);
  });

  it("keeps the beginning of a long label value: an engine of another context names its jobs", async () => {
    const meter = createPrometheus();
    const job = "x".repeat(1024 * 1024);
    const how = { mode: "container", execution_mode: "restart" };
    meter.count("scheduled_runs_total", { context: "far", stack: "shop", job, ...how });
    const text = await meter.text();
    assert.match(text, /service_scheduled_runs_total\{.*job="x{256}"/);
    assert.ok(text.length < 100_000, `${text.length}`);
  });

  it("keeps a bounded number of series, and forgets those of the repository that makes most", async () => {
    const meter = createPrometheus();
    const count = (repository: string, deployment: string) =>
      meter.count("deployments_total", { repository, deployment, context: "default" });
    count("git.test/me/shop", "web");
    count("git.test/evil/names", "kept");
    for (let name = 0; name < 2 * MOST_SERIES; name++) {
      count("git.test/evil/names", `x${name}`);
      if (name % 100 === 0) count("git.test/evil/names", "kept");
    }
    for (let name = 0; name < 2 * MOST_SERIES; name++) {
      meter.count("webhook_requests_total", { repository: `git.test/evil/${name}` });
    }
    const text = await meter.text();
    const lines = (name: string) =>
      text.match(new RegExp(`^service_${name}\\{`, "gm"))?.length ?? 0;
    for (const name of ["deployments_total", "webhook_requests_total"]) {
      assert.ok(lines(name) <= MOST_SERIES, `${name}: ${lines(name)}`);
    }
    assert.match(text, /^service_deployments_total\{repository="git\.test\/me\/shop",.*\} 1$/m);
    assert.match(text, /deployment="kept",context="default"\} \d{3}$/m);
    assert.match(text, new RegExp(`deployment="x${2 * MOST_SERIES - 1}"`));
  });

  it("counts what goes on right, also when it forgets some of it", async () => {
    const meter = createPrometheus();
    const move = (repository: string, by: number) =>
      meter.move("deployments_queued", { repository }, by);
    move("kept", 1);
    for (let name = 0; name < 2 * MOST_SERIES; name++) {
      move(`idle${name}`, 1);
      move(`idle${name}`, -1);
    }
    // What goes on is kept where something else can be forgotten.
    assert.match(await meter.text(), /^service_deployments_queued\{repository="kept"\} 1$/m);
    for (let name = 0; name < 2 * MOST_SERIES; name++) move(`busy${name}`, 1);
    for (let name = 0; name < 2 * MOST_SERIES; name++) move(`busy${name}`, -1);
    move("kept", -1);
    assert.doesNotMatch(await meter.text(), /^service_deployments_queued\{.*\} -/m);
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

  it("tells memory that can be: no more than a machine has, and no heap where nobody knows it", async () => {
    const text = await createPrometheus().text();
    const sizes = [...text.matchAll(/^(process_(?:virtual|heap)\w*|nodejs_\w+_bytes) (\d+)$/gm)];
    if (process.versions["bun"] !== undefined) assert.deepEqual(sizes, []);
    else assert.ok(sizes.some(([, name]) => name === "nodejs_heap_size_used_bytes"));
  });

  it("tells the packs of mirrors when somebody asks, all of a repository together", async () => {
    const meter = createPrometheus();
    const mirror = (packs: number, bytes: number) => ({ repository: "h/shop", packs, bytes });
    meter.showMirrors(() => Promise.resolve([mirror(2, 100), mirror(1, 20)]));
    const text = await meter.text();
    assert.match(text, /^service_git_mirror_packs\{repository="h\/shop"\} 3$/m);
    assert.match(text, /^service_git_mirror_size_bytes\{repository="h\/shop"\} 120$/m);
  });

  it("looks at mirrors once for all who ask at once, and tells the rest when they cannot be read", async () => {
    const meter = createPrometheus();
    let looks = 0;
    const look = Promise.withResolvers<never>();
    meter.showMirrors(() => {
      looks++;
      return look.promise;
    });
    const texts = [meter.text(), meter.text()];
    look.reject(new Error("permission denied"));
    for (const text of await Promise.all(texts)) {
      assert.match(text, /^process_resident_memory_bytes /m);
      assert.doesNotMatch(text, /^service_git_mirror_packs\{/m);
    }
    assert.equal(looks, 1);
    meter.showMirrors(() => Promise.resolve([{ repository: "h/shop", packs: 1, bytes: 7 }]));
    assert.match(await meter.text(), /^service_git_mirror_size_bytes\{repository="h\/shop"\} 7$/m);
  });

  it("keeps two meters apart", async () => {
    const [one, two] = [createPrometheus(), createPrometheus()];
    one.count("mutations_total", { by: "engine" });
    assert.match(await one.text(), /^service_mutations_total\{by="engine"\} 1$/m);
    assert.doesNotMatch(await two.text(), /^service_mutations_total\{/m);
  });
});

describe("the text format", () => {
  it("escapes what would break a line", async () => {
    const meter = createPrometheus();
    meter.count("polls_total", { repository: 'a"b\\c\nd' });
    assert.match(await meter.text(), /^service_polls_total\{repository="a\\"b\\\\c\\nd"\} 1$/m);
  });

  it("counts into every bucket that is wide enough, and above all bounds into the last", async () => {
    const meter = createPrometheus();
    for (const seconds of [0.005, 0.3, 9999]) {
      meter.observe("poll_duration_seconds", { repository: "a" }, seconds);
    }
    const text = await meter.text();
    const lines = text.split("\n").filter((line) => line.startsWith("service_poll_duration"));
    const bucket = (bound: string) =>
      `service_poll_duration_seconds_bucket{le="${bound}",repository="a"}`;
    assert.ok(lines.includes(`${bucket("0.005")} 1`));
    assert.ok(lines.includes(`${bucket("0.25")} 1`));
    assert.ok(lines.includes(`${bucket("600")} 2`));
    assert.ok(lines.includes(`${bucket("+Inf")} 3`));
    assert.equal(lines.at(-1), 'service_poll_duration_seconds_count{repository="a"} 3');
  });

  it("leaves out what the platform does not tell", async () => {
    const text = await createPrometheus(() => ({
      cpuUserSeconds: 1.5,
      cpuSystemSeconds: 0.25,
      startedSeconds: 1_700_000_000,
      residentBytes: 1024,
      heapTotalBytes: 3,
      heapUsedBytes: 2,
      externalBytes: 1,
      nodeVersion: "v24.1.2",
    })).text();
    assert.match(text, /^process_cpu_seconds_total 1\.75$/m);
    assert.match(text, /^process_start_time_seconds 1700000000$/m);
    assert.match(
      text,
      /^nodejs_version_info\{version="v24\.1\.2",major="24",minor="1",patch="2"\} 1$/m,
    );
    assert.doesNotMatch(text, /process_open_fds|process_virtual/);
  });
});
