import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { sampleOf } from "../fakes/sample.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { startByHand } from "./by_hand.ts";
import { commit, inWorld, pollTo } from "./steps.ts";
import {
  bytesBelow,
  CANARY,
  filesOf,
  makePrey,
  one,
  OURS,
  PATH_ATTACKS,
  type Prey,
  TOKEN,
} from "./path_attacks.ts";
import { createWorld, type World } from "./world.ts";

describe("a hostile repository", () => {
  let world: World;
  let prey: Prey;
  let good: string;
  let ids: string[];

  before(async () => {
    const made = await makePrey();
    const { outside } = made;
    world = await createWorld({
      engine: "fake",
      env: { WEBHOOK_SECRET_FILE: join(outside, "token"), PASS_ENV: "true" },
    });
    const { dataDir } = world;
    for (const name of ["to-data", "to$data"]) await symlink(dataDir, join(outside, name));
    prey = { ...made, dataDir };
    good = await world.repository.commit({
      ".stackwright.yaml": configFile({ name: world.stack }),
      "compose.yaml": JSON.stringify(one({})),
    });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
  });
  after(async () => {
    await world.close();
    await rm(prey.outside, { recursive: true });
  });
  beforeEach(async () => {
    await world.repository.reset(good);
    ids = (await world.containers()).map((each) => each.id);
    assert.equal(ids.length, 1);
    world.proxy.reset();
  });

  for (const attack of sampleOf(PATH_ATTACKS, 3)) {
    it(`${attack.title} is refused before anything is read or touched`, async () => {
      await world.repository.commit(filesOf(attack, prey, world.stack));
      const { run, body } = await world.poll();
      assert.equal(run.status, "failed", JSON.stringify(run));
      assert.match(JSON.stringify(run), attack.says);
      assert.equal(world.proxy.mutations(), 0, JSON.stringify(world.proxy.calls));
      assert.deepEqual((await world.containers()).map((each) => each.id), ids);
      const shown = JSON.stringify([run, body, world.lines, world.fake?.containers()]);
      assert.ok(!shown.includes(CANARY) && !shown.includes(TOKEN), "the canary was shown");
      const kept = await bytesBelow(world.dataDir);
      assert.ok(!kept.includes(CANARY) && !kept.includes(TOKEN), "the canary was kept");
    });
  }
});

describe("what repositories may do", () => {
  it("reads every file of their own, by all the same ways", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".stackwright.yaml": configFile({
          name: world.stack,
          working_dir: "app",
          env_files: ["../shared/base.env"],
          compose_files: ["compose.yaml"],
        }),
        "app/compose.yaml": JSON.stringify({
          include: ["../shared/more.yaml", {
            path: "inc/c.yaml",
            project_directory: ".",
            env_file: "inc/own.env",
          }],
          services: {
            web: service({
              env_file: ["../shared/web.env", "${WHICH}.env", {
                path: "gone.env",
                required: false,
              }],
              extends: { file: "../shared/base.yaml", service: "base" },
              volumes: ["../shared:/shared:ro", "./state:/state"],
            }),
          },
        }),
        "app/prod.env": "FROM_VARIABLE=1\n",
        "app/inc/own.env": "OWN=own\n",
        "app/inc/c.yaml": JSON.stringify({ services: { inc: service({ env_file: "prod.env" }) } }),
        "shared/base.env": "WHICH=prod\n",
        "shared/web.env": "FROM_SHARED=1\n",
        "shared/more.yaml": JSON.stringify({
          services: { more: service({ env_file: "web.env" }) },
        }),
        "shared/base.yaml": `services:\n  base: {env_file: "link.env"}\n`,
        "shared/link.env": { link: "../real/x.env" },
        "real/x.env": "FROM_LINK=1\n",
      });
      const { run } = await world.poll();
      assert.equal(run.status, "succeeded", JSON.stringify(run));
      const environment = Object.fromEntries(
        (world.fake?.containers() ?? []).map((each) => [
          each.service,
          each.env.join(" "),
        ]),
      );
      for (const name of ["FROM_VARIABLE=1", "FROM_SHARED=1", "FROM_LINK=1"]) {
        assert.match(environment["web"] ?? "", new RegExp(name));
      }
      assert.match(environment["more"] ?? "", /FROM_SHARED=1/);
      assert.match(environment["inc"] ?? "", /FROM_VARIABLE=1/);
    }));

  it("mounts what belongs to the host, with a warning where that includes us", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".stackwright.yaml": configFile({ name: world.stack }),
        "compose.yaml": JSON.stringify(
          one({
            volumes: [
              "/srv/media:/media",
              "/:/host:ro",
              "/var/run/docker.sock:/var/run/docker.sock:ro",
              "/run:/host-run",
              `${world.proxy.host.replace("unix://", "")}:/engine`,
            ],
          }),
        ),
      });
      const { run } = await world.poll();
      assert.equal(run.status, "succeeded", JSON.stringify(run));
      const lines = world.lines.filter((each) => each.level === "warning");
      const warnings = lines.map((each) => each.message);
      const whole = lines.find(({ message }) => /volume mounts \/,/.test(message));
      assert.ok(whole, warnings.join("\n"));
      // With half of its name, words of all stacks would be masked in it.
      const { stack, context } = whole.fields;
      assert.deepEqual([stack, context], [world.stack, "default"]);
      // The whole host, the usual socket, its directory, and the one that DOCKER_HOST names.
      const sockets = warnings.filter((each) => /engine's socket/.test(each));
      assert.equal(sockets.length, 4, warnings.join("\n"));
      assert.ok(!warnings.some((each) => /media/.test(each)), warnings.join("\n"));
    }));

  it("gets no keys for other engines", () =>
    inWorld("fake", async (world) => {
      const contexts = join(world.env["DOCKER_CONFIG"] ?? "", "contexts");
      await commit(world, {
        "compose.yaml": JSON.stringify(one({ volumes: [`${contexts}/tls:/x:ro`] })),
      });
      assert.match(JSON.stringify(await pollTo(world, "failed")), OURS);
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("takes over mounts of another project's container, but none of ours", () =>
    inWorld("fake", async (world) => {
      const model = (volume: string) =>
        composeFile({ web: service({ container_name: `${world.stack}-x`, volumes: [volume] }) });
      const project = `${world.stack}-x`;
      await commit(world, {
        "compose.yaml": JSON.stringify(one({ volumes_from: [`container:${project}:ro`] })),
      });
      const missing = await pollTo(world, "failed");
      assert.match(JSON.stringify(missing), /there is no container/);
      for (const volume of [`${world.dataDir}/releases/default/other:/x`, `${world.dataDir}:/x`]) {
        await startByHand(world, model(volume), { project });
        world.proxy.reset();
        assert.match(JSON.stringify(await pollTo(world, "failed")), OURS);
        assert.equal(world.proxy.mutations(), 0);
      }
      await startByHand(world, model("/srv/media:/media"), { project });
      await pollTo(world, "succeeded");
    }));

  it("gets no secret of the service by name, whatever PASS_ENV says", () =>
    inWorld("fake", async (world) => {
      const steals = (more: Part, rest: Part = {}) =>
        world.repository.commit({
          ".stackwright.yaml": configFile({ name: world.stack }),
          "compose.yaml": JSON.stringify(
            one({
              environment: {
                A: "${GIT_ACCESS_TOKEN}",
                B: "${API_SECRET}",
                C: "${DISGUISED}",
                D: "${HTTPS_PROXY}",
                FREE: "${FREE}",
                GIT_ACCESS_TOKEN: null,
              },
              ...more,
            }, rest),
          ),
        });
      await steals({ secrets: ["s"] }, { secrets: { s: { environment: "GIT_ACCESS_TOKEN" } } });
      const refused = await world.poll();
      assert.equal(refused.run.status, "failed");
      assert.match(JSON.stringify(refused.run), /variable GIT_ACCESS_TOKEN, which is not set/);
      assert.deepEqual(world.fake?.containers(), []);
      await steals({});
      const { run, body } = await world.poll();
      const shown = JSON.stringify([refused, run, body, world.lines, world.fake?.containers()]);
      assert.ok(!shown.includes(TOKEN), shown);
      const environment = world.fake?.containers()[0]?.env.join(" ") ?? "";
      assert.match(environment, /FREE=free/);
    }, {
      PASS_ENV: "true",
      GIT_ACCESS_TOKEN: TOKEN,
      DISGUISED: `x ${TOKEN} y`,
      HTTPS_PROXY: `http://u:${TOKEN}@127.0.0.1:1`,
      FREE: "free",
    }));

  it("cannot lead us out of their live files by a link that a container made", () =>
    inWorld("fake", async (world) => {
      const outside = await mkdtemp(join(tmpdir(), "swt-outside-"));
      try {
        const files = (content: string) => ({
          ".stackwright.yaml": configFile({ name: world.stack }),
          "compose.yaml": JSON.stringify(one({ volumes: ["./state:/state"] })),
          "state/sub/file": content,
        });
        await world.repository.commit(files("one"));
        assert.equal((await world.poll()).run.status, "succeeded");
        const live = join(world.dataDir, "releases/default", world.stack, "live/state");
        await rm(join(live, "sub"), { recursive: true });
        await mkdir(join(outside, "sub"));
        await symlink(join(outside, "sub"), join(live, "sub"));
        await world.repository.commit(files("two"));
        const { run } = await world.poll();
        assert.equal(run.status, "failed", JSON.stringify(run));
        assert.match(JSON.stringify(run), /a container put a link to/);
        assert.deepEqual(await readdir(join(outside, "sub")), []);

        await world.repository.commit({
          ...files("one"),
          "compose.yaml": JSON.stringify(one({ volumes: ["./state/sub:/state"] })),
        });
        const mounted = (await world.poll()).run;
        assert.equal(mounted.status, "failed", JSON.stringify(mounted));
        assert.match(JSON.stringify(mounted), /a container put a link there/);
      } finally {
        await rm(outside, { recursive: true });
      }
    }));
});
