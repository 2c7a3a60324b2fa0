import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { createAgeKeys, encryptYaml } from "../fakes/sops_encryptor.ts";
import { composeFile, service } from "./compose_text.ts";
import { inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const keys = await createAgeKeys();
const recipients = [keys.recipient];

/** What is told of the victim's deployment, as encrypted values. */
const WORDS = { a: "recreate", b: "webshop", c: "definition", d: "labels", e: "deploying" };

/** A world with the repository of a victim, which deploys itself. */
async function withVictim(test: (world: World, victim: FakeRepository) => Promise<void>) {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-words-"));
  try {
    const victim = await createRepository(directory);
    const env = { ALLOW_LOCAL_REPOSITORY_URL: "true", SOPS_AGE_KEY: keys.identity };
    await inWorld("fake", async (world) => {
      await deployVictim(world, victim, 1);
      await test(world, victim);
    }, env);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function deployVictim(world: World, victim: FakeRepository, version: number) {
  await victim.commit({
    ".stackwright.yaml": JSON.stringify({ name: world.stack }),
    "compose.yaml": composeFile({ webshop: service({ labels: { v: String(version) } }) }),
  });
  return await pollTo(world, "succeeded", { url: victim.url });
}

/** Proposes files to a repository, as a pull request does. */
async function propose(victim: FakeRepository, files: Readonly<Record<string, string>>) {
  await victim.git("checkout", "-q", "--orphan", "proposed");
  for (const [path, text] of Object.entries(files)) {
    await writeFile(join(victim.path, "../work", path), text);
  }
  await victim.git("add", "-A");
  await victim.git("commit", "-qm", "proposed");
  await victim.git("push", "-q", "origin", "HEAD:refs/pull/7/head");
  await victim.git("checkout", "-q", "-f", "main");
}

describe("what is encrypted in a commit that is only proposed to a repository", () => {
  for (const way of ["a deployment", "a compose file", "a discovery"] as const) {
    it(`is hidden in texts about who deploys it alone, by ${way}`, () =>
      withVictim(async (world, victim) => {
        const words = await encryptYaml(WORDS, { recipients });
        const web = service({ labels: { "x.v": "1" }, volumes: ["./words.yaml:/w:ro"] });
        const override = await encryptYaml({ environment: WORDS }, { recipients });
        const included = { services: { more: { image: "x", labels: WORDS } } };
        await propose(victim, {
          "words.yaml": words,
          "compose.yaml": composeFile({ web }),
          "included.yaml": await encryptYaml(included, { recipients }),
          "override.yaml": await encryptYaml({ include: ["included.yaml"] }, { recipients }),
          ".stackwright.yaml": override,
        });
        await world.repository.commit({
          ".stackwright.yaml": JSON.stringify({
            name: `${world.stack}-other`,
            repository_url: victim.url,
            reference: "refs/pull/7/head",
            ...(way === "a compose file"
              ? { compose_files: ["override.yaml", "compose.yaml"] }
              : {}),
            ...(way === "a discovery" ? { auto_discovery: { enabled: true, depth: 0 } } : {}),
          }),
        });
        await world.poll();
        const run = await deployVictim(world, victim, 2);
        assert.ok(!JSON.stringify(run).includes("***"), JSON.stringify(run));
        assert.match(JSON.stringify(run), /webshop/);
      }));
  }
});
