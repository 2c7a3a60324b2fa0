import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { buildingEngines } from "./building_engines.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;
const QUIET = { build: { quiet: true } };

/** A stack whose one service is built with a page, and ends at once where it is bad. */
const shop = (page: string, more: Part = {}) => ({
  "app/Dockerfile": `FROM ${IMAGE}\nCOPY page.txt /page.txt\n`,
  "app/page.txt": page,
  "compose.yaml": composeFile({
    app: { ...service({ build: "./app", ...more }), image: undefined },
  }),
});
const BAD = { command: ["sh", "-c", "exit 3"] };

const page = (world: World) => docker(world, "exec", `${world.stack}-app-1`, "cat", "/page.txt");
const idOf = (world: World, name: string) => world.engine.imageId(name, never);

/** Names that images have only to be kept, of those that were built for a stack. */
async function keptNames(world: World): Promise<string[]> {
  const images = await world.engine.listImages(never);
  return images.filter(({ labels }) => labels["com.docker.compose.project"] === world.stack)
    .flatMap(({ tags }) => tags.filter((tag) => tag.startsWith("stackwright/kept:")));
}

/** Leaves the ledger of a world that stands still as a kill does, right before the first change of a release. */
function interrupt(world: World, release: number): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  database.exec(
    "UPDATE intents SET closed_at = NULL, outcome = NULL, owner = '1:gone' WHERE release_id = " +
      `(SELECT id FROM releases WHERE number = ${release})`,
  );
  database.exec(`UPDATE releases SET status = 'applying' WHERE number = ${release}`);
  database.close();
}

// What is built takes the name of what was built before. In containerd's store nothing is left of that,
// not even where containers run it.
for (const engine of await buildingEngines()) {
  describe("an image whose name a build takes", () => {
    it("is run again when the release that was built then fails, and when a person rolls back", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"), QUIET);
        await pollTo(world, "succeeded");
        await commit(world, shop("two", BAD));
        const failed = await pollTo(world, "failed");
        assert.match(JSON.stringify(failed), /the previous release was put back/);
        assert.equal(await page(world), "one");

        await commit(world, shop("three"));
        await pollTo(world, "succeeded");
        assert.equal(await page(world), "three");
        await commandTo(world, 0, ["rollback", world.stack]);
        assert.equal(await page(world), "one");
      }));

    for (const [kept, env] of [[0, { RELEASE_IMAGE_RETENTION: "0" }], [1, {}]] as const) {
      it(`goes when nobody goes back to it, with its names, where ${kept} before it are kept`, () =>
        inWorld(engine, async (world) => {
          const images = async () =>
            (await world.engine.listImages(never))
              .filter(({ labels }) => labels["com.docker.compose.project"] === world.stack).length;
          for (const word of ["one", "two", "three"]) {
            await commit(world, shop(word), QUIET);
            await pollTo(world, "succeeded");
          }
          assert.equal(await images(), kept + 1);
          const names = await keptNames(world);
          assert.equal(names.filter((each) => each.includes(":built-")).length, kept + 1);
          await world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack, destroy: true }),
          });
          await pollTo(world, "succeeded");
          assert.deepEqual(await keptNames(world), []);
          assert.equal(await images(), 0);
        }, env));
    }

    it("goes with the next release when the one that was built for it failed", () =>
      inWorld(engine, async (world) => {
        const images = async () =>
          (await world.engine.listImages(never))
            .filter(({ labels }) => labels["com.docker.compose.project"] === world.stack).length;
        await commit(world, shop("one"), QUIET);
        await pollTo(world, "succeeded");
        await commit(world, shop("two", BAD));
        await pollTo(world, "failed");
        assert.equal(await images(), 2);
        await commit(world, shop("three"));
        await pollTo(world, "succeeded");
        assert.equal(await images(), 1);
      }, { RELEASE_IMAGE_RETENTION: "0" }));

    it("stays where a person made it, and a stack used it for the release before", () =>
      inWorld(engine, async (world) => {
        const image = `${world.stack}-person:1`;
        await docker(world, "create", "--name", `${world.stack}-maker`, IMAGE);
        await docker(world, "commit", "--change", "LABEL by=person", `${world.stack}-maker`, image);
        await docker(world, "rm", `${world.stack}-maker`);
        const id = await idOf(world, image) ?? "";
        const web = service({ image, pull_policy: "never" });
        await commit(world, { "compose.yaml": composeFile({ web }) });
        await pollTo(world, "succeeded");
        for (const word of ["one", "two"]) {
          const files = shop(word);
          const app = { ...service({ build: "./app" }), image };
          await commit(world, { ...files, "compose.yaml": composeFile({ app }) }, QUIET);
          await pollTo(world, "succeeded");
        }
        // Containerd's store does not tell it from one of a registry.
        const { keepsUnnamed } = await world.engine.info(never);
        assert.equal(await idOf(world, id), keepsUnnamed ? id : undefined);
        if (keepsUnnamed) await docker(world, "image", "rm", id);
      }, { RELEASE_IMAGE_RETENTION: "0" }));

    it("is not run in place of the one that the release ran which a person rolls back to", () =>
      inWorld(engine, async (world) => {
        for (const word of ["one", "two"]) {
          await commit(world, shop(word), QUIET);
          await pollTo(world, "succeeded");
        }
        const before = await world.containers();
        const { err } = await commandTo(world, 1, ["rollback", world.stack]);
        assert.match(err, /service app: image .*, which was built for commit [0-9a-f]+, is gone/);
        assert.match(err, /No container was touched/);
        assert.deepEqual(await world.containers(), before);
        assert.equal(await page(world), "two");
        await pollTo(world, "skipped");
        const { out } = await commandTo(world, 0, ["status", world.stack]);
        assert.match(out, /^synced/m);
      }, { RELEASE_IMAGE_RETENTION: "0" }));

    it("is what a release runs that was killed before it used it, whatever its name means then", () =>
      inWorld(engine, async (world) => {
        for (const word of ["one", "two", "one"]) {
          await commit(world, shop(word), QUIET);
          await pollTo(world, "succeeded");
        }
        await world.stop();
        interrupt(world, 2);
        await docker(world, "tag", IMAGE, `${world.stack}-app`);
        await commit(world, shop("two"));
        await world.restart();
        await world.app.polled;
        assert.equal(await page(world), "two");
        assert.notEqual(await idOf(world, `${world.stack}-app`), await idOf(world, IMAGE));
      }, { RELEASE_IMAGE_RETENTION: "2" }));

    it("is gone again when it is refused for labels that would make every list too long", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"), QUIET);
        await pollTo(world, "succeeded");
        const [before] = await world.containers();
        const label = `LABEL long=${"x".repeat(60_000)}\n`;
        const files = shop("two", { deploy: { replicas: 80 } });
        await commit(world, { ...files, "app/Dockerfile": `${files["app/Dockerfile"]}${label}` });
        const refused = await pollTo(world, "failed");
        assert.match(JSON.stringify(refused), /with its images/);
        assert.equal(await page(world), "one");
        const images = await world.engine.listImages(never);
        for (const { id } of images) {
          const labels = await world.engine.imageLabels(id, never);
          assert.equal(labels?.["long"], undefined);
        }
        const name = `${world.stack}-app`;
        assert.equal(await world.engine.imageId(name, never), before?.imageId);
      }, { RELEASE_IMAGE_RETENTION: "1" }));

    it("is still what runs when another stack builds something else by it, also by compose", () =>
      inWorld(engine, async (world) => {
        const names = ["one", "two", "three"].map((each) => `${world.stack}-${each}`);
        const built = { ...service({ build: "./app" }), image: `${world.stack}-shared` };
        // Left to compose, which knows images by names only.
        const linked = { ...built, links: ["db"] };
        const files = {
          ...shop("same"),
          "compose.yaml": composeFile({ app: linked, db: service() }),
        };
        await world.repository.commit({
          ...files,
          ".stackwright.yaml": configFile(...names.map((name) => ({ name, ...QUIET }))),
        });
        await pollTo(world, "succeeded");
        for (const name of names) {
          const [app] = (await world.containers(name)).filter((each) => each.service === "app");
          const labels = await world.engine.imageLabels(app?.imageId ?? "", never);
          assert.equal(labels?.["com.docker.compose.project"], name);
        }
      }));
  });
}
