import assert from "node:assert/strict";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { writeContext } from "../fakes/context_files.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld, label, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { IMAGE, type World } from "./world.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
});
const RECONCILED = { reconciliation: { enabled: true, events: ["die", "destroy"] } };
const BY_SAME = { ...RECONCILED, context: "same" };
const never = new AbortController().signal;

/** Makes a context of the world's engine, besides the default one. */
function second(world: World): void {
  writeContext(world.env["DOCKER_CONFIG"] ?? "", "same", { host: world.env["DOCKER_HOST"] ?? "" });
}

/** Deploys the stack by the default context, and commits a change of its context to the other one of its engine. */
async function moved(
  world: World,
  files: Readonly<Record<string, string>> = shop("1"),
): Promise<void> {
  second(world);
  await commit(world, files, RECONCILED);
  await pollTo(world, "succeeded");
  await commit(world, { ...files, ...shop("2") }, BY_SAME);
}

const number = (world: World) => label(world, "web", "number");

/** Asks for an action on the project, by the default context or another one. */
async function act(world: World, method: string, action = "", context = "default") {
  const path = `/v1/api/project/${world.stack}${action}?context=${context}`;
  const answer = await world.request(path, { method });
  return { status: answer.status, text: await answer.text() };
}

describe("a stack whose context changed to another one of its engine", () => {
  it("is not deployed by that one, which says what to do, and is repaired by its own", () =>
    inWorld("fake", async (world) => {
      await moved(world);
      const before = await ids(world);
      const refused = JSON.stringify(await pollTo(world, "failed"));
      assert.match(
        refused,
        /is deployed by context default, which leads to the engine of context same/,
      );
      assert.match(refused, /stackwright forget swt-/);
      assert.deepEqual(await ids(world), before);
      for (const each of await world.containers()) {
        await world.engine.removeContainer(each.id, { force: true, volumes: false }, never);
      }
      await until(async () => Object.keys(await ids(world)).length > 0);
      assert.equal(await number(world), "1");
      await commit(world, shop("3"), RECONCILED);
      await pollTo(world, "succeeded");
      assert.equal(await number(world), "3");
    }));

  it("is neither started, stopped, restarted, rolled back nor removed by that one", () =>
    inWorld("fake", async (world) => {
      await moved(world);
      await pollTo(world, "failed");
      const before = await ids(world);
      for (const action of ["start", "stop", "restart"]) {
        const { status, text } = await act(world, "POST", `/${action}`, "same");
        assert.equal(status, 409, text);
        assert.match(text, /is deployed by context default/);
      }
      const removed = await act(world, "DELETE", "", "same");
      assert.equal(removed.status, 409, removed.text);
      const rollback = await commandTo(world, 1, [
        "rollback",
        "--context",
        "same",
        world.stack,
        "1",
      ]);
      assert.notEqual(rollback.err, "");
      await commit(world, shop("2"), { context: "same", destroy: true });
      const destroyed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(destroyed, /is not destroyed: .* is deployed by context default/);
      assert.deepEqual(await ids(world), before);
      assert.equal((await act(world, "POST", "/stop")).status, 200);
    }));

  it("is not stopped, started or restarted by that one, whose engine nobody has asked yet what it is", () =>
    inWorld("fake", async (world) => {
      second(world);
      await commit(world, shop("1"), BY_SAME);
      await pollTo(world, "succeeded");
      const before = await ids(world);
      for (const action of ["stop", "start", "restart"]) {
        const { status, text } = await act(world, "POST", `/${action}`);
        assert.equal(status, 409, text);
        assert.match(text, /is deployed by context same/);
      }
      assert.deepEqual(await ids(world), before);
    }));

  it("is told as the other context's, whatever is asked of it by that one", () =>
    inWorld("fake", async (world) => {
      await moved(world, {
        ...shop("1"),
        "compose.yaml": composeFile({
          web: service(),
          backup: service({
            labels: { "stackwright.job.enabled": "true", "stackwright.job.schedule": "0 3 * * *" },
          }),
        }),
      });
      await pollTo(world, "failed");
      const whose = /is deployed by context default, which leads to the engine of context same/;
      for (const command of ["rollback", "retry", "adopt", "hold"]) {
        const { err } = await commandTo(world, 1, [command, "--context", "same", world.stack]);
        assert.match(err.replaceAll(/\s+/g, " "), whose, command);
      }
      const recreated = await act(world, "POST", "/recreate", "same");
      assert.match(recreated.text, whose);
      const run = (context: string) =>
        world.request(`/v1/api/job/${world.stack}-backup-1/run?context=${context}`, {
          method: "POST",
        });
      assert.match(await (await run("same")).text(), /it is of context default, .*context=default/);
      const { out } = await commandTo(world, 0, ["status", "--context", "same"]);
      assert.match(out, /^failed /m);
      const plain = (await commandTo(world, 0, ["status"])).out;
      assert.match(plain, /^same\/swt-\S+ failed: .*write that one as its context/m);
      assert.match(plain, /^further stacks on same: stackwright status --context same$/m);
    }));

  it("is taken over by that one once a person has had it forgotten", () =>
    inWorld("fake", async (world) => {
      await moved(world);
      await pollTo(world, "failed");
      const before = await ids(world);
      await commandTo(world, 0, ["forget", world.stack]);
      assert.deepEqual(await ids(world), before);
      await pollTo(world, "succeeded");
      assert.equal(await number(world), "2");
      const { status, text } = await act(world, "POST", "/stop");
      assert.equal(status, 409, text);
      const theirs = await commandTo(world, 0, ["status", "--context", "same", world.stack]);
      assert.match(theirs.out, /^synced /m);
      await commit(world, shop("3"), RECONCILED);
      await pollTo(world, "failed");
      assert.equal((await act(world, "DELETE", "", "same")).status, 200);
      await pollTo(world, "succeeded");
      assert.equal(await number(world), "3");
    }));

  it("does not begin with empty relative mounts there", () =>
    inWorld("fake", async (world) => {
      const mounting = composeFile({ web: service({ volumes: ["./data:/data"] }) });
      await moved(world, { "compose.yaml": mounting, "data/keep": "" });
      const place = (context: string) => join(world.dataDir, "releases", context, world.stack);
      const data = (context: string) => join(place(context), "live", "data");
      await writeFile(join(data("default"), "written"), "by r1");
      await pollTo(world, "failed");
      await commandTo(world, 0, ["forget", world.stack]);
      await commit(world, { "compose.yaml": mounting, "data/keep": "" }, BY_SAME);
      const refused = JSON.stringify(await pollTo(world, "failed"));
      assert.match(refused, /relative mounts would begin empty.*mv -T /);
      await mkdir(dirname(place("same")), { recursive: true });
      await rename(place("default"), place("same"));
      await pollTo(world, "succeeded");
      assert.equal(await readFile(join(data("same"), "written"), "utf8"), "by r1");
      await commandTo(world, 0, ["forget", "--context", "same", world.stack]);
      await commit(world, { "compose.yaml": mounting, "data/keep": "" }, RECONCILED);
      assert.match(
        JSON.stringify(await pollTo(world, "failed")),
        /relative mounts would begin empty/,
      );
    }));
});

describe("a discovered stack whose context changed", () => {
  /** Contexts that do not deploy it, and what is said of why it stays where it is. */
  const ROWS = [
    ["same", /is named by context same, which (?:leads to its engine|has not deployed it yet)/],
    ["misspelt", /is named by context misspelt, which does not exist: write one that does/],
  ] as const;
  for (const [context, why] of ROWS) {
    it(`is not removed with its data where it was deployed (${context})`, () =>
      inWorld("fake", async (world) => {
        second(world);
        const discovery = { enabled: true, delete: true, remove_volumes: true };
        const base = { working_dir: "apps", auto_discovery: discovery };
        const files = (fields: Part) => ({
          ".stackwright.yaml": configFile({ ...base, ...fields }),
          [`apps/${world.stack}/compose.yaml`]: shop("1")["compose.yaml"],
        });
        await world.repository.commit(files({}));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await world.repository.commit(files({ context }));
        await pollTo(world, "failed");
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(out, why);
        assert.doesNotMatch(out, /nothing names it any more/);
        const { out: told } = await commandTo(world, 0, ["status"]);
        assert.match(told, new RegExp(`^${context}/\\S+ failed: `, "m"));
        assert.deepEqual(await ids(world), before);
      }));
  }

  it("is not removed where its context leads to the engine of another one now, which names it as before", () =>
    inWorld("fake", async (world) => {
      const other = await createFakeEngine({ socketPath: join(world.dataDir, "..", "nas.sock") });
      other.addImage(IMAGE, { where: "both" });
      try {
        const directory = world.env["DOCKER_CONFIG"] ?? "";
        writeContext(directory, "nas", { host: other.host });
        const auto_discovery = { enabled: true, delete: true, remove_volumes: true };
        const base = { working_dir: "apps", auto_discovery };
        const files = (...more: Part[]) => ({
          ".stackwright.yaml": configFile(...more),
          [`apps/${world.stack}/compose.yaml`]: shop("1")["compose.yaml"],
          [`nas/${world.stack}/compose.yaml`]: shop("1")["compose.yaml"],
          "apps/readme": "",
        });
        const nas = { ...base, working_dir: "nas", context: "nas" };
        await world.repository.commit(files(base, nas));
        await pollTo(world, "succeeded");
        const env = { DOCKER_HOST: other.host };
        await world.restart(env);
        await world.repository.remove([`apps/${world.stack}`]);
        await world.poll();
        const { out } = await commandTo(world, 0, ["explain", world.stack], { env });
        assert.match(out, /is named by context nas, which leads to its engine/);
      } finally {
        await other.close();
      }
    }));
});

describe("a stack that a configuration names by two contexts of one engine", () => {
  it("is deployed by one of them alone, also the first time", () =>
    inWorld("fake", async (world) => {
      second(world);
      const one = { name: world.stack };
      await world.repository.commit({
        ".stackwright.yaml": configFile(one, { ...one, context: "same" }),
        ...shop("1"),
      });
      const { run: { deployments = [] } } = await world.poll();
      const ended = deployments.map(({ status, message = "" }) => `${status} ${message}`).sort();
      assert.match(ended[0] ?? "", /^failed .* is deployed by context /);
      assert.match(ended[1] ?? "", /^succeeded /);
    }));
});
