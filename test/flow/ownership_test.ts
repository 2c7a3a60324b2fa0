import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Commands, systemCommands } from "../../src/system/mod.ts";
import { startByHand } from "./by_hand.ts";
import { automaticPoll, commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import {
  actions,
  commit,
  docker,
  ids,
  interrupt,
  inWorld,
  label,
  pollTo,
  readInside,
  writeInside,
} from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, engines, type World } from "./world.ts";

const never = new AbortController().signal;

/** A project with a network, a volume and a service that the repository does not know. */
const EXISTING = composeFile({
  old: service(),
  web: service({ volumes: ["store:/store"], networks: ["inner"] }),
}, { volumes: { store: {} }, networks: { inner: {} } });

const WANTED = (more: Part = {}) => ({
  "compose.yaml": composeFile({
    web: service({ volumes: ["store:/store"], networks: ["inner"], ...more }),
  }, { volumes: { store: {} }, networks: { inner: {} } }),
});

/** Networks by id and volumes with their creation time: what may not be made anew. */
async function resources(world: World): Promise<unknown> {
  const project = { "com.docker.compose.project": world.stack };
  const networks = await world.engine.listNetworks(project, never);
  const volumes = await world.engine.listVolumes(project, never);
  const format = "{{.Name}} {{.CreatedAt}}";
  return {
    networks: networks.map((each) => `${each.name} ${each.id}`).filter((each) =>
      /inner/.test(each)
    ),
    volumes: await docker(world, "volume", "inspect", "--format", format, volumes[0]?.name ?? ""),
  };
}

for (const engine of await engines()) {
  describe(`a project that nobody manages on the ${engine} engine`, () => {
    it("is adopted: its network and data stay, and what is not in the files stays once", () =>
      inWorld(engine, async (world) => {
        await startByHand(world, EXISTING);
        const before = await ids(world);
        const had = await resources(world);
        if (world.kind === "real") await writeInside(world, "web", "/store/file", "precious");

        await commit(world, WANTED());
        const finished = await pollTo(world, "succeeded");
        assert.match(JSON.stringify(finished), /adopted .*orphans were kept/);
        const adopted = await ids(world);
        assert.notEqual(adopted["web-1"], before["web-1"]);
        assert.equal(adopted["old-1"], before["old-1"]);
        assert.deepEqual(await resources(world), had);
        if (world.kind === "real") {
          assert.equal(await readInside(world, "web", "/store/file"), "precious");
        }

        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), adopted);

        await commit(world, WANTED({ tty: true }));
        const next = await pollTo(world, "succeeded");
        assert.deepEqual(actions(next), { old: "remove", web: "recreate" });
        assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
        assert.deepEqual(await resources(world), had);
      }));

    it("networks and volumes of our own stay the same through releases", () =>
      inWorld(engine, async (world) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const had = await resources(world);
        for (const value of ["1", "2"]) {
          await commit(world, WANTED({ environment: { VALUE: value } }));
          await pollTo(world, "succeeded");
        }
        assert.deepEqual(await resources(world), had);
      }));
  });
}

describe("a stack of another repository", () => {
  it("is a conflict that names both, and is not touched", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          ...WANTED({ tty: true }),
        });
        world.proxy.reset();
        const finished = await pollTo(world, "failed", { url: other.repository.url });
        const message = finished.deployments?.[0]?.message ?? "";
        assert.ok(message.includes(world.stack), message);
        assert.ok(message.includes(nameOf(world)), message);
        assert.ok(message.includes(nameOf(other)), message);
        assert.deepEqual(await ids(world), before);
        assert.equal(world.proxy.mutations(), 0);
        await pollTo(world, "skipped");
      } finally {
        await other.close();
      }
    }));

  it("is spoken of in its owner's words: what others hid for its name in vain is forgotten", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        const words = { environment: { A_PASSWORD: "create web", B_TOKEN: "deployed" } };
        await other.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          "compose.yaml": composeFile({ web: service({ image: "not.there/at:all", ...words }) }),
        });
        await pollTo(world, "failed", { url: other.repository.url });
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        const finished = await pollTo(world, "succeeded");
        assert.equal(finished.deployments?.[0]?.message, "create web");
        const answer = await world.request(`/v1/api/deployment/${world.stack}`);
        const text = await answer.text();
        assert.match(text, /"message":"create web"/);
        assert.ok(!text.includes("***"), text);
      } finally {
        await other.close();
      }
    }));

  it("stays its owner's while it has no container; a person hands it over, with its data", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other, take) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        for (const each of await world.containers()) {
          await world.engine.removeContainer(each.id, { force: true, volumes: false }, never);
        }
        const refused = await take("failed");
        assert.match(refused, /already belongs to /);
        assert.ok(refused.includes(`stackwright adopt ${world.stack} --source `), refused);
        assert.deepEqual(await world.containers(), []);

        const { out } = await commandTo(world, 0, ["adopt", world.stack]);
        assert.ok(out.includes(nameOf(other)), out);
        await take("succeeded");
        await take("skipped");
        const owned = await label(world, "web", "stackwright.source.name");
        assert.equal(owned?.endsWith(nameOf(other)), true);
        const lost = await pollTo(world, "failed");
        assert.match(JSON.stringify(lost), /already belongs to /);
        await take("skipped");
      })));

  it("stays as it is for those who ask, whatever another repository was refused", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other, take) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        // What the engine says of it is left out: it has a time limit, which a busy machine may pass.
        const state = async () => {
          const { out } = await commandTo(world, 0, ["status", "--json", world.stack]);
          return JSON.parse(out).deployments[0].state;
        };
        const recorded = async () => {
          const { out } = await commandTo(world, 0, ["explain", "--json", world.stack]);
          const { decisions, failure } = JSON.parse(out);
          return { decisions, failure };
        };
        const told = await recorded();
        assert.ok(told.decisions.length > 0);
        const unchanged = async (what: string) => {
          assert.deepEqual(await recorded(), told, what);
          assert.ok(["synced", "unknown"].includes(await state()), what);
        };
        await take("failed");
        await unchanged("another repository with that name");
        for (const more of ["pause: true\n", "destroy: true\n", "working_dir: nowhere\n"]) {
          await other.repository.commit({ ".stackwright.yaml": `name: ${world.stack}\n${more}` });
          await pollTo(world, more.startsWith("pause") ? "skipped" : "failed", {
            url: other.repository.url,
          });
          await unchanged(more);
        }
      })));

  it("keeps its volumes to itself: another must say that one is external", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const wants = async (status: string, stack: string, more: Part = {}) => {
          const store = { name: `${world.stack}_store`, ...more };
          await other.repository.commit({
            ".stackwright.yaml": `name: ${stack}\n`,
            "compose.yaml": composeFile({ web: service({ volumes: ["store:/store"] }) }, {
              volumes: { store },
            }),
          });
          return JSON.stringify(await pollTo(world, status, { url: other.repository.url }));
        };
        const thief = `${world.stack}-thief`;
        world.proxy.reset();
        const refused = await wants("failed", thief);
        assert.ok(refused.includes(`volume ${world.stack}_store is stack ${world.stack}'s`));
        assert.match(refused, /volumes.store.external: true/);
        assert.equal(world.proxy.mutations(), 0);
        await wants("succeeded", thief, { external: true });
      })));

  it("joins no network that another made under the name of its own", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other) => {
        const name = `${world.stack}_inner`;
        const trap = async (status: string, inner: Part) => {
          await other.repository.commit({
            ".stackwright.yaml": `name: ${world.stack}-trap\n`,
            "compose.yaml": composeFile({ web: service({ networks: ["inner"] }) }, {
              networks: { inner },
            }),
          });
          await pollTo(world, status, { url: other.repository.url });
        };
        await trap("succeeded", { name });
        await commit(world, WANTED());
        world.proxy.reset();
        const refused = JSON.stringify(await pollTo(world, "failed"));
        assert.ok(refused.includes(`network ${name} is stack ${world.stack}-trap's`), refused);
        assert.equal(world.proxy.mutations(), 0);
        const { out, err } = await commandTo(world, 1, ["plan", world.repository.url]);
        assert.ok(`${out}${err}`.includes(`network ${name} is stack ${world.stack}-trap's`));
      })));

  it("keeps its volumes to itself where another goes back to a release from before them", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other) => {
        const earlier = `${world.stack}-earlier`;
        const store = `${world.stack}_store`;
        const releases = [
          composeFile({ web: service({ volumes: ["store:/store"] }) }, {
            volumes: { store: { name: store } },
          }),
          composeFile({ web: service() }),
        ];
        for (const release of releases) {
          await other.repository.commit({
            ".stackwright.yaml": `name: ${earlier}\n`,
            "compose.yaml": release,
          });
          await pollTo(world, "succeeded", { url: other.repository.url });
        }
        await world.engine.removeVolume(store, never);
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        world.proxy.reset();
        const { err } = await commandTo(world, 1, ["rollback", earlier, "1"]);
        assert.ok(err.includes(`volume ${store} is stack ${world.stack}'s`), err);
        assert.equal(world.proxy.mutations(), 0);
      })));

  it("keeps its volumes to itself where another's earlier release is repaired, or put back", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other) => {
        const earlier = `${world.stack}-earlier`;
        const store = `${world.stack}_store`;
        const mounting = composeFile({ web: service({ volumes: ["store:/store"] }) }, {
          volumes: { store: { name: store } },
        });
        const wants = async (status: string, compose: string, more = "") => {
          await other.repository.commit({
            ".stackwright.yaml": `name: ${earlier}\n${more}`,
            "compose.yaml": compose,
          });
          return JSON.stringify(await pollTo(world, status, { url: other.repository.url }));
        };
        const theirs = () =>
          world.engine.listContainers({ "com.docker.compose.project": earlier }, never);
        await wants("succeeded", mounting);
        for (const { id } of await theirs()) {
          await world.engine.removeContainer(id, { force: true, volumes: true }, never);
        }
        await world.engine.removeVolume(store, never);
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const whose = `volume ${store} is stack ${world.stack}'s`;
        const held = await wants("failed", mounting, "pause: true\n");
        assert.ok(held.includes(whose), held);
        assert.deepEqual(await theirs(), []);
        world.fake?.setBehaviour("web", { exit: 3 });
        const failed = await wants("failed", composeFile({ web: service() }));
        assert.match(failed, /no earlier release to go back to/);
        for (const { id } of await theirs()) {
          const { mounts } = await world.engine.inspectContainer(id, never) ?? {};
          assert.deepEqual(mounts, []);
        }
      })));

  it("is handed over while it runs, and becomes what the other repository says", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other, take) => {
        await commit(world, { "compose.yaml": composeFile({ old: service(), web: service() }) });
        await pollTo(world, "succeeded");
        const by = ["--source", other.repository.url, "--reference", "main"];
        await commandTo(world, 0, ["adopt", world.stack, ...by]);
        await pollTo(world, "failed");
        await take("succeeded");
        assert.deepEqual(Object.keys(await ids(world)).sort(), ["web-1"]);
        await pollTo(world, "failed");
      })));

  it("that was handed over leaves volumes that are its new owner's, until they are gone, too", () =>
    inWorld("fake", (world) =>
      withOther(world, async (other, take) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        const by = ["--source", other.repository.url, "--reference", "main"];
        await commandTo(world, 0, ["adopt", world.stack, ...by]);
        for (const removesVolumes of [false, true]) {
          await take("succeeded");
          const path = `/v1/api/project/${world.stack}?volumes=${removesVolumes}`;
          assert.equal((await world.request(path, { method: "DELETE" })).status, 200);
          await pollTo(world, removesVolumes ? "succeeded" : "failed");
        }
      })));

  it("leaves volumes that are still its owner's", () =>
    inWorld("fake", (world) =>
      withOther(world, async (_other, take) => {
        await commit(world, WANTED());
        await pollTo(world, "succeeded");
        await commit(world, WANTED(), { destroy: { enabled: true, remove_volumes: false } });
        await pollTo(world, "succeeded");
        assert.match(await take("failed"), /already belongs to /);
        await commandTo(world, 0, ["adopt", world.stack]);
        await take("succeeded");
      })));

  it("may be a branch of the same one: a conflict instead of replacing each other", () =>
    inWorld("fake", async (world) => {
      const automatic = async (reference: string, status: string) => {
        const run = await automaticPoll(world, { reference });
        assert.equal(run.status, status, JSON.stringify(run));
        return run;
      };
      await commit(world, WANTED());
      await automatic("main", "succeeded");
      await commit(world, WANTED({ tty: true }));
      await world.repository.branch("dev");
      await commit(world, WANTED());
      const before = await ids(world);
      const dev = await automatic("dev", "failed");
      assert.match(JSON.stringify(dev), /refs\/heads\/main.*refs\/heads\/dev/);
      assert.deepEqual(await ids(world), before);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(out, /another poll was refused it at \S+ \S+: .*belongs to/);
      await automatic("main", "skipped");
      // What a destroy leaves has labels that tell no branch.
      await commit(world, WANTED(), { destroy: { enabled: true, remove_volumes: false } });
      await automatic("main", "succeeded");
      assert.match(JSON.stringify(await automatic("dev", "failed")), /belongs to .*heads\/main/);
      await commandTo(world, 0, ["adopt", world.stack]);
      await automatic("dev", "succeeded");
      await commit(world, WANTED());
      const lost = JSON.stringify(await automatic("main", "failed"));
      // The way that the error names works, also between branches of one repository.
      const [, way = ""] = /stackwright (adopt [^"]*)/.exec(lost) ?? [];
      await commandTo(world, 0, way.split(" "));
      await automatic("dev", "failed");
      await automatic("main", "succeeded");
    }));

  it("stays with its branch when a person asks for another one", () =>
    inWorld("fake", async (world) => {
      await commit(world, WANTED());
      assert.equal((await automaticPoll(world)).status, "succeeded");
      await commit(world, WANTED({ tty: true }));
      await world.repository.branch("dev");
      await commit(world, WANTED());
      await pollTo(world, "succeeded", { reference: "dev" });
      assert.equal((await automaticPoll(world)).status, "succeeded");
      assert.equal((await automaticPoll(world, { reference: "dev" })).status, "failed");
    }));

  it("may be a branch's of the same one, which gets none of its volumes, whoever deploys it", () =>
    inWorld("fake", async (world) => {
      await commit(world, WANTED());
      assert.equal((await automaticPoll(world)).status, "succeeded");
      const store = { name: `${world.stack}_store` };
      const compose = composeFile({ web: service({ volumes: ["store:/store"] }) }, {
        volumes: { store },
      });
      await commit(world, { "compose.yaml": compose }, { name: `${world.stack}-dev` });
      await world.repository.branch("dev");
      world.proxy.reset();
      const refused = JSON.stringify(await automaticPoll(world, { reference: "dev" }));
      assert.match(refused, /_store is stack .*'s, which runs from .*heads\/main/);
      await pollTo(world, "failed", { reference: "dev" });
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("stays with its first branch also where a person deployed that, and asks for another", () =>
    inWorld("fake", async (world) => {
      await commit(world, WANTED());
      await pollTo(world, "succeeded");
      await commit(world, WANTED({ tty: true }));
      await world.repository.branch("dev");
      await commit(world, WANTED({ tty: false }));
      assert.match(
        JSON.stringify(await automaticPoll(world, { reference: "dev" })),
        /belongs to .*heads\/main.*heads\/dev/,
      );
      await pollTo(world, "succeeded", { reference: "dev" });
      assert.equal((await automaticPoll(world, { reference: "dev" })).status, "failed");
      assert.equal((await automaticPoll(world)).status, "succeeded");
    }));

  it("that doco-cd deployed is a conflict, one from this repository is adopted", () =>
    inWorld("fake", async (world) => {
      await commit(world, WANTED());
      const peer = (url: string) =>
        composeFile({ web: service({ labels: { "cd.doco.source.url": url } }) });
      await startByHand(world, peer("https://user:word@git.example.com/them/shop.git"));
      const failed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(failed, /https:\/\/git.example.com\/them\/shop.git by doco-cd/);
      await startByHand(world, peer(world.repository.url));
      await pollTo(world, "succeeded");
    }));

  it("is not taken where another manager comes while its first release is prepared", async () => {
    let came = 0;
    const run: Commands["run"] = async (command, signal) => {
      if (command.argv.includes("pull") && came++ === 0) await startByHand(world, theirs);
      return await systemCommands.run(command, signal);
    };
    const commands = { ...systemCommands, run };
    const world = await createWorld({ engine: "fake", commands });
    const theirs = foreign(world);
    try {
      world.fake?.addImage("swt/slow:1", { where: "registry" });
      await commit(world, {
        "compose.yaml": composeFile({
          web: service({ image: "swt/slow:1", volumes: ["store:/store"] }),
        }, { volumes: { store: {} } }),
      });
      const failed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(failed, /already runs from git.example.com\/them\/shop/);
      assert.deepEqual(Object.keys(await ids(world)), ["other-1"]);
      // Nor are their volumes, while nothing of them runs.
      await docker(world, "rm", "--force", `${world.stack}-other-1`);
      const again = JSON.stringify(await pollTo(world, "failed"));
      assert.match(again, /has data of git.example.com\/them\/shop/);
    } finally {
      await world.close();
    }
  });

  it("is not resumed over what another manager deployed after a kill", () =>
    inWorld("fake", async (world) => {
      await commit(world, WANTED());
      await pollTo(world, "succeeded");
      await world.stop();
      interrupt(world, 1);
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await startByHand(world, foreign(world));
      await world.restart();
      const first = () => rows(world, "SELECT status, message FROM releases WHERE number = 1")[0];
      await until(() => first()?.["status"] !== "applying");
      assert.match(JSON.stringify(first()), /already runs from git.example.com\/them\/shop/);
      assert.deepEqual(Object.keys(await ids(world)), ["other-1"]);
    }));

  it("cannot be adopted by nobody", () =>
    inWorld("fake", async (world) => {
      const { err } = await commandTo(world, 1, ["adopt", world.stack]);
      assert.match(err, /name the source that is to have it/);
      await commandTo(world, 64, ["adopt", world.stack, "--source", "no repository"]);
    }));
});

/** A project of the world's stack, as another Stackwright has deployed it. */
function foreign({ stack }: World): string {
  const labels = {
    "stackwright.manager": "stackwright",
    "stackwright.deployment": stack,
    "stackwright.source.configuration": "git.example.com/them/shop",
    "stackwright.source.name": "git.example.com/them/shop",
  };
  return composeFile({ other: service({ labels, volumes: ["store:/store"] }) }, {
    volumes: { store: { labels } },
  });
}

/** Another repository whose stack has the name of the world's. */
async function withOther(
  world: World,
  test: (other: World, take: (status: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const other = await createWorld({ engine: "fake" });
  try {
    await other.repository.commit({
      ".stackwright.yaml": `name: ${world.stack}\n`,
      ...WANTED({ tty: true }),
    });
    await test(other, async (status) => {
      return JSON.stringify(await pollTo(world, status, { url: other.repository.url }));
    });
  } finally {
    await other.close();
  }
}

/** What a world's repository is called in labels: its path is part of it. */
function nameOf(world: World): string {
  return world.repository.path.replace(/^\//, "");
}
