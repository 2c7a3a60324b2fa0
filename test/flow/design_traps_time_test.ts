import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { startJsonServer } from "../fakes/json_server.ts";
import { createAgeKeys, encryptBinary, encryptDotenv } from "../fakes/sops_encryptor.ts";
import { automaticPollTo, rows } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import {
  commit,
  docker,
  ids,
  inWorld,
  label,
  pollTo,
  readInside,
  replaced,
  states,
} from "./steps.ts";
import { decidingEngine, type RunBody, type World } from "./world.ts";

// Traps of time, of things that happen at once, and of failures; docs/design-traps.md lists them.

/** Has a health check, whatever it finds. */
const CHECKED = service({ healthcheck: { test: ["CMD", "true"], interval: "1s" } });

describe("traps of time", () => {
  it("a deployment longer than the poll interval is made once, and no polls pile up", () =>
    inWorld("fake", async (world) => {
      // The interval is a fifth of a second for the hurried service, the deployment takes two.
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 2000 });
      await commit(world, { "compose.yaml": composeFile({ web: CHECKED }) });
      const entry = { url: world.repository.url, reference: "main", interval: "10s" };
      await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
      await until(async () => (await world.containers()).length > 0);
      const { id } = (await world.containers())[0] ?? {};
      let looks = 0;
      while ((await world.containers())[0]?.health !== "healthy") {
        const open = (await runs(world)).filter((run) => !ENDED.includes(run.status));
        // After a minute, which is a second here, the entry is polled again; the last of these polls waits for the
        // first, while the one before tells that it leaves the stack to it.
        const deploying = open.filter(({ deployments = [] }) =>
          deployments[0]?.status === "running"
        );
        assert.equal(deploying.length, 1, JSON.stringify(open));
        assert.ok(open.length <= 3, JSON.stringify(open));
        looks++;
        await setTimeout(50);
      }
      assert.ok(looks > 10, "the deployment was over too soon to tell anything");
      await until(async () => (await runs(world))[0]?.deployments?.[0]?.reason === "no_changes");
      assert.deepEqual(rows(world, "SELECT status FROM releases").map((each) => each["status"]), [
        "deployed",
      ]);
      assert.deepEqual((await world.containers()).map((each) => each.id), [id]);
    }));

  it("a health check that needs longer than half a minute is waited for", () =>
    inWorld("fake", async (world) => {
      // For the hurried service this is more than a minute.
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 1500 });
      await commit(world, { "compose.yaml": composeFile({ web: CHECKED }) });
      await pollTo(world, "succeeded");
      assert.equal((await world.containers())[0]?.health, "healthy");
    }));

  it("a service that dies and is restarted by the engine again and again starts no deployment", () =>
    inWorld("fake", async (world) => {
      const web = service({ restart: "unless-stopped" });
      await commit(world, { "compose.yaml": composeFile({ other: service(), web }) });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      world.proxy.reset();
      for (let deaths = 0; deaths < 4; deaths++) {
        world.fake?.crash(`${world.stack}-web-1`);
        assert.equal((await states(world))["web-1"], "restarting");
        await pollTo(world, "skipped");
        await until(async () => (await states(world))["web-1"] === "running");
        await pollTo(world, "skipped");
      }
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(await ids(world), before);
    }));

  it("a release whose service keeps dying is tried once and then held back", () =>
    inWorld("fake", async (world) => {
      const web = (value: string) => ({
        "compose.yaml": composeFile({
          web: service({ restart: "unless-stopped", labels: { "test.v": value } }),
        }),
      });
      await commit(world, web("1"), { retry: { limit: 0 } });
      await pollTo(world, "succeeded");
      await commit(world, web("2"), { retry: { limit: 0 } });
      world.fake?.setBehaviour("web", { exit: 1 });
      const polling = automaticPollTo(world, "failed");
      await until(() => world.lines.some((line) => line.message === "rolling back"));
      world.fake?.setBehaviour("web", "run");
      const failed = await polling;
      assert.match(JSON.stringify(failed), /keeps restarting: it exited with 1/);
      assert.equal(await label(world, "web", "test.v"), "1");
      world.proxy.reset();
      await automaticPollTo(world, "skipped");
      assert.equal(world.proxy.mutations(), 0);
    }));
});

describe("traps of secrets", () => {
  it("an encrypted file that many runs decrypt at once is whole for each of them", async () => {
    const keys = await createAgeKeys();
    const recipients = [keys.recipient];
    const names = ["a", "b", "c", "d", "e", "f"];
    const long = (text: string) => `${text} `.repeat(20_000);
    await inWorld("fake", async (world) => {
      const stacks = names.map((name) => `${world.stack}-${name}`);
      const files = async (text: string) => ({
        "shared.conf": await encryptBinary(long(text), { recipients }),
        "shared.env": await encryptDotenv(`SHARED=${text}\n`, { recipients }),
      });
      const web = service({ volumes: ["./shared.conf:/shared.conf:ro"], env_file: ["shared.env"] });
      await world.repository.commit({
        ".stackwright.yaml": configFile(...stacks.map((name) => ({ name }))),
        "compose.yaml": composeFile({ web }),
      });
      for (const text of ["first", "second"]) {
        await world.repository.commit(await files(text));
        const polls = await Promise.all([world.poll(), world.poll(), world.poll()]);
        for (const { run } of polls) {
          assert.ok(["succeeded", "skipped"].includes(run.status), JSON.stringify(run));
        }
        for (const { id, mounts, env } of world.fake?.containers() ?? []) {
          assert.ok(env.includes(`SHARED=${text}`), id);
          assert.equal(mounts.length, 1);
        }
        assert.equal(world.fake?.containers().length, names.length);
        for (const stack of stacks) {
          assert.equal(await mountedText(world, stack), long(text));
        }
      }
      await pollTo(world, "skipped");
    }, { SOPS_AGE_KEY: keys.identity });
  });

  it("a secret that differs at each read is read once for a deployment, and by no other service", async () => {
    let reads = 0;
    const store = await startJsonServer(({ url }) => {
      if (url.pathname.includes("/mounts/")) return { status: 403, value: {} };
      return { status: 200, value: { data: { data: { token: `token-number-${++reads}` } } } };
    });
    const env = {
      SECRET_PROVIDER: "openbao",
      SECRET_PROVIDER_SITE_URL: store.origin,
      SECRET_PROVIDER_ACCESS_TOKEN: "canary-token",
    };
    try {
      await inWorld("fake", async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            one: service({ environment: { TOKEN: "${ONE}" } }),
            other: service(),
            two: service({ environment: { TOKEN: "${TWO}" } }),
          }),
        }, { external_secrets: { ONE: "kv:kv:shop:token", TWO: "kv:kv:shop:token" } });
        await pollTo(world, "succeeded");
        assert.equal(reads, 1);
        assert.deepEqual(await tokens(world), ["token-number-1", "token-number-1"]);
        const before = await ids(world);
        await pollTo(world, "succeeded");
        assert.equal(reads, 2);
        assert.deepEqual(await tokens(world), ["token-number-2", "token-number-2"]);
        assert.deepEqual(replaced(before, await ids(world)), ["one-1", "two-1"]);
      }, env);
    } finally {
      await store.close();
    }
  });
});

describe("traps of Git", () => {
  it("git speaks English to us whatever language the service runs in", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-german-git-"));
    const real = (process.env["PATH"] ?? "").split(":");
    await writeFile(join(directory, "git"), germanGit(real.join(":")));
    await chmod(join(directory, "git"), 0o755);
    const german = { LANG: "de_DE.UTF-8", LANGUAGE: "de", LC_ALL: "de_DE.UTF-8" };
    try {
      await inWorld("fake", async (world) => {
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        const missing = await pollTo(world, "failed", { reference: "nowhere" });
        assert.match(JSON.stringify(missing), /nowhere/);
        assert.doesNotMatch(JSON.stringify(missing), /Schwerwiegend/);
      }, { ...german, PATH: [directory, ...real].join(":") });
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

for (const engine of await decidingEngine()) {
  describe(`traps of failures on the ${engine} engine`, () => {
    it("a post_start that fails, or that compose would not run, is no deployment", () =>
      inWorld(engine, async (world) => {
        const web = (value: string, more = {}) => ({
          "compose.yaml": composeFile({ web: service({ labels: { "test.v": value }, ...more }) }),
        });
        await commit(world, web("1"));
        await pollTo(world, "succeeded");
        await commit(world, web("2", { post_start: [{ command: ["false"] }] }));
        for (let attempt = 0; attempt < 2; attempt++) {
          const failed = await pollTo(world, "failed");
          assert.match(JSON.stringify(failed), /post_start|hook|exec/);
          assert.equal(await label(world, "web", "test.v"), "1");
        }
        const good = rows(world, "SELECT number FROM releases WHERE status = 'deployed'");
        assert.equal(good.length, 1);
      }));

    it("a pre_stop is no part of a deployment, which warns of it", () =>
      inWorld(engine, async (world) => {
        const web = service({ pre_stop: [{ command: ["false"] }] });
        await commit(world, { "compose.yaml": composeFile({ web }) });
        await pollTo(world, "succeeded");
        const told = world.lines.filter(({ message }) =>
          message.startsWith("pre_stop of web is not")
        );
        assert.equal(told.length, 1);
      }));

    it("a first release that never gets healthy is not deployed for the polls that follow", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("web", { health: "unhealthy" });
        const healthcheck = { test: ["CMD", "false"], interval: "100ms", retries: 1 };
        await commit(world, { "compose.yaml": composeFile({ web: service({ healthcheck }) }) });
        await pollTo(world, "failed");
        assert.match(JSON.stringify(await pollTo(world, "failed")), /unhealthy/);
        assert.deepEqual(rows(world, "SELECT * FROM releases WHERE status = 'deployed'"), []);
      }));

    it("an init container that ended with 0 is no failure, now and when another service changes", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("init", { exit: 0 });
        const files = (value: string) => ({
          "compose.yaml": composeFile({
            init: service({ command: ["true"], restart: "no" }),
            web: service({
              labels: { "test.v": value },
              depends_on: { init: { condition: "service_completed_successfully" } },
            }),
          }),
        });
        await commit(world, files("1"));
        await pollTo(world, "succeeded");
        const first = await ids(world);
        await commit(world, files("2"));
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(first, await ids(world)), ["web-1"]);
        assert.deepEqual(await states(world), { "init-1": "exited", "web-1": "running" });
        await pollTo(world, "skipped");
      }));
  });
}

const ENDED = ["succeeded", "failed", "skipped"];

async function runs(world: World): Promise<readonly RunBody[]> {
  const answer = await world.request("/v1/api/runs");
  return (await answer.json() as { content: readonly RunBody[] }).content;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 400; looks++) {
    if (await condition()) return;
    await setTimeout(25);
  }
  throw new Error("what was waited for never came");
}

/** The text of the only mounted file of a stack's only container. */
async function mountedText(world: World, stack: string): Promise<string> {
  const named = Object.create(world, { stack: { value: stack } }) as World;
  named.containers = () => world.containers(stack);
  return await readInside(named, "web", "/shared.conf");
}

/** The secret as each of its two users has it. */
async function tokens(world: World): Promise<string[]> {
  const found = await ids(world);
  return await Promise.all(["one-1", "two-1"].map(async (name) => {
    const text = await docker(world, "inspect", "-f", "{{json .Config.Env}}", found[name] ?? "");
    const line = (JSON.parse(text) as string[]).find((each) => each.startsWith("TOKEN="));
    return line?.slice("TOKEN=".length) ?? "";
  }));
}

/** A git that answers in German unless it is told not to. */
function germanGit(path: string): string {
  return `#!/bin/sh
if [ "$LC_ALL" != C ]; then echo "Schwerwiegend: konnte Referenz nicht finden" >&2; exit 128; fi
PATH='${path}' exec git "$@"
`;
}
