import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { createSilentServer } from "../fakes/silent_server.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { inWorld, label, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld } from "./world.ts";

describe("a repository that names a dozen remotes that say nothing", () => {
  it("keeps no other one waiting", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-silent-"));
    const silent = await createSilentServer();
    try {
      const other = await createRepository(directory);
      await other.commit({
        "compose.yaml": composeFile({ web: service({ labels: { number: "1" } }) }),
      });
      // Not so fast that they are given up before the other one is deployed.
      const world = await createWorld({ engine: "fake", speed: 5 });
      try {
        await other.commit({ ".stackwright.yaml": `name: ${world.stack}\n` });
        const deployments = Array.from({ length: 12 }, (_, at) => ({
          name: `${world.stack}-${at}`,
          repository_url: `http://127.0.0.1:${silent.port}/acme/app${at}.git`,
        }));
        await world.repository.commit({ ".stackwright.yaml": configFile(...deployments) });
        // It ends with its world.
        world.poll().catch(() => {});
        await until(() => silent.open.size >= 8);
        await pollTo(world, "succeeded", { url: other.url });
        assert.equal(await label(world, "web", "number"), "1");
        assert.equal(silent.open.size, 8, "all of them are still waited for");
      } finally {
        await world.close();
      }
    } finally {
      silent.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe("a configuration that discovers stacks in a repository whose server says nothing", () => {
  it("deploys what it has elsewhere all the same, and removes nothing meanwhile", async () => {
    const silent = await createSilentServer();
    const directory = await mkdtemp(join(tmpdir(), "swt-silent-"));
    try {
      const found = await createRepository(directory);
      await inWorld("fake", async (world) => {
        const compose = (number: string) => composeFile({ web: service({ labels: { number } }) });
        const discovery = (repository_url: string) => ({
          ...{ name: "found", repository_url, working_dir: "apps" },
          auto_discovery: { enabled: true, delete: true },
        });
        const commit = (number: string, url: string) =>
          world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack }, discovery(url)),
            "compose.yaml": compose(number),
          });
        await found.commit({ [`apps/${world.stack}-found/compose.yaml`]: compose("1") });
        await commit("1", found.url);
        await pollTo(world, "succeeded");
        assert.equal(world.fake?.containers().length, 2);
        const isFound = (each: { name: string }) => each.name.includes("-found");
        const kept = world.fake?.containers().find(isFound);
        assert.ok(kept !== undefined);
        // That of a server that says nothing now is another one, in which the stack may be as well.
        await commit("2", `http://127.0.0.1:${silent.port}/acme/apps.git`);
        const entry = { url: world.repository.url, reference: "main", interval: "10s" };
        await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
        // For the hurried service a minute is a second.
        await until(async () => await label(world, "web", "number") === "2");
        assert.ok(silent.open.size > 0, "the first poll still waits");
        const line = world.lines.find(({ message }) =>
          /looking for stacks in apps of/.test(message)
        );
        assert.match(line?.message ?? "", /for long: the other stacks are deployed meanwhile/);
        // The old one is aside for a moment.
        await until(() => world.fake?.containers().length === 2);
        assert.ok(world.fake?.containers().some(({ id }) => id === kept?.id), "it is as it was");
      }, { ALLOW_LOCAL_REPOSITORY_URL: "true" });
    } finally {
      silent.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe("a repository that names another's stack, and a remote that says nothing", () => {
  it("is refused, and does not hold the stack", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-silent-"));
    const silent = await createSilentServer();
    try {
      const stranger = await createRepository(directory);
      await inWorld("fake", async (world) => {
        const deploy = (number: string) =>
          world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack }),
            "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
          });
        await deploy("1");
        await pollTo(world, "succeeded");
        const remote = `http://127.0.0.1:${silent.port}/acme/app.git`;
        await stranger.commit({
          ".stackwright.yaml": configFile({ name: world.stack, repository_url: remote }),
        });
        await pollTo(world, "failed", { url: stranger.url });
        assert.equal(silent.open.size, 0, "its remote was asked");
        await deploy("2");
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "number"), "2");
      });
    } finally {
      silent.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe("a dozen stacks of one repository whose secret store says nothing", () => {
  it("keep no other repository waiting", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-silent-"));
    const silent = await createSilentServer();
    const url = `http://127.0.0.1:${silent.port}/{{ .remote_ref.item }}`;
    const stores = { vault: { url, json_path: "value" } };
    try {
      const other = await createRepository(directory);
      const compose = {
        "compose.yaml": composeFile({ web: service({ labels: { number: "1" } }) }),
      };
      await inWorld("fake", async (world) => {
        await other.commit({ ...compose, ".stackwright.yaml": `name: ${world.stack}\n` });
        const deployments = Array.from({ length: 12 }, (_, at) => ({
          name: `${world.stack}-${at}`,
          external_secrets: { A: { store_ref: "vault", remote_ref: { item: `${at}` } } },
        }));
        const files = { ...compose, ".stackwright.yaml": configFile(...deployments) };
        await world.repository.commit(files);
        // It ends with its world.
        world.poll().catch(() => {});
        await until(() => silent.open.size >= 8);
        await pollTo(world, "succeeded", { url: other.url });
        assert.equal(await label(world, "web", "number"), "1");
        assert.equal(silent.open.size, 8, "of one repository eight are waited for at once");
      }, {
        SECRET_PROVIDER: "webhook",
        SECRET_PROVIDER_WEBHOOK_STORES: JSON.stringify({ stores }),
      });
    } finally {
      silent.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe("a commit with a submodule of a remote that says nothing", () => {
  for (const action of ["stop", "remove"] as const) {
    it(`does not keep a person from a ${action}`, async () => {
      const silent = await createSilentServer();
      try {
        await inWorld("fake", async (world) => {
          await world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack }),
            "compose.yaml": composeFile({ web: service({ labels: { number: "1" } }) }),
          });
          await pollTo(world, "succeeded");
          await world.repository.commit({
            "compose.yaml": composeFile({ web: service({ labels: { number: "2" } }) }),
          });
          const url = `http://127.0.0.1:${silent.port}/acme/lib.git`;
          await world.repository.submodule("lib", url, "1".repeat(40));
          const run = world.poll();
          await until(() => silent.open.size >= 1);
          const path = `/v1/api/project/${world.stack}`;
          const answer = action === "stop"
            ? await world.request(`${path}/stop`, { method: "POST" })
            : await world.request(path, { method: "DELETE" });
          assert.equal(answer.status, 200, await answer.text());
          assert.match(JSON.stringify(await run), /a person stops or removes/);
        });
      } finally {
        silent.close();
      }
    });
  }
});
