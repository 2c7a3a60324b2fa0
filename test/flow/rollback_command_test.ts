import assert from "node:assert/strict";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { automaticPollTo, commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, label, pollTo, replaced } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

const never = new AbortController().signal;

/** A compose file of `db` and of a `web` that carries a number. */
function shop(number: string, more: Part = {}): Record<string, string> {
  const web = service({ labels: { number }, environment: { TOKEN: `canary-${number}` }, ...more });
  return { "compose.yaml": composeFile({ db: service(), web }) };
}

/** Commits and deploys the releases `1`, `2`, …; returns their commits. */
async function deploy(world: World, ...numbers: string[]): Promise<string[]> {
  const commits: string[] = [];
  for (const number of numbers) {
    commits.push(await commit(world, shop(number)));
    await pollTo(world, "succeeded");
  }
  return commits;
}

const numberOf = (world: World) => label(world, "web", "number");

/** Numbers of the history with their status, newest first; the current one is marked. */
async function history(world: World): Promise<string[]> {
  const { out } = await commandTo(world, 0, ["history", "--json", world.stack]);
  const releases = JSON.parse(out) as { number: number; status: string; current: boolean }[];
  return releases.map((each) => `${each.current ? "*" : ""}${each.number} ${each.status}`);
}

for (const engine of await engines()) {
  describe(`stackwright rollback on the ${engine} engine`, () => {
    it("puts the good release before the current one back, and polls leave it there", () =>
      inWorld(engine, async (world) => {
        const [, second] = await deploy(world, "1", "2");
        const before = await ids(world);
        const { out } = await commandTo(world, 0, ["rollback", world.stack]);
        assert.equal(out, `${world.stack} is back at release 1 (recreate web)\n`);
        assert.equal(await numberOf(world), "1");
        assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
        assert.deepEqual(await history(world), ["*3 deployed", "2 deployed", "1 deployed"]);

        const pinned = await ids(world);
        world.proxy.reset();
        for (let count = 0; count < 2; count++) {
          const run = await automaticPollTo(world, "skipped");
          const reason = run.deployments?.[0]?.reason ?? "";
          assert.match(
            reason,
            /^paused: rolled back to release \d+; [0-9a-f]{12} is not deployed again/,
          );
          assert.ok(reason.includes(second?.slice(0, 12) ?? "?"), reason);
        }
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), pinned);

        await deploy(world, "3");
        assert.equal(await numberOf(world), "3");
        await automaticPollTo(world, "skipped");
        const explained = await commandTo(world, 0, ["explain", world.stack]);
        assert.doesNotMatch(explained.out, /held back/);
      }));

    it("needs neither registry nor Git with RELEASE_IMAGE_RETENTION, nor the name of an image", () =>
      inWorld(engine, async (world) => {
        const tag = `${world.stack}-app:latest`;
        const made: string[] = [];
        try {
          for (const number of ["1", "2", "3"]) {
            made.push(await makeImage(world, tag, number));
            await commit(world, shop(number, { image: tag }));
            await pollTo(world, "succeeded");
          }
          const [first, second, third] = made;
          const kept = await Promise.all(
            made.map(async (each) => await world.engine.imageId(each, never) !== undefined),
          );
          // What a person made stays until a person removes it, where the engine tells it from what was pulled.
          const { keepsUnnamed } = await world.engine.info(never);
          assert.deepEqual(kept, [keepsUnnamed, true, true]);
          if (keepsUnnamed) await world.engine.removeImage(first ?? "", never);
          assert.equal(await world.engine.imageId(tag, never), third);

          await rename(world.repository.path, `${world.repository.path}-away`);
          world.proxy.reset();
          const { out } = await commandTo(world, 0, ["rollback", world.stack]);
          assert.match(out, /is back at release 2/);
          assert.equal(world.proxy.pulls(), 0);
          const [, web] = await world.containers();
          assert.deepEqual([web?.imageId, web?.labels["number"]], [second, "2"]);
          // Nobody builds it here: the name is the person's, who gave it to the newest one.
          assert.equal(await world.engine.imageId(tag, never), third);

          // The image of the first one is gone, and its name means another one now.
          assert.notEqual(first, second);
          const other = await commandTo(world, 0, ["rollback", world.stack, "1"]);
          assert.match(other.out, /; web runs another image than then: /);
          await rename(`${world.repository.path}-away`, world.repository.path);
        } finally {
          for (const each of await world.containers()) {
            await world.engine.removeContainer(each.id, { force: true, volumes: true }, never);
          }
          if (world.kind === "real") {
            for (const image of await world.engine.listImages(never)) {
              if (made.includes(image.id)) await docker(world, "image", "rm", "--force", image.id);
            }
          }
        }
      }, { RELEASE_IMAGE_RETENTION: "1" }));

    // The rest is about us, not about the engine.
    if (engine === "real") return;

    it("of an earlier version, whose URL lacks the account, after a poll that finds nothing new", () =>
      inWorld(engine, async (world) => {
        const url = "ssh://gitea@nas.example/shop";
        const env = { SOURCE_URL_REWRITES: `"${url}": "${world.repository.url}"` };
        await world.restart(env);
        for (const number of ["1", "2"]) {
          await commit(world, shop(number));
          await pollTo(world, "succeeded", { url });
        }
        await world.stop();
        const database = new DatabaseSync(join(world.dataDir, "state.db"));
        database.exec(`UPDATE releases SET facts = replace(facts, 'gitea@', '')`);
        database.close();
        await rm(join(world.dataDir, "sources"), { recursive: true });
        await world.restart(env);
        await pollTo(world, "skipped", { url });
        const { out } = await commandTo(world, 0, ["rollback", world.stack], { env });
        assert.match(out, /is back at release 1/);
      }));

    it("by number; a newer commit ends the pin by itself", () =>
      inWorld(engine, async (world) => {
        await deploy(world, "1", "2", "3");
        const { out } = await commandTo(world, 0, ["rollback", "--json", world.stack, "1"]);
        assert.deepEqual(JSON.parse(out), { release: 1, message: "recreate web" });
        assert.equal(await numberOf(world), "1");
        await automaticPollTo(world, "skipped");
        assert.equal(await numberOf(world), "1");
        await commit(world, shop("4"));
        await automaticPollTo(world, "succeeded");
        assert.equal(await numberOf(world), "4");
        await automaticPollTo(world, "skipped");
        assert.equal(await numberOf(world), "4");
      }));

    it("holds against every commit with the same inputs and against poll now, until they change", () =>
      inWorld(engine, async (world) => {
        await deploy(world, "1", "2");
        await commandTo(world, 0, ["rollback", world.stack]);
        const pinned = await ids(world);
        const isHeld = async () => {
          const manual = await pollTo(world, "skipped");
          assert.match(manual.deployments?.[0]?.reason ?? "", /^paused: rolled back to release 1/);
          await automaticPollTo(world, "skipped");
          assert.deepEqual(await ids(world), pinned);
        };
        await isHeld();
        await commit(world, { "README.md": "nothing that the stack reads" });
        await isHeld();
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.match(out, /rolled back to release 1/);
        // Written otherwise, and the same when it is rendered.
        await commit(world, { "compose.yaml": shop("2")["compose.yaml"] + "\n# a comment\n" });
        await isHeld();
        await deploy(world, "3");
        assert.equal(await numberOf(world), "3");
      }));

    it("holds also against a commit that nobody had looked at, and those that mean the same", () =>
      inWorld(engine, async (world) => {
        await deploy(world, "1", "2");
        await commit(world, shop("3"));
        await commandTo(world, 0, ["rollback", world.stack]);
        const pinned = await ids(world);
        await commit(world, { "README.md": "nothing that the stack reads" });
        await automaticPollTo(world, "skipped");
        await commit(world, { "README.md": "nor this" });
        await automaticPollTo(world, "skipped");
        assert.deepEqual(await ids(world), pinned);
        await commit(world, shop("4"));
        await automaticPollTo(world, "succeeded");
        assert.equal(await numberOf(world), "4");
      }));

    it("unpin lets the newest commit come back", () =>
      inWorld(engine, async (world) => {
        await deploy(world, "1", "2");
        await commandTo(world, 0, ["rollback", world.stack]);
        await automaticPollTo(world, "skipped");
        const { out } = await commandTo(world, 0, ["unpin", world.stack]);
        assert.equal(out, `${world.stack} follows its reference again\n`);
        await automaticPollTo(world, "succeeded");
        assert.equal(await numberOf(world), "2");
        const again = await commandTo(world, 0, ["unpin", world.stack]);
        assert.equal(again.out, `${world.stack} was not held back\n`);
      }));

    it("that fails restores what ran, and pins nothing", () =>
      inWorld(engine, async (world) => {
        const bad = { "compose.yaml": composeFile({ db: service(), web: badService(world) }) };
        await commit(world, bad);
        await pollTo(world, "failed");
        await deploy(world, "2");
        const before = await ids(world);
        const { err } = await commandTo(world, 1, ["rollback", world.stack, "1"]);
        assert.match(err, /stopped with exit code 3/);
        assert.match(err, /the previous release was put back/);
        assert.equal(await numberOf(world), "2");
        assert.equal((await ids(world))["db-1"], before["db-1"]);
        await automaticPollTo(world, "skipped");
        await commit(world, shop("3"));
        await automaticPollTo(world, "succeeded");
        assert.equal(await numberOf(world), "3");
      }));
  });
}

/** Makes an image of its own content and gives it the tag; returns its id. */
async function makeImage(world: World, tag: string, content: string): Promise<string> {
  if (world.fake !== undefined) return world.fake.addImage(tag, { where: "engine", content });
  const container = (await docker(world, "create", IMAGE)).trim();
  await docker(world, "commit", "--change", `LABEL made=${content}`, container, tag);
  await docker(world, "rm", container);
  return await world.engine.imageId(tag, never) ?? "";
}

/** Pulling is for what pruning has removed. */
const KEEP_NONE = { RELEASE_IMAGE_RETENTION: "0" };

describe("stackwright rollback and the registry", () => {
  it("pulls what is missing first; when that fails nothing that runs was touched", () =>
    inWorld("fake", async (world) => {
      const [one, two] = ["registry.test/app:1", "registry.test/app:2"];
      for (const [number, image] of [["1", one], ["2", two]] as const) {
        world.fake?.addImage(image, { where: "registry" });
        await commit(world, shop(number, { image }));
        await pollTo(world, "succeeded");
      }
      assert.equal(await world.engine.imageId(one, never), undefined, "it was pruned");
      const before = await ids(world);
      world.proxy.reset();
      await commandTo(world, 0, ["rollback", world.stack], {});
      assert.ok(world.proxy.pulls() > 0);
      assert.equal(await numberOf(world), "1");
      assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);

      await commit(world, shop("3", { image: "registry.test/gone:1" }));
      world.fake?.addImage("registry.test/gone:1", { where: "engine" });
      await pollTo(world, "succeeded");
      await commit(world, shop("4"));
      await pollTo(world, "succeeded");
      const running = await ids(world);
      await docker(world, "image", "rm", "registry.test/gone:1");
      const { err } = await commandTo(world, 1, ["rollback", world.stack]);
      assert.match(err, /docker compose pull failed/);
      assert.deepEqual(await ids(world), running);
      assert.equal(await numberOf(world), "4");
      await automaticPollTo(world, "skipped");
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      assert.doesNotMatch(out, /held back/);
    }, KEEP_NONE));
});

describe("what the ledger tells", () => {
  it("history lists every release, what became of it, and why it is there", () =>
    inWorld("fake", async (world) => {
      await deploy(world, "1");
      await commit(world, {
        "compose.yaml": composeFile({ db: service(), web: badService(world) }),
      });
      await pollTo(world, "failed");
      await deploy(world, "3");
      await commandTo(world, 0, ["rollback", world.stack]);
      const { out } = await commandTo(world, 0, ["history", world.stack]);
      const lines = out.trimEnd().split("\n").slice(1).map((line) =>
        line.replace(/ +\d{4}-\S+ \S+ +/, " ").replaceAll(/ +/g, " ").replace(/ [0-9a-f]{12} /, " ")
      );
      assert.deepEqual(lines.filter((_, index) => index !== 2), [
        "* 4 deployed release 1 again: recreate web",
        " 3 deployed recreate web",
        " 1 deployed create db, web",
      ]);
      assert.match(
        lines[2] ?? "",
        /^ 2 rolled_back service web: container \S+ stopped with exit code 3/,
      );

      const { err } = await commandTo(world, 1, ["rollback", world.stack, "2"]);
      const warning =
        /^stackwright: release 2 of \S+ failed when it was deployed \(.*exit code 3.*\); /;
      assert.match(err, warning);
      const explained = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(explained.out, /: deploy: back to release 2, which failed before: /);
    }));

  it("diff shows what differs between two releases, values that sound secret as a digest", () =>
    inWorld("fake", async (world) => {
      await deploy(world, "1", "2");
      const { out } = await commandTo(world, 2, ["diff", world.stack, "1", "2"]);
      assert.match(out, /^-\s+number: "1"/m);
      assert.match(out, /^\+\s+number: "2"/m);
      assert.match(out, /^\+\s+TOKEN: "\*\*\*/m);
      assert.doesNotMatch(out, /canary/);
      assert.equal((await commandTo(world, 0, ["diff", world.stack, "2", "2"])).out, "");
    }));

  it("explain says which input changed, what was done and why, and what a person did", () =>
    inWorld("fake", async (world) => {
      const [first, second] = await deploy(world, "1", "2");
      await automaticPollTo(world, "skipped");
      await automaticPollTo(world, "skipped");
      await commandTo(world, 0, ["rollback", world.stack]);
      await automaticPollTo(world, "skipped");
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      const blocks = out.replaceAll(/^ {2}outcome: .*\n/gm, "").split("\n\n");
      const [head, held, back, idle, update, create] = blocks;
      assert.match(head ?? "", new RegExp(`: release 3 of ${first?.slice(0, 12)} `));
      assert.match(
        head ?? "",
        new RegExp(
          `^held back at release 1 since .* than ${second?.slice(0, 12)}, or stackwright unpin`,
          "m",
        ),
      );
      assert.match(held ?? "", /: skip \(paused\): rolled back to release 1/);
      assert.match(
        back ?? "",
        /: deploy: back to release 1: recreate web\n {2}by manual rollback, at /,
      );
      assert.match(
        idle ?? "",
        /, 2 times until .*: skip \(no_changes\): no changes\n {2}by automatic poll/,
      );
      assert.match(
        update ?? "",
        /: deploy: recreate web\n {2}by manual poll, at \S+ \([0-9a-f]{12}\)/,
      );
      assert.match(update ?? "", /^ {2}input compose\.yaml: [0-9a-f]{12} -> [0-9a-f]{12}$/m);
      assert.match(update ?? "", /^ {2}web: recreate: its definition changed$/m);
      assert.match(update ?? "", /^ {2}db: keep: its inputs are unchanged$/m);
      assert.match(create ?? "", /: deploy: create db, web\n/);
      const json = await commandTo(world, 0, ["explain", "--json", world.stack]);
      const { decisions, pin } = JSON.parse(json.out);
      assert.equal(pin.revision, second);
      assert.equal(decisions.length, 5);
      assert.doesNotMatch(out + json.out, /canary/);
    }));

  it("explain says how attempts ended, forgets a failure nobody asks for, and numbers like history", () =>
    inWorld("fake", async (world) => {
      await deploy(world, "1");
      await commit(world, {
        "compose.yaml": composeFile({ db: service(), web: badService(world) }),
      });
      await pollTo(world, "failed");
      const failed = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(failed.out, /^last failure .* \(once\): .*exit code 3/m);
      assert.match(failed.out, /^failed, .*: release 2 failed, and release 1 was put back$/m);
      assert.match(failed.out, /^ {2}outcome: failed: .*exit code 3/m);
      assert.match(failed.out, /^ {2}outcome: succeeded: create db, web$/m);

      // What ran before is what is wanted again: nothing is deployed, and the failure is over.
      await commit(world, shop("1"));
      await automaticPollTo(world, "skipped");
      const over = await commandTo(world, 0, ["explain", world.stack]);
      assert.doesNotMatch(over.out, /^last failure/m);

      await deploy(world, "4");
      await commandTo(world, 0, ["rollback", world.stack, "1"]);
      const back = await commandTo(world, 0, ["explain", world.stack]);
      assert.match(back.out, /: release 4 of .*: release 1 again: recreate web$/m);
      assert.match(back.out, /^held back at release 1 since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,/m);
      assert.match(back.out, /^ {2}outcome: succeeded: release 1 again: recreate web$/m);
      const { current, pin } = JSON.parse(
        (await commandTo(world, 0, ["explain", "--json", world.stack])).out,
      );
      assert.deepEqual([current.number, pin.release], [4, 1]);
    }));
});
