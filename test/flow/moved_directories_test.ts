import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FakeFile } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const never = new AbortController().signal;

/** A discovery that removes with all data. */
const discovery = (working_dir: string, more: Part = {}) =>
  configFile({
    working_dir,
    auto_discovery: { enabled: true, delete: true, remove_volumes: true },
    ...more,
  });

/** A compose file whose volume has this name. */
const compose = (name: string, more: Part = {}) =>
  composeFile({ web: service({ volumes: ["data:/data", "./data:/files"], ...more }) }, {
    volumes: { data: { name } },
  });

async function isThere(world: World, volume: string): Promise<boolean> {
  return (await world.engine.findVolumes([volume], never)).length > 0;
}

describe("a discovered stack whose directory is no more what a discovery looks for", () => {
  type Change = (world: World, at: string) => Promise<unknown>;
  const link: Change = async ({ repository }, at) => {
    const text = compose(`${at.slice(5)}_data`);
    await repository.remove([at]);
    const files: Record<string, FakeFile> = { "shared/compose.yaml": text };
    return await repository.commit({ ...files, [at]: { link: "../shared" } });
  };
  const rows: readonly (readonly [what: string, change: Change, why: RegExp])[] = [
    [
      "it has become a link",
      link,
      /is a symlink now, which no discovery follows: remove that, too/,
    ],
    [
      "others are looked for",
      ({ repository }) =>
        repository.commit({
          ".stackwright.yaml": discovery("apps", { compose_files: ["other.yaml"] }),
        }),
      /compose.yaml is still there, which no discovery looks for/,
    ],
    ["its file has another name", async ({ repository }, at) => {
      await repository.remove([`${at}/compose.yaml`]);
      await repository.commit({ [`${at}/app.yaml`]: compose(`${at.slice(5)}_data`) });
    }, /app.yaml is still there/],
  ];
  for (const [what, change, why] of rows) {
    it(`goes on with its data where ${what}, and goes with the directory`, () =>
      inWorld("fake", async (world) => {
        const name = `${world.stack}-a`;
        const volume = `${name}_data`;
        await world.repository.commit({
          ...{ ".stackwright.yaml": discovery("apps"), "apps/readme": "" },
          [`apps/${name}/compose.yaml`]: compose(volume),
        });
        await pollTo(world, "succeeded");
        await change(world, `apps/${name}`);
        const { out } = await commandTo(world, 0, ["plan", world.repository.url]);
        assert.match(out, why);
        await world.poll();
        const there =
          async () => [(await world.containers(name)).length, await isThere(world, volume)];
        assert.deepEqual(await there(), [1, true]);
        await world.repository.remove([`apps/${name}`]);
        await pollTo(world, "succeeded");
        assert.deepEqual(await there(), [0, false]);
      }));
  }
});

/** Deploys a stack of each of two targets, and looks at the first one once more. */
async function deployTwo(world: World, ofOne: string, ofTwo: string): Promise<void> {
  await world.repository.commit({
    ".stackwright.yaml": discovery("apps"),
    ".stackwright.two.yaml": discovery("more"),
    "apps/readme": "",
    [`apps/${ofOne}/compose.yaml`]: compose(`${ofOne}_data`),
    [`more/${ofTwo}/compose.yaml`]: compose(`${ofTwo}_data`),
  });
  await pollTo(world, "succeeded");
  await pollTo(world, "succeeded", { target: "two" });
  await pollTo(world, "skipped");
}

describe("the data of a stack that nothing names any more", () => {
  const rows = [
    ["of that name, which cannot be deployed yet", "c", { image: "missing:1" }],
    ["which is new, as after a rename", "d", {}],
  ] as const;
  for (const [what, taker, more] of rows) {
    it(`waits for a stack of another target ${what}`, () =>
      inWorld("fake", async (world) => {
        const [a, c, to] = ["a", "c", taker].map((each) => `${world.stack}-${each}`);
        await deployTwo(world, `${a}`, `${c}`);
        await world.repository.remove([`apps/${a}`]);
        const volume = taker === "c" ? `${a}_data` : `${to}_data`;
        await world.repository.commit({ [`more/${to}/compose.yaml`]: compose(volume, more) });
        const why = new RegExp(`keeps its volumes .*: ${to} is named and not deployed`);
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.match(out, why);
        const run = JSON.stringify(await pollTo(world, "succeeded"));
        assert.match(run, new RegExp(`removed: .*; kept its volumes .*: ${to} is named and not`));
        assert.ok(await isThere(world, `${a}_data`));
        assert.deepEqual(await world.containers(a), []);
      }));
  }

  it("goes where what another target names is deployed as the commit has it", () =>
    inWorld("fake", async (world) => {
      const [a, c] = ["a", "c"].map((each) => `${world.stack}-${each}`);
      await deployTwo(world, `${a}`, `${c}`);
      await world.repository.remove([`apps/${a}`]);
      await pollTo(world, "skipped", { target: "two" });
      await pollTo(world, "succeeded");
      assert.ok(!await isThere(world, `${a}_data`));
      assert.ok(await isThere(world, `${c}_data`));
    }));

  it("stays where another target deployed what it may have been renamed to first", () =>
    inWorld("fake", async (world) => {
      const [a, b] = ["a", "b"].map((each) => `${world.stack}-${each}`);
      await world.repository.commit({
        ".stackwright.yaml": discovery("apps"),
        ".stackwright.two.yaml": discovery("more"),
        ...{ "apps/readme": "", "more/readme": "" },
        [`apps/${a}/compose.yaml`]: compose(`${a}_data`),
      });
      await pollTo(world, "succeeded");
      await world.repository.remove([`apps/${a}`]);
      await world.repository.commit({ [`more/${b}/compose.yaml`]: compose(`${b}_data`) });
      await pollTo(world, "succeeded", { target: "two" });
      const run = JSON.stringify(await pollTo(world, "succeeded"));
      assert.match(
        run,
        new RegExp(`removed: .*; kept its volumes .*: ${b} came when nothing named`),
      );
      assert.ok(await isThere(world, `${a}_data`));
    }));
});
