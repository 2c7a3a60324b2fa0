import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository, type FakeFile } from "../fakes/git_repository.ts";
import { composeFile, configFile, type Part, service } from "../flow/compose_text.ts";
import { ids, inWorld, label, pollTo, readInside, replaced } from "../flow/steps.ts";
import { engines, type World } from "../flow/world.ts";

/**
 * The typical shapes of repositories, as real repositories on the real engine: each is deployed,
 * polled again without a change, and changed where its shape matters.
 */
const REAL = (await engines()).includes("real");

const labelled = (text: string, more: Part = {}) =>
  composeFile({ web: service({ labels: { "test.v": text }, ...more }) });

function shape(title: string, test: (world: World) => Promise<void>): void {
  it(title, { skip: !REAL }, () => inWorld("real", test));
}

/** Commits, deploys, and sees that a second look changes nothing. */
async function deploy(
  world: World,
  files: Readonly<Record<string, FakeFile>>,
  entry: Record<string, unknown> = {},
): Promise<void> {
  await world.repository.commit(files);
  await pollTo(world, "succeeded", entry);
  world.proxy.reset();
  await pollTo(world, "skipped", entry);
  assert.equal(world.proxy.mutations(), 0);
}

describe("the shapes of repositories on the real engine", () => {
  shape("a single app with a dotenv file and a mounted configuration", async (world) => {
    const stack = world.stack;
    await deploy(world, {
      ".stackwright.yml": configFile({ name: stack }),
      "compose.yaml": labelled("$V", { volumes: ["./site.conf:/site.conf:ro"] }),
      ".env": "V=one\n",
      "site.conf": "first",
    });
    assert.equal(await label(world, "web", "test.v"), "one");
    assert.equal(await readInside(world, "web", "/site.conf"), "first");
    await world.repository.commit({ ".env": "V=two\n", "site.conf": "second" });
    await pollTo(world, "succeeded");
    assert.equal(await label(world, "web", "test.v"), "two");
    assert.equal(await readInside(world, "web", "/site.conf"), "second");
  });

  shape("several documents with directories and options of their own", async (world) => {
    const [one, two] = [`${world.stack}-one`, `${world.stack}-two`];
    await deploy(world, {
      ".stackwright.yaml": configFile(
        { name: one, working_dir: "one" },
        { name: two, working_dir: "two", timeout: "1m", compose_files: ["stack.yaml"] },
      ),
      "one/compose.yaml": labelled("one"),
      "two/stack.yaml": labelled("two"),
    });
    const before = await ids(world, two);
    await world.repository.commit({ "one/compose.yaml": labelled("new") });
    await pollTo(world, "succeeded");
    assert.equal(await label(world, "web", "test.v", one), "new");
    assert.deepEqual(await ids(world, two), before);
  });

  shape("compose files side by side in one directory, with an overwrite", async (world) => {
    const [web, db] = [`${world.stack}-web`, `${world.stack}-db`];
    await deploy(world, {
      ".stackwright.yaml": configFile(
        { name: web, compose_files: ["web.yaml", "web.production.yaml"] },
        { name: db, compose_files: ["db.yaml"] },
      ),
      "web.yaml": labelled("plain", { hostname: "kept" }),
      "web.production.yaml": composeFile({ web: { labels: { "test.v": "production" } } }),
      "db.yaml": labelled("db"),
    });
    assert.equal(await label(world, "web", "test.v", web), "production");
    assert.equal(await label(world, "web", "test.v", db), "db");
  });

  shape("a repository of many apps that are discovered", async (world) => {
    const place = (name: string) => `apps/${world.stack}-${name}`;
    await deploy(world, {
      ".stackwright.yaml": configFile({
        working_dir: "apps/",
        auto_discovery: { enabled: true, depth: 1, delete: true },
      }),
      [`${place("blog")}/compose.yaml`]: labelled("$TITLE"),
      [`${place("blog")}/.env`]: "TITLE=blog\n",
      [`${place("blog")}/.stackwright.yml`]: "profiles: [extra]\nprune_images: false\n",
      [`${place("proxy")}/docker-compose.yml`]: labelled("proxy", {
        volumes: ["./configs/proxy.conf:/proxy.conf:ro"],
      }),
      [`${place("proxy")}/configs/proxy.conf`]: "first",
      [`${place("proxy")}/too/deep/compose.yaml`]: labelled("never"),
      "apps/misc/notes.txt": "no stack",
    });
    const [blog, proxy] = [`${world.stack}-blog`, `${world.stack}-proxy`];
    assert.equal(await label(world, "web", "test.v", blog), "blog");
    const before = { ...await ids(world, blog) };
    await world.repository.commit({ [`${place("proxy")}/configs/proxy.conf`]: "second" });
    const proxyBefore = await ids(world, proxy);
    await pollTo(world, "succeeded");
    assert.deepEqual(await ids(world, blog), before);
    assert.deepEqual(replaced(proxyBefore, await ids(world, proxy)), ["web-1"]);
    await world.repository.remove([place("blog")]);
    await pollTo(world, "succeeded");
    assert.deepEqual(await ids(world, blog), {});
    assert.equal(Object.keys(await ids(world, proxy)).length, 1);
  });

  shape("one repository for several hosts, a target each", async (world) => {
    const [nas, vps] = [`${world.stack}-nas`, `${world.stack}-vps`];
    await deploy(world, {
      ".stackwright.nas.yml": configFile({ name: nas, environment: { HOST: "nas" } }),
      ".stackwright.vps.yml": configFile({ name: vps, environment: { HOST: "vps" } }),
      "compose.yaml": labelled("$HOST"),
    }, { target: "nas" });
    assert.deepEqual(await ids(world, vps), {});
    await pollTo(world, "succeeded", { target: "vps" });
    assert.equal(await label(world, "web", "test.v", nas), "nas");
    assert.equal(await label(world, "web", "test.v", vps), "vps");
  });

  shape("a repository of configurations for an app in another one", async (world) => {
    const directory = await mkdtemp(join(tmpdir(), "stackwright-shape-"));
    try {
      const other = await createRepository(directory);
      await other.commit({
        "compose.yaml": labelled("$BASE $ENVIRONMENT", { volumes: ["./page:/page:ro"] }),
        "test.env": "ENVIRONMENT=test\n",
        "page/index.html": "page",
      });
      await other.tag("v1");
      await other.commit({ "page/index.html": "later" });
      const config = (reference: string) => ({
        ".stackwright.yaml": configFile({
          name: world.stack,
          repository_url: other.url,
          reference,
          env_files: ["base.env", "remote:test.env"],
        }),
      });
      await deploy(world, { ...config("v1"), "base.env": "BASE=base\nENVIRONMENT=base\n" });
      assert.equal(await label(world, "web", "test.v"), "base test");
      assert.equal(await readInside(world, "web", "/page/index.html"), "page");
      await world.repository.commit(config("main"));
      await pollTo(world, "succeeded");
      assert.equal(await readInside(world, "web", "/page/index.html"), "later");
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  shape("a repository without configuration, deployed by the poll's own", async (world) => {
    const deployments = [{ name: world.stack, working_dir: "app", environment: { V: "inline" } }];
    await deploy(world, { "app/compose.yaml": labelled("$V") }, { deployments });
    assert.equal(await label(world, "web", "test.v"), "inline");
  });
});
