import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { engines, type World } from "./world.ts";

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly why: string;
  readonly health: string;
  readonly running: number;
  readonly wanted: number;
  readonly release?: { readonly number: number; readonly revision: string };
}

async function status(world: World): Promise<Listed> {
  const { out } = await commandTo(world, 0, ["status", "--json", world.stack]);
  const [only, ...more] = JSON.parse(out) as Listed[];
  assert.ok(only !== undefined && more.length === 0, out);
  return only;
}

async function listed(world: World, query = "") {
  const answer = await world.request(`/v1/api/deployments${query}`);
  assert.equal(answer.status, 200);
  return (await answer.json()).content as {
    readonly deployments: Listed[];
    readonly counts: Record<string, number>;
    readonly next?: string;
  };
}

for (const engine of await engines()) {
  describe(`the status of stacks on the ${engine} engine`, () => {
    it("says what each is and why, by the command and by the API alike", () =>
      inWorld(engine, async (world) => {
        const { out: empty } = await commandTo(world, 0, ["status"]);
        assert.equal(
          empty,
          `no stack was deployed or looked at yet, says the ledger in DATA_DIR ${world.dataDir}\n`,
        );
        await commandTo(world, 1, ["status", world.stack]);

        const id = await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        const synced = await status(world);
        assert.deepEqual([synced.state, synced.running, synced.wanted], ["synced", 1, 1]);
        assert.deepEqual([synced.release?.number, synced.release?.revision], [1, id]);
        const { deployments, counts } = await listed(world, `?query=${world.stack}`);
        const [only] = deployments;
        assert.deepEqual({ ...only, context: undefined }, { ...synced, context: undefined });
        assert.equal(counts["synced"], 1);
        assert.deepEqual((await listed(world, "?state=failed")).deployments, []);

        const { out } = await commandTo(world, 0, ["status"]);
        assert.match(out, /^STATE +STACK +RELEASE +COMMIT +AGE +HEALTH +WHY$/m);
        const line = new RegExp(
          `^synced +${world.stack} +1 +${id.slice(0, 7)}\\w* .* 1/1 +release 1`,
        );
        assert.match(out.split("\n")[1] ?? "", line);

        await docker(world, "rm", "--force", `${world.stack}-web-1`);
        const drifted = await status(world);
        assert.deepEqual([drifted.state, drifted.health], ["drifted", "stopped"]);
        assert.match(drifted.why, /create web/);

        await pollTo(world, "succeeded");
        await commit(world, { "compose.yaml": composeFile({ web: badService(world) }) });
        await pollTo(world, "failed");
        const failed = await status(world);
        assert.equal(failed.state, "failed");
        assert.equal((await listed(world, "?state=failed")).deployments[0]?.why, failed.why);

        await commit(world, { "compose.yaml": composeFile({ web: service() }) }, { pause: true });
        await pollTo(world, "skipped");
        assert.equal((await status(world)).state, "held");
      }));
  });
}

describe("pages of the deployments", () => {
  it("follow each other by name, with counts over all of them", () =>
    inWorld("fake", async (world) => {
      const names = ["a", "b", "c"].map((each) => `${world.stack}-${each}`);
      await world.repository.commit({
        ".stackwright.yaml": names.map((name) => `name: ${name}\n`).join("---\n"),
        "compose.yaml": composeFile({ web: service() }),
      });
      await pollTo(world, "succeeded");
      const first = await listed(world, "?limit=2");
      assert.deepEqual(first.deployments.map(({ name }) => name), names.slice(0, 2));
      assert.deepEqual([first.counts["synced"], first.next], [3, names[1]]);
      const second = await listed(world, `?limit=2&after=${first.next}`);
      assert.deepEqual(second.deployments.map(({ name }) => name), names.slice(2));
      assert.equal(second.next, undefined);
      assert.equal((await world.request("/v1/api/deployments?context=edge")).status, 400);
      await docker(world, "rm", "--force", `${names[1]}-web-1`);
      const { out } = await commandTo(world, 0, ["status"]);
      const closing = "3 stacks: 1 drifted, 2 synced; stackwright explain NAME says more\n";
      assert.ok(out.endsWith(`\n${closing}`), out);
    }));
});
