import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import {
  type SecondEngine,
  secondEngineMissing,
  startSecondEngine,
} from "../fakes/second_engine.ts";
import { createWorld, IMAGE, realSocket, type RunBody, type World } from "../flow/world.ts";

const NO_SIGNAL = new AbortController().signal;
const skip = process.env["SECOND_ENGINE"] === "skip"
  ? "only ./scripts/test all starts a second engine"
  : (await findRealEngine()).unavailable ?? secondEngineMissing();
if (skip !== false) process.stderr.write(`\n*** ${skip} ***\n`);

describe("a second real engine, by TCP with TLS", { skip }, () => {
  let world: World;
  let second: SecondEngine;
  before(async () => {
    second = await startSecondEngine();
    world = await createWorld({ engine: "real", env: { REMOTE_FILES: "volume" } });
    const { client } = second.certificates;
    const files = ["ca", "cert", "key"].map((each) => `${each}=${client}/${each}.pem`);
    const docker = ["--docker", [`host=${second.host}`, ...files].join(",")];
    const create = ["--config", world.env["DOCKER_CONFIG"] ?? "", "context", "create", "two"];
    await promisify(execFile)("docker", [...create, ...docker]);
  });
  after(async () => {
    await world?.close();
    await second?.close();
  });

  const commit = (version: string, begin: string) =>
    world.repository.commit({
      ".stackwright.yaml": `name: ${world.stack}\n---\nname: ${world.stack}\ncontext: two\n`,
      "compose.yaml": JSON.stringify({
        services: {
          web: {
            image: IMAGE,
            init: true,
            network_mode: "none",
            environment: { VERSION: version },
            command: ["sh", "-c", `${begin}; sleep 1d`],
            healthcheck: { test: ["CMD", "test", "-e", "/healthy"], interval: "1s", retries: 600 },
            configs: ["hello"],
          },
        },
        configs: { hello: { content: `hello ${version}` } },
      }),
    });
  /** Makes containers healthy, as far as they run. */
  const heal = async (host: string, containers: readonly ObservedContainer[]) => {
    for (const { id } of containers) {
      const touch = ["--host", host, "exec", id, "touch", "/healthy"];
      await promisify(execFile)("docker", touch).catch(() => {});
    }
  };
  const there = async () =>
    await second.engine.listContainers({ "com.docker.compose.project": world.stack }, NO_SIGNAL);
  const statuses = (run: RunBody) =>
    ((run.deployments ?? []) as unknown as { context: string; status: string }[])
      .map(({ context, status }) => `${context} ${status}`).sort();

  it("has a stack of its own under the same name, and neither is touched for the other", async () => {
    await commit("1", "touch /healthy");
    const { run } = await world.poll();
    assert.deepEqual(statuses(run), ["default succeeded", "two succeeded"], JSON.stringify(run));
    const [mine] = await world.containers();
    const [its] = await there();
    assert.ok(mine !== undefined && its !== undefined);
    assert.equal((await there()).length, 1);
    assert.equal((await world.containers()).length, 1);

    const again = await world.poll();
    assert.deepEqual(statuses(again.run), ["default skipped", "two skipped"]);
    await world.engine.removeContainer(mine.id, { force: true, volumes: true }, NO_SIGNAL);
    const mended = await world.poll();
    assert.deepEqual(statuses(mended.run), ["default succeeded", "two skipped"]);
    assert.deepEqual((await there()).map(({ id }) => id), [its.id]);
  });

  it("gets copies of the files that its containers mount, and only the changed ones anew", async () => {
    const service = (more: object) => ({
      image: IMAGE,
      init: true,
      network_mode: "none",
      command: ["sleep", "1d"],
      ...more,
    });
    const deploy = async (files: Readonly<Record<string, string>>) => {
      await world.repository.commit(files);
      const { run } = await world.poll();
      assert.deepEqual(statuses(run), ["two succeeded"], JSON.stringify(run));
      return Object.fromEntries((await there()).map(({ service, id }) => [service, id]));
    };
    const read = async (id: string | undefined, path: string) => {
      const exec = ["--host", second.socketHost, "exec", id ?? "", "cat", path];
      return (await promisify(execFile)("docker", exec)).stdout;
    };
    const long = `site/${"deep/".repeat(30)}page.html`;
    const before = await deploy({
      ".stackwright.yaml": `name: ${world.stack}\ncontext: two\n`,
      "compose.yaml": JSON.stringify({
        services: {
          files: service({ configs: ["app"], secrets: [{ source: "key", target: "/etc/key" }] }),
          site: service({ volumes: ["./site:/site:ro"], read_only: true }),
        },
        configs: { app: { file: "app.conf" } },
        secrets: { key: { file: "key.txt" } },
      }),
      "app.conf": "a=1\n",
      "key.txt": "no secret\n",
      "site/index.html": "hello\n",
      [long]: "far down\n",
    });
    assert.equal(await read(before["files"], "/app"), "a=1\n");
    assert.equal(await read(before["files"], "/etc/key"), "no secret\n");
    assert.equal(await read(before["site"], "/site/index.html"), "hello\n");
    assert.equal(await read(before["site"], `/${long}`), "far down\n");
    await assert.rejects(
      promisify(execFile)("docker", [
        ...["--host", second.socketHost, "exec", before["site"] ?? "", "touch", "/site/mine"],
      ]),
      /Read-only file system/,
    );
    const now = await deploy({ "app.conf": "a=2\n" });
    assert.equal(await read(now["files"], "/app"), "a=2\n");
    assert.notEqual(now["files"], before["files"]);
    assert.equal(now["site"], before["site"]);
    const helpers = await second.engine.listContainers(
      { "stackwright.files": undefined },
      NO_SIGNAL,
    );
    assert.deepEqual(helpers, []);
  });

  it("that ends in the middle of a deployment delays its own alone, which goes on later", async () => {
    const before = (await there()).map(({ id }) => id);
    // None becomes healthy before it is told to.
    await commit("2", "true");
    let isDone = false;
    const polled = world.poll().finally(() => isDone = true);
    const isReplaced = async () =>
      (await there()).some(({ id, state }) => !before.includes(id) && state === "running");
    while (!await isReplaced()) await wait(50);
    await second.stop();
    const underWay = async () => {
      const response = await world.request("/v1/api/runs");
      const body = await response.json() as { content: readonly RunBody[] };
      // Beside it there may be one that looks after the stack of the default context alone.
      return body.content.map(statuses).find((each) => each.length === 2) ?? [];
    };
    let seen = await underWay();
    while (seen[0] !== "default succeeded") {
      await heal(`unix://${await realSocket()}`, await world.containers());
      await wait(100);
      seen = await underWay();
    }
    assert.deepEqual(seen, ["default succeeded", "two running"]);
    await second.start();
    while (!isDone) {
      await heal(second.socketHost, await there());
      await wait(100);
    }
    const { run } = await polled;
    assert.deepEqual(statuses(run), ["default succeeded", "two succeeded"], JSON.stringify(run));
    const [its, ...others] = await there();
    assert.deepEqual(others, []);
    assert.equal(its?.state, "running");
  });
});
