import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, ids, inWorld, label, pollTo } from "./steps.ts";
import { createWorld, type World } from "./world.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({
    web: service({ labels: { number }, volumes: ["store:/store"] }),
  }, { volumes: { store: {} } }),
});
const GONE = { destroy: { enabled: true, remove_volumes: true } };

/** Another repository, of which `deploy` commits and deploys a release of the world's stack. */
async function withOther(
  test: (
    world: World,
    other: World,
    deploy: (number: string, status?: string) => Promise<string>,
  ) => Promise<void>,
): Promise<void> {
  await inWorld("fake", async (world) => {
    const other = await createWorld({ engine: "fake" });
    try {
      await test(world, other, async (number, status = "succeeded") => {
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          ...shop(number),
        });
        return JSON.stringify(await pollTo(world, status, { url: other.repository.url }));
      });
    } finally {
      await other.close();
    }
  });
}

describe("releases of a stack's former owner", () => {
  it("are no rollback's over the data of the new one, whose history names the other", () =>
    withOther(async (world, _other, deploy) => {
      await commit(world, shop("evil"));
      await pollTo(world, "succeeded");
      await commit(world, shop("evil"), GONE);
      await pollTo(world, "succeeded");
      const gone = await commandTo(world, 1, ["rollback", world.stack, "1"]);
      assert.match(gone.err, /nothing of \S+ is deployed, so no release is put back; deploy it/);
      await deploy("own");
      const before = await ids(world);
      const { err } = await commandTo(world, 1, ["rollback", world.stack]);
      assert.match(err, /no good release of .* before the current one/);
      const asked = (await commandTo(world, 1, ["rollback", world.stack, "1"])).err;
      assert.match(asked, /release 1 of .* was not put back; .* --releases-of /s);
      const answer = await world.request(`/v1/api/deployment/${world.stack}/rollback`, {
        method: "POST",
        body: JSON.stringify({ release: 1 }),
      });
      assert.equal(answer.status, 409, await answer.text());
      assert.deepEqual(await ids(world), before);
      const { out } = await commandTo(world, 0, ["history", world.stack]);
      const [heading, own, theirs] = out.split("\n");
      assert.match(String(heading), /OF/);
      assert.doesNotMatch(String(own), / local\//);
      assert.match(String(theirs), / local\/.*\/git\/remote/);
    }));

  it("stay as they are once it was handed over, also where a person holds it", () =>
    withOther(async (world, other, deploy) => {
      const { stack } = world;
      await commit(world, shop("evil"));
      await pollTo(world, "succeeded");
      const adopt = ["adopt", stack, "--source", other.repository.url];
      await commandTo(world, 0, [...adopt, "--reference", "main"]);
      assert.match(
        (await commandTo(world, 0, adopt)).out,
        /belongs to local\S+ now, by any branch$/m,
      );
      const recreate = () =>
        world.request(`/v1/api/project/${stack}/recreate`, { method: "POST", body: "{}" });
      for (const each of ["hold", "resume"]) {
        await commandTo(world, 0, [each, stack]);
        const refused = await recreate();
        assert.match(await refused.text(), /recreated: .* was handed over to local/);
        assert.equal(refused.status, 409);
      }
      const { out } = await commandTo(world, 0, ["explain", stack]);
      assert.match(
        out,
        /^synced.*; it was handed over to local.*, which has not deployed it yet\nrelease 1 is of local/m,
      );
      await other.repository.commit({ ".stackwright.yaml": `name: ${stack}\n`, ...shop("new") });
      const plan = await commandTo(world, 2, ["plan", other.repository.url]);
      assert.match(
        plan.out,
        /; the first deployment of local.* handed over: release 1 is of local/,
      );
      await deploy("own");
      const { err } = await commandTo(world, 1, ["rollback", stack]);
      assert.match(err, /no good release of .* before the current one/);
    }));

  it("are said to be that by a plan that changes nothing: apply makes them its own", () =>
    withOther(async (world, other, deploy) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["adopt", world.stack, "--source", other.repository.url]);
      const files = { ".stackwright.yaml": `name: ${world.stack}\n`, ...shop("1") };
      await other.repository.commit(files);
      const plan = async () => (await commandTo(world, 0, ["plan", other.repository.url])).out;
      assert.match(await plan(), /; apply makes what runs that of local.*: release 1 is of local/);
      await deploy("1", "skipped");
      assert.match(await plan(), /nothing to do: no changes$/m);
    }));

  it("are its own where a person says so: its repository moved", () =>
    withOther(async (world, other, deploy) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const by = ["--source", other.repository.url, "--reference", "main"];
      await commandTo(world, 0, ["adopt", world.stack, ...by]);
      await deploy("2");
      await commandTo(world, 1, ["rollback", world.stack]);
      const of = ["--releases-of", world.repository.url];
      await commandTo(world, 0, ["adopt", world.stack, ...by, ...of]);
      await commandTo(world, 0, ["rollback", world.stack]);
      assert.equal(await label(world, "web", "number"), "1");
      await deploy("2", "skipped");
      assert.equal(await label(world, "web", "number"), "1");
      // What is missing comes back at the next poll, as of any stack that is held.
      for (const { id } of await world.containers()) {
        await world.engine.removeContainer(
          id,
          { force: true, volumes: false },
          AbortSignal.timeout(60_000),
        );
      }
      await deploy("2", "skipped");
      assert.equal(await label(world, "web", "number"), "1");
      await deploy("3");
      assert.equal(await label(world, "web", "number"), "3");
    }));

  it("and a pin at one keep no new owner from being deployed", () =>
    withOther(async (world, other, deploy) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await commit(world, shop("2"));
      await pollTo(world, "succeeded");
      // Of this commit nothing was rendered: only the repository can compare others with it.
      await commit(world, shop("never"));
      await commandTo(world, 0, ["rollback", world.stack]);
      const by = ["--source", other.repository.url, "--reference", "main"];
      await commandTo(world, 0, ["adopt", world.stack, ...by]);
      await deploy("new");
      assert.equal(await label(world, "web", "number"), "new");
    }));
});
