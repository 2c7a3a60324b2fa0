import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import {
  actions,
  commit,
  ids,
  inWorld,
  pollTo,
  readInside,
  reasons,
  replaced,
  writeInside,
} from "./steps.ts";
import { engines } from "./world.ts";

const COMPOSE = composeFile({
  web: service({
    volumes: [
      "./page.txt:/page.txt:ro",
      "./site:/site:ro",
      "./data:/data",
      { type: "bind", source: "./new/made", target: "/made" },
    ],
  }),
  worker: service({ volumes: ["./worker.txt:/worker.txt:ro", "./state:/state"] }),
});

for (const engine of await engines()) {
  describe(`mounted files on the ${engine} engine`, () => {
    it("ten releases later: what containers wrote is there, what upstream changed came along", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": COMPOSE,
          "page.txt": "page 0",
          "site/index.html": "site 0",
          "data/tracked.txt": "tracked 0",
          "data/quiet.txt": "quiet",
          "worker.txt": "worker",
          "state/seed.txt": "seed",
          "unused.txt": "0",
        });
        await pollTo(world, "succeeded");
        const first = await ids(world);
        assert.equal(await readInside(world, "web", "/data/tracked.txt"), "tracked 0");
        await writeInside(world, "web", "/data/written.txt", "by web");
        await writeInside(world, "web", "/made/written.txt", "by web, too");
        await writeInside(world, "web", "/data/quiet.txt", "changed by web");
        await writeInside(world, "worker", "/state/written.txt", "by worker");

        for (let release = 1; release <= 10; release++) {
          const changes = [
            { "page.txt": `page ${release}` },
            { "site/index.html": `site ${release}` },
            { "data/tracked.txt": `tracked ${release}` },
          ];
          const before = await ids(world);
          await commit(world, { ...changes[release % 3], "unused.txt": `${release}` });
          const finished = await pollTo(world, "succeeded");
          assert.deepEqual(actions(finished), { web: "recreate", worker: "keep" });
          const after = await ids(world);
          assert.deepEqual(replaced(before, after), ["web-1"]);
          assert.equal(after["worker-1"], first["worker-1"]);
        }
        assert.equal(await readInside(world, "web", "/page.txt"), "page 9");
        assert.equal(await readInside(world, "web", "/site/index.html"), "site 10");
        assert.equal(await readInside(world, "web", "/data/tracked.txt"), "tracked 8");
        assert.equal(await readInside(world, "web", "/data/written.txt"), "by web");
        assert.equal(await readInside(world, "web", "/made/written.txt"), "by web, too");
        assert.equal(await readInside(world, "web", "/data/quiet.txt"), "changed by web");
        assert.equal(await readInside(world, "worker", "/state/written.txt"), "by worker");
        assert.equal(await readInside(world, "worker", "/worker.txt"), "worker");
      }));

    it("a tracked file that upstream removed goes, a written one beside it stays", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": COMPOSE,
          "page.txt": "page",
          "site/index.html": "site",
          "data/old.txt": "old",
          "data/kept.txt": "kept",
          "worker.txt": "worker",
          "state/seed.txt": "seed",
        });
        await pollTo(world, "succeeded");
        await writeInside(world, "web", "/data/written.txt", "by web");
        await world.repository.remove(["data/old.txt"]);
        await pollTo(world, "succeeded");
        await assert.rejects(readInside(world, "web", "/data/old.txt"));
        assert.equal(await readInside(world, "web", "/data/kept.txt"), "kept");
        assert.equal(await readInside(world, "web", "/data/written.txt"), "by web");
      }));

    it("a changed config or secret replaces exactly its users, which see the new content", () =>
      inWorld(engine, async (world) => {
        const compose = composeFile({
          both: service({ configs: ["settings"], secrets: ["token"] }),
          config: service({ configs: [{ source: "settings", target: "/etc/settings" }] }),
          neither: service(),
          secret: service({ secrets: ["token"] }),
        }, {
          configs: { settings: { file: "./conf/settings.txt" } },
          secrets: { token: { file: "./token.txt" } },
        });
        await commit(world, {
          "compose.yaml": compose,
          "conf/settings.txt": "settings 1",
          "token.txt": "token 1",
        });
        await pollTo(world, "succeeded");
        const first = await ids(world);
        assert.equal(await readInside(world, "config", "/etc/settings"), "settings 1");

        await commit(world, { "conf/settings.txt": "settings 2" });
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "config"), /mounted conf\/settings\.txt changed/);
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["both-1", "config-1"]);
        assert.equal(await readInside(world, "config", "/etc/settings"), "settings 2");

        await commit(world, { "token.txt": "token 2" });
        await pollTo(world, "succeeded");
        const third = await ids(world);
        assert.deepEqual(replaced(second, third), ["both-1", "secret-1"]);
        assert.equal(await readInside(world, "secret", "/run/secrets/token"), "token 2");
        assert.equal(await readInside(world, "both", "/run/secrets/token"), "token 2");
      }));

    it("a file that is reached through a link follows the file, and where the link leads", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            web: service({ volumes: ["./conf/page.txt:/page.txt:ro"] }),
            worker: service(),
          }),
          "conf/page.txt": { link: "../shared/one.txt" },
          "shared/one.txt": "one",
          "shared/two.txt": "two",
        });
        await pollTo(world, "succeeded");
        const first = await ids(world);
        assert.equal(await readInside(world, "web", "/page.txt"), "one");

        await commit(world, { "shared/one.txt": "one, changed" });
        await pollTo(world, "succeeded");
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["web-1"]);
        assert.equal(await readInside(world, "web", "/page.txt"), "one, changed");

        await commit(world, { "conf/page.txt": { link: "../shared/two.txt" } });
        await pollTo(world, "succeeded");
        const third = await ids(world);
        assert.deepEqual(replaced(second, third), ["web-1"]);
        assert.equal(await readInside(world, "web", "/page.txt"), "two");

        await commit(world, { "shared/one.txt": "nobody reads it" });
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));
  });
}

describe("secrets that come from variables", () => {
  const compose = composeFile(
    { secret: service({ secrets: ["token"] }), web: service() },
    { secrets: { token: { environment: "TOKEN" } } },
  );
  for (const where of ["environment", "an env file"]) {
    it(`a value changed in ${where} replaces exactly its users and is nowhere to be read`, () =>
      inWorld("fake", async (world) => {
        const give = (value: string) =>
          where === "environment"
            ? commit(world, { "compose.yaml": compose }, { environment: { TOKEN: value } })
            : commit(world, { "compose.yaml": compose, ".env": `TOKEN=${value}\n` });
        await give("first-secret-value");
        await pollTo(world, "succeeded");
        const first = await ids(world);
        await give("second-secret-value");
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(replaced(first, await ids(world)), ["secret-1"]);
        assert.doesNotMatch(JSON.stringify(finished), /secret-value/);
        assert.doesNotMatch(JSON.stringify(world.lines), /secret-value/);
      }));
  }
});

describe("a mounted file that the repository does not have", () => {
  it("is told, until somebody put one in its place", () =>
    inWorld("fake", async (world) => {
      const compose = (given: string) =>
        composeFile({
          web: service({
            volumes: ["./app.conf:/app.conf", "./data:/data"],
            environment: { given },
          }),
        });
      const told = () => world.lines.filter(({ message }) => /has nothing at/.test(message));
      await commit(world, { "compose.yaml": compose("1") });
      await pollTo(world, "succeeded");
      assert.deepEqual(told().map(({ message }) => message), [
        "the repository has nothing at app.conf (service web, at /app.conf), and no service can put " +
        "a file there: the containers see an empty directory",
      ]);
      const place = join(world.dataDir, "releases", "default", world.stack, "live", "app.conf");
      await rm(place, { recursive: true });
      await writeFile(place, "by hand");
      await commit(world, { "compose.yaml": compose("2") });
      await pollTo(world, "succeeded");
      assert.equal(told().length, 1);
      // Of a directory, what is in it counts.
      await rm(place);
      await mkdir(place);
      await commit(world, { "compose.yaml": compose("3") });
      await pollTo(world, "succeeded");
      assert.equal(told().length, 2);
      await writeFile(join(place, "key.pem"), "by hand");
      await commit(world, { "compose.yaml": compose("4") });
      await pollTo(world, "succeeded");
      assert.equal(told().length, 2);
    }));
});

describe("a mounted directory that a commit puts elsewhere", () => {
  it("is told with where what containers wrote stays, before and as it is deployed", () =>
    inWorld("fake", async (world) => {
      const volumes = ["./data:/data", "./site:/site", "./plain:/plain", "./seen:/seen:ro"];
      const compose = composeFile({ web: service({ volumes }) });
      const files = (at: string) => ({
        [`${at}compose.yaml`]: compose,
        [`${at}plain/file`]: "1",
        [`${at}site/file`]: "1",
        [`${at}seen/file`]: "1",
      });
      const live = join(world.dataDir, "releases/default", world.stack, "live");
      const says = async (places: Record<string, readonly [string, string]>) => {
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        const why = reasons(await pollTo(world, "succeeded"), "web");
        const told = Object.entries(places).map(([target, [from, to]]) =>
          `${target} begins without what containers wrote to ${live}/${from}, which stays there; ` +
          `to go on with it, stop the stack and copy it to ${live}/${to}`
        );
        for (const each of told) assert.ok(out.includes(each), out);
        const found = why.split("; /").slice(1).map((each) => `/${each}`);
        assert.deepEqual(found, told, why);
      };
      await commit(world, files(""));
      await pollTo(world, "succeeded");
      await writeInside(world, "web", "/data/db", "written");
      await writeInside(world, "web", "/site/made", "written");
      await commit(world, { "data": { link: "other" }, "other/file": "1" });
      await says({ "/data": ["data", "other"] });
      await commit(world, files("sub/"), { working_dir: "sub" });
      await says({ "/site": ["site", "sub/site"] });
      await commit(world, { "sub/plain/file": "2" }, { working_dir: "sub" });
      await says({});
    }));
});
