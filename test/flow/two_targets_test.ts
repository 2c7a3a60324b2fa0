import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { command, commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { ids, inWorld, label, pollTo } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

/** Files of two targets that name a stack each, whose service says which one it is of. */
function targets(names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([target, name]) => [
      [`.stackwright.${target}.yaml`, `name: ${name}\nworking_dir: ${target}\n`],
      [`${target}/compose.yaml`, composeFile({ web: service({ labels: { of: target } }) })],
    ]),
  );
}

/** Has these targets polled once each after a restart; returns how their runs ended. */
async function polled(world: World, ...names: string[]): Promise<Record<string, RunBody>> {
  const runs = await runsOf(world, names.map((target) => ({ target })));
  return Object.fromEntries(runs.map((run) => [run.target ?? "", run]));
}

/** Has entries polled once each after a restart; returns their runs. */
async function runsOf(world: World, polls: readonly Record<string, unknown>[]) {
  const list = async () => {
    const answer = await world.request("/v1/api/runs?limit=200");
    return (await answer.json()).content as (RunBody & { target?: string })[];
  };
  const before = new Set((await list()).map((run) => run.job_id));
  const { url } = world.repository;
  const entries = polls.map((each) => ({ url, reference: "main", run_once: true, ...each }));
  await world.restart({ POLL_CONFIG: JSON.stringify(entries) });
  await world.app.polled;
  return (await list()).filter((run) => !before.has(run.job_id));
}

describe("two targets of one repository that name one stack", () => {
  it("deploy it once where both are polled for the first time together", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit(targets({ nas: world.stack, pi: world.stack }));
      const runs = Object.values(await polled(world, "nas", "pi"));
      const ends = runs.map(({ status }) => status).sort();
      assert.deepEqual(ends, ["failed", "succeeded"], JSON.stringify(runs));
    }));

  it("do not replace each other: who deployed it has it while both are polled", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit(targets({ nas: world.stack, pi: world.stack }));
      assert.equal((await polled(world, "nas"))["nas"]?.status, "succeeded");
      const before = await ids(world);
      for (const order of [["nas", "pi"], ["pi", "nas"]]) {
        const { nas, pi } = await polled(world, ...order);
        assert.deepEqual([nas?.status, pi?.status], ["skipped", "failed"], JSON.stringify(pi));
        assert.match(JSON.stringify(pi), /conflict: .* target nas .* target pi/);
      }
      await world.repository.commit({ ".stackwright.nas.yaml": "no: [configuration" });
      assert.equal((await polled(world, "pi", "nas"))["pi"]?.status, "failed");
      assert.deepEqual(await ids(world), before);

      // A target with another name takes it over as ever, where the one before is not polled any more.
      assert.equal((await polled(world, "pi"))["pi"]?.status, "succeeded");
      assert.equal(await label(world, "web", "of"), "pi");
      // So does one that names it now, where the one before names another.
      await world.repository.commit(targets({ nas: world.stack, pi: `${world.stack}-b` }));
      assert.equal((await polled(world, "nas", "pi"))["nas"]?.status, "succeeded");
      assert.equal(await label(world, "web", "of"), "nas");
    }));
});

describe("a discovered stack that a commit moves from one target's directory to another's", () => {
  it("keeps its data where a person applies the one target alone, from a checkout", () =>
    inWorld("fake", async (world) => {
      const discovers = (target: string) => ({
        [`.stackwright.${target}.yaml`]: `working_dir: ${target}\n` +
          "auto_discovery: {enabled: true, delete: true, remove_volumes: true}\n",
      });
      const file = composeFile({ web: service({ volumes: ["data:/data"] }) }, {
        volumes: { data: {} },
      });
      const at = (target: string, name: string) => `${target}/${world.stack}-${name}/compose.yaml`;
      await world.repository.commit({
        ...discovers("nas"),
        ...discovers("pi"),
        ...{ [at("nas", "a")]: file, [at("nas", "b")]: composeFile({ web: service() }) },
      });
      await polled(world, "nas");
      await world.repository.remove([`nas/${world.stack}-a`]);
      await world.repository.commit({ [at("pi", "a")]: file });
      const polls = ["nas", "pi"].map((target) => ({
        url: world.repository.url,
        reference: "main",
        target,
      }));
      const env = { POLL_CONFIG: JSON.stringify(polls) };
      const checkout = await mkdtemp(join(tmpdir(), "swt-checkout-"));
      try {
        execFileSync("git", ["clone", "-q", "-b", "main", world.repository.url, checkout]);
        await commandTo(world, 0, ["apply", "--target", "nas", checkout], { env });
      } finally {
        await rm(checkout, { recursive: true });
      }
      const { signal } = new AbortController();
      assert.equal((await world.engine.findVolumes([`${world.stack}-a_data`], signal)).length, 1);
      assert.equal((await world.containers(`${world.stack}-a`)).length, 1);
    }));
});

describe("two polls of one reference that name one stack", () => {
  it("do not replace each other: the first has it, and plan and apply take neither", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".stackwright.yaml": `name: ${world.stack}\nworking_dir: a\n`,
        ...Object.fromEntries(["a", "b"].map((of) => [
          `${of}/compose.yaml`,
          composeFile({ web: service({ labels: { of } }) }),
        ])),
      });
      const inline = {
        reference: "refs/heads/main",
        deployments: [{ name: world.stack, working_dir: "b" }],
      };
      for (const [first, ...entries] of [["b", inline, {}], ["a", {}, inline]] as const) {
        for (let times = 0; times < 2; times += 1) {
          const runs = await runsOf(world, entries);
          const refused = runs.filter(({ status }) => status === "failed");
          assert.equal(refused.length, 1, JSON.stringify(runs));
          assert.match(
            JSON.stringify(refused),
            /conflict: .* from the (default file|deployments in POLL_CONFIG) of .* names it as well/,
          );
          assert.equal(await label(world, "web", "of"), first);
          const { out } = await commandTo(world, 0, ["explain", world.stack]);
          assert.match(
            out,
            /^synced, .*; another poll was refused it at \S+ \S+: conflict: .* names it as well/m,
          );
          assert.doesNotMatch(out, /next try/);
        }
      }
      const before = await ids(world);
      const { url } = world.repository;
      const entries = [inline, {}].map((each) => ({ url, reference: "main", ...each }));
      const env = { POLL_CONFIG: JSON.stringify(entries) };
      const { out: found } = await command(world, ["doctor"], { env });
      const sources = found.split("\n").filter((line) => / source /.test(line));
      const refused =
        `, and was refused ${world.stack}: stackwright explain ${world.stack} says more`;
      assert.deepEqual(
        sources.map((line) => line.includes(refused)).slice(0, 2),
        [false, true],
        found,
      );
      for (const each of ["plan", "apply"]) {
        const { err } = await commandTo(world, 1, [each, url], { env });
        assert.match(
          err,
          /is configured 2 times \(in b of POLL_CONFIG, a\).* the service deploys one and refuses the other/,
        );
      }
      assert.deepEqual(await ids(world), before);
    }));
});

describe("a stack whose poll is taken out of POLL_CONFIG", () => {
  for (const kind of ["file", "deployments of the poll"] as const) {
    it(`says so where the ${kind} named it`, () =>
      inWorld("fake", async (world) => {
        const deployments = [{ name: world.stack }];
        const own = kind === "file" ? {} : { deployments };
        await world.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          "compose.yaml": composeFile({ web: service() }),
        });
        const said = async () => {
          const { out } = await commandTo(world, 0, ["status", world.stack]);
          const explained = await commandTo(world, 0, ["explain", world.stack]);
          assert.match(explained.out, /^synced/m);
          const isTold = /nothing polls its source any more/.test(out);
          assert.equal(/nothing polls its source any more/.test(explained.out), isTold);
          return isTold;
        };
        await runsOf(world, [own]);
        assert.equal(await said(), false);
        await runsOf(world, [{ reference: "refs/heads/main", ...own }]);
        assert.equal(await said(), false);
        await world.restart();
        assert.equal(await said(), true);
        // A webhook reads the file.
        await world.restart({ WEBHOOK_SECRET: "a-secret-of-webhooks" });
        assert.equal(await said(), kind !== "file");
        await world.restart();
        assert.equal((await world.poll(own)).run.status, "skipped");
        // A person has it looked at.
        assert.equal(await said(), false);
      }));
  }
});

describe("two targets of one repository that nothing polls", () => {
  it("hand a discovered stack over with its data, also where the one that had it comes first", () =>
    inWorld("fake", async (world) => {
      const auto_discovery = { enabled: true, delete: true, remove_volumes: true };
      const of = (place: string, ...names: string[]) => {
        const web = service({ volumes: ["data:/data"] });
        const compose = composeFile({ web }, { volumes: { data: {} } });
        return Object.fromEntries(
          names.map((name) => [`${place}/${world.stack}-${name}/compose.yaml`, compose]),
        );
      };
      await world.repository.commit({
        ".stackwright.one.yaml": configFile({ working_dir: "one", auto_discovery }),
        ".stackwright.two.yaml": configFile({ working_dir: "two", auto_discovery }),
        ...of("one", "a", "b"),
        ...of("two", "c"),
      });
      for (const target of ["one", "two"]) await pollTo(world, "succeeded", { target });
      const there = await ids(world, `${world.stack}-a`);
      await world.repository.remove([`one/${world.stack}-a`]);
      await world.repository.commit(of("two", "a"));
      await pollTo(world, "skipped", { target: "one" });
      assert.deepEqual(await ids(world, `${world.stack}-a`), there);
      await world.poll({ target: "two" });
      await pollTo(world, "skipped", { target: "one" });
      const volumes = await world.engine.listVolumes({}, new AbortController().signal);
      assert.ok(volumes.some(({ name }) => name === `${world.stack}-a_data`));
      // It is the other one's now, whose removal it is.
      await world.repository.remove([`two/${world.stack}-a`]);
      await pollTo(world, "succeeded", { target: "two" });
      assert.deepEqual(await ids(world, `${world.stack}-a`), {});
    }));
});
