import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writeContext } from "../fakes/context_files.ts";
import { createFakeEngine } from "../fakes/fake_engine.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { composeFile, service } from "./compose_text.ts";
import { inWorld, label, pollTo } from "./steps.ts";
import { IMAGE, type World } from "./world.ts";

/** A repository's files, of which only one tells whose they are: an include of an included file names it. */
const filesOf = (world: World, who: string, fields: object = {}) => ({
  ".stackwright.yaml": JSON.stringify({ name: world.stack, ...fields }),
  "compose.yaml": "include: [stack/all.yaml]\n",
  "stack/all.yaml": "include: [web.yaml]\n",
  "stack/web.yaml": "include: [{ path: service.yaml, env_file: who.env }]\n",
  "stack/service.yaml": composeFile({ web: service({ labels: { "test.who": "$WHO" } }) }),
  "who.env": `WHO=${who}\n`,
});

describe("a model that compose printed for the same files, but for one that an include names", () => {
  for (const whose of ["another repository", "the same repository, before that file changed"]) {
    it(`is not used again where it was of ${whose}`, () =>
      inWorld("fake", async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "stackwright-same-"));
        const second = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
        try {
          second.addImage(IMAGE, { where: "both" });
          writeContext(world.env["DOCKER_CONFIG"] ?? "", "second", { host: second.host });
          const isOther = whose === "another repository";
          const first = isOther ? await createRepository(directory) : world.repository;
          await first.commit(filesOf(world, "them", { context: "second" }));
          await pollTo(world, "succeeded", { url: first.url });
          await world.repository.commit(filesOf(world, "us"));
          await pollTo(world, "succeeded");
          assert.equal(await label(world, "web", "test.who"), "us");
        } finally {
          await second.close();
          await rm(directory, { recursive: true, force: true });
        }
      }));
  }
});
