import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { Canaries } from "../fakes/canaries.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import {
  createAgeKeys,
  encryptBinary,
  encryptDotenv,
  encryptYaml,
} from "../fakes/sops_encryptor.ts";
import { writtenLines } from "../fakes/recording_log.ts";
import { filesBelow } from "./canary_house.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, pollTo } from "./steps.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const keys = await createAgeKeys();
const recipients = [keys.recipient];
/** Files of trees that hold secrets on purpose. */
const IN_TREES = /^sources\/.*\/trees\/[0-9a-f]{40}\//;

/** A world with a key, and directories of its own for what programs leave behind. */
async function withKeys(
  test: (world: World, canaries: Canaries, programs: readonly string[]) => Promise<void>,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "swt-canary-programs-"));
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  try {
    const canaries = new Canaries();
    canaries.plant("SOPS_AGE_KEY", keys.identity);
    const env = {
      SOPS_AGE_KEY: keys.identity,
      DOCKER_CONFIG: compose.configDirectory,
      HOME: scratch,
      TMPDIR: scratch,
    };
    // A container that prints much needs its time to fail.
    const world = await createWorld({ engine: "real", env, speed: 1 });
    try {
      await test(world, canaries, [scratch, compose.configDirectory]);
    } finally {
      await world.close();
    }
  } finally {
    await compose.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** No canary in what was said, in the data directory but trees, and in what programs left. */
async function assertSilent(
  world: World,
  canaries: Canaries,
  programs: readonly string[],
  said: string,
): Promise<void> {
  const runs = await (await world.request("/v1/api/runs")).text();
  const lines = writtenLines(world.lines, world.redactor);
  const found = [said, runs, ...lines].flatMap((text) => canaries.find(text));
  for (const directory of [world.dataDir, ...programs]) {
    for (const path of await filesBelow(directory)) {
      if (IN_TREES.test(relative(world.dataDir, path))) continue;
      const bytes = await readFile(path).catch(() => new Uint8Array());
      found.push(...canaries.find(bytes).map((each) => `${path}: ${each}`));
    }
  }
  assert.equal(found.length, 0, found.slice(0, 8).join("\n"));
}

for (const engine of (await engines()).filter((each) => each === "real")) {
  describe(`secret canaries on the ${engine} engine`, () => {
    it("stay silent when a container prints all of them and ends, and is rolled back", () =>
      withKeys(async (world, canaries, programs) => {
        const files = async (revision: string, command: readonly string[]) => ({
          "compose.yaml": composeFile({
            web: service({
              command,
              healthcheck: {
                test: ["CMD", "sh", "-c", "env; cat /run/secrets/*; exit 1"],
                interval: "1s",
                retries: 1,
                ...(revision === "3" ? {} : { disable: true }),
              },
              environment: {
                REVISION: revision,
                DB_PASSWORD: canaries.make("environment").replaceAll("$", "$$$$"),
                FROM_DOTENV: "${FROM_DOTENV}",
                FROM_CONFIGURATION: "${API_TOKEN}",
              },
              env_file: ["sops.env"],
              secrets: ["plain", "sops", "variable"],
              volumes: ["./app.yaml:/etc/app.yaml:ro"],
            }),
          }, {
            secrets: {
              plain: { file: "./plain.txt" },
              sops: { file: "./sops.txt" },
              variable: { environment: "API_TOKEN" },
            },
          }),
          ".env": `FROM_DOTENV='${canaries.make("dotenv", "quoted")}'\n`,
          "plain.txt": `${canaries.make("secret file")}\n${canaries.make("its second line")}\n`,
          "sops.txt": await encryptBinary(canaries.make("encrypted secret"), { recipients }),
          "sops.env": await encryptDotenv(`E='${canaries.make("encrypted env_file", "quoted")}'`, {
            recipients,
          }),
          "app.yaml": await encryptYaml({ a: { b: canaries.make("encrypted mounted") } }, {
            recipients,
          }),
        });
        const configuration = () => ({
          timeout: 20,
          environment: { API_TOKEN: canaries.make("configuration") },
        });
        await commit(world, await files("1", ["sleep", "100000"]), configuration());
        await pollTo(world, "succeeded");
        const id = (await world.containers())[0]?.id ?? "";
        const inside = await docker(world, "exec", id, "sh", "-c", "env; cat /run/secrets/*");
        const seen = new Set(canaries.find(inside));
        assert.notEqual(seen.size, 0);

        const print = "env; cat /run/secrets/* /etc/app.yaml; cat /run/secrets/* | base64 -w 0; " +
          "cat /run/secrets/plain | hexdump -ve '1/1 \"%02x\"'; echo; exit 3";
        await commit(world, await files("2", ["sh", "-c", print]), configuration());
        const ended = JSON.stringify(await pollTo(world, "failed"));
        assert.match(ended, /previous release was put back/);
        assert.match(ended, /last output:.*REVISION=2.*\*\*\*/);

        await commit(world, await files("3", ["sleep", "100000"]), configuration());
        const unhealthy = JSON.stringify(await pollTo(world, "failed"));
        assert.match(unhealthy, /health check: .*\*\*\*/);

        const explained = await commandTo(world, 0, ["explain", world.stack]);
        const planned = await commandTo(world, 2, ["plan", "--ref", "main", world.repository.url]);
        assert.match(planned.out, /FROM_DOTENV: "\*\*\* \([0-9a-f]{8}\)"/);
        await assertSilent(
          world,
          canaries,
          programs,
          [
            ended,
            unhealthy,
            JSON.stringify([explained, planned]),
          ].join("\n"),
        );
      }));

    it("reach an image in the clear from encrypted files of its build context, and nothing else", () =>
      withKeys(async (world, canaries, programs) => {
        const options = { recipients };
        const values = {
          "secret.conf": canaries.make("binary file of a context"),
          "conf/app.yaml": canaries.make("YAML file of a context"),
          ".env": canaries.make("dotenv file of a context", "quoted"),
          argument: canaries.make("build argument", "word"),
        };
        const built = (name: string) => ({
          ...service({ build: `./${name}`, labels: { name } }),
          image: undefined,
        });
        const context = async (name: string, last: string) => ({
          [`${name}/Dockerfile`]: [
            `FROM ${IMAGE}`,
            "ARG NPM_TOKEN",
            "COPY . /app",
            `RUN ["/bin/sh", "-c", "echo $NPM_TOKEN > /argument; ${last}"]`,
            "",
          ].join("\n"),
          [`${name}/secret.conf`]: await encryptBinary(`${values["secret.conf"]}\n`, options),
          [`${name}/conf/app.yaml`]: await encryptYaml({ a: values["conf/app.yaml"] }, options),
          [`${name}/.env`]: await encryptDotenv(`A='${values[".env"]}'\n`, options),
          [`${name}/plain.txt`]: "plain\n",
        });
        const configuration = { build: { args: { NPM_TOKEN: values.argument } } };
        await commit(world, {
          "compose.yaml": composeFile({ app: built("app") }),
          ...await context("app", "true"),
        }, configuration);
        try {
          const run = await pollTo(world, "succeeded");
          const container = `${world.stack}-app-1`;
          const cat = (path: string) => docker(world, "exec", container, "cat", path);
          assert.equal(await cat("/app/secret.conf"), `${values["secret.conf"]}\n`);
          assert.equal(canaries.find(await cat("/app/conf/app.yaml")).length, 1);
          assert.equal(await cat("/app/.env"), `A='${values[".env"]}'\n`);
          assert.equal(await cat("/argument"), `${values.argument}\n`);
          const search = "grep -rlE 'ENC\\[|sops' /app || echo nothing";
          const encrypted = await docker(world, "exec", container, "sh", "-c", search);
          assert.equal(encrypted, "nothing\n");

          await commit(world, {
            "compose.yaml": composeFile({ app: built("bad") }),
            ...await context("bad", "cat /app/secret.conf /app/conf/app.yaml /app/.env; exit 7"),
          }, configuration);
          const failed = await pollTo(world, "failed");
          assert.match(JSON.stringify(failed), /compose build failed/);
          await assertSilent(world, canaries, programs, JSON.stringify([run, failed]));
        } finally {
          await docker(world, "rm", "-f", `${world.stack}-app-1`).catch(() => "");
          await docker(world, "rmi", "-f", `${world.stack}-app`).catch(() => "");
        }
      }));
  });
}
