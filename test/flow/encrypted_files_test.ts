import assert from "node:assert/strict";
import { readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { Buffer } from "node:buffer";
import { request } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  createAgeKeys,
  encryptBinary,
  encryptDotenv,
  encryptYaml,
  type SopsTree,
} from "../fakes/sops_encryptor.ts";
import { writtenLines } from "../fakes/recording_log.ts";
import { createWorld, engines, IMAGE, type RunBody, type World } from "./world.ts";
import { until } from "./until.ts";

const keys = await createAgeKeys();
const recipients = [keys.recipient];

/** A service that sleeps, with whatever else it needs. */
function sleeper(extra: SopsTree = {}): SopsTree {
  return { image: IMAGE, command: ["sleep", "100000"], stop_grace_period: "0s", ...extra };
}

/** Compose files are YAML, and JSON is YAML. */
function compose(services: Record<string, SopsTree>): string {
  return JSON.stringify({ services });
}

function outcome(run: RunBody) {
  return run.deployments?.map((each) => [each.stack, each.status]) ?? run;
}

async function ids(world: World, name?: string): Promise<Record<string, string>> {
  const containers = await world.containers(name);
  return Object.fromEntries(containers.map((each) => [each.service, each.id]));
}

function actions(run: RunBody): Record<string, string> {
  const services = run.deployments?.[0]?.services ?? [];
  return Object.fromEntries(services.map((each) => [each.name, each.action]));
}

/** The environment of a container, which our own client does not ask for. */
function environmentOf(world: World, id: string): Promise<string[]> {
  const socketPath = world.proxy.host.replace("unix://", "");
  return new Promise((resolve, reject) => {
    const path = `/containers/${id}/json`;
    request({ socketPath, path }, (answer) => {
      const chunks: Uint8Array[] = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString()).Config.Env));
    }).on("error", reject).end();
  });
}

/** Every file below a directory with its bytes as text. */
async function contents(directory: string): Promise<[string, string][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile());
  return await Promise.all(files.map(async (each): Promise<[string, string]> => {
    const path = join(each.parentPath, each.name);
    return [path, await readFile(path, "latin1")];
  }));
}

for (const engine of await engines()) {
  describe(`encrypted files on the ${engine} engine`, () => {
    it("are decrypted where a deployment uses them: configuration, compose, dotenv, env_file, mount", async () => {
      const world = await createWorld({ engine, env: { SOPS_AGE_KEY: keys.identity } });
      try {
        await world.repository.commit({
          ".stackwright.yaml": await encryptYaml({ name: world.stack }, { recipients }),
          "compose.yaml": await encryptYaml({
            services: {
              web: sleeper({
                environment: { FROM_COMPOSE: "canary-compose", FROM_DOTENV: "${FROM_DOTENV}" },
                env_file: ["web.env"],
                volumes: ["./secret.conf:/secret.conf:ro", "./config:/config:ro"],
              }),
            },
          }, { recipients }),
          ".env": await encryptDotenv("FROM_DOTENV=canary-dotenv\n", { recipients }),
          "web.env": await encryptDotenv("FROM_FILE=canary-env-file\n", { recipients }),
          "secret.conf": await encryptBinary("canary-mounted\n", { recipients }),
          "config/deep/app.yaml": await encryptYaml({ db: { password: "canary-directory" } }, {
            recipients,
          }),
          "config/run": {
            executable: await encryptBinary("#!/bin/sh\necho canary-run\n", { recipients }),
          },
          "unused.yaml": await encryptYaml({ a: "canary-unused" }, { recipients }),
        });
        const { run } = await world.poll();
        assert.deepEqual(outcome(run), [[world.stack, "succeeded"]], JSON.stringify(run));
        const [container] = await world.containers();
        const environment = await environmentOf(world, container?.id ?? "");
        assert.deepEqual(environment.filter((each) => each.startsWith("FROM_")).sort(), [
          "FROM_COMPOSE=canary-compose",
          "FROM_DOTENV=canary-dotenv",
          "FROM_FILE=canary-env-file",
        ]);
        const current = join(world.dataDir, "releases/default", world.stack, "current");
        const read = (path: string) => readFile(join(current, path), "utf8");
        assert.equal(await read("secret.conf"), "canary-mounted\n");
        assert.match(await read("config/deep/app.yaml"), /password: "canary-directory"/);
        assert.equal((await stat(join(current, "config/run"))).mode & 0o777, 0o755);
        assert.equal((await stat(join(current, "secret.conf"))).mode & 0o777, 0o644);
        assert.match(await read("unused.yaml"), /ENC\[AES256_GCM/);

        world.proxy.reset();
        assert.equal((await world.poll()).run.status, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      } finally {
        await world.close();
      }
    });

    it("are put back in the clear when a release fails, also when the earlier tree was lost", async () => {
      const world = await createWorld({ engine, env: { SOPS_AGE_KEY: keys.identity } });
      const files = async (content: string, command: string[]) => ({
        ".stackwright.yaml": `name: ${world.stack}\ntimeout: 5\n`,
        "compose.yaml": compose({ web: sleeper({ command, volumes: ["./x.conf:/x.conf:ro"] }) }),
        "x.conf": await encryptBinary(content, { recipients }),
      });
      try {
        await world.repository.commit(await files("canary-good", ["sleep", "100000"]));
        assert.equal((await world.poll()).run.status, "succeeded");
        const current = join(world.dataDir, "releases/default", world.stack, "current");
        await rm(await realpath(current), { recursive: true });
        await world.repository.commit(await files("canary-bad", ["/no-such-program"]));
        world.fake?.setBehaviour("web", { refuse: "no such program" });
        const failing = world.poll();
        await Promise.race([
          failing,
          until(() => world.lines.some((line) => line.message === "rolling back")),
        ]);
        world.fake?.setBehaviour("web", "run");
        const { run } = await failing;
        assert.equal(run.status, "failed", JSON.stringify(run));
        assert.match(run.deployments?.[0]?.message ?? "", /previous release was put back/);
        assert.equal(await readFile(join(current, "x.conf"), "utf8"), "canary-good");
      } finally {
        await world.close();
      }
    });

    // The rest is about us. What is decrypted, and where, is settled before an engine hears of it.
    if (engine === "real") return;

    it("recreate exactly the service whose plain content changed, and none when only the cipher text did", async () => {
      const world = await createWorld({ engine, env: { SOPS_AGE_KEY: keys.identity } });
      const secrets = async (mounted: string, env: string, directory: string) => ({
        "a.conf": await encryptBinary(mounted, { recipients }),
        "b.env": await encryptDotenv(`B=${env}\n`, { recipients }),
        "c/c.yaml": await encryptYaml({ c: directory }, { recipients }),
      });
      try {
        await world.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          "compose.yaml": compose({
            a: sleeper({ volumes: ["./a.conf:/a.conf:ro"] }),
            b: sleeper({ env_file: ["b.env"] }),
            c: sleeper({ volumes: ["./c:/c:ro"] }),
            d: sleeper({ volumes: ["./a.conf:/a.conf"] }),
          }),
          ...await secrets("canary-one", "canary-two", "canary-three"),
        });
        assert.equal((await world.poll()).run.status, "succeeded");
        const before = await ids(world);

        await world.repository.commit(await secrets("canary-one", "canary-two", "canary-three"));
        world.proxy.reset();
        const rotated = await world.poll();
        assert.equal(rotated.run.status, "skipped", JSON.stringify(rotated.run));
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);

        await world.repository.commit(await secrets("canary-one", "canary-TWO", "canary-three"));
        const env = await world.poll();
        assert.deepEqual(actions(env.run), { a: "keep", b: "recreate", c: "keep", d: "keep" });

        await world.repository.commit(await secrets("canary-one", "canary-TWO", "canary-THREE"));
        const directory = await world.poll();
        assert.deepEqual(actions(directory.run), {
          a: "keep",
          b: "keep",
          c: "recreate",
          d: "keep",
        });
        const after = await ids(world);
        assert.equal(after["a"], before["a"]);
        assert.notEqual(after["b"], before["b"]);
        assert.notEqual(after["c"], before["c"]);
      } finally {
        await world.close();
      }
    });

    it("are found behind links, and noticed when they change there", async () => {
      const world = await createWorld({ engine, env: { SOPS_AGE_KEY: keys.identity } });
      const linked = async (value: string) => ({
        "env/real.env": await encryptDotenv(`VALUE=${value}\n`, { recipients }),
      });
      try {
        await world.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\n`,
          "compose.yaml": compose({ web: sleeper({ environment: { A: "${VALUE}" } }) }),
          ".env": { link: "env/real.env" },
          ...await linked("canary-one"),
        });
        assert.equal((await world.poll()).run.status, "succeeded");
        await world.repository.commit(await linked("canary-one"));
        assert.equal((await world.poll()).run.status, "skipped");
        await world.repository.commit(await linked("canary-two"));
        assert.deepEqual(actions((await world.poll()).run), { web: "recreate" });
        const [container] = await world.containers();
        const environment = await environmentOf(world, container?.id ?? "");
        assert.ok(environment.includes("A=canary-two"), environment.join());
      } finally {
        await world.close();
      }
    });

    it("that cannot be decrypted fail the stack that needs them, and no other", async () => {
      const world = await createWorld({ engine, env: { SOPS_AGE_KEY: keys.identity } });
      const other = await createAgeKeys();
      const [good, bad, dir] = ["good", "bad", "dir"].map((each) => `${world.stack}-${each}`);
      try {
        await world.repository.commit({
          ".stackwright.yaml": [good, bad, dir].map((name, index) =>
            `name: ${name}\ncompose_files: [${["good", "bad", "dir"][index]}.yaml]\nenv_files: []\n`
          ).join("---\n"),
          "good.yaml": compose({ web: sleeper({ volumes: ["./good.conf:/x:ro"] }) }),
          "bad.yaml": compose({ web: sleeper({ env_file: ["bad.env"] }) }),
          "dir.yaml": compose({ web: sleeper({ volumes: ["./dir:/x:ro"] }) }),
          "good.conf": await encryptBinary("canary-good", { recipients }),
          "bad.env": await encryptDotenv("A=canary-bad\n", { recipients: [other.recipient] }),
          "dir/deep/bad.yaml": (await encryptYaml({ a: "canary-bad" }, { recipients }))
            .replace("sops:", "added_unencrypted: x\nsops:"),
        });
        const { run } = await world.poll();
        const found = new Map(run.deployments?.map((each) => [each.stack, each]));
        assert.equal(found.get(good ?? "")?.status, "succeeded", JSON.stringify(run));
        assert.equal(found.get(bad ?? "")?.status, "failed");
        assert.match(
          found.get(bad ?? "")?.message ?? "",
          /bad\.env is encrypted with SOPS.*SOPS_AGE_KEY/,
        );
        assert.equal(found.get(dir ?? "")?.status, "failed");
        assert.match(
          found.get(dir ?? "")?.message ?? "",
          /dir\/deep\/bad\.yaml.*MAC does not match/,
        );
        assert.deepEqual(await world.containers(bad), []);

        await world.restart({ SOPS_AGE_KEY: `${keys.identity}\n${other.identity}` });
        const again = await world.poll();
        const status = new Map(again.run.deployments?.map((each) => [each.stack, each.status]));
        assert.equal(status.get(bad ?? ""), "succeeded", JSON.stringify(again.run));
        assert.equal(status.get(good ?? ""), "skipped");
      } finally {
        await world.close();
      }
    });

    it("that compose finds by a variable are decrypted too, or refused by what it read", async () => {
      const world = await createWorld({ engine, env: { SOPS_AGE_KEY: keys.identity } });
      const other = await createAgeKeys();
      const env = async (recipient: string) => ({
        "env/prod.env": await encryptDotenv("A=canary-prod\n", { recipients: [recipient] }),
      });
      try {
        await world.repository.commit({
          ".stackwright.yaml": `name: ${world.stack}\nenvironment: {STAGE: prod}\n`,
          "compose.yaml": compose({ web: sleeper({ env_file: ["env/${STAGE}.env"] }) }),
          "foreign.yaml": await encryptYaml({ a: "b" }, { recipients: [other.recipient] }),
          ...await env(other.recipient),
        });
        const refused = await world.poll();
        assert.equal(refused.run.status, "failed", JSON.stringify(refused.run));
        assert.match(
          refused.run.deployments?.[0]?.message ?? "",
          /services\.web\.environment\.\w+ is still encrypted: env\/prod\.env is encrypted with SOPS/,
        );
        await world.repository.commit(await env(keys.recipient));
        const { run } = await world.poll();
        assert.equal(run.status, "succeeded", JSON.stringify(run));
      } finally {
        await world.close();
      }
    });

    it("show their content nowhere but in the trees of the data directory", async () => {
      const world = await createWorld({
        engine,
        env: { SOPS_AGE_KEY: keys.identity, LOG_LEVEL: "debug" },
      });
      try {
        const service = (broken: boolean) => ({
          web: sleeper({
            environment: { INNOCENT: "canary-a" },
            ...(broken ? { cpus: "canary-e" } : {}),
            env_file: ["web.env"],
            volumes: ["./x.yaml:/x:ro"],
          }),
        });
        const commit = async (suffix: string, broken: boolean) =>
          await world.repository.commit({
            ".stackwright.yaml": `name: ${world.stack}\n`,
            "compose.yaml": await encryptYaml({ services: service(broken) }, { recipients }),
            "web.env": await encryptDotenv(`B=canary-b${suffix}\n`, { recipients }),
            "x.yaml": await encryptYaml({ list: [{ c: `canary-c${suffix}` }] }, { recipients }),
          });
        const answers: unknown[] = [];
        for (const [suffix, broken] of [["", false], ["2", false], ["3", true]] as const) {
          await commit(suffix, broken);
          answers.push(await world.poll());
        }
        const statuses = (answers as { run: RunBody }[]).map((each) => each.run.status);
        assert.deepEqual(statuses, ["succeeded", "succeeded", "failed"]);
        assert.ok(!JSON.stringify(answers).includes("canary"), JSON.stringify(answers));
        const logged = writtenLines(world.lines, world.redactor).join("");
        assert.match(logged, /deployment failed/);
        assert.ok(!logged.includes("canary"), logged);
        const inTrees = /\/sources\/.*\/trees\/[0-9a-f]{40}\//;
        const leaks = (await contents(world.dataDir))
          .filter(([path, text]) => text.includes("canary") && !inTrees.test(path));
        assert.deepEqual(leaks.map(([path]) => path), []);
      } finally {
        await world.close();
      }
    });
  });
}
