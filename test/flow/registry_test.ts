import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
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
import { composeFile, service } from "./compose_text.ts";
import { actions, commit, docker, ids, pollTo, reasons, replaced } from "./steps.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const real = await findRealEngine();
if (real.unavailable === undefined) await engines();
const skip = registryMissing() || (real.unavailable ?? false);

describe("a private registry and the real engine", { skip }, () => {
  let registry: ImageRegistry;
  let compose: ComposeCommand;
  let world: World;
  let reference: string;

  before(async () => {
    registry = await startImageRegistry();
  });
  after(() => registry.close());
  beforeEach(async () => {
    compose = await createComposeCommand(composePlugins()[0] ?? "");
    await mkdir(join(compose.configDirectory, "bin"));
    world = await createWorld({
      engine: "real",
      env: {
        DOCKER_CONFIG: compose.configDirectory,
        PATH: `${join(compose.configDirectory, "bin")}:${process.env["PATH"] ?? ""}`,
      },
    });
    reference = `${registry.host}/${world.stack}/app:1`;
    await push("one");
  });
  afterEach(async () => {
    const never = new AbortController().signal;
    for (const each of await world.containers()) {
      await world.engine.removeContainer(each.id, { force: true, volumes: true }, never);
    }
    for (const image of await world.engine.listImages(never)) {
      const names = [...image.tags, ...image.digests];
      if (names.some((name) => name.startsWith(`${registry.host}/`))) {
        await docker(world, "image", "rm", "--force", image.id);
      }
    }
    await world.close();
    await compose.close();
  });

  /** What the service's Docker client is configured with from now on. */
  const configure = (configuration: unknown) =>
    writeFile(join(compose.configDirectory, "config.json"), JSON.stringify(configuration));
  const withLogin = () => ({ auths: { [registry.host]: registry.auth } });

  /** Puts a new image under the tag in the registry, and takes it away from the engine. */
  async function push(made: string): Promise<void> {
    const container = (await docker(world, "create", IMAGE)).trim();
    await docker(world, "commit", "--change", `LABEL made=${made}`, container, reference);
    await docker(world, "rm", container);
    const other = await createComposeCommand("");
    try {
      const config = join(other.configDirectory, "config.json");
      await writeFile(config, JSON.stringify(withLogin()));
      await docker(world, "--config", other.configDirectory, "push", "--quiet", reference);
    } finally {
      await other.close();
    }
    await docker(world, "image", "rm", reference);
  }

  const deploy = (configuration = {}) =>
    commit(world, {
      "compose.yaml": composeFile({ web: service({ image: reference }), b: service() }),
    }, configuration);

  it("refuses without credentials and says what to look at; works once there are some", async () => {
    await deploy();
    world.proxy.reset();
    const without = JSON.stringify(await pollTo(world, "failed"));
    assert.match(without, new RegExp(`${registry.host} refused: there is no .*/config.json`));
    assert.deepEqual(await world.containers(), []);

    await configure({ auths: {} });
    assert.match(JSON.stringify(await pollTo(world, "failed")), /config\.json has no entry for it/);
    const wrong = btoa("swt:wrong-password-77");
    await configure({ auths: { [registry.host]: { auth: wrong } } });
    const refused = JSON.stringify([await pollTo(world, "failed"), world.lines]);
    assert.match(refused, /has credentials for it, which are wrong/);
    assert.ok(!refused.includes(wrong) && !refused.includes("wrong-password-77"));
    assert.deepEqual(await world.containers(), []);

    // Read again for each use: the service was not restarted.
    await configure(withLogin());
    await pollTo(world, "succeeded");
    assert.equal((await world.containers()).length, 2);
    const shown = JSON.stringify(world.lines);
    assert.ok(!shown.includes(registry.password) && !shown.includes(registry.auth.auth));
  });

  it("takes the logins of DOCKER_AUTH_CONFIG before those that are there, and tells nobody", async () => {
    await configure({ auths: { [registry.host]: { auth: btoa("swt:wrong") } } });
    await world.restart({ DOCKER_AUTH_CONFIG: JSON.stringify(withLogin()) });
    await deploy();
    await pollTo(world, "succeeded");
    const shown = JSON.stringify(world.lines);
    assert.ok(!shown.includes(registry.password) && !shown.includes(registry.auth.auth));
  });

  for (const kind of ["credHelpers", "credsStore"] as const) {
    it(`asks the program of ${kind}, and names it when it is not there`, async () => {
      await configure(
        kind === "credsStore" ? { credsStore: "swt" } : { credHelpers: { [registry.host]: "swt" } },
      );
      await deploy();
      const missing = JSON.stringify(await pollTo(world, "failed"));
      assert.match(missing, /docker-credential-swt/);
      const programs = join(compose.configDirectory, "bin");
      await registry.writeHelper(programs, "swt");
      await pollTo(world, "succeeded");
      const asked = await readFile(join(programs, "swt.log"), "utf8");
      assert.match(asked, new RegExp(`^get .*${registry.host}`, "m"));
      assert.ok(!JSON.stringify(world.lines).includes(registry.password));
    });
  }

  it("force_image_pull replaces exactly the service whose tag moved, nothing else pulls", async () => {
    await configure(withLogin());
    await deploy();
    await pollTo(world, "succeeded");
    const first = await ids(world);
    await push("two");
    world.proxy.reset();
    await pollTo(world, "skipped");
    assert.equal(world.proxy.pulls(), 0);
    assert.deepEqual(await ids(world), first);

    // The image of the other service is in no registry, and other tests use it: it is to stay.
    await commit(world, {
      "compose.yaml": composeFile({
        web: service({ image: reference }),
        web2: service({ image: reference, scale: 0 }),
      }),
    }, { force_image_pull: true, prune_images: false });
    const finished = await pollTo(world, "succeeded");
    assert.equal(actions(finished)["web"], "recreate");
    assert.match(reasons(finished, "web"), /moved from/);
    const second = await ids(world);
    assert.deepEqual(replaced(first, second), ["web-1"]);
    await pollTo(world, "skipped");
    await push("three");
    const third = await pollTo(world, "succeeded");
    assert.equal(actions(third)["web"], "recreate");
    assert.deepEqual(replaced(second, await ids(world)), ["web-1"]);
  });

  it("a registry that cannot be reached leaves everything as it was", async () => {
    await configure(withLogin());
    await commit(
      world,
      { "compose.yaml": composeFile({ web: service({ image: reference }) }) },
      { force_image_pull: true },
    );
    await pollTo(world, "succeeded");
    const before = await ids(world);
    await registry.stop();
    try {
      const mutations = () =>
        world.proxy.calls.filter((each) => each.mutating && !/images\/create/.test(each.path));
      world.proxy.reset();
      await pollTo(world, "skipped");
      await deployOther();
      const failed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(failed, /docker compose pull failed/);
      assert.doesNotMatch(failed, /refused: .*config\.json/);
      assert.deepEqual(mutations(), []);
      assert.deepEqual(await ids(world), before);
    } finally {
      await registry.start();
    }
    await commit(
      world,
      { "compose.yaml": composeFile({ web: service({ image: reference }) }) },
      { force_image_pull: true },
    );
    await pollTo(world, "skipped");
  });

  /** The same project with an image that the engine does not have. */
  const deployOther = () =>
    commit(world, {
      "compose.yaml": composeFile({ web: service({ image: `${registry.host}/none/other:1` }) }),
    }, {});

  it("build.force_image_pull fetches the base image whose tag moved", async () => {
    await configure(withLogin());
    const build = (word: string) =>
      commit(world, {
        "app/Dockerfile": `FROM ${reference}\nLABEL word=${word}\n`,
        "compose.yaml": composeFile({ app: { ...service({ build: "./app" }), image: undefined } }),
      }, { build: { force_image_pull: true, quiet: true } });
    const made = async () => {
      const [container] = await world.containers();
      const format = '{{index .Config.Labels "made"}}';
      return (await docker(world, "inspect", "--format", format, container?.id ?? "")).trim();
    };
    await build("a");
    await pollTo(world, "succeeded");
    assert.equal(await made(), "one");
    await push("two");
    await build("b");
    await pollTo(world, "succeeded");
    assert.equal(await made(), "two");
  });
});
