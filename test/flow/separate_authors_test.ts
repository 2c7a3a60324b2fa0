import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { writeContext } from "../fakes/context_files.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { docker, inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const never = new AbortController().signal;

/** A compose file with a service that writes to a volume, by default one of its own. */
const withVolume = (volume: Part = {}, more: Part = {}) =>
  composeFile({ web: service({ volumes: ["data:/data"] }) }, {
    volumes: { data: volume },
    ...more,
  });

/** Repositories that the world's own configures, a name for the stacks, and how it does that. */
interface Authors {
  readonly one: FakeRepository;
  readonly two: FakeRepository;
  readonly name: (which: string) => string;
  readonly configure: (...documents: Part[]) => Promise<unknown>;
}

async function withAuthors(test: (world: World, authors: Authors) => Promise<void>): Promise<void> {
  const directories = await Promise.all(
    ["one", "two"].map((each) => mkdtemp(join(tmpdir(), `stackwright-${each}-`))),
  );
  try {
    const [one, two] = await Promise.all(directories.map((each) => createRepository(each)));
    assert.ok(one !== undefined && two !== undefined);
    await inWorld("fake", (world) => {
      const name = (which: string) => `${world.stack}-${which}`;
      const configure = (...documents: Part[]) =>
        world.repository.commit({ ".stackwright.yaml": configFile(...documents) });
      return test(world, { one, two, name, configure });
    }, { ALLOW_LOCAL_REPOSITORY_URL: "true" });
  } finally {
    for (const each of directories) await rm(each, { recursive: true, force: true });
  }
}

const discovery = ({ url }: FakeRepository, more: Part = {}) => ({
  ...{ repository_url: url, working_dir: "apps", ...more },
  auto_discovery: { enabled: true, delete: true, remove_volumes: false },
});

function change(world: World, ...statements: readonly string[]): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  for (const each of statements) database.exec(each);
  database.close();
}

const ofAnother =
  /volume \S+_data is stack \S+'s, which has another repository, and was not mounted/;

/** Other contexts only refuse, so that labels tell, which name what was deployed. */
const byLabel =
  /(?:volume \S+_data|network \S+_default) is stack \S+'s, which runs from \S+, and was not/;

describe("stacks of one configuration that have authors of their own", () => {
  it("leave their volumes to nobody else, also when their directory is removed", () =>
    withAuthors(async (world, { one, two, name, configure }) => {
      await one.commit({
        [`apps/${name("a")}/compose.yaml`]: withVolume(),
        [`apps/${name("b")}/compose.yaml`]: composeFile({ web: service() }),
      });
      await two.commit({ "compose.yaml": withVolume() });
      await configure(discovery(one), { name: name("w"), repository_url: two.url });
      await pollTo(world, "succeeded");
      await two.commit({ "compose.yaml": withVolume({ name: `${name("a")}_data` }) });
      assert.match(JSON.stringify(await pollTo(world, "failed")), ofAnother);
      await one.remove([`apps/${name("a")}`]);
      await pollTo(world, "failed");
      assert.equal((await world.containers(name("a"))).length, 0);
      assert.match(JSON.stringify(await pollTo(world, "failed")), ofAnother);
      // Another directory of the same repository may have it.
      await one.commit({
        [`apps/${name("b")}/compose.yaml`]: withVolume({ name: `${name("a")}_data` }),
      });
      await two.commit({ "compose.yaml": withVolume() });
      await pollTo(world, "succeeded");
    }));

  it("have nothing to do with each other's names: a renamed one's data stays where another had its name", () =>
    withAuthors(async (world, { one, two, name, configure }) => {
      const discover = (repository: FakeRepository) => ({
        ...discovery(repository),
        auto_discovery: { enabled: true, delete: true, remove_volumes: true },
      });
      const files = (which: string) => ({ [`apps/${name(which)}/compose.yaml`]: withVolume() });
      await one.commit({ ...files("x"), ...files("o") });
      await two.commit(files("theirs"));
      await configure(discover(one), discover(two));
      await pollTo(world, "succeeded");
      await two.commit(files("x"));
      await pollTo(world, "failed");
      await one.remove([`apps/${name("x")}`]);
      await one.commit(files("y"));
      await pollTo(world, "failed");
      await two.remove([`apps/${name("x")}`]);
      await pollTo(world, "succeeded");
      assert.equal((await world.containers(name("x"))).length, 0);
      const volumes = (await world.engine.listVolumes({}, never)).map((each) => each.name);
      assert.ok(volumes.includes(`${name("x")}_data`), volumes.join());
    }));

  it("get the port of one that goes by the same run, as the plan says", () =>
    withAuthors(async (world, { one, two, name, configure }) => {
      const file = (more: Part) => composeFile({ web: service(more) });
      const ported = file({ ports: ["127.0.0.1:18392:80"] });
      await one.commit({
        [`apps/${name("x")}/compose.yaml`]: ported,
        [`apps/${name("o")}/compose.yaml`]: file({}),
      });
      await two.commit({ "apps/readme": "" });
      await configure(discovery(one), discovery(two));
      await pollTo(world, "succeeded");
      await two.commit({ [`apps/${name("y")}/compose.yaml`]: ported });
      const plan = (code: number) => commandTo(world, code, ["plan", world.repository.url]);
      assert.match((await plan(1)).err, /needs port 18392\/tcp/);
      await one.remove([`apps/${name("x")}`]);
      assert.match((await plan(2)).out, /deploy: create web/);
      await pollTo(world, "succeeded");
      assert.equal((await world.containers(name("y"))).length, 1);
    }));

  it("share no volume and no network by two contexts of one engine", () =>
    withAuthors(async (world, { one, two, name, configure }) => {
      writeContext(world.env["DOCKER_CONFIG"] ?? "", "alias", {
        host: world.env["DOCKER_HOST"] ?? "",
      });
      const squatted = { default: { name: `${name("b")}_default` } };
      await one.commit({
        [`apps/${name("a")}/compose.yaml`]: withVolume({}, { networks: squatted }),
      });
      await configure(discovery(one), discovery(two, { context: "alias" }));
      const wanting = (more: Part) =>
        two.commit({ [`apps/${name("b")}/compose.yaml`]: withVolume({}, more) });
      await wanting({ networks: { default: { name: `${name("b")}-own` } } });
      await pollTo(world, "succeeded");
      await wanting({});
      assert.match(JSON.stringify(await pollTo(world, "failed")), byLabel);
      const own = { networks: { default: { name: `${name("b")}-own` } } };
      await wanting({ ...own, volumes: { data: { name: `${name("a")}_data` } } });
      assert.match(JSON.stringify(await pollTo(world, "failed")), byLabel);
    }));

  it("may share volumes where the configuration writes both down", () =>
    withAuthors(async (world, { one, two, name, configure }) => {
      await one.commit({ "compose.yaml": withVolume() });
      await two.commit({ "compose.yaml": composeFile({ web: service() }) });
      const [a, b] = [{ name: name("a"), repository_url: one.url }, {
        name: name("b"),
        repository_url: two.url,
      }];
      await configure(a, b);
      await pollTo(world, "succeeded");
      await two.commit({ "compose.yaml": withVolume({ name: `${name("a")}_data` }) });
      await pollTo(world, "succeeded");
      await configure({ ...a, destroy: { enabled: true, remove_volumes: false } }, b);
      await pollTo(world, "succeeded");
      await two.commit({
        "compose.yaml": withVolume({ name: `${name("a")}_data` }, { "x-a": "1" }),
      });
      await configure(b);
      assert.notEqual((await world.poll()).run.status, "failed");
    }));
});

describe("a stack whose repository_url moved", () => {
  const moved = (test: (world: World, authors: Authors, fields: Part) => Promise<void>) =>
    withAuthors(async (world, authors) => {
      const { one, two, configure } = authors;
      for (const each of [one, two]) await each.commit({ "compose.yaml": withVolume() });
      const written = { name: world.stack, repository_url: two.url };
      await configure({ ...written, repository_url: one.url });
      await pollTo(world, "succeeded");
      await configure(written);
      await pollTo(world, "skipped");
      await test(world, authors, written);
    });
  const volume = ({ engine, stack }: World) => engine.findVolumes([`${stack}_data`], never);

  it("is repaired, and destroyed with the volumes that name its former repository", () =>
    moved(async (world, { configure }, written) => {
      for (const { name } of await world.containers()) await docker(world, "rm", "--force", name);
      await pollTo(world, "succeeded");
      await configure({ ...written, destroy: true });
      await pollTo(world, "succeeded");
      assert.deepEqual(await volume(world), []);
    }));

  it("keeps its name and data when its history is forgotten", () =>
    moved(async (world, { one, configure }, written) => {
      await configure({ ...written, destroy: { enabled: true, remove_volumes: false } });
      await pollTo(world, "succeeded");
      change(world, "DELETE FROM intents", "DELETE FROM stacks", "DELETE FROM releases");
      await one.commit({ ".stackwright.yaml": configFile({ name: world.stack }) });
      const thief = JSON.stringify(await pollTo(world, "failed", { url: one.url }));
      assert.match(thief, /already belongs to/);
      await configure(written);
      await pollTo(world, "succeeded");
    }));

  it("keeps its owner while a destroy leaves what is another's by its label", () =>
    moved(async (world, { one, configure }, written) => {
      // As where the ledger knew the former repository no more.
      change(world, "DELETE FROM former_repositories");
      await configure({ ...written, destroy: true });
      assert.match(JSON.stringify(await pollTo(world, "succeeded")), /kept volume/);
      await one.commit({ ".stackwright.yaml": configFile({ name: world.stack }) });
      const thief = JSON.stringify(await pollTo(world, "failed", { url: one.url }));
      assert.match(thief, /already belongs to/);
      assert.equal((await volume(world)).length, 1);
    }));
});
