import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import {
  actions,
  commit,
  docker,
  ids,
  inWorld,
  label,
  pollTo,
  readInside,
  reasons,
  replaced,
  states,
  writeInside,
} from "./steps.ts";
import { decidingEngine, IMAGE, type World } from "./world.ts";

// Traps that other deployment tools fell into; docs/design-traps.md lists them all.

for (const engine of await decidingEngine()) {
  describe(`traps of mounts on the ${engine} engine`, () => {
    it("a container that is kept sees the same file and directory, by inode, after a release", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            changing: service({ volumes: ["./changing.txt:/changing.txt:ro"] }),
            kept: service({ volumes: ["./kept.txt:/kept.txt", "./data:/data"] }),
          }),
          "changing.txt": "1",
          "kept.txt": "kept",
          "data/file.txt": "file",
        });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const inodes = await mountInodes(world, "kept");
        await commit(world, { "changing.txt": "2" });
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(before, await ids(world)), ["changing-1"]);
        assert.deepEqual(await mountInodes(world, "kept"), inodes);
        await writeInside(world, "kept", "/data/written.txt", "written");
        assert.equal(await readInside(world, "kept", "/data/written.txt"), "written");
        assert.equal(await readInside(world, "kept", "/kept.txt"), "kept");
      }));

    it("a mounted file that was missing first is a file as soon as a commit brings it", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            other: service(),
            web: service({ volumes: ["./conf/app.txt:/app.txt:ro"] }),
          }),
        });
        await pollTo(world, "succeeded");
        const missing = await ids(world);
        await commit(world, { "conf/app.txt": "here" });
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(missing, await ids(world)), ["web-1"]);
        assert.equal(await readInside(world, "web", "/app.txt"), "here");

        await world.repository.remove(["conf/app.txt"]);
        await pollTo(world, "succeeded");
        await commit(world, { "conf/app.txt": "here again" });
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/app.txt"), "here again");
      }));

    it("files of one name in different directories are told apart", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            a: service({ volumes: ["./a/app.conf:/app.conf:ro"] }),
            b: service({ volumes: ["./b/app.conf:/app.conf:ro"] }),
            c: service({ configs: [{ source: "c", target: "/app.conf" }] }),
            d: service({ configs: [{ source: "d", target: "/app.conf" }] }),
          }, { configs: { c: { file: "./c/app.conf" }, d: { file: "./d/app.conf" } } }),
          "a/app.conf": "a",
          "b/app.conf": "b",
          "c/app.conf": "c",
          "d/app.conf": "d",
        });
        await pollTo(world, "succeeded");
        for (const name of ["a", "b", "c", "d"]) {
          assert.equal(await readInside(world, name, "/app.conf"), name);
        }
        for (const name of ["b", "d"]) {
          const before = await ids(world);
          await commit(world, { [`${name}/app.conf`]: "changed" });
          await pollTo(world, "succeeded");
          assert.deepEqual(replaced(before, await ids(world)), [`${name}-1`]);
          assert.equal(await readInside(world, name, "/app.conf"), "changed");
        }
        assert.equal(await readInside(world, "a", "/app.conf"), "a");
      }));

    it("a mount source with a trailing slash follows its content", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            dotted: service({ volumes: ["./site/./:/site/:ro"] }),
            other: service({ volumes: ["./sites/:/site:ro"] }),
            web: service({ volumes: ["./site/:/site:ro"] }),
            writer: service({ volumes: ["./data/:/data/"] }),
          }),
          "site/page.txt": "1",
          "sites/page.txt": "1",
          "data/seed.txt": "1",
        });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, { "site/page.txt": "2" });
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /mounted site changed/);
        const after = await ids(world);
        assert.deepEqual(replaced(before, after), ["dotted-1", "web-1"]);
        assert.equal(await readInside(world, "web", "/site/page.txt"), "2");
        await commit(world, { "data/seed.txt": "2" });
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(after, await ids(world)), ["writer-1"]);
      }));
  });

  describe(`traps of networks, volumes and names on the ${engine} engine`, () => {
    it("a network with IPv6 and no subnet deploys, or fails without touching what runs", () =>
      inWorld(engine, async (world) => {
        const web = service({ labels: { "test.v": "1" } });
        await commit(world, { "compose.yaml": composeFile({ web }) });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, {
          "compose.yaml": composeFile(
            { web, six: service({ networks: ["six"] }) },
            { networks: { six: { enable_ipv6: true } } },
          ),
        });
        const { run } = await world.poll();
        assert.equal((await ids(world))["web-1"], before["web-1"]);
        if (run.status === "failed") {
          assert.match(JSON.stringify(run), /IPv6/i);
          assert.deepEqual(await states(world), { "web-1": "running" });
          return;
        }
        assert.equal(run.status, "succeeded", JSON.stringify(run));
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("a network that is to be another one is made anew, and its users with it", () =>
      inWorld(engine, async (world) => {
        const network = (more: Record<string, unknown>, bad = {}) => ({
          "compose.yaml": composeFile({
            ...bad,
            db: service({ networks: ["inner"], volumes: ["/anonymous"] }),
            other: service(),
            web: service({ networks: ["default", "inner"], depends_on: ["db"] }),
          }, { networks: { inner: more } }),
        });
        const isInternal = async () =>
          JSON.parse(await docker(world, "network", "inspect", `${world.stack}_inner`))[0].Internal;
        await commit(world, network({}));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const data = await volumeOf(world, "db-1");

        await commit(world, network({ internal: true }));
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /_inner is made anew, with another internal/);
        assert.deepEqual(replaced(before, await ids(world)), ["db-1", "web-1"]);
        assert.equal(await isInternal(), true);
        assert.equal(await volumeOf(world, "db-1"), data);
        await pollTo(world, "skipped");

        world.fake?.setBehaviour("bad", { exit: 1 });
        await commit(world, network({}, { bad: service({ command: ["false"] }) }));
        await pollTo(world, "failed");
        assert.equal(await isInternal(), true);
        assert.equal(await volumeOf(world, "db-1"), data);
        assert.deepEqual(new Set(Object.values(await states(world))), new Set(["running"]));
        assert.deepEqual(Object.keys(await ids(world)), Object.keys(before));
      }));

    it("what a commit takes back of a network is gone; a person's network is kept", () =>
      inWorld(engine, async (world) => {
        const icc = "com.docker.network.bridge.enable_icc";
        const closed = { driver_opts: { [icc]: "false" } };
        const network = (inner: Record<string, unknown>, services = {}) => ({
          "compose.yaml": composeFile({
            ...services,
            web: service({ networks: ["inner", "hand"] }),
          }, { networks: { inner, hand: {} } }),
        });
        const shown = async (key: string) =>
          JSON.parse(await docker(world, "network", "inspect", `${world.stack}_${key}`))[0];
        const labels = ["project=" + world.stack, "network=hand"]
          .flatMap((each) => ["--label", `com.docker.compose.${each}`]);
        const hand = ["network", "create", "--opt", `${icc}=false`, ...labels];
        await docker(world, ...hand, `${world.stack}_hand`);
        const { Id } = await shown("hand");
        await commit(world, network(closed));
        await pollTo(world, "succeeded");
        assert.equal((await shown("inner")).Options[icc], "false");

        const bad = { bad: service({ command: ["false"], networks: [] }) };
        world.fake?.setBehaviour("bad", { exit: 1 });
        await commit(world, network({}, bad));
        await pollTo(world, "failed");
        assert.equal((await shown("inner")).Options[icc], "false", "the release before is back");

        await commit(world, network({}));
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.match(out, new RegExp(`_inner is made anew, with another driver_opts.${icc}`));
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /_inner is made anew/);
        assert.equal((await shown("inner")).Options[icc], undefined);
        await commit(world, network({}, { other: service() }));
        await pollTo(world, "succeeded");
        assert.equal((await shown("hand")).Id, Id);
        assert.equal((await shown("hand")).Options[icc], "false");
      }));

    it("what the engine refuses of a network that changes is known while its users run", () =>
      inWorld(engine, async (world) => {
        const network = (icc: string) => ({
          "compose.yaml": composeFile({ web: service({ networks: ["inner"] }) }, {
            networks: { inner: { driver_opts: { "com.docker.network.bridge.enable_icc": icc } } },
          }),
        });
        const shown = async () => [
          await docker(world, "network", "ls", "--quiet", "--filter", `name=${world.stack}_inner`),
          await docker(
            world,
            "inspect",
            "--format",
            "{{.State.StartedAt}}",
            `${world.stack}-web-1`,
          ),
        ];
        await commit(world, network("false"));
        await pollTo(world, "succeeded");
        const before = await shown();
        await commit(world, network("2"));
        const { deployments } = await pollTo(world, "failed");
        const message = deployments?.[0]?.message ?? "";
        assert.match(message, /networks.inner: network \S+_inner cannot be made anew .*enable_icc/);
        assert.deepEqual(await shown(), before);
      }));

    it("a network of other stacks' containers is not made anew, but deployed under another key", () =>
      inWorld(engine, async (world) => {
        const network = (key: string, more: Record<string, unknown>) => ({
          "compose.yaml": composeFile({
            other: service(),
            web: service({ networks: [key] }),
          }, { networks: { [key]: more } }),
        });
        await commit(world, network("inner", {}));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const stranger = `${world.stack}-stranger`;
        const joins = ["--network", `${world.stack}_inner`, "--name", stranger];
        await docker(world, "create", ...joins, IMAGE, "sleep", "100000");
        try {
          await docker(world, "start", stranger);
          world.proxy.reset();
          await commit(world, network("inner", { internal: true }));
          const { deployments } = await pollTo(world, "failed");
          const message = deployments?.[0]?.message ?? "";
          assert.match(
            message,
            /network \S+_inner exists with another internal, .* is connected to it/,
          );
          assert.equal(world.proxy.mutations(), 0);
          assert.deepEqual(await ids(world), before);

          await commit(world, network("inner2", { internal: true }));
          await pollTo(world, "succeeded");
          assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
          const found = await docker(world, "network", "inspect", `${world.stack}_inner2`);
          assert.equal(JSON.parse(found)[0].Internal, true);
          await pollTo(world, "skipped");
        } finally {
          await docker(world, "rm", "--force", stranger);
        }
      }));

    it("changed options of a volume that exists are refused, and nothing is touched", () =>
      inWorld(engine, async (world) => {
        const volume = (size: string, more = {}) => ({
          "compose.yaml": composeFile({
            other: service(),
            web: service({ volumes: ["data:/data"] }),
          }, {
            volumes: {
              data: { driver_opts: { type: "tmpfs", device: "tmpfs", o: `size=${size}` }, ...more },
            },
          }),
        });
        await commit(world, volume("1m"));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await pollTo(world, "skipped");

        world.proxy.reset();
        await commit(world, volume("2m"));
        const { deployments } = await pollTo(world, "failed");
        const message = deployments?.[0]?.message ?? "";
        assert.match(message, /volume \S+_data exists with another driver_opts\.o/);
        assert.match(message, /docker volume rm \S+_data/);
        assert.doesNotMatch(message, /size=/);
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);

        await commit(world, volume("2m", { name: `${world.stack}_data2` }));
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
      }));

    it("orphans are containers of the same project, never those of another with that service", () =>
      inWorld(engine, async (world) => {
        const [one, two] = [`${world.stack}-one`, `${world.stack}-two`];
        const files = {
          ".stackwright.yaml": configFile(
            { name: one, working_dir: "one" },
            { name: two, working_dir: "two" },
          ),
          "one/compose.yaml": composeFile({ db: service(), web: service() }),
          "two/compose.yaml": composeFile({ db: service(), web: service() }),
        };
        await world.repository.commit(files);
        await pollTo(world, "succeeded");
        const before = await ids(world, two);
        await world.repository.commit({ "one/compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        assert.deepEqual(Object.keys(await ids(world, one)), ["web-1"]);
        assert.deepEqual(await ids(world, two), before);
      }));

    it("COMPOSE_PROJECT_NAME in .env or in our own environment renames no stack", () =>
      inWorld(engine, async (world) => {
        const stranger = `${world.stack}-stranger`;
        await world.restart({ COMPOSE_PROJECT_NAME: stranger, PASS_ENV: "true" });
        await commit(world, {
          "compose.yaml": composeFile({ web: service() }),
          ".env": `COMPOSE_PROJECT_NAME=${stranger}\nCOMPOSE_FILE=other.yaml\n`,
        });
        await pollTo(world, "succeeded");
        assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
        assert.deepEqual(await world.containers(stranger), []);
        await pollTo(world, "skipped");
      }));

    it("a dollar sign in a variable reaches the container as it was written", () =>
      inWorld(engine, async (world) => {
        const regex = "^v[0-9]+(\\.[0-9]+)$";
        await commit(world, {
          "compose.yaml": composeFile({
            web: service({
              environment: {
                ESCAPED: "5$$ and $${NOT}",
                FROM_ENVIRONMENT: "${PATTERN}",
                FROM_DOTENV: "${QUOTED}",
              },
              env_file: ["web.env"],
            }),
          }),
          ".env": "QUOTED='a$b ${c}'\n",
          "web.env": "FILE='x$y ${z}'\n",
        }, { environment: { PATTERN: regex } });
        await pollTo(world, "succeeded");
        const environment = await environmentOf(world, "web");
        for (
          const line of [
            "ESCAPED=5$ and ${NOT}",
            `FROM_ENVIRONMENT=${regex}`,
            "FROM_DOTENV=a$b ${c}",
            "FILE=x$y ${z}",
          ]
        ) assert.ok(environment.includes(line), `${line} is not in ${environment.join("\n")}`);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("scale 0 to start with is no failure, and containers come and go with the number", () =>
      inWorld(engine, async (world) => {
        const scaled = (scale: number) => ({
          "compose.yaml": composeFile({ web: service(), workers: service({ scale }) }),
        });
        await commit(world, scaled(0));
        await pollTo(world, "succeeded");
        const none = await ids(world);
        assert.deepEqual(Object.keys(none), ["web-1"]);
        await pollTo(world, "skipped");
        await commit(world, scaled(1));
        await pollTo(world, "succeeded");
        assert.deepEqual(Object.keys(await ids(world)), ["web-1", "workers-1"]);
        await commit(world, scaled(0));
        await pollTo(world, "succeeded");
        assert.deepEqual(await ids(world), none);
      }));
  });
}

for (const engine of await decidingEngine()) {
  describe(`names that mean something elsewhere on the ${engine} engine`, () => {
    it("services may be called like what every object has, and labels may hold a dollar", () =>
      inWorld(engine, async (world) => {
        const file = (word: string) => ({
          "compose.yaml": composeFile({
            constructor: service({ labels: { "rule$$of$x": "a$$b" }, depends_on: ["toString"] }),
            toString: service({ environment: { WORD: word } }),
          }),
        });
        await commit(world, file("one"));
        await pollTo(world, "succeeded");
        const first = await ids(world);
        assert.deepEqual(Object.keys(first).sort(), ["constructor-1", "toString-1"]);
        assert.equal(await label(world, "constructor", "rule$$of$x"), "a$b");
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);

        await commit(world, file("two"));
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(first, await ids(world)), ["toString-1"]);

        await commit(world, { "compose.yaml": composeFile({ toString: service() }) });
        const finished = await pollTo(world, "succeeded");
        assert.equal(actions(finished)["constructor"], "remove");
        await commandTo(world, 0, ["rollback", world.stack]);
        assert.deepEqual(Object.keys(await ids(world)).sort(), ["constructor-1", "toString-1"]);
      }));
  });
}

describe("a config that only a swarm has", () => {
  it("is refused before the container that would use it is replaced", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      await commit(world, {
        "compose.yaml": composeFile({ web: service({ configs: ["c"] }) }, {
          configs: { c: { external: true } },
        }),
      });
      world.proxy.reset();
      const finished = await pollTo(world, "failed");
      assert.match(JSON.stringify(finished), /configs\.c is external, which only a swarm has/);
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(await ids(world), before);
    }));
});

describe("COMPOSE_PROJECT_NAME", () => {
  it("in environment is refused by name, and nothing is touched", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service() }) }, {
        environment: { COMPOSE_PROJECT_NAME: "stranger" },
      });
      const finished = await pollTo(world, "failed");
      assert.match(JSON.stringify(finished), /environment\.COMPOSE_PROJECT_NAME would change/);
      assert.equal(world.proxy.mutations(), 0);
      assert.equal(await label(world, "web", "com.docker.compose.project"), undefined);
    }));
});

/** Inodes of the sources of a container's mounts, by where they are mounted. */
async function mountInodes(world: World, name: string): Promise<Record<string, number>> {
  const id = (await ids(world))[`${name}-1`] ?? "";
  const text = await docker(world, "inspect", "--format", "{{json .Mounts}}", id);
  const mounts = JSON.parse(text) as { Source: string; Destination: string }[];
  assert.ok(mounts.length > 0);
  const inodes: Record<string, number> = {};
  for (const { Source, Destination } of mounts) {
    inodes[Destination] = (await stat(Source)).ino;
    if (world.kind === "fake") continue;
    const inside = await docker(world, "exec", id, "stat", "-c", "%i", Destination);
    assert.equal(Number(inside), inodes[Destination], `${Destination} is not the one on the host`);
  }
  return inodes;
}

async function environmentOf(world: World, name: string): Promise<readonly string[]> {
  const id = (await ids(world))[`${name}-1`] ?? "";
  return JSON.parse(await docker(world, "inspect", "--format", "{{json .Config.Env}}", id));
}

/** The name of the only volume of a container. */
async function volumeOf(world: World, name: string): Promise<string> {
  const format = "{{range .Mounts}}{{.Name}}{{end}}";
  return await docker(world, "inspect", "--format", format, `${world.stack}-${name}`);
}
