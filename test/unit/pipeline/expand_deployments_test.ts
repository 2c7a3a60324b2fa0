import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clearImmediate, setImmediate } from "node:timers";
import { parseDeployments } from "../../../src/config/mod.ts";
import type { Revision, SourceRequest } from "../../../src/model/mod.ts";
import { expandDeployments } from "../../../src/pipeline/expand_deployments.ts";
import type { PipelineParts } from "../../../src/pipeline/mod.ts";
import { type Clock, createTurns, noMeter, systemClock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const configuration: Revision = {
  source: { kind: "git", url: "https://h/acme/shop", name: "h/acme/shop" },
  reference: "refs/heads/main",
  id: "a".repeat(40),
};
const request = {
  url: configuration.source.url,
  reference: configuration.reference,
  target: "",
  deployments: [],
} as Partial<SourceRequest> as SourceRequest;

const BASE = "working_dir: apps\nauto_discovery: true\n";

/** Expands discoveries in a repository of so many stacks with one override. */
function expand(stacks: number, override: string, discoveries = 1, written = "") {
  return expandIn(
    { shop: stacks },
    override,
    written + Array(discoveries).fill(BASE).join("---\n"),
  );
}

/** Expands a configuration that discovers in repositories of so many stacks with one override each. */
function expandIn(
  stacks: Readonly<Record<string, number>>,
  override: string,
  text: string,
  { more = {}, stuck, clock = systemClock }: {
    readonly more?: Partial<Parameters<typeof expandDeployments>[1]>;
    /** For which the directory of a repository of this name is waited. */
    readonly stuck?: Promise<void>;
    readonly clock?: Clock;
  } = {},
) {
  const filesOf = (repository: string) =>
    Array.from({ length: stacks[repository] ?? 0 }, (_, at) => `apps/${repository[0]}${at}`)
      .flatMap((each) => [`${each}/compose.yaml`, `${each}/.stackwright.yaml`]);
  let [reads, listing, together] = [0, 0, 0];
  const source: Partial<PipelineParts["source"]> = {
    entries: async ({ source: { name } }) => {
      if (name.endsWith("/stuck")) await stuck;
      return new Map([["apps", { kind: "directory", id: "1" }]]);
    },
    resolve: async ({ location, reference }) => {
      if (location.name.endsWith("/slow")) await new Promise((resolve) => setTimeout(resolve, 20));
      return { source: location, reference, id: "b".repeat(40) };
    },
    list: async ({ source: { name } }) => {
      together = Math.max(together, ++listing);
      await new Promise((resolve) => setTimeout(resolve, 0));
      listing--;
      return new Map(
        filesOf(name.split("/").at(-1) ?? "").map((each) => [each, { kind: "file", id: "1" }]),
      );
    },
    read: () => {
      reads++;
      return Promise.resolve(new TextEncoder().encode(override));
    },
  } as Partial<PipelineParts["source"]>;
  const turns = createTurns(systemClock);
  const secrets = { names: () => {} };
  const options = { configBaseDir: ".", cloneDepth: 0 };
  const system = { log: createRecordingLog(), clock, meter: noMeter };
  const parts = { source, turns, secrets, options, ...system };
  const declared = parseDeployments(text, {
    file: ".stackwright.yaml",
    trusted: false,
  });
  const work = { declared, configuration, request, ...more };
  const { signal } = new AbortController();
  const all = expandDeployments(parts as unknown as PipelineParts, work, signal);
  return { all, reads: () => reads, together: () => together };
}

const variables = (count: number) =>
  `environment:\n${Array.from({ length: count }, (_, at) => `  N${at}: v\n`).join("")}`;

describe("expandDeployments()", () => {
  it("lets others work while it reads the overrides of many stacks", async () => {
    let turns = 0;
    const turn = () => {
      turns++;
      if (turns < 1e6) next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const { deployments } = await expand(20, variables(500)).all;
    clearImmediate(next);
    assert.equal(deployments.length, 20);
    assert.ok(turns >= 10, `${turns} turns`);
  });

  it("reads no more overrides than there may be deployments, however many discoveries find them", async () => {
    const { all, reads } = expand(100, "timeout: 5m\n", 400);
    const { deployments, failures } = await all;
    assert.deepEqual(deployments, []);
    assert.match(failures[0]?.error.message ?? "", /deployments, the most of one/);
    assert.ok(reads() <= 500, `${reads()} reads`);
  });

  it("has one listing in memory at a time, however many discoveries there are", async () => {
    const { all, together } = expand(1, "timeout: 5m\n", 20);
    const { deployments, failures } = await all;
    assert.deepEqual(deployments, []);
    assert.match(failures[0]?.error.message ?? "", /configured 20 times/);
    assert.equal(together(), 1);
  });

  it("keeps what is written down, whatever directories a discovery finds", async () => {
    const named = "name: s1\n---\nname: pay\n---\n";
    for (const stacks of [2, 600]) {
      const { deployments, failures } = await expand(stacks, "timeout: 5m\n", 1, named).all;
      const names = deployments.map(({ declared }) => declared.deployment.name);
      assert.deepEqual(names, stacks === 2 ? ["s1", "pay", "s0"] : ["s1", "pay"]);
      assert.equal(deployments[0]?.found, undefined);
      const why = stacks === 2 ? /s1 is configured 2 times/ : /602 deployments, the most/;
      assert.deepEqual(failures.map(({ key }) => key.name), ["apps"]);
      assert.match(failures[0]?.error.message ?? "", why);
    }
  });

  it("lets no repository use up what another one of the configuration may have", async () => {
    const elsewhere = (name: string) => `repository_url: https://h/acme/${name}\n${BASE}`;
    const text = `name: pay\n---\n${["x", "y", "z"].map(elsewhere).join("---\n")}`;
    const long = `timeout: 5m\n#${"é".repeat(10_000)}\n`;
    for (
      const [sizes, override] of [[[490, 20, 30], "timeout: 5m\n"], [[250, 3, 4], long]] as const
    ) {
      const [x, y, z] = sizes;
      const { deployments, failures } = await expandIn({ x, y, z }, override, text).all;
      const names = deployments.map(({ declared }) => declared.deployment.name[0]);
      assert.equal(names.join(""), `p${"y".repeat(y)}${"z".repeat(z)}`);
      assert.equal(failures.length, 1);
      assert.match(failures[0]?.error.message ?? "", /511 deployments|overrides of all/);
    }
    const few = await expandIn({ x: 300, y: 100, z: 99 }, "timeout: 5m\n", text).all;
    assert.deepEqual([few.deployments.length, few.failures], [500, []]);
  });

  it("gives up the same discovery each time, the later of two equal ones, and tells it", async () => {
    const text = ["quick", "slow", "few"]
      .map((name) => `repository_url: https://h/acme/${name}\n${BASE}`);
    const stacks = { quick: 300, slow: 300, few: 150 };
    const { deployments, failures, scans } = await expandIn(
      stacks,
      "timeout: 5m\n",
      text.join("---\n"),
    ).all;
    assert.equal(deployments.length, 450);
    assert.deepEqual(scans.map(({ revision }) => revision.source.name), [
      "h/acme/quick",
      "h/acme/few",
    ]);
    assert.match(failures[0]?.error.message ?? "", /means \d+ deployments/);
  });

  it("reaches all discoveries side by side, tells of those that take long, and goes on without them", async () => {
    const reached = Promise.withResolvers<void>();
    const told: string[] = [];
    const text = `name: pay\n---\n${
      ["stuck", "y", "z"].map((name) => `repository_url: https://h/acme/${name}\n${BASE}`)
        .join("---\n")
    }`;
    const stuck = "apps of h/acme/stuck";
    const stacks = { stuck: 1, y: 2, z: 1 };
    const progress = (step: string) => void told.push(step);
    const more = { patience: 50, progress };
    const first = await expandIn(stacks, "timeout: 5m\n", text, { more, stuck: reached.promise })
      .all;
    assert.equal(told.at(-1), `looking for stacks in ${stuck}`);
    const names = ({ deployments }: typeof first) =>
      deployments.map(({ declared }) => declared.deployment.name);
    assert.deepEqual(names(first), ["pay", "y0", "y1", "z0"]);
    assert.deepEqual([first.left, first.failures], [[stuck], []]);
    const before = told.length;
    reached.resolve();
    const again = { reached: await first.late };
    // The others are looked at anew: their commits may be others by then.
    assert.equal(again.reached?.size, 1);
    assert.equal(told.length, before, "nothing is told when it is over");
    const never = Promise.withResolvers<void>().promise;
    const second = await expandIn(stacks, "timeout: 5m\n", text, { more: again, stuck: never }).all;
    assert.deepEqual(names(second), ["pay", "s0", "y0", "y1", "z0"]);
    assert.deepEqual([second.left, second.late], [[], undefined]);
  });

  it("gives five seconds alone to what an earlier run waits for", async () => {
    const text = ["stuck", "y"].map((name) => `repository_url: https://h/acme/${name}\n${BASE}`)
      .join("---\n");
    for (const [waitedFor, waits] of [[["apps of h/acme/stuck"], 5_000], [[], 60_000]] as const) {
      const clock = createFakeClock();
      const never = Promise.withResolvers<void>().promise;
      const more = { patience: 60_000, waitedFor };
      let isOver = false;
      const { all } = expandIn({ y: 2 }, "timeout: 5m\n", text, { more, stuck: never, clock });
      const over = all.then(({ left }) => (isOver = true, left));
      await clock.advance(waits - 1);
      assert.equal(isOver, false);
      await clock.advance(1);
      assert.deepEqual(await over, ["apps of h/acme/stuck"]);
    }
  });

  it("reads no more than 4 MiB of overrides", async () => {
    const { all, reads } = expand(300, `#${"é".repeat(50_000)}\n`);
    const { failures } = await all;
    assert.match(failures[0]?.error.message ?? "", /overrides .* more than 4194304 bytes/);
    assert.ok(reads() < 50);
  });
});
