import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, reasons } from "./steps.ts";
import type { World } from "./world.ts";

const FILES = { "compose.yaml": composeFile({ web: service() }) };
const TOO = "another Stackwright, or one with another DATA_DIR, deploys";

/** A data directory beside the world's. */
async function another(world: World): Promise<{ env: Record<string, string> }> {
  const other = join(dirname(world.dataDir), "another");
  await mkdir(other);
  return { env: { DATA_DIR: other } };
}

/** The warnings of the service about deployments by others. */
function warnings(world: World): string[] {
  return world.lines.filter(({ level, message }) => level === "warning" && message.includes(TOO))
    .map(({ message }) => message);
}

describe("two data directories that deploy one stack", () => {
  it("say so, each time that one replaces what the other has deployed", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      await pollTo(world, "skipped");
      const how = await another(world);
      const { url } = world.repository;
      const first = `too: this data directory (${how.env["DATA_DIR"]}) has no record of`;
      const { out: plan } = await commandTo(world, 2, ["plan", url], how);
      assert.ok(plan.includes(first), plan);
      const { out, err } = await commandTo(world, 0, ["apply", url], how);
      assert.ok(out.includes(first), out);
      assert.match(out, /unless the ledger/);
      assert.ok(err.includes(first), err);
      assert.deepEqual(warnings(world), []);

      const { out: status } = await commandTo(world, 0, ["status"]);
      const back = `too: this data directory (${world.dataDir}) has no record of`;
      assert.match(status, /drifted/);
      assert.ok(
        JSON.parse((await commandTo(world, 0, ["status", "--json"])).out)
          .deployments[0].why.includes(back),
      );
      const finished = await pollTo(world, "succeeded");
      assert.ok(finished.deployments?.[0]?.message?.includes(back), JSON.stringify(finished));
      assert.match(reasons(finished, "web"), /was made by another Stackwright/);
      assert.equal(warnings(world).length, 1);
      assert.match(warnings(world)[0] ?? "", /stop one of the two/);
      const { out: why } = await commandTo(world, 0, ["explain", world.stack]);
      assert.ok(why.includes(back), why);
      assert.match(why, /^synced.*took the place of what another Stackwright/m);

      await pollTo(world, "skipped");
      assert.equal(warnings(world).length, 1);
      await commit(world, { "compose.yaml": composeFile({ web: service({ tty: true }) }) });
      await pollTo(world, "succeeded");
      assert.equal(warnings(world).length, 1);
      assert.doesNotMatch(
        (await commandTo(world, 0, ["explain", world.stack])).out,
        /^synced.*took/m,
      );
    }));

  it("say so where an update is held back, too", () =>
    inWorld("fake", async (world) => {
      await commit(world, FILES);
      await pollTo(world, "succeeded");
      const how = await another(world);
      await commandTo(world, 0, ["apply", world.repository.url], how);
      await commandTo(world, 0, ["hold", world.stack]);
      const text = JSON.stringify(await pollTo(world, "skipped"));
      assert.ok(text.includes(TOO), text);
      assert.equal(warnings(world).length, 1);
      await pollTo(world, "skipped");
      assert.equal(warnings(world).length, 1);
    }));

  const DISCOVERY = {
    working_dir: "apps",
    auto_discovery: { enabled: true, delete: true, remove_volumes: true },
  };
  const found = async (world: World, more = {}) => {
    const web = service({ volumes: ["data:/data", "./own:/own"], ...more });
    return await world.repository.commit({
      ".stackwright.yaml": configFile(DISCOVERY),
      [`apps/${world.stack}/compose.yaml`]: composeFile({ web }, { volumes: { data: {} } }),
      "apps/readme": "",
    });
  };
  const isThere = async (world: World) => {
    const { signal } = new AbortController();
    const volumes = await world.engine.findVolumes([`${world.stack}_data`], signal);
    return [(await world.containers()).length, volumes.length];
  };

  it("remove no discovered stack that the other has deployed since, nor does a ledger that was put back", () =>
    inWorld("fake", async (world) => {
      await found(world);
      await pollTo(world, "succeeded");
      await found(world, { tty: true });
      await commandTo(world, 0, ["apply", world.repository.url], await another(world));
      await world.repository.remove([`apps/${world.stack}`]);
      const why = /is not removed: another Stackwright, .* has no record of the release/;
      assert.match(JSON.stringify(await pollTo(world, "failed")), why);
      assert.deepEqual(await isThere(world), [1, 1]);
    }));

  it("leave a stack, and what it wrote, to another branch that has it by the record beside its files", () =>
    inWorld("fake", async (world) => {
      await found(world);
      await pollTo(world, "succeeded");
      const stack = join(world.dataDir, "releases", "default", world.stack);
      const record = JSON.parse(await readFile(join(stack, "files.json"), "utf8"));
      const dev = { ...record.deployedFor, reference: "refs/heads/dev" };
      await writeFile(join(stack, "files.json"), JSON.stringify({ ...record, deployedFor: dev }));
      const log = join(stack, "live", "apps", world.stack, "own", "log");
      await mkdir(dirname(log), { recursive: true });
      await writeFile(log, "of dev");
      await world.repository.remove([`apps/${world.stack}`]);
      const plan = await commandTo(world, 1, ["plan", world.repository.url]);
      assert.match(plan.out + plan.err, /is not removed: its files in .* were deployed for .*dev/);
      await pollTo(world, "failed");
      assert.deepEqual(await isThere(world), [1, 1]);
      const path = `/v1/api/project/${world.stack}`;
      assert.equal((await world.request(path, { method: "DELETE" })).status, 200);
      assert.deepEqual(await isThere(world), [0, 0]);
      assert.equal(await readFile(log, "utf8"), "of dev");
    }));
});
