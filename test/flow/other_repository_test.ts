import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, ids, inWorld, label, pollTo, reasons, replaced } from "./steps.ts";
import { createWorld, type World } from "./world.ts";

const LABELLED = composeFile({ web: service({ labels: { "test.v": "$A $B $C" } }) });

/** A world with a second repository, which the first one deploys. */
async function withOther(
  engine: "fake" | "real",
  test: (world: World, other: FakeRepository) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-other-"));
  try {
    const other = await createRepository(directory);
    await inWorld(engine, (world) => test(world, other), env);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

// Which files are inputs no engine decides.
describe("repository_url", () => {
  const engine = "fake";
  it("deploys the other repository with this one's configuration; both are inputs", () =>
    withOther(engine, async (world, other) => {
      await other.commit({
        "app/compose.yaml": LABELLED,
        "app/remote.env": "B=remote\nC=remote",
      });
      const fields = {
        repository_url: other.url,
        working_dir: "app",
        env_files: ["remote:remote.env", "base.env"],
      };
      await commit(
        world,
        { "base.env": "A=local\nB=local", "compose.yaml": "no: [file" },
        fields,
      );
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "local remote remote");
      const source = await label(world, "web", "stackwright.source.name");
      const owner = await label(world, "web", "stackwright.source.configuration");
      assert.equal(source, `local${other.path}`);
      assert.equal(owner, `local${world.repository.path}`);
      world.proxy.reset();
      await commit(world, { "unrelated.txt": "1" }, fields);
      await other.commit({ "unrelated.txt": "1" });
      await pollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);

      const first = await ids(world);
      await commit(world, { "base.env": "A=changed" }, fields);
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "changed remote remote");
      const second = await ids(world);
      assert.deepEqual(replaced(first, second), ["web-1"]);
      await other.commit({ "app/compose.yaml": LABELLED.replace("$C", "new") });
      const run = await pollTo(world, "succeeded");
      assert.match(reasons(run, "web"), /definition/);
      assert.equal(await label(world, "web", "test.v"), "changed remote new");
    }));
});

describe("repository_url", () => {
  it("gives no right to what doco-cd deployed from there: a person hands that over", () =>
    withOther("fake", async (world, other) => {
      await other.commit({ "compose.yaml": LABELLED });
      await commit(world, {}, { repository_url: other.url });
      const labels = { "cd.doco.source.url": other.url };
      await startByHand(world, composeFile({ web: service({ labels }) }));
      const before = await ids(world);
      assert.match(JSON.stringify(await pollTo(world, "failed")), /by doco-cd .*adopt/);
      assert.deepEqual(await ids(world), before);
      await commandTo(world, 0, ["adopt", world.stack]);
      await pollTo(world, "succeeded");
    }));

  it("discovers stacks in the other repository, with overrides of its own", () =>
    withOther("fake", async (world, other) => {
      const a = `${world.stack}-a`;
      await other.commit({
        [`apps/${a}/compose.yaml`]: LABELLED,
        [`apps/${a}/.stackwright.yaml`]: "environment: {A: over}\n",
      });
      await commit(world, { "base.env": "B=base" }, {
        repository_url: other.url,
        working_dir: "apps",
        env_files: ["base.env"],
        auto_discovery: { enabled: true, delete: true },
      });
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v", a), "over base ");
      await other.commit({ [`apps/${a}-2/compose.yaml`]: LABELLED });
      await other.remove([`apps/${a}`]);
      await pollTo(world, "succeeded");
      assert.equal((await world.containers(a)).length, 0);
      assert.equal((await world.containers(`${a}-2`)).length, 1);
    }));

  it("gives no data that a destroy kept to a stack that is discovered there, also when it is long ago", () =>
    withOther("fake", async (world, other) => {
      const files = { "compose.yaml": composeFile({ web: service({ volumes: ["./d:/d"] }) }) };
      const data = join(world.dataDir, "releases", "default", world.stack, "live", "d", "db");
      await commit(world, files);
      await pollTo(world, "succeeded");
      await writeFile(data, "precious");
      await commit(world, {}, { destroy: { enabled: true, remove_volumes: false } });
      await pollTo(world, "succeeded");
      // As after ninety days: the owner stays.
      const database = new DatabaseSync(join(world.dataDir, "state.db"));
      for (const table of ["intents", "releases"]) database.exec(`DELETE FROM ${table}`);
      database.close();
      await other.commit({ [`${world.stack}/compose.yaml`]: files["compose.yaml"] });
      await commit(world, {}, { repository_url: other.url, auto_discovery: { enabled: true } });
      const failed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(failed, /is deployed from local.*, so it was not deployed from/);
      await commit(world, files);
      await pollTo(world, "succeeded");
      assert.equal(await readFile(data, "utf8"), "precious");
    }));

  it("the data of a stack that was discovered there stays where another one is not deployed as its commit has it", () =>
    withOther("fake", async (world, other) => {
      const volumes = { data: { name: `${world.stack}-data` } };
      const file = (text: string, of = volumes) =>
        composeFile(
          { web: service({ volumes: ["data:/data"], labels: { "test.v": text } }) },
          { volumes: of },
        );
      const [a, b] = ["a", "b"].map((each) => `${world.stack}-${each}`) as [string, string];
      const found = async () => {
        const all = await world.engine.findVolumes(
          [volumes.data.name],
          new AbortController().signal,
        );
        return all.length;
      };
      await other.commit({
        [`${a}/compose.yaml`]: file("1"),
        [`${b}/compose.yaml`]: file("1", { data: { name: `${b}-data` } }),
      });
      const policy = { enabled: true, delete: true, remove_volumes: true };
      await commit(world, {}, { repository_url: other.url, auto_discovery: policy });
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["hold", b]);
      await other.remove([a]);
      await other.commit({ [`${b}/compose.yaml`]: file("2") });
      const { run } = await world.poll();
      const said = JSON.stringify(run);
      assert.ok(said.includes(`${b} is named and not deployed as this commit has it`), said);
      assert.equal(await found(), 1);
    }));

  it("sees what a link beside the configuration leads to when only a mounted file changed", () =>
    withOther("fake", async (world, other) => {
      await other.commit({
        "compose.yaml": composeFile({
          web: service({ labels: { "test.v": "$A" }, volumes: ["./page:/page:ro"] }),
        }),
        "page/index.html": "one",
      });
      const fields = { repository_url: other.url, env_files: ["base.env"] };
      await commit(world, { "base.env": { link: "real.env" }, "real.env": "A=one" }, fields);
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "one");
      await commit(world, { "real.env": "A=two" }, fields);
      await other.commit({ "page/index.html": "two" });
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "two");
    }));

  it("sees a commit that changes only what a link beside the configuration leads to", () =>
    withOther("fake", async (world, other) => {
      await other.commit({ "compose.yaml": LABELLED });
      const fields = { repository_url: other.url, env_files: ["base.env"] };
      const links = {
        "base.env": { link: "links/now.env" },
        "links/now.env": { link: "../a.env" },
      };
      await commit(world, { ...links, "a.env": "A=one", "b.env": "A=three" }, fields);
      await pollTo(world, "succeeded");
      await commit(world, { "a.env": "A=two" }, fields);
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "two  ");
      await commit(world, { "links/now.env": { link: "../b.env" } }, fields);
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "three  ");
      world.proxy.reset();
      await commit(world, { "unrelated.txt": "1" }, fields);
      await pollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("of this machine is refused from a repository unless the settings allow it", () =>
    withOther("fake", async (world, other) => {
      await other.commit({ "compose.yaml": LABELLED });
      await commit(world, {}, { repository_url: other.url });
      const run = await pollTo(world, "failed");
      assert.match(run.message ?? "", /trusted configuration only/);
      // An authenticated request may say it.
      const deployments = [{ name: world.stack, repository_url: other.path }];
      await pollTo(world, "succeeded", { deployments });
      assert.equal((await world.containers()).length, 1);
    }, { ALLOW_LOCAL_REPOSITORY_URL: "false" }));

  it("without the trigger's reference says what to do", () =>
    withOther("fake", async (world, other) => {
      await other.commit({ "compose.yaml": LABELLED });
      await other.branch("stable");
      await commit(world, {}, { repository_url: other.url });
      await world.repository.branch("dev");
      const run = await pollTo(world, "failed", { reference: "dev" });
      assert.match(JSON.stringify(run), /has no reference .*dev.*set reference/);
      await commit(world, {}, { repository_url: other.url, reference: "stable" });
      await pollTo(world, "succeeded");
    }));

  it("is destroyed by its configuration, also when the other repository is gone", () =>
    withOther("fake", async (world, other) => {
      await other.commit({ "compose.yaml": LABELLED });
      await commit(world, {}, { repository_url: other.url });
      await pollTo(world, "succeeded");
      await rm(other.path, { recursive: true });
      await commit(world, {}, { repository_url: other.url, destroy: true });
      await pollTo(world, "succeeded");
      assert.equal((await world.containers()).length, 0);
    }));

  it("may change, and the stack stays its configuration's", () =>
    withOther("fake", async (world, other) => {
      await other.commit({ "compose.yaml": LABELLED });
      await commit(world, { "compose.yaml": LABELLED });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      await commit(world, {}, { repository_url: other.url });
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world), before);
      await other.commit({ "compose.yaml": LABELLED.replace("$C", "new") });
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      await pollTo(world, "succeeded");
      assert.equal((await world.containers()).length, 0);
    }));

  it("gives a third repository no right to destroy or replace the stack", () =>
    withOther("fake", async (world, other) => {
      const third = await createWorld({ engine: "fake" });
      try {
        await other.commit({ "compose.yaml": LABELLED });
        await commit(world, {}, { repository_url: other.url });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const name = world.stack;
        for (const destroy of [true, false]) {
          await third.repository.commit({
            ".stackwright.yaml": JSON.stringify({ name, repository_url: other.url, destroy }),
          });
          const run = await pollTo(world, "failed", { url: third.repository.url });
          assert.match(JSON.stringify(run), destroy ? /is not destroyed/ : /already belongs to/);
        }
        assert.deepEqual(await ids(world), before);
        // A repository that configures itself is none that another one's configuration speaks for.
        const own = { name: `${name}-own` };
        await other.commit({ ".stackwright.yaml": JSON.stringify(own) });
        await pollTo(world, "succeeded", { url: other.url });
        await third.repository.commit({
          ".stackwright.yaml": JSON.stringify({ ...own, repository_url: other.url, destroy: true }),
        });
        const run = await pollTo(world, "failed", { url: third.repository.url });
        assert.match(JSON.stringify(run), /is not destroyed: it belongs to/);
        assert.equal((await world.containers(own.name)).length, 1);
      } finally {
        await third.close();
      }
    }));

  it("a rollback brings the configuration's own files back too", () =>
    withOther("fake", async (world, other) => {
      const healthcheck = { test: ["CMD", "true"], interval: "1s" };
      const labels = { "test.v": "$A" };
      await other.commit({
        "compose.yaml": composeFile({ web: service({ labels, healthcheck }) }),
      });
      const fields = { repository_url: other.url, env_files: ["base.env"] };
      await commit(world, { "base.env": "A=good" }, fields);
      await pollTo(world, "succeeded");
      await commit(world, { "base.env": "A=bad" }, fields);
      world.fake?.setBehaviour("web", { health: "unhealthy" });
      await pollTo(world, "failed");
      assert.equal(await label(world, "web", "test.v"), "good");
    }));
});
