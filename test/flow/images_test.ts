import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemFiles } from "../../src/system/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { badService } from "./bad_service.ts";
import { buildingEngines } from "./building_engines.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { actions, commit, docker, ids, inWorld, pollTo, reasons, replaced } from "./steps.ts";
import { until } from "./until.ts";
import { decidingEngine, IMAGE, type World } from "./world.ts";

/** No image is kept for the sake of a rollback. */
const KEEP_NONE = { RELEASE_IMAGE_RETENTION: "0" };
const never = new AbortController().signal;

/** An image of its own content, on either engine. */
async function makeImage(world: World, tag: string): Promise<string> {
  const reference = `${world.stack}-image:${tag}`;
  if (world.fake !== undefined) world.fake.addImage(reference, { where: "engine" });
  else {
    const container = (await docker(world, "create", IMAGE)).trim();
    await docker(world, "commit", "--change", `LABEL made=${tag}`, container, reference);
    await docker(world, "rm", container);
  }
  return reference;
}

/** An image that only a registry has, so that stacks pull it. */
function offerImage(world: World, tag: string): string {
  const reference = `registry.test/${world.stack}:${tag}`;
  world.fake?.addImage(reference, { where: "registry" });
  return reference;
}

const exists = async (world: World, reference: string) =>
  await world.engine.imageId(reference, never) !== undefined;

const use = (image: string) => ({ "compose.yaml": composeFile({ web: service({ image }) }) });

describe("images that a stack pulled", () => {
  it("are removed by prune_images where a release replaced them, not where others use them", () =>
    inWorld("fake", async (world) => {
      const [one = "", two = "", three = ""] = ["1", "2", "3"].map((tag) => offerImage(world, tag));
      await commit(world, use(one));
      await pollTo(world, "succeeded");
      await commit(world, use(two));
      await pollTo(world, "succeeded");
      assert.equal(await exists(world, one), false, "the replaced image");

      const user = (await docker(world, "create", two, "true")).trim();
      await commit(world, use(three));
      await pollTo(world, "succeeded");
      assert.equal(await exists(world, two), true, "the image of a stopped container");
      await docker(world, "rm", user);
    }, KEEP_NONE));

  it("are kept of as many previous releases as RELEASE_IMAGE_RETENTION says", () =>
    inWorld("fake", async (world) => {
      const tags = ["1", "2", "3"].map((tag) => offerImage(world, tag));
      for (const image of tags) {
        await commit(world, use(image));
        await pollTo(world, "succeeded");
      }
      const kept = await Promise.all(tags.map((each) => exists(world, each)));
      assert.deepEqual(kept, [false, true, true]);
    }, { RELEASE_IMAGE_RETENTION: "1" }));

  it("stay with prune_images: false", () =>
    inWorld("fake", async (world) => {
      const [one = "", two = ""] = ["1", "2"].map((tag) => offerImage(world, tag));
      await commit(world, use(one), { prune_images: false });
      await pollTo(world, "succeeded");
      await commit(world, use(two), { prune_images: false });
      await pollTo(world, "succeeded");
      assert.equal(await exists(world, one), true);
    }, KEEP_NONE));
});

/** Whether the engine tells what a person made from what a registry has: containerd's store does not. */
const tellsMade = async (world: World) => (await world.engine.info(never)).keepsUnnamed;

for (const engine of await decidingEngine()) {
  describe(`an image that a person made, on the ${engine} engine`, () => {
    it("stays when a stack that used it needs it no more: the stack has neither pulled nor built it", () =>
      inWorld(engine, async (world) => {
        const image = await makeImage(world, "1");
        await commit(world, use(image));
        await pollTo(world, "succeeded");
        await commit(world, use(IMAGE));
        await pollTo(world, "succeeded");
        await commit(world, use(await makeImage(world, "2")));
        await pollTo(world, "succeeded");
        assert.equal(await exists(world, image), await tellsMade(world));
      }, KEEP_NONE));

    it("stays when a stack is removed that runs it, has run it, or never got to run", () =>
      inWorld(engine, async (world) => {
        if (!await tellsMade(world)) return;
        const images = [await makeImage(world, "1"), await makeImage(world, "2")];
        const remove = async () => {
          await world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack, destroy: true }),
          });
          await pollTo(world, "succeeded");
          for (const each of images) assert.equal(await exists(world, each), true, each);
        };
        const [first = IMAGE] = images;
        const bad = badService(world, engine === "real" ? { image: first } : {});
        await commit(world, { "compose.yaml": composeFile({ web: bad }) });
        await pollTo(world, "failed");
        await remove();
        for (const image of images) {
          await commit(world, use(image));
          await pollTo(world, "succeeded");
        }
        await remove();
      }));
  });
}

describe("images that another stack needs", () => {
  it("stay when the stack that ran them last is pruned, while another may go back to them", () =>
    inWorld("fake", async (world) => {
      const other = `${world.stack}-b`;
      const [one = "", two = "", three = "", four = ""] = ["1", "2", "3", "4"].map((tag) =>
        offerImage(world, tag)
      );
      const deploy = async (a: string, b: string) => {
        const file = (image: string) => composeFile({ web: service({ image }) });
        await world.repository.commit({
          ".stackwright.yaml": configFile(
            { name: world.stack, compose_files: ["a.yaml"] },
            { name: other, compose_files: ["b.yaml"] },
          ),
          "a.yaml": file(a),
          "b.yaml": file(b),
        });
        await pollTo(world, "succeeded");
      };
      await deploy(one, one);
      await deploy(two, one);
      await deploy(two, three);
      await deploy(two, four);
      assert.equal(await exists(world, one), true, "its rollback needs it");
      assert.equal(await exists(world, three), true, "so does that of the other");
      world.proxy.reset();
      await commandTo(world, 0, ["rollback", world.stack]);
      assert.equal(world.proxy.pulls(), 0);
      assert.equal((await world.containers())[0]?.labels["com.docker.compose.service"], "web");
      // What nobody goes back to any more is removed all the same.
      await commandTo(world, 0, ["rollback", other]);
      await deploy(three, four);
      await deploy(four, four);
      assert.deepEqual(
        await Promise.all([one, two, three, four].map((each) => exists(world, each))),
        [false, false, true, true],
      );
    }, { RELEASE_IMAGE_RETENTION: "1" }));

  it("are pulled again for a rollback when somebody removed them", () =>
    inWorld("fake", async (world) => {
      const image = "registry.test/app:1";
      world.fake?.addImage(image, { where: "registry" });
      await commit(world, { "compose.yaml": composeFile({ web: service({ image }) }) });
      await pollTo(world, "succeeded");
      await docker(world, "image", "rm", "--force", image);
      assert.equal(await exists(world, image), false);
      await commit(world, { "compose.yaml": composeFile({ web: badService(world) }) });
      const finished = await pollTo(world, "failed");
      assert.match(JSON.stringify(finished), /the previous release was put back/);
      assert.equal(await exists(world, image), true);
      const [web] = await world.containers();
      assert.deepEqual([web?.state, web?.imageId], [
        "running",
        await world.engine.imageId(image, never),
      ]);
    }));
});

describe("images and the registry", () => {
  const reference = "registry.test/app:1";
  const files = {
    "compose.yaml": composeFile({ web: service({ image: reference }), b: service() }),
  };

  it("a missing image is pulled; one that is there is not asked for again", () =>
    inWorld("fake", async (world) => {
      world.fake?.addImage(reference, { where: "registry" });
      await commit(world, files);
      await pollTo(world, "succeeded");
      assert.ok(world.proxy.pulls() > 0);
      world.fake?.addImage(reference, { where: "registry", content: "newer" });
      world.proxy.reset();
      await pollTo(world, "skipped");
      assert.equal(world.proxy.pulls(), 0);
    }));

  it("one with the name of a service's build is not judged by a plan, which builds nothing", () =>
    inWorld("fake", async (world) => {
      const app = { ...service({ build: "./app" }), image: await makeImage(world, "app") };
      const dockerfile = { "app/Dockerfile": `FROM ${IMAGE}\n` };
      await commit(world, { "compose.yaml": composeFile({ app }), ...dockerfile });
      world.proxy.reset();
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /app/);
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("services that are one to docker compose's builds are refused before one is built", () =>
    inWorld("fake", async (world) => {
      const app = service({ build: "./app" });
      const dockerfile = { "app/Dockerfile": `FROM ${IMAGE}\n` };
      await commit(world, { "compose.yaml": composeFile({ "a.b": app, a_b: app }), ...dockerfile });
      world.proxy.reset();
      const { deployments } = await pollTo(world, "failed");
      assert.match(deployments?.[0]?.message ?? "", /services\.a_b: .* only one of a\.b and a_b,/);
      assert.equal(world.proxy.mutations(), 0);
    }));

  it("pull_policy: always asks for the image with every release, and for no other one", () =>
    inWorld("fake", async (world) => {
      const file = (word: string) => ({
        "compose.yaml": composeFile({
          web: service({ image: reference, pull_policy: "always" }),
          b: service({ environment: { WORD: word } }),
        }),
      });
      world.fake?.addImage(reference, { where: "registry" });
      await commit(world, file("one"));
      await pollTo(world, "succeeded");
      world.fake?.addImage(reference, { where: "registry", content: "newer" });
      world.proxy.reset();
      await pollTo(world, "skipped");
      assert.equal(world.proxy.pulls(), 0, "nothing was to be released");

      await commit(world, file("two"));
      const finished = await pollTo(world, "succeeded");
      assert.deepEqual(actions(finished), { b: "recreate", web: "recreate" });
      assert.match(reasons(finished, "web"), /image registry\.test\/app:1 moved from/);
      await commit(world, file("three"));
      assert.deepEqual(actions(await pollTo(world, "succeeded")), { b: "recreate", web: "keep" });
    }));

  it("pull_policy: never fetches nothing, whatever force_image_pull says", () =>
    inWorld("fake", async (world) => {
      const web = service({ image: reference, pull_policy: "never" });
      world.fake?.addImage(reference, { where: "registry" });
      await commit(world, { "compose.yaml": composeFile({ web }) }, { force_image_pull: true });
      const finished = await pollTo(world, "failed");
      assert.match(
        JSON.stringify(finished),
        /app:1 of service web, not on this engine, and pull_p/,
      );
      assert.equal(world.proxy.pulls(), 0);
      assert.equal(world.proxy.mutations(), 0);

      world.fake?.addImage(reference, { where: "engine" });
      await pollTo(world, "succeeded");
      assert.equal(world.proxy.pulls(), 0);
    }));

  it("force_image_pull replaces exactly the service whose tag moved, at the next poll", () =>
    inWorld("fake", async (world) => {
      world.fake?.addImage(reference, { where: "registry" });
      await commit(world, files, { force_image_pull: true });
      await pollTo(world, "succeeded");
      const first = await ids(world);
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world), first);

      const newer = world.fake?.addImage(reference, { where: "registry", content: "newer" });
      const finished = await pollTo(world, "succeeded");
      assert.deepEqual(actions(finished), { b: "keep", web: "recreate" });
      assert.match(reasons(finished, "web"), /image registry\.test\/app:1 moved from/);
      assert.deepEqual(replaced(first, await ids(world)), ["web-1"]);
      const [web] = (await world.containers()).filter((each) => each.service === "web");
      assert.equal(web?.imageId, newer);
      await pollTo(world, "skipped");
    }));

  it("a tag that moved to what does not work is put back with what ran", () =>
    inWorld("fake", async (world) => {
      const older = world.fake?.addImage(reference, { where: "registry" });
      await commit(world, files, { force_image_pull: true });
      await pollTo(world, "succeeded");
      world.fake?.addImage(reference, { where: "registry", content: "bad", onStart: { exit: 3 } });
      await pollTo(world, "failed");
      const [web] = (await world.containers()).filter((each) => each.service === "web");
      // On the fake engine it is a name that is bad, and not what it means.
      assert.equal(web?.imageId, older);
    }));

  it("an image that is mounted belongs to the release: asked for anew, told of and put back", () =>
    inWorld("fake", async (world) => {
      // Older ones mount no images.
      world.fake?.speak("1.48");
      await world.restart();
      const data = "registry.test/data:1";
      const volumes = [{ type: "image", source: data, target: "/data" }];
      const withData = { "compose.yaml": composeFile({ web: service({ volumes }), b: service() }) };
      const older = world.fake?.addImage(data, { where: "registry" });
      await commit(world, withData, { force_image_pull: true });
      await pollTo(world, "succeeded");
      const first = await ids(world);
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world), first);

      const newer = world.fake?.addImage(data, { where: "registry", content: "newer" });
      const finished = await pollTo(world, "succeeded");
      assert.deepEqual(actions(finished), { b: "keep", web: "recreate" });
      assert.match(reasons(finished, "web"), /image registry\.test\/data:1, .* moved from/);
      assert.equal(await world.engine.imageId(data, never), newer);

      const { out } = await commandTo(world, 0, ["rollback", world.stack, "1"]);
      assert.match(out, /recreate web/);
      // The name stays where its registry has it; what is mounted goes by its id.
      assert.equal(await world.engine.imageId(data, never), newer);
      const web = world.fake?.containers().find(({ name }) => name === `${world.stack}-web-1`);
      assert.deepEqual(web?.mounts.map(({ source }) => source), [older]);
    }, { RELEASE_IMAGE_RETENTION: "1" }));

  it("force_image_pull of a registry that is away keeps and repairs what is deployed, and no more", () =>
    inWorld("fake", async (world) => {
      world.fake?.addImage(reference, { where: "engine" });
      await commit(world, files);
      await pollTo(world, "succeeded");
      const first = await ids(world);
      await commit(world, files, { force_image_pull: true });
      world.proxy.reset();
      await pollTo(world, "skipped");
      assert.ok(world.proxy.pulls() > 0, "nothing was asked of the registry");
      assert.deepEqual(await ids(world), first);
      assert.ok(world.lines.some((line) => /whether tags have moved/.test(line.message)));

      await docker(world, "rm", "-f", `${world.stack}-web-1`);
      assert.deepEqual(actions(await pollTo(world, "succeeded")), { b: "keep", web: "create" });

      const second = await ids(world);
      const changed = service({ image: reference, environment: { NEW: "1" } });
      const next = { "compose.yaml": composeFile({ web: changed, b: service() }) };
      await commit(world, next, { force_image_pull: true });
      assert.match(JSON.stringify(await pollTo(world, "failed")), /pull failed/);
      assert.deepEqual(await ids(world), second);
    }));
});

for (const engine of await buildingEngines()) {
  describe(`building on the ${engine} engine`, () => {
    const dockerfile = [
      `FROM ${IMAGE}`,
      "ARG WORD=default",
      "COPY page.txt /page.txt",
      'RUN ["/bin/sh", "-c", "echo $WORD > /word.txt; cat /proc/sys/kernel/random/uuid > /built.txt"]',
      "",
    ].join("\n");
    const files = {
      "app/Dockerfile": dockerfile,
      "app/page.txt": "one",
      "compose.yaml": composeFile({
        app: { ...service({ build: "./app" }), image: undefined },
        other: { ...service({ build: "./other" }), image: undefined },
      }),
      "other/Dockerfile": `FROM ${IMAGE}\n`,
    };
    const inside = (world: World, path: string) =>
      docker(world, "exec", `${world.stack}-app-1`, "cat", path);

    it("compose by hand has nothing to change about what was built here", () =>
      inWorld(engine, async (world) => {
        await commit(world, files, { build: { quiet: true } });
        await pollTo(world, "succeeded");
        const made = await ids(world);
        const compose = await createComposeCommand(composePlugins()[0] ?? "");
        try {
          const place = ["-p", world.stack, "--project-directory", world.dataDir, "-f", "-"];
          const up = ["up", "--detach", "--no-build", "--pull", "never"];
          const model = files["compose.yaml"];
          const result = await compose.run(world.proxy.host, [...place, ...up], model);
          assert.equal(result.code, 0, result.output);
        } finally {
          await compose.close();
        }
        assert.deepEqual(await ids(world), made);
      }));

    it("a health check that only the image has is waited for, told, and fails a release", () =>
      inWorld(engine, async (world) => {
        const checked = (check: string, start: string) => ({
          "app/Dockerfile":
            `FROM ${IMAGE}\nHEALTHCHECK --interval=1s --start-period=${start} --retries=2 CMD ${check}\n`,
        });
        // An unhealthy container would be restarted while it is looked at.
        const as = { build: { quiet: true }, reconciliation: false };
        const slow = ["sh", "-c", "sleep 4; touch /ok; exec sleep 999"];
        const app = { ...service({ build: "./app", command: slow }), image: undefined };
        const needs = { depends_on: { app: { condition: "service_healthy" } } };
        await commit(world, {
          ...checked("test -f /ok", "30s"),
          "compose.yaml": composeFile({ app, user: service(needs) }),
        }, as);
        await pollTo(world, "succeeded");
        const healths = async () =>
          (await world.containers()).map(({ service, state, health }) => [service, state, health]);
        const well = [["app", "running", "healthy"], ["user", "running", "none"]];
        assert.deepEqual(await healths(), well);
        const view = async () =>
          (await (await world.request(`/v1/api/deployment/${world.stack}`)).json()).content;
        assert.deepEqual([(await view()).health, (await view()).running], ["healthy", 2]);

        await commit(world, checked("test -f /never", "1ms"), as);
        const failed = await pollTo(world, "failed");
        assert.match(JSON.stringify(failed), /service app: container \S+-app-1 is unhealthy/);
        assert.match(JSON.stringify(failed), /the previous release was put back/);
        assert.deepEqual(await healths(), well);

        await docker(world, "exec", `${world.stack}-app-1`, "rm", "/ok");
        await until(async () => (await view()).health === "unhealthy");
        const { state, why, running } = await view();
        assert.deepEqual([state, running], ["failed", 1], why);
      }));

    it("a changed build context or argument rebuilds and replaces exactly its service", () =>
      inWorld(engine, async (world) => {
        await commit(world, files, { build: { quiet: true } });
        await pollTo(world, "succeeded");
        assert.equal(await inside(world, "/page.txt"), "one");
        assert.equal(await inside(world, "/word.txt"), "default\n");
        const first = await ids(world);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);

        await commit(world, { "app/page.txt": "two" });
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { app: "recreate", other: "keep" });
        assert.match(reasons(finished, "app"), /build input app changed/);
        assert.equal(await inside(world, "/page.txt"), "two");
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["app-1"]);

        await commit(world, {}, { build: { args: { WORD: "given" } } });
        await pollTo(world, "succeeded");
        assert.equal(await inside(world, "/word.txt"), "given\n");
      }));

    it("a Dockerfile outside of its context and its .dockerignore are inputs like the context", () =>
      inWorld(engine, async (world) => {
        const build = { context: "./app", dockerfile: "../docker/app.Dockerfile" };
        await commit(world, {
          "app/page.txt": "one",
          "app/more.txt": "more",
          "compose.yaml": composeFile({ app: { ...service({ build }), image: undefined } }),
          "docker/app.Dockerfile": `FROM ${IMAGE}\nCOPY . /app\n`,
        }, { build: { quiet: true } });
        await pollTo(world, "succeeded");
        assert.equal(await inside(world, "/app/more.txt"), "more");

        await commit(world, { "docker/app.Dockerfile": `FROM ${IMAGE}\nCOPY . /other\n` });
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "app"), /build input docker\/app\.Dockerfile changed/);
        assert.equal(await inside(world, "/other/more.txt"), "more");

        await commit(world, { "docker/app.Dockerfile.dockerignore": "more.txt\n" });
        const ignoring = await pollTo(world, "succeeded");
        assert.match(reasons(ignoring, "app"), /\.dockerignore is new/);
        await assert.rejects(inside(world, "/other/more.txt"));
        assert.equal(await inside(world, "/other/page.txt"), "one");
      }));

    it("a Dockerfile that links of the context lead to is an input; nothing of a build stays", () =>
      inWorld(engine, async (world) => {
        const build = { context: "./app", dockerfile: "df/Dockerfile" };
        await commit(world, {
          "app/Dockerfile": { link: "../docker/dockerfile" },
          "app/df": { link: "../docker" },
          "app/page.txt": "one",
          "compose.yaml": composeFile({
            app: { ...service({ build }), image: undefined },
            other: { ...service({ build: "./app" }), image: undefined },
          }),
          "docker/dockerfile": `FROM ${IMAGE}\nCOPY . /one\n`,
        }, { build: { quiet: true } });
        await pollTo(world, "succeeded");
        assert.equal(await inside(world, "/one/page.txt"), "one");

        await commit(world, { "docker/dockerfile": `FROM ${IMAGE}\nCOPY . /two\n` });
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { app: "recreate", other: "recreate" });
        assert.match(reasons(finished, "app"), /build input app\/df\/dockerfile changed/);
        assert.match(reasons(finished, "other"), /build input app\/Dockerfile changed/);
        assert.equal(await inside(world, "/two/page.txt"), "one");
        const kept = await systemFiles.list(join(world.env["DOCKER_CONFIG"] ?? "", "buildx"));
        assert.deepEqual(kept.filter((name) => !name.startsWith(".")), []);
      }));

    it("no_cache builds everything anew, without it the cache is used", () =>
      inWorld(engine, async (world) => {
        const build = (no_cache: boolean) => ({ force_recreate: true, build: { no_cache } });
        await commit(world, files, build(false));
        await pollTo(world, "succeeded");
        const first = await inside(world, "/built.txt");
        await pollTo(world, "succeeded");
        assert.equal(await inside(world, "/built.txt"), first);
        await commit(world, {}, build(true));
        await pollTo(world, "succeeded");
        assert.notEqual(await inside(world, "/built.txt"), first);
      }));

    it("what was built beside a failed build is never run, nor what a name means by accident", () =>
      inWorld(engine, async (world) => {
        const compose = (replicas: number) => ({
          "compose.yaml": composeFile({
            app: { ...service({ build: "./app", deploy: { replicas } }), image: undefined },
            other: { ...service({ build: "./other" }), image: undefined },
          }),
        });
        await commit(world, { ...files, ...compose(1) }, { build: { quiet: true } });
        await pollTo(world, "succeeded");
        const name = `${world.stack}-app`;
        const [first] = (await world.containers()).map((each) => each.imageId);
        // Built again from the same files it has another id in containerd's store, and runs the same.
        const content = (id = "") => world.engine.imageContent(id, "", never);
        const runs = await content(first);
        const isRun = async (replicas: number) => {
          const own = (await world.containers()).filter((each) => each.service === "app");
          const run = await Promise.all(own.map((each) => content(each.imageId)));
          assert.deepEqual(run, Array(replicas).fill(runs));
        };
        const broken = `FROM ${IMAGE}\nRUN ["/bin/sh", "-c", "sleep 2; exit 7"]\n`;
        await commit(world, { "app/page.txt": "never released", "other/Dockerfile": broken });
        await pollTo(world, "failed");
        assert.equal(await world.engine.imageId(name, never), first);

        await commit(world, { ...files, ...compose(2) });
        assert.equal(actions(await pollTo(world, "succeeded"))["app"], "scale");
        await isRun(2);
        await docker(world, "tag", IMAGE, name);
        await commit(world, compose(3));
        await pollTo(world, "succeeded");
        await isRun(3);

        // Another stack built something else by that name, and all containers are to be made.
        await docker(world, "tag", IMAGE, name);
        const own = (await world.containers()).filter((each) => each.service === "app");
        await docker(world, "rm", "--force", ...own.map((each) => each.id));
        await pollTo(world, "succeeded");
        await isRun(3);
      }));

    it("of stacks that build one name at the same time each runs what was built for it", () =>
      inWorld(engine, async (world) => {
        const names = ["one", "two"].map((each) => `${world.stack}-${each}`);
        const built = { ...service({ build: "./other" }), image: `${world.stack}-shared` };
        await world.repository.commit({
          ".stackwright.yaml": configFile(...names.map((name) => ({ name }))),
          "compose.yaml": composeFile({ web: built }),
          "other/Dockerfile": files["other/Dockerfile"],
        });
        await pollTo(world, "succeeded");
        for (const name of names) {
          const image = (await docker(world, "inspect", "-f", "{{.Image}}", `${name}-web-1`))
            .trim();
          const labels = await world.engine.imageLabels(image, never);
          assert.equal(labels?.["com.docker.compose.project"], name);
        }
      }));

    it("a build that fails changes nothing that runs, and the run shows its output", () =>
      inWorld(engine, async (world) => {
        await commit(world, files);
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, {
          "app/Dockerfile": `FROM ${IMAGE}\nRUN ["/bin/sh", "-c", "echo the-reason; exit 7"]\n`,
        });
        const finished = await pollTo(world, "failed");
        assert.match(JSON.stringify(finished), /docker compose build failed/);
        assert.match(JSON.stringify(finished), /the-reason|exit code: 7/);
        assert.deepEqual(await ids(world), before);
      }));
  });
}
