import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { withMeanwhile } from "./meanwhile.ts";
import { label, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const auto_discovery = { enabled: true, delete: true, remove_volumes: true };
const never = new AbortController().signal;

/** A world in which a poll can be kept in a discovery in another repository, while `happens`. */
interface Late {
  readonly world: World;
  /** Names of stacks that the configuration's own repository has. */
  readonly x: string;
  readonly y: string;
  /** The configuration that looks into both repositories. */
  readonly both: string;
  /** Commits the compose file of a stack, by default with a configuration that looks into the own repository alone. */
  readonly commit: (stack: string, number: string, configuration?: string) => Promise<unknown>;
  /** Polls, and answers what became of a stack, where `happens` while its discovery waits. */
  readonly late: (
    stack: string,
    happens: () => Promise<unknown>,
  ) => Promise<readonly (string | undefined)[]>;
}

/** Does a test in a world with a configuration that discovers stacks in two repositories. */
async function withLate(test: (late: Late) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-late-"));
  try {
    const other = await createRepository(directory);
    await withMeanwhile(async (world, before) => {
      const [x, y] = [`${world.stack}-x`, `${world.stack}-y`];
      await other.commit({ "apps/readme": "" });
      const own = { working_dir: "apps", auto_discovery };
      const both = configFile(own, { ...own, repository_url: other.url, reference: "main" });
      const commit = async (stack: string, number: string, configuration = configFile(own)) => {
        const web = service({ labels: { number }, volumes: ["data:/data"] });
        await world.repository.commit({
          ".stackwright.yaml": configuration,
          [`apps/${stack}/compose.yaml`]: composeFile({ web }, { volumes: { data: {} } }),
        });
      };
      await commit(x, "0", both);
      await pollTo(world, "succeeded");
      await commit(x, "1", both);
      await pollTo(world, "succeeded");
      const asksOther = (argv: readonly string[]) =>
        argv.includes("ls-remote") && argv.some((each) => each.includes(other.path));
      const late = async (stack: string, happens: () => Promise<unknown>) => {
        before(asksOther, happens);
        const { run } = await world.poll();
        const target = run.deployments?.find((each) => each.stack === stack);
        return [target?.status, target?.reason];
      };
      await test({ world, x, y, both, commit, late });
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe("a run of a commit that is not the newest one any more when its turn comes", () => {
  it("does not deploy again what a newer one has renamed, nor has its data deleted by the next one", () =>
    withLate(async ({ world, x, y, commit, late }) => {
      const left = await late(x, async () => {
        await world.repository.remove([`apps/${x}`]);
        await commit(y, "1");
        await pollTo(world, "succeeded");
        assert.equal((await world.containers(x)).length, 0);
      });
      assert.deepEqual(left, ["skipped", "superseded"]);
      assert.equal((await world.containers(x)).length, 0);
      await world.poll();
      const volumes = (await world.engine.listVolumes({}, never)).map(({ name }) => name);
      assert.ok(volumes.includes(`${x}_data`), volumes.join());
    }));

  it("does not end a rollback from the newer one", () =>
    withLate(async ({ world, x, commit, late }) => {
      const left = await late(x, async () => {
        await commit(x, "2");
        await pollTo(world, "succeeded");
        await commandTo(world, 0, ["rollback", x, "1"]);
      });
      assert.deepEqual(left, ["skipped", "superseded"]);
      assert.equal(await label(world, "web", "number", x), "0");
      await pollTo(world, "skipped");
      assert.equal(await label(world, "web", "number", x), "0");
    }));

  it("leaves all to a newer one that cannot be read, and goes on where that was taken back", () =>
    withLate(async ({ world, x, commit, late, both }) => {
      const broken = async () => {
        await commit(x, "3", "no: [file");
        await pollTo(world, "failed");
      };
      await commit(x, "2", both);
      assert.deepEqual(await late(x, broken), ["skipped", "superseded"]);
      assert.equal(await label(world, "web", "number", x), "1");
      await commit(x, "2", both);
      const good = await world.repository.git("rev-parse", "HEAD");
      const left = await late(x, async () => {
        await broken();
        await world.repository.reset(good);
      });
      assert.deepEqual(left?.[0], "succeeded");
      assert.equal(await label(world, "web", "number", x), "2");
    }));
});
