import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { command, commandTo, ledgerText } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { directoryText } from "./directory_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { engines, type World } from "./world.ts";

const PASSWORD = "hunter2-canary";

/** A compose file of a service `web` with a secret and a service `db`. */
function shop(revision: string, password = PASSWORD): Record<string, string> {
  return {
    "compose.yaml": composeFile({
      db: service(),
      web: service({ environment: { DB_PASSWORD: password, REVISION: revision } }),
    }),
  };
}

/** The working directory of the world's repository: a checkout with an origin. */
async function checkout(world: World): Promise<string> {
  return await world.repository.git("rev-parse", "--show-toplevel");
}

interface PlanBody {
  readonly stacks: readonly {
    readonly id: string;
    readonly context: string;
    readonly name: string;
    readonly plan: {
      readonly kind: string;
      readonly message: string;
      readonly services: readonly { readonly name: string; readonly action: string }[];
    };
    readonly diff: string;
  }[];
}

/** What the JSON plan of a place says. */
async function planned(world: World, code: number, ...args: string[]) {
  const { out } = await commandTo(world, code, ["plan", "--json", ...args]);
  const { stacks } = JSON.parse(out) as PlanBody;
  const [only] = stacks;
  assert.ok(only && stacks.length === 1, out);
  return only;
}

for (const engine of await engines()) {
  describe(`stackwright plan on the ${engine} engine`, () => {
    it("changes nothing anywhere: engine, ledger, data directory, working directory", () =>
      inWorld(engine, async (world) => {
        await commit(world, { ...shop("one"), "page.html": "one" });
        await pollTo(world, "succeeded");
        await commit(world, { ...shop("two"), "page.html": "two" });
        const cwd = await checkout(world);
        await writeFile(join(cwd, "page.html"), "not committed");
        const look = async (ignore: RegExp) => [
          ledgerText(world),
          await directoryText(world.dataDir, ignore),
          await directoryText(cwd, /^\.git\/index$/),
          JSON.stringify(await world.containers()),
        ];
        // While the service has it open, SQLite keeps two files of its own beside the ledger.
        const whileOpen = await look(/^state\.db-(wal|shm)$/);
        world.proxy.reset();
        for (const place of [cwd, world.repository.url]) {
          await commandTo(world, 2, ["plan", place]);
          await commandTo(world, 2, ["plan", "--json", place]);
          await commandTo(world, 1, ["plan", place, "--ref", "no-such"]);
        }
        assert.deepEqual(await look(/^state\.db-(wal|shm)$/), whileOpen);
        await world.stop();
        const files = await directoryText(world.dataDir);
        await commandTo(world, 2, ["plan", cwd]);
        assert.equal(await directoryText(world.dataDir), files);
        assert.equal(world.proxy.mutations(), 0);
      }));

    // The rest is about us, not about the engine.
    if (engine === "real") return;

    it("compares with what runs: from a directory and from a URL, as text and as JSON", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        await pollTo(world, "succeeded");
        await commit(world, shop("two", "other-canary"));
        const cwd = await checkout(world);
        const byUrl = await planned(world, 2, world.repository.url);
        const byPath = await planned(world, 2, cwd);
        const { out } = await commandTo(world, 2, ["plan", "--json"], { cwd });
        assert.deepEqual(byPath, byUrl);
        assert.deepEqual(await planned(world, 2, world.repository.path), byUrl, "bare");
        assert.deepEqual(JSON.parse(out).stacks, [byUrl]);
        assert.deepEqual(byUrl.plan.services.map((each) => [each.name, each.action]), [
          ["db", "keep"],
          ["web", "recreate"],
        ]);
        assert.match(byUrl.diff, /^-.* REVISION: one$/m);
        assert.match(byUrl.diff, /^\+.* REVISION: two$/m);
        assert.match(byUrl.diff, /^-.*DB_PASSWORD: .*\*\*\*/m);
        assert.match(byUrl.diff, /^\+.*DB_PASSWORD: .*\*\*\*/m);
        assert.doesNotMatch(byUrl.diff, /stackwright\.|: null/, "what no author wrote");
        assert.doesNotMatch(out, /canary/);
        const text = await commandTo(world, 2, ["plan", cwd]);
        assert.ok(text.out.includes(byUrl.diff), "as the text has it");
        assert.ok(text.out.startsWith(`default/${world.stack}: deploy: recreate web\n`), text.out);
        assert.match(text.out, /^-.* REVISION: one\n[^]*^\+.* REVISION: two\n/m);
        assert.match(
          text.out,
          /\nplan: 1 stack, 1 with changes \(services: 1 to recreate\), 0 without\n$/,
        );
      }));

    it("--ref plans another commit, a branch of the remote or of the checkout", () =>
      inWorld(engine, async (world) => {
        const first = await commit(world, shop("one"));
        await pollTo(world, "succeeded");
        await commit(world, shop("two"));
        await world.repository.branch("old", first);
        const cwd = await checkout(world);
        assert.equal((await planned(world, 2, cwd)).plan.message, "recreate web");
        assert.equal((await planned(world, 0, cwd, "--ref", first)).plan.kind, "skip");
        const old = await planned(world, 0, world.repository.url, "--ref", "old");
        assert.equal(old.diff, "");
        const { err } = await commandTo(world, 1, ["plan", cwd, "--ref", "no-such"]);
        assert.match(err, /no-such/);
      }));

    it("finds drift: a container that is gone is a change", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        await pollTo(world, "succeeded");
        await docker(world, "rm", "--force", `${world.stack}-db-1`);
        const { plan, diff } = await planned(world, 2, world.repository.url);
        assert.equal(plan.message, "create db");
        assert.equal(diff, "");
      }));

    it("says what a first deployment would do, with 2, and makes nothing of it", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        const before = ledgerText(world);
        world.proxy.reset();
        const { out, err } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.equal(err, "");
        const head = `default/${world.stack}: deploy: create db, web\n`;
        assert.ok(out.startsWith(`${head}  db: create: first deployment\n`), out);
        assert.match(out, /^--- deployed\n\+\+\+ planned\n@@/m);
        assert.match(out, /^\+ +REVISION: one$/m);
        assert.match(out, /^\+ +DB_PASSWORD: "\*\*\* \([0-9a-f]{8}\)"$/m);
        assert.doesNotMatch(out, /stackwright\.(?:digest|manager)/);
        assert.match(
          out,
          /\nplan: 1 stack, 1 with changes \(services: 2 to create\), 0 without\n$/,
        );
        assert.doesNotMatch(out, /canary/);
        assert.equal(world.proxy.mutations(), 0);
        assert.equal(ledgerText(world), before);
        assert.deepEqual(await world.containers(), []);
        await pollTo(world, "succeeded");
        assert.deepEqual(
          await commandTo(world, 0, ["plan", world.repository.url]),
          {
            code: 0,
            out: `${noChanges(world)}plan: 1 stack, 0 with changes, 1 without\n`,
            err: "",
          },
        );
      }));
  });
}

describe("stackwright plan", () => {
  it("does not make a data directory", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      const parent = await mkdtemp(join(tmpdir(), "swt-plan-"));
      try {
        const env = { DATA_DIR: join(parent, "data"), DATA_HOST_DIR: join(parent, "data") };
        await commandTo(world, 2, ["plan", world.repository.url], { env });
        await assert.rejects(stat(env.DATA_DIR), { code: "ENOENT" });
      } finally {
        await rm(parent, { recursive: true, force: true });
      }
    }));

  it("warns of variables that are those of our process, if set, as a deployment does", () =>
    inWorld("fake", async (world) => {
      const environment = { A: "${HOME}", B: "${XDG_RUNTIME_DIR-}" };
      await commit(world, { "compose.yaml": composeFile({ web: service({ environment }) }) });
      const { err } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(err, /compose\.yaml: \$\{HOME\} is the one of Stackwright's own process/);
      assert.doesNotMatch(err, /\{XDG_RUNTIME_DIR\} is/);
      await pollTo(world, "succeeded");
      assert.match(JSON.stringify(world.lines), /\{HOME\} is the one of Stackwright/);
    }));

  it("refuses a mount that leads out of the repository, as validate and a deployment do", () =>
    inWorld("fake", async (world) => {
      const volumes = ["../up:/up"];
      await commit(world, { "compose.yaml": composeFile({ web: service({ volumes }) }) });
      const says =
        /volume leads out of the repository \(\.\.\/up from its root\), .*: put it into the repository, or write an absolute path/;
      const { err } = await commandTo(world, 1, ["plan", world.repository.url]);
      assert.match(err, says);
      assert.match(JSON.stringify(await pollTo(world, "failed")), says);
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(out, says);
      await commit(world, {
        "a/compose.yaml": composeFile({ web: service({ volumes: ["../../up:/up"] }) }),
        "b/compose.yaml": composeFile({ web: service({ volumes: ["../../../../up:/up"] }) }),
        "c/compose.yaml": composeFile({ web: service({ volumes: [`${world.dataDir}/x:/up`] }) }),
        ".stackwright.yaml": configFile(...["a", "b", "c"].map((each) => (
          { name: `${world.stack}-${each}`, working_dir: each }
        ))),
      });
      const others = await commandTo(world, 1, ["plan", world.repository.url]);
      assert.match(others.err, /leads out of the repository \(\.\.\/up from its root\)/);
      assert.match(
        others.err,
        /leads out of the repository \(\.\.\/\.\.\/\.\.\/up from its root\)/,
      );
      assert.match(others.err, /\/x\): keep what it needs elsewhere, and mount that/);
      const checked = await commandTo(world, 1, ["validate", await checkout(world)]);
      assert.match(checked.out + checked.err, /volume \.\.\/\.\.\/up leads out of the repository/);
    }));

  it("says when nothing would be deployed, as by a misspelled profile", () =>
    inWorld("fake", async (world) => {
      await commit(
        world,
        { "compose.yaml": composeFile({ web: service({ profiles: ["dev"] }) }) },
        {
          profiles: ["devel"],
        },
      );
      const { err } = await commandTo(world, 0, ["plan", world.repository.url]);
      assert.match(err, /nothing is deployed: no service of .* of the profiles devel/);
    }));

  it("says which labels have no effect", () =>
    inWorld("fake", async (world) => {
      const labels = { "stackwright.job.scedule": "@daily" };
      await commit(world, { "compose.yaml": composeFile({ web: service({ labels }) }) });
      const { err } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(
        err,
        /service web: stackwright\.job\.scedule is no label .*mean .*job\.schedule\?/,
      );
    }));

  it("takes the path of a bare repository for what is committed there", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      const bare = await commandTo(world, 2, ["plan", "--json", world.repository.path]);
      const byUrl = await commandTo(world, 2, ["plan", "--json", world.repository.url]);
      assert.deepEqual(JSON.parse(bare.out), JSON.parse(byUrl.out));
    }));

  it("takes nothing in the data directory for a source, as apply does not", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      await pollTo(world, "succeeded");
      const mirror = join(world.dataDir, "sources", `local${world.repository.path}`, "mirror");
      const [kept = ""] = await readdir(mirror);
      await commit(world, {}, { repository_url: join(mirror, kept), reference: "HEAD" });
      const env = { ALLOW_LOCAL_REPOSITORY_URL: "true" };
      for (const asked of ["plan", "apply"]) {
        const { out, err } = await commandTo(world, 1, [asked, world.repository.url], { env });
        assert.match(out + err, /lies in the data directory of Stackwright/, asked);
      }
    }));

  it("says 1 and where when the configuration or the compose file is wrong", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({ ".stackwright.yaml": "name: x\nnmae: y\n" });
      const { err } = await commandTo(world, 1, ["plan", world.repository.url]);
      assert.match(err, /\.stackwright\.yaml.*\b2\b.*nmae/s);
      await commit(world, { "compose.yaml": "services: {web: {imagee: x}}\n" });
      const json = await commandTo(world, 1, ["plan", "--json", world.repository.url]);
      assert.equal(JSON.parse(json.err).error.code, "render_failed");
      assert.equal(json.out, "");
      await commit(world, {}, { repository_url: "https://local/a/b" });
      const named = await commandTo(world, 1, ["plan", world.repository.url]);
      assert.match(named.err, new RegExp(`^stackwright: deployment ${world.stack}: .*"local"`));
    }));

  it("reports every stack that cannot be planned, with 1, and plans the others as apply does", () =>
    inWorld("fake", async (world) => {
      const { stack } = world;
      const directory = (name: string) => `apps/${stack}-${name}`;
      await world.repository.commit({
        ".stackwright.yaml": "working_dir: apps\nauto_discovery: {enabled: true, delete: true}\n",
        [`${directory("gone")}/compose.yaml`]: composeFile({ web: service() }),
      });
      await pollTo(world, "succeeded");
      await world.repository.remove([directory("gone")]);
      await world.repository.commit({
        [`${directory("a")}/compose.yaml`]: composeFile({ web: service() }),
        [`${directory("a")}/.stackwright.yaml`]: "nmae: x\n",
        [`${directory("b")}/compose.yaml`]: "services: {web: {imagee: x}}\n",
        [`${directory("c")}/compose.yaml`]: composeFile({ web: service() }),
      });
      const { out, err } = await commandTo(world, 1, ["plan", world.repository.url]);
      assert.match(out, new RegExp(`^default/${stack}-c: deploy: create web$`, "m"));
      assert.doesNotMatch(out, /-(a|b|gone): /, "what is planned, and no removal");
      assert.match(err, new RegExp(`^stackwright: default/${stack}-a: .*yaml:1:1: nmae`, "m"));
      assert.match(err, new RegExp(`^stackwright: default/${stack}-b: .*imagee`, "ms"));

      const json = await commandTo(world, 1, ["plan", "--json", world.repository.url]);
      const plan = JSON.parse(json.out);
      const codes = Object.fromEntries(
        plan.failures.map((each: { name: string; code: string }) => [each.name, each.code]),
      );
      assert.deepEqual(codes, {
        [`${stack}-a`]: "config_invalid",
        [`${stack}-b`]: "render_failed",
      });
      assert.equal(plan.stacks.length, 1);
      assert.equal(json.err, "");

      const run = await pollTo(world, "failed");
      const became = Object.fromEntries(
        run.deployments?.map((each) => [each.stack.slice(-1), each.status]) ?? [],
      );
      assert.deepEqual(became, { a: "failed", b: "failed", c: "succeeded" });
    }));

  it("hides the words of a stack in what it says of that stack, and of no other", () =>
    inWorld("fake", async (world) => {
      const directory = (name: string) => `apps/${world.stack}-${name}`;
      const environment = (name: string) =>
        composeFile({ web: service({ environment: { [name]: "complete" } }) });
      await world.repository.commit({
        ".stackwright.yaml": "working_dir: apps\nauto_discovery: true\n",
        [`${directory("a")}/compose.yaml`]: environment("A_PASSWORD"),
        [`${directory("b")}/compose.yaml`]: environment("GREETING"),
      });
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /^\+ .*GREETING: complete$/m);
      assert.match(out, /A_PASSWORD/);
      assert.doesNotMatch(out, /A_PASSWORD: .*complete/);
      const json = await commandTo(world, 2, ["plan", "--json", world.repository.url]);
      const [a, b] = JSON.parse(json.out).stacks;
      assert.doesNotMatch(a.diff, /complete/);
      assert.match(b.diff, / GREETING: complete/);
    }));

  it("plans what apply would do about a release that failed before", () =>
    inWorld("fake", async (world) => {
      const files = { "compose.yaml": composeFile({ web: badService(world) }) };
      await commit(world, files);
      await pollTo(world, "failed");
      const { plan } = await planned(world, 2, world.repository.url);
      assert.match(
        plan.message,
        /^recreate web; this release failed once \(.*\); .*tries it again$/,
      );
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /failed once .*; the first poll or webhook after \d{4}-\d\d-\d\d \d/);
      await pollTo(world, "failed");
      const again = await planned(world, 2, world.repository.url);
      assert.match(again.plan.message, /failed 2 times /);
    }));

  it("does not call a stack in sync whose change waits for its health", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      await pollTo(world, "succeeded");
      world.fake?.addImage("slow:1", { where: "engine", onStart: { health: "starting" } });
      const healthcheck = { test: ["CMD", "true"] };
      const web = service({ image: "slow:1", healthcheck });
      await commit(world, { "compose.yaml": composeFile({ db: service(), web }) });
      const poll = pollTo(world, "succeeded");
      const starting = async () =>
        (await world.containers()).find(({ health }) => health === "starting")?.id;
      await until(async () => await starting() !== undefined);
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.doesNotMatch(out, /nothing to do|no changes/);
      assert.match(
        out,
        /: deploy: a deployment of release 2 is under way; services are compared with what runs by now, the diff with release 1; what comes next is decided when it has ended: against release 2, or release 1 where it fails$/m,
      );
      assert.match(out, /^plan: 1 stack, 1 with changes/m);
      world.fake?.setHealth(await starting() ?? "", "healthy");
      await poll;
    }));

  it("shows several stacks, a paused one and one to destroy", () =>
    inWorld("fake", async (world) => {
      const { stack } = world;
      await world.repository.commit({
        ".stackwright.yaml": `name: ${stack}\n---\nname: ${stack}-held\npause: true\n---\n` +
          `name: ${stack}-gone\ndestroy: true\n`,
        ...shop("one"),
      });
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, new RegExp(`^default/${stack}: deploy: create db, web$`, "m"));
      assert.match(
        out,
        new RegExp(`^default/${stack}-held: .* is paused; waiting: create db, web$`, "m"),
      );
      assert.match(out, new RegExp(`^default/${stack}-gone: nothing to do: .*destroy$`, "m"));
    }));

  it("tells a person what it does, and a script nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      const args = ["plan", "--json", world.repository.url];
      const watched = await command(world, args, { interactive: true });
      const alone = await command(world, args);
      assert.equal(watched.out, alone.out);
      assert.equal(alone.err, "");
      assert.match(watched.err, /^resolving HEAD of /);
      assert.match(watched.err, new RegExp(`^${world.stack}: rendering$`, "m"));
    }));
});

/** What plan says about a stack of which everything is as it should be. */
function noChanges(world: World): string {
  const line = (name: string) => `  ${name}: keep: its inputs are unchanged\n`;
  return `default/${world.stack}: nothing to do: no changes\n${line("db")}${line("web")}`;
}
