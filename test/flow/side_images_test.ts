import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { compareVersions } from "../../src/docker/api_version.ts";
import { createEngine } from "../../src/docker/mod.ts";
import {
  type ComposeCommand,
  composePlugins,
  createComposeCommand,
} from "../fakes/compose_command.ts";
import {
  type ImageRegistry,
  registryMissing,
  startImageRegistry,
} from "../fakes/image_registry.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, docker, pollTo, readInside, reasons } from "./steps.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;

/** Versions of what decides: compose runs hooks, the engine mounts images. Absent without an engine. */
async function versions(): Promise<{ compose: string; api: string } | undefined> {
  const real = await findRealEngine();
  if (real.unavailable !== undefined || registryMissing() !== false) return undefined;
  await engines();
  const host = `unix://${real.socketPath}`;
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const engine = createEngine({ host });
  try {
    const { output } = await compose.run(host, ["version", "--short"]);
    return { compose: output.trim().replace(/^v/, ""), api: await engine.apiVersion(never) };
  } finally {
    engine.close();
    await compose.close();
  }
}

const here = await versions();

/** What a service needs beside its own image, and where its file /made is seen then. */
interface Use {
  readonly title: string;
  readonly part: (image: string) => Part;
  readonly path: string;
  readonly needs: readonly [what: "compose" | "api", least: string];
}

const USES: readonly Use[] = [
  {
    title: "of a hook",
    part: (image) => ({
      volumes: ["data:/data"],
      pre_start: [{ image, command: ["cp", "/made", "/data/made"] }],
    }),
    path: "/data/made",
    needs: ["compose", "5.3"],
  },
  {
    title: "that is mounted",
    part: (image) => ({ volumes: [{ type: "image", source: image, target: "/side" }] }),
    path: "/side/made",
    needs: ["api", "1.48"],
  },
];

for (const { title, part, path, needs: [what, least] } of USES) {
  const skip = here === undefined || compareVersions(here[what], least) < 0;
  if (skip) {
    const why = `${what} ${least} is needed; here is ${here?.[what] ?? "no engine and registry"}`;
    process.stderr.write(`\n*** NOT TRIED: an image ${title}: ${why} ***\n`);
  }

  describe(`an image ${title} and the real engine`, { skip }, () => {
    let registry: ImageRegistry;
    let compose: ComposeCommand;
    let world: World;
    let [app, side] = ["", ""];

    before(async () => {
      registry = await startImageRegistry();
    });
    after(() => registry.close());
    beforeEach(async () => {
      compose = await createComposeCommand(composePlugins()[0] ?? "");
      const login = { auths: { [registry.host]: registry.auth } };
      await writeFile(join(compose.configDirectory, "config.json"), JSON.stringify(login));
      world = await createWorld({
        engine: "real",
        env: { DOCKER_CONFIG: compose.configDirectory, RELEASE_IMAGE_RETENTION: "1" },
      });
      [app, side] = ["app", "side"].map((name) => `${registry.host}/${world.stack}/${name}:1`) as [
        string,
        string,
      ];
      await push(app, "app");
      await push(side, "one");
    });
    afterEach(async () => {
      for (const each of await world.containers()) {
        await world.engine.removeContainer(each.id, { force: true, volumes: true }, never);
      }
      for (const { id } of await ownImages()) await docker(world, "image", "rm", "--force", id);
      await world.close();
      await compose.close();
    });

    const ownImages = async () =>
      (await world.engine.listImages(never)).filter(({ tags, digests }) =>
        [...tags, ...digests].some((each) => each.startsWith(`${registry.host}/`))
      );

    /** Puts an image whose file /made says `word` into the registry, and takes it off the engine. */
    async function push(reference: string, word: string): Promise<void> {
      const name = `${world.stack}-maker`;
      await docker(world, "run", "--name", name, IMAGE, "sh", "-c", `echo ${word} >/made`);
      await docker(world, "commit", "--change", `CMD ["true"]`, name, reference);
      await docker(world, "rm", name);
      const { configDirectory } = compose;
      await docker(world, "--config", configDirectory, "push", "--quiet", reference);
      await docker(world, "image", "rm", reference);
    }

    const deploy = (configuration: Part) => {
      const web = service({ image: app, ...part(side) });
      const volumes = { data: {} };
      return commit(world, { "compose.yaml": composeFile({ web }, { volumes }) }, configuration);
    };
    const made = async () => (await readInside(world, "web", path)).trim();

    it("is fetched, followed when it moves, put back by a rollback, and goes with the stack", async () => {
      await deploy({ force_image_pull: true });
      await pollTo(world, "succeeded");
      assert.equal(await made(), "one");
      await pollTo(world, "skipped");

      await push(side, "two");
      const moved = await pollTo(world, "succeeded");
      assert.equal(actions(moved)["web"], "recreate");
      assert.match(reasons(moved, "web"), /of a hook or mounted, moved from/);
      assert.equal(await made(), "two");

      await registry.stop();
      try {
        await commandTo(world, 0, ["rollback", world.stack, "1"]);
        assert.equal(await made(), "one");
      } finally {
        await registry.start();
      }

      await deploy({ destroy: true });
      await pollTo(world, "succeeded");
      assert.deepEqual(await world.containers(), []);
      assert.deepEqual(await ownImages(), []);
    });
  });
}

const runsHooks = here !== undefined && compareVersions(here.compose, "5.3") >= 0;

describe("a hook of compose", { skip: !runsHooks }, () => {
  it("starts nothing whose mount another one may replace by a link, and says what to do", async () => {
    const compose = await createComposeCommand(composePlugins()[0] ?? "");
    const world = await createWorld({
      engine: "real",
      env: { DOCKER_CONFIG: compose.configDirectory },
    });
    try {
      const inner = (...volumes: string[]) =>
        service({
          volumes,
          pre_start: [{
            command: ["sh", "-c", `cd /d && mv sub old && ln -s ${world.dataDir} sub`],
          }],
          command: ["sh", "-c", "touch /v/pwned; sleep 100000"],
        });
      const deploy = async (web: Part) => {
        await commit(world, { "compose.yaml": composeFile({ web }), "data/sub/keep": "" });
      };
      await deploy(inner("./data:/d", "./data/sub:/v"));
      const run = await pollTo(world, "failed");
      assert.match(
        JSON.stringify(run),
        /web.* mounts \S+\/live\/data\/sub, which lies in \S+\/live\/data, where .*mount directories beside/,
      );
      assert.deepEqual(await world.containers(), []);
      assert.ok(!(await readdir(world.dataDir)).includes("pwned"));
    } finally {
      for (const each of await world.containers()) {
        await world.engine.removeContainer(each.id, { force: true, volumes: true }, never);
      }
      await world.close();
      await compose.close();
    }
  });
});
