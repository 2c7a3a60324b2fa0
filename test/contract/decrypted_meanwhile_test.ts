import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { Compose } from "../../src/deploy/mod.ts";
import type { Revision } from "../../src/model/mod.ts";
import { guardRendering } from "../../src/prepare/compose_guard.ts";
import { createEncryptedFiles } from "../../src/prepare/encrypted_files.ts";
import { guardedRendering } from "../../src/prepare/guarded_rendering.ts";
import { createSops } from "../../src/secrets/mod.ts";
import {
  type Commands,
  createRedactor,
  createTurns,
  systemClock,
  systemCommands,
  systemFiles,
} from "../../src/system/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../fakes/git_source.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { createAgeKeys, encryptYaml, type SopsTree } from "../fakes/sops_encryptor.ts";

const keys = await createAgeKeys();
const turns = createTurns(systemClock);

/** A tree on disk, with what another deployment of its commit does to it. */
interface Place {
  readonly source: TestSource;
  readonly tree: string;
  /** Decrypts what that deployment uses. */
  reveal(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

async function placeWith(
  files: Readonly<Record<string, string>>,
  more: (repository: FakeRepository, source: TestSource) => Promise<void> = async () => {},
): Promise<Place> {
  const source = await createTestSource();
  const repository = await createRepository(join(source.directory, "main"));
  await repository.commit(files);
  await more(repository, source);
  const revision: Revision = await source.resolve(repository.path, "main");
  const tree = await source.source.materialise(revision, never());
  const encrypted = createEncryptedFiles({
    source: source.source,
    sops: createSops({
      ageKey: keys.identity,
      program: { vaultAddress: undefined, decrypt: () => Promise.resolve(undefined) },
      redactor: createRedactor(),
      turns,
    }),
    files: systemFiles,
    digest: (text) => text,
  });
  const reveal = async (paths: readonly string[]) =>
    (await encrypted.reveal({ revision, tree, owner: "", paths }, never())).identities;
  return { source, tree, reveal };
}

/** Encrypted, but not by the first letters of a line: what it says only YAML shows. */
const encrypted = async (tree: SopsTree) =>
  (await encryptYaml(tree, { recipients: [keys.recipient] })).replace(/^sops:/m, '"sops":');

/** What compose printed of a project that another deployment decrypts when compose begins. */
async function renderMeanwhile(plugin: string, { source, tree, reveal }: Place) {
  const command = await createComposeCommand(plugin);
  const log = createRecordingLog();
  let runs = 0;
  const commands: Commands = {
    ...systemCommands,
    async run(asked, signal) {
      runs++;
      await reveal(["."]);
      return await systemCommands.run(asked, signal);
    },
  };
  const compose = new Compose({
    commands,
    programEnvironment: {
      PATH: process.env["PATH"] ?? "",
      HOME: join(source.directory, "home"),
      DOCKER_CONFIG: command.configDirectory,
    },
    log,
    scratch: { files: systemFiles, prefix: `${source.directory}/scratch-` },
  });
  const [directory, file] = [tree, join(tree, "compose.yaml")];
  const guarded = { tree, directory, composeFiles: [file], envFiles: ["/dev/null"] };
  const project = { name: "x", directory, files: [file], envFiles: ["/dev/null"], profiles: [] };
  try {
    const model = await guardedRendering(
      () =>
        guardRendering(guarded, {
          files: systemFiles,
          turns,
          interpolate: (texts) => Promise.resolve(texts),
        }, never()),
      (_guarded, requireSame) => compose.render({ project, variables: {}, requireSame }, never()),
    );
    return { runs, told: log.lines, model: JSON.stringify(model) };
  } catch (error) {
    return { runs, told: log.lines, error: error instanceof Error ? error.message : "" };
  } finally {
    await command.close();
    await source.close();
  }
}

for (const plugin of composePlugins()) {
  describe(`what another deployment decrypts when compose reads it, ${plugin || "installed"}`, () => {
    it("is looked at again: a file of the host that it names is not read", async () => {
      const thief = (path: string) => ({ services: { thief: { image: "x", env_file: [path] } } });
      const place = await placeWith({
        "compose.yaml": "include: [in/f.yaml]\nservices: {web: {image: x}}\n",
        "in/f.yaml": await encrypted(thief("~/../prey.env")),
      });
      await fs.mkdir(join(place.source.directory, "home"));
      // What has a dollar sign is told in a warning, before anybody has seen the model.
      const prey = "VICTIM_TOKEN=canary-4711\nOTHER=a$canary_4712\n";
      await fs.writeFile(join(place.source.directory, "prey.env"), prey);
      const { error, model, told } = await renderMeanwhile(plugin, place);
      assert.equal(model, undefined);
      assert.match(error ?? "", /in\/f\.yaml: "~\/\.\.\/prey\.env" lies outside the repository/);
      assert.ok(!JSON.stringify(told).includes("canary"), JSON.stringify(told));
    });

    it("is rendered as it is then, where it names nothing else", async () => {
      const place = await placeWith({
        "compose.yaml": "include: [in/f.yaml]\nservices: {web: {image: x}}\n",
        "in/f.yaml": await encrypted({
          services: { inner: { image: "x", env_file: ["own.env"], environment: { B: "plain-b" } } },
        }),
        "in/own.env": "A=plain-a\n",
      });
      const { error, model, runs } = await renderMeanwhile(plugin, place);
      assert.equal(error, undefined);
      assert.equal(runs, 2);
      for (const each of ["plain-a", "plain-b"]) assert.ok(model?.includes(each), model);
    });
  });
}

describe("reveal() on real git", () => {
  it("asks of every file by its name and its commit, also in submodules, however often", async () => {
    const text = await encrypted({ secret: "4711-canary" });
    const { source, tree, reveal } = await placeWith(
      { "compose.yaml": "" },
      async (main, source) => {
        const inner = await createRepository(join(source.directory, "main/inner"));
        const id = await inner.commit({ "b.yaml": text, "c/d.yaml": text });
        const lib = await createRepository(join(source.directory, "main/lib"));
        await lib.commit({ "a.txt": text, "a/f.yaml": text });
        const lent = await lib.submodule("deep", "../../inner/remote.git", id);
        await main.submodule("sub", "../lib/remote.git", lent);
      },
    );
    const all = ["sub/a/f.yaml", "sub/deep/b.yaml", "sub/deep/c/d.yaml"];
    try {
      assert.deepEqual([...(await reveal(["sub/a.txt"])).keys()], []);
      for (const paths of [["sub/a/f.yaml"], ["sub"], ["."], ["sub"]]) {
        const found = [...(await reveal(paths)).keys()].sort();
        assert.deepEqual(found, paths[0] === "sub/a/f.yaml" ? paths : all, paths[0]);
      }
      assert.match(await fs.readFile(join(tree, "sub/deep/c/d.yaml"), "utf8"), /4711-canary/);
    } finally {
      await source.close();
    }
  });
});
