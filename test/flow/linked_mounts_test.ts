import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { composeFile, service } from "./compose_text.ts";
import {
  actions,
  commit,
  ids,
  inWorld,
  pollTo,
  readInside,
  replaced,
  writeInside,
} from "./steps.ts";
import { engines, type World } from "./world.ts";

/** A repository beside the world's own, which that may have as a submodule. */
async function beside(world: World): Promise<FakeRepository> {
  return await createRepository(join(dirname(world.repository.path), "lib"));
}

const URL = "../lib/remote.git";

for (const engine of await engines()) {
  describe(`mounts through links and submodules on the ${engine} engine`, () => {
    it("a writable mount of a link, and below one, has what the link leads to", () =>
      inWorld(engine, async (world) => {
        const compose = composeFile({
          below: service({ volumes: ["./data/inner:/inner"] }),
          file: service({ volumes: ["./settings.txt:/settings.txt"] }),
          plain: service({ volumes: ["./shared/data:/data:ro"] }),
          web: service({ volumes: ["./data:/data", "./data/new:/new"] }),
        });
        await commit(world, {
          "compose.yaml": compose,
          "data": { link: "shared/data" },
          "shared/data/seed.txt": "seed 1",
          "shared/data/inner/deep.txt": "deep",
          "settings.txt": { link: "shared/data/seed.txt" },
        });
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/data/seed.txt"), "seed 1");
        assert.equal(await readInside(world, "below", "/inner/deep.txt"), "deep");
        assert.equal(await readInside(world, "file", "/settings.txt"), "seed 1");
        await writeInside(world, "web", "/data/written.txt", "by web");
        await writeInside(world, "web", "/new/made.txt", "by web, too");
        assert.equal(await readInside(world, "plain", "/data/written.txt"), "by web");
        assert.equal(await readInside(world, "plain", "/data/new/made.txt"), "by web, too");

        const before = await ids(world);
        await commit(world, { "shared/data/seed.txt": "seed 2" });
        const run = await pollTo(world, "succeeded");
        assert.equal(actions(run)["below"], "keep");
        assert.deepEqual(replaced(before, await ids(world)).sort(), ["file-1", "plain-1", "web-1"]);
        assert.equal(await readInside(world, "web", "/data/seed.txt"), "seed 2");
        assert.equal(await readInside(world, "file", "/settings.txt"), "seed 2");
        assert.equal(await readInside(world, "web", "/data/written.txt"), "by web");
      }));

    it("a writable mount in a submodule has its files, and each follows its own content", () =>
      inWorld(engine, async (world) => {
        const library = await beside(world);
        const first = await library.commit({ "data/a.txt": "a 1", "data/b.txt": "b 1" });
        await world.repository.submodule("mod", URL, first);
        const compose = composeFile({
          around: service({ volumes: ["./:/all"] }),
          root: service({ volumes: ["./mod:/mod"] }),
          web: service({ volumes: ["./mod/data:/data", "./mod/made:/made"] }),
        });
        await commit(world, { "compose.yaml": compose });
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/data/a.txt"), "a 1");
        assert.equal(await readInside(world, "root", "/mod/data/a.txt"), "a 1");
        assert.equal(await readInside(world, "around", "/all/mod/data/a.txt"), "a 1");
        await writeInside(world, "web", "/data/b.txt", "changed by web");
        await writeInside(world, "web", "/made/c.txt", "made by web");

        const second = await library.commit({ "data/a.txt": "a 2", "elsewhere.txt": "1" });
        await world.repository.submodule("mod", URL, second);
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/data/a.txt"), "a 2");
        assert.equal(await readInside(world, "web", "/data/b.txt"), "changed by web");
        assert.equal(await readInside(world, "web", "/made/c.txt"), "made by web");
        await library.remove(["data/a.txt"]);
        const third = await library.git("rev-parse", "HEAD");
        await world.repository.submodule("mod", URL, third);
        await pollTo(world, "succeeded");
        await assert.rejects(readInside(world, "web", "/data/a.txt"));
      }));
  });
}

describe("a submodule", () => {
  it("holds working_dir, compose_files and env_files like any directory", () =>
    inWorld("fake", async (world) => {
      const library = await beside(world);
      const files = (text: string) => ({
        "stack/compose.yaml": composeFile({
          web: service({ environment: { A: "${A}", B: "${B:-}" }, env_file: ["web.env"] }),
        }),
        "stack/.env": "A=of the directory\n",
        "stack/web.env": `TEXT=${text}\n`,
        "stack/more.env": "B=more\n",
        "stack/note.txt": text,
      });
      await world.repository.submodule("mod", URL, await library.commit(files("1")));
      const deployment = { working_dir: "mod/stack", env_files: [".env", "more.env"] };
      await commit(world, {}, deployment);
      await pollTo(world, "succeeded");
      const environment = () => world.fake?.containers()[0]?.env ?? [];
      for (const wanted of ["A=of the directory", "B=more", "TEXT=1"]) {
        assert.ok(environment().includes(wanted), environment().join(" "));
      }
      await world.repository.submodule("mod", URL, await library.commit({ "x.txt": "x" }));
      assert.deepEqual(actions(await pollTo(world, "skipped")), { web: "keep" });
      await world.repository.submodule("mod", URL, await library.commit(files("2")));
      await pollTo(world, "succeeded");
      assert.ok(environment().includes("TEXT=2"));
      await commit(world, {}, { compose_files: ["mod/stack/compose.yaml"], env_files: [] });
      await commit(world, { "web.env": "TEXT=3\n" }, {
        compose_files: ["mod/stack/compose.yaml"],
        env_files: ["mod/stack/.env"],
      });
      await pollTo(world, "succeeded");
      assert.ok(environment().includes("A=of the directory"));
    }));

  it("that is not fetched is refused where something in it is mounted, never mounted empty", () =>
    inWorld("fake", async (world) => {
      const library = await beside(world);
      await world.repository.submodule("mod", URL, await library.commit({ "data/a.txt": "a" }));
      for (const source of ["./mod", "./mod/data"]) {
        const web = service({ volumes: [`${source}:/data`] });
        await commit(world, { "compose.yaml": composeFile({ web }) });
        const run = await pollTo(world, "failed");
        assert.match(JSON.stringify(run), /submodule without content here.*GIT_CLONE_SUBMODULES/);
      }
      assert.deepEqual(await world.containers(), []);
    }, { GIT_CLONE_SUBMODULES: "false" }));
});

describe("a link", () => {
  it("that leads nowhere is refused where it is mounted", () =>
    inWorld("fake", async (world) => {
      const web = service({ volumes: ["./data:/data"] });
      await commit(world, { "compose.yaml": composeFile({ web }), "data": { link: "nowhere" } });
      const run = await pollTo(world, "failed");
      assert.match(JSON.stringify(run), /bind data is a link to something that does not exist/);
      assert.deepEqual(await world.containers(), []);
    }));
});
