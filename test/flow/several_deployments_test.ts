import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import { command, commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, label, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { IMAGE, type World } from "./world.ts";

const app = (text = "x") => composeFile({ web: service({ labels: { "test.v": text } }) });

/** Commits two explicit stacks and a discovery with one. */
async function commitThree(world: World): Promise<void> {
  await world.repository.commit({
    ".stackwright.yaml": configFile(
      { name: `${world.stack}-one`, working_dir: "one" },
      { name: `${world.stack}-two`, working_dir: "two" },
      { working_dir: "apps", auto_discovery: { enabled: true, delete: true } },
    ),
    "one/compose.yaml": app(),
    "two/compose.yaml": app(),
    [`apps/${world.stack}-found/compose.yaml`]: app(),
  });
}

interface Planned {
  readonly name: string;
  readonly plan: { readonly kind: string };
  readonly diff: string;
}

/** What `stackwright plan` says of each stack, by the last part of its name. */
function kinds(world: World, out: string): Record<string, string> {
  const { stacks } = JSON.parse(out) as { readonly stacks: readonly Planned[] };
  return Object.fromEntries(
    stacks.map(({ name, plan }) => [name.replace(`${world.stack}-`, ""), plan.kind]),
  );
}

describe("stacks that are in networks of each other", () => {
  /** Every stack makes its own network and is in that of the one before it, which it calls external. */
  const commitChain = async (world: World, names: readonly string[], first?: string) => {
    const stacks = names.map((name) => `${world.stack}-${name}`);
    const file = (stack: string, before: string | undefined) =>
      composeFile(
        { web: service({ networks: before === undefined ? ["own"] : ["own", "before"] }) },
        {
          networks: {
            own: { name: `${stack}-net` },
            ...(before === undefined ? {} : { before: { name: `${before}-net`, external: true } }),
          },
        },
      );
    await world.repository.commit({
      ".stackwright.yaml": configFile(
        ...stacks.map((name, index) => ({ name, working_dir: names[index] })),
      ),
      ...Object.fromEntries(
        stacks.map((each, index) => [
          `${names[index]}/compose.yaml`,
          file(each, index === 0 ? first : stacks[index - 1]),
        ]),
      ),
    });
  };

  it("are all deployed in the first run, whatever their order", () =>
    inWorld("fake", async (world) => {
      await commitChain(world, ["c", "b", "a"]);
      const run = await pollTo(world, "succeeded");
      assert.deepEqual(run.deployments?.map(({ status }) => status), Array(3).fill("succeeded"));
      await pollTo(world, "skipped");
    }));

  it("are all deployed in the first run on a swarm, whatever their order", () =>
    inWorld("fake", async (world) => {
      world.fake?.becomeManager();
      await commitChain(world, ["c", "b", "a"]);
      const run = await pollTo(world, "succeeded");
      assert.deepEqual(run.deployments?.map(({ status }) => status), Array(3).fill("succeeded"));
      await pollTo(world, "skipped");
    }));

  it("fail with their reason where nobody makes what they lack", () =>
    inWorld("fake", async (world) => {
      await commitChain(world, ["a", "b"], "nobody");
      const run = await pollTo(world, "failed");
      const messages = (run.deployments ?? []).map(({ status, message }) =>
        `${status}: ${message}`
      );
      assert.equal(messages.length, 2);
      for (const each of messages) assert.match(each, /^failed: .*-net is declared external and /);
    }));
});

describe("two stacks that exchange a port", () => {
  it("are told who waits for whom, and deployed when one lets go first", () =>
    inWorld("fake", async (world) => {
      const [one, two] = [`${world.stack}-one`, `${world.stack}-two`];
      const commitPorts = async (first: number, second: number) => {
        const web = (port: number) =>
          composeFile({ web: service({ ports: [`127.0.0.1:${port}:80`] }) });
        await world.repository.commit({
          ".stackwright.yaml": configFile(
            { name: one, working_dir: "one" },
            { name: two, working_dir: "two" },
          ),
          "one/compose.yaml": web(first),
          "two/compose.yaml": web(second),
        });
      };
      await commitPorts(8081, 8082);
      await pollTo(world, "succeeded");
      await commitPorts(8082, 8081);
      const { deployments = [] } = await pollTo(world, "failed");
      const message = (stack: string) =>
        deployments.find((each) => each.stack === stack)?.message ?? "";
      const text = (port: number, holder: string) =>
        new RegExp(
          `needs port ${port}/tcp, .* project ${holder} holds; .* waits until ${holder} lets go`,
        );
      assert.match(message(one), text(8082, two));
      assert.match(message(two), text(8081, one));
      await commitPorts(8083, 8081);
      await world.poll();
      await pollTo(world, "succeeded");
      await commitPorts(8082, 8081);
      await pollTo(world, "succeeded");
    }));
});

describe("stackwright plan and apply with several deployments", () => {
  it("show and do the same for explicit, discovered, vanished and destroyed stacks", () =>
    inWorld("fake", async (world) => {
      await commitThree(world);
      const { url } = world.repository;
      world.proxy.reset();
      const first = await commandTo(world, 2, ["plan", "--json", url]);
      assert.deepEqual(kinds(world, first.out), { one: "deploy", two: "deploy", found: "deploy" });
      assert.equal(world.proxy.mutations(), 0);
      await commandTo(world, 0, ["apply", url]);
      const again = await commandTo(world, 0, ["plan", "--json", url]);
      assert.deepEqual(kinds(world, again.out), { one: "skip", two: "skip", found: "skip" });

      await world.repository.remove(["apps", "two"]);
      await world.repository.commit({
        "apps/readme": "empty",
        ".stackwright.yaml": configFile(
          { name: `${world.stack}-one`, working_dir: "one" },
          { name: `${world.stack}-two`, working_dir: "two", destroy: true },
          { working_dir: "apps", auto_discovery: { enabled: true, delete: true } },
        ),
      });
      const planned = await commandTo(world, 2, ["plan", "--json", url]);
      assert.deepEqual(kinds(world, planned.out), {
        found: "destroy",
        one: "skip",
        two: "destroy",
      });
      await withFile(planned.out, (file) => commandTo(world, 0, ["apply", "--plan", file, url]));
      for (const [name, count] of [["one", 1], ["two", 0], ["found", 0]] as const) {
        assert.equal((await world.containers(`${world.stack}-${name}`)).length, count, name);
      }
    }));
});

async function withFile(text: string, work: (file: string) => Promise<unknown>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-plan-"));
  try {
    await writeFile(join(directory, "plan.json"), text);
    await work(join(directory, "plan.json"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe("a stack that its configuration does not name any more", () => {
  it("goes on running, and status and plan say so until it is named again", () =>
    inWorld("fake", async (world) => {
      const [one, two] = [`${world.stack}-one`, `${world.stack}-two`];
      const name = (...names: readonly string[]) =>
        world.repository.commit({
          ".stackwright.yaml": configFile(...names.map((each) => ({ name: each }))),
          "compose.yaml": app(),
        });
      await name(one, two);
      await pollTo(world, "succeeded");
      await name(one);
      await pollTo(world, "skipped");
      assert.equal((await world.containers(two)).length, 1);
      const status = await commandTo(world, 0, ["status"]);
      const kept = "nothing names it any more, and it is kept with its data: .* destroy: true";
      assert.match(status.out, new RegExp(`^orphaned +${two} .*${kept}`, "m"));
      assert.match(status.out, new RegExp(`^synced +${one} `, "m"));
      const { out } = await commandTo(world, 0, ["plan", world.repository.url]);
      assert.match(out, new RegExp(`^default/${two}: nothing to do: ${kept}`, "m"));
      await name(one, two);
      await pollTo(world, "skipped");
      assert.match((await commandTo(world, 0, ["status", two])).out, /^synced/m);
    }));
});

describe("inline deployments", () => {
  it("of one poll remove and miss nothing that another poll of the repository deploys", () =>
    inWorld("fake", async (world) => {
      await commitThree(world);
      await world.repository.commit({ [`infra/${world.stack}-base/compose.yaml`]: app() });
      const auto_discovery = { enabled: true, delete: true };
      const polls = ["apps", "infra"].map((working_dir) => ({
        deployments: [{ working_dir, auto_discovery }, {
          name: `${world.stack}-${working_dir}`,
          working_dir: "one",
        }],
      }));
      for (const poll of polls) await pollTo(world, "succeeded", poll);
      for (const poll of polls) await pollTo(world, "skipped", poll);
      const { out } = await commandTo(world, 0, ["status"]);
      assert.equal(out.match(/^synced/gm)?.length, 4, out);
    }));

  it("of a request are deployed instead of the repository's file, discoveries included", () =>
    inWorld("fake", async (world) => {
      const found = `${world.stack}-found`;
      await commitThree(world);
      const deployments: Part[] = [
        { name: `${world.stack}-inline`, working_dir: "one" },
        { working_dir: "apps", auto_discovery: true, environment: { A: "b" } },
      ];
      const run = await pollTo(world, "succeeded", { deployments });
      assert.deepEqual(run.deployments?.map((each) => each.stack).sort(), [
        found,
        `${world.stack}-inline`,
      ]);
      await pollTo(world, "skipped", { deployments });
      const twice = [...deployments, { name: found, working_dir: "one" }];
      const refused = await pollTo(world, "failed", { deployments: twice });
      assert.match(refused.message ?? "", /names must be unique in a context/);
    }));

  it("of the polls are what a webhook of that repository, branch and target deploys", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": app("file"), "own/compose.yaml": app("inline") });
      const clone = "https://git.example.test/acme/shop.git";
      const secret = "canary-of-inline";
      const entry = (target: string, name: string) => ({
        url: clone,
        reference: "main",
        interval: 0,
        target,
        deployments: [{ name, working_dir: "own" }],
      });
      await world.restart({
        WEBHOOK_SECRET: secret,
        SOURCE_URL_REWRITES: `"${clone}": "${world.repository.url}"`,
        POLL_CONFIG: JSON.stringify([
          entry("", `${world.stack}-a`),
          entry("nas", `${world.stack}-nas`),
          entry("", `${world.stack}-b`),
        ]),
      });
      const payload = githubPush({ repository: { full_name: "acme/shop", clone_url: clone } });
      const { headers, body } = signed("github", { event: "push", payload, secret });
      const url = `${world.app.url}/v1/webhook?wait=true`;
      const answer = await fetch(url, { method: "POST", headers, body });
      assert.equal(answer.status, 201, await answer.text());
      for (const [name, count] of [["-a", 1], ["-b", 1], ["-nas", 0], ["", 0]] as const) {
        assert.equal((await world.containers(world.stack + name)).length, count, name);
      }
    }));
});

describe("wait_running_jobs", () => {
  /** Starts a container as a job of the stack is started. */
  async function startJob(world: World): Promise<string> {
    const name = `${world.stack}-stackwright-job-backup-1`;
    const labels = [`project=${world.stack}`, "service=backup", "oneoff=True", "container-number=1"]
      .flatMap((each) => ["--label", `com.docker.compose.${each}`]);
    await docker(
      world,
      "create",
      "--network",
      "bridge",
      "--name",
      name,
      ...labels,
      IMAGE,
      "sleep",
      "1000",
    );
    await world.engine.startContainer(name, new AbortController().signal);
    return name;
  }

  it("is told of a first deployment by plan, status and explain while a job runs", () =>
    inWorld("fake", async (world) => {
      const job = await startJob(world);
      await commit(world, { "compose.yaml": app("1") }, { timeout: "1h" });
      const why = `create web; once the running jobs have ended: ${job}`;
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.ok(out.includes(why), out);
      const waiting = pollTo(world, "succeeded");
      const status = async () => (await command(world, ["status", world.stack])).out;
      await until(async () => /^waiting /m.test(await status()));
      assert.ok((await status()).includes(why), await status());
      const explained = await commandTo(world, 0, ["explain", world.stack]);
      assert.ok(explained.out.includes(`\nwaiting: ${why}\n`), explained.out);
      await docker(world, "rm", "-f", job);
      await waiting;
      assert.match(await status(), /synced/);
    }));

  it("leaves everything as it is while a job runs, and deploys when it has ended", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": app("1") });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      const job = await startJob(world);
      await commit(world, { "compose.yaml": app("2") }, { timeout: "3s" });
      world.proxy.reset();
      const failed = await pollTo(world, "failed");
      assert.match(JSON.stringify(failed), new RegExp(`timed out waiting 3 seconds .*${job}`));
      assert.equal(world.proxy.mutations(), 0);
      assert.equal((await ids(world))["web-1"], before["web-1"]);

      await commit(world, {}, { timeout: "60s" });
      const waiting = pollTo(world, "succeeded");
      const isWaiting = () =>
        world.lines.some((line) => line.message.includes("waiting for running"));
      while (!isWaiting()) await new Promise((resolve) => setTimeout(resolve, 10));
      world.fake?.stopContainer(job);
      await waiting;
      assert.equal(await label(world, "web", "test.v"), "2");
    }));

  it("keeps nobody from stopping the stack meanwhile", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": app("1") });
      await pollTo(world, "succeeded");
      await startJob(world);
      await commit(world, { "compose.yaml": app("2") }, { timeout: "1h" });
      const waiting = pollTo(world, "failed");
      await until(() => world.lines.some(({ message }) => message.includes("waiting for running")));
      const path = `/v1/api/project/${world.stack}/stop`;
      const answer = await world.request(path, { method: "POST" });
      assert.equal(answer.status, 200, await answer.text());
      assert.match(JSON.stringify(await waiting), /a person stops or removes/);
      assert.equal(await label(world, "web", "test.v"), "1");
    }));

  it("false does not wait", () =>
    inWorld("fake", async (world) => {
      await startJob(world);
      await commit(world, { "compose.yaml": app("1") }, { wait_running_jobs: false });
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "1");
    }));
});

describe("an unknown context", () => {
  it("fails its deployment with one clear error, and the others are deployed", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".stackwright.yaml": configFile({ name: `${world.stack}-x`, context: "nas" }, {
          name: world.stack,
          context: "Default",
        }),
        "compose.yaml": app(),
      });
      const run = await pollTo(world, "failed");
      assert.deepEqual(run.deployments?.map((each) => each.status).sort(), ["failed", "succeeded"]);
      assert.match(JSON.stringify(run), /unknown context: nas; there are default/);
    }));
});

describe("git_depth", () => {
  it("deepens a shallow history of the same reference, and the stack is found unchanged", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": app("1") });
      await commit(world, { "unrelated": "1" }, { git_depth: 2 });
      await pollTo(world, "succeeded");
      await commit(world, { "unrelated": "2" }, { git_depth: 2 });
      world.proxy.reset();
      await pollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);
    }, { GIT_CLONE_DEPTH: "1" }));
});
