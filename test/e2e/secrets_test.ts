import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { startGitHttpServer } from "../fakes/git_http_server.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { IMAGE } from "../flow/world.ts";
import { freePort } from "../fakes/free_port.ts";
import { isSample } from "../fakes/sample.ts";
import { DENO_PROGRAM, executables, ServiceProcess } from "./service_process.ts";

/** Values that must not turn up anywhere. */
const CANARY = {
  apiSecret: "canary-api-7f3a9c1d",
  gitToken: "canary-token-5b2e8d4f",
  urlPassword: "canary-userinfo-9d1c6a7b",
  wrongPassword: "canary-wrong-3e8f5a2c",
  environment: "canary-environment-6c4b1e9f",
  envFile: "canary-envfile-8a7d2b5e",
} as const;

/** The one file of the repository that has a canary in it. */
const ENV_FILE = "app.env";

/** A sample has the executable alone, where there is one: it is what people run. */
const SOURCES = isSample && executables().length > 0 ? [] : [DENO_PROGRAM];

for (const program of [...SOURCES, ...executables()]) {
  describe(`secrets with ${program.title}`, () => {
    it("are in no log line, no answer and no file, after successes and failures", async () => {
      const directory = await mkdtemp(join(tmpdir(), "stackwright-secrets-"));
      const repository = await createRepository(join(directory, "git"));
      const engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
      engine.addImage(IMAGE, { where: "both" });
      const root = join(directory, "git");
      const byToken = await startGitHttpServer({ root, login: `oauth2:${CANARY.gitToken}` });
      const byUrl = await startGitHttpServer({ root, login: `bob:${CANARY.urlPassword}` });
      const compose = await createComposeCommand(composePlugins()[0] ?? "");
      const dataDir = join(directory, "data");
      const port = await freePort();
      await repository.commit({ "compose.yaml": composeFile(), [ENV_FILE]: envFile() });
      const service = new ServiceProcess(program, ["serve"], {
        DATA_DIR: dataDir,
        DOCKER_HOST: engine.host,
        DOCKER_CONFIG: compose.configDirectory,
        API_SECRET: CANARY.apiSecret,
        GIT_ACCESS_TOKEN: CANARY.gitToken,
        GIT_ACCESS_TOKEN_HOSTS: "127.0.0.1",
        HTTP_PORT: String(port),
        METRICS_PORT: String(await freePort()),
        LOG_LEVEL: "debug",
      });
      const heard: string[] = [];
      const ask = async (path: string, body?: unknown, key: string = CANARY.apiSecret) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { "x-api-key": key, "content-type": "application/json" },
          ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        });
        heard.push(JSON.stringify([...answer.headers]), await answer.text());
        return answer.status;
      };
      const poll = (url: string, name: string, more: Record<string, unknown> = {}) =>
        ask("/v1/api/poll/run", [{
          url,
          reference: "main",
          deployments: [{
            name,
            env_files: [ENV_FILE],
            environment: { PLAIN: CANARY.environment },
            ...more,
          }],
        }]);
      const withPassword = (password: string, at = `127.0.0.1:${byUrl.port}`) =>
        `http://bob:${password}@${at}/remote.git`;
      try {
        await service.until(() => service.stderr.includes("listening on"));
        assert.equal(await poll(`${byToken.origin}/remote.git`, "one"), 200, heard.at(-1));
        assert.equal(await poll(withPassword(CANARY.urlPassword), "two"), 200, heard.at(-1));
        assert.ok(engine.containers().some((each) => each.env.includes(`A=${CANARY.environment}`)));
        assert.ok(engine.containers().some((each) => each.env.includes(`B=${CANARY.envFile}`)));

        assert.equal(await poll(withPassword(CANARY.wrongPassword), "two"), 500);
        assert.equal(await poll(withPassword(CANARY.wrongPassword, "127.0.0.1:1"), "two"), 500);
        assert.equal(await poll(`ext::sh ${CANARY.wrongPassword}`, "two"), 400);
        engine.setBehaviour("web", { exit: 1 });
        const broken = { environment: { PLAIN: `${CANARY.environment}-2` } };
        assert.equal(await poll(`${byToken.origin}/remote.git`, "one", broken), 500);
        const noFile = { compose_files: ["gone.yaml"] };
        assert.equal(await poll(`${byToken.origin}/remote.git`, "three", noFile), 500);
        await repository.commit({ "compose.yaml": composeFile("restrat: always") });
        assert.equal(await poll(`${byToken.origin}/remote.git`, "one"), 500);
        assert.equal(await ask("/v1/api/runs", undefined, CANARY.wrongPassword), 401);
        assert.equal(await ask("/v1/api/runs"), 200);
        assert.equal(await ask("/v1/health"), 200);

        for (const [name, canary] of Object.entries(CANARY)) {
          assert.ok(!service.stderr.includes(canary), `${name} is in the log`);
          for (const answer of heard) assert.ok(!answer.includes(canary), `${name} in ${answer}`);
        }
        // Before the end too: what the write-ahead log holds must be sealed as well.
        await assertNoFileTells(dataDir);
        assert.equal((await service.stop()).code, 0);
        await assertNoFileTells(dataDir);
      } finally {
        await service.stop();
        await Promise.all([byToken.close(), byUrl.close(), engine.close(), compose.close()]);
        await rm(directory, { recursive: true, force: true });
      }
    });
  });
}

async function assertNoFileTells(dataDir: string): Promise<void> {
  const files = (await readdir(dataDir, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile());
  assert.ok(files.some((each) => each.name === "state.db"));
  assert.ok(files.some((each) => each.name === ENV_FILE), "a tree is on disk");
  for (const file of files) {
    if (file.name === ENV_FILE) continue;
    const path = join(file.parentPath, file.name);
    const bytes = await readFile(path);
    for (const [name, canary] of Object.entries(CANARY)) {
      assert.ok(!bytes.includes(canary), `${name} is in ${path}`);
    }
  }
}

function envFile(): string {
  return `FROM_FILE=${CANARY.envFile}\n`;
}

function composeFile(more = "tty: false"): string {
  return `
services:
  web:
    image: ${IMAGE}
    command: [sleep, "1000"]
    environment: {A: "\${PLAIN}", B: "\${FROM_FILE}"}
    ${more}
`;
}
