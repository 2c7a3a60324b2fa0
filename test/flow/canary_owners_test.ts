/** Words, which are secret in texts about a stack alone, of all the sources that it is made of. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository, type FakeFile, type FakeRepository } from "../fakes/git_repository.ts";
import { writtenLines } from "../fakes/recording_log.ts";
import { createAgeKeys, encryptYaml, type SopsTree } from "../fakes/sops_encryptor.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const WORD = "hunterwolf";
const keys = await createAgeKeys();
const sealed = (tree: SopsTree) => encryptYaml(tree, { recipients: [keys.recipient] });

/** A world with two repositories, whose containers end and have printed the word. */
async function withTwo(test: (world: World, other: FakeRepository) => Promise<void>) {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-owners-"));
  try {
    const other = await createRepository(directory);
    await inWorld("fake", (world) => test(world, other), { SOPS_AGE_KEY: keys.identity });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** No word in what was logged, runs, decisions and a diff; all of which say something else. */
async function assertSilent(world: World, ...paths: readonly string[]): Promise<void> {
  const lines = writtenLines(world.lines, world.redactor).join("");
  const asked = ["/v1/api/runs", `/v1/api/deployment/${world.stack}/decisions`, ...paths];
  const answers = asked.map(async (path) => await (await world.request(path)).text());
  for (const text of [lines, ...await Promise.all(answers)]) {
    assert.ok(!text.includes(WORD), text.slice(Math.max(0, text.indexOf(WORD) - 300)));
  }
}

function prints(world: World): void {
  world.fake?.setBehaviour("web", { exit: 3 });
  world.fake?.writeLog(`${world.stack}-web-1`, `logged in as ${WORD}`);
}

const web = (more: Part = {}) => composeFile({ web: service(more) });

/** What a repository has that another one's configuration deploys from. */
const ELSEWHERE: readonly (readonly [string, Part, Record<string, () => Promise<FakeFile>>])[] = [
  ["a file that is mounted", {}, {
    "app.yaml": () => sealed({ user: WORD }),
    "compose.yaml": () => Promise.resolve(web({ volumes: ["./app.yaml:/app.yaml:ro"] })),
  }],
  ["a compose file", {}, {
    "compose.yaml": () => sealed({ services: { web: { image: "a", ports: [WORD] } } }),
  }],
  ["an override of a discovered stack", { auto_discovery: true, working_dir: "disc" }, {
    "disc/STACK/.stackwright.yaml": () => sealed({ environment: { LOGIN: WORD } }),
    "disc/STACK/compose.yaml": () => Promise.resolve(web({ environment: { LOGIN: "${LOGIN}" } })),
  }],
  ["an override that is wrong", { auto_discovery: true, working_dir: "disc" }, {
    "disc/STACK/.stackwright.yaml": () => sealed({ timeout: WORD }),
    "disc/STACK/compose.yaml": () => Promise.resolve(web()),
  }],
];

describe("words of encrypted files", () => {
  for (const [what, fields, files] of ELSEWHERE) {
    it(`of another repository that is deployed stay silent: ${what}`, () =>
      withTwo(async (world, other) => {
        const name = fields["auto_discovery"] === true ? {} : { name: world.stack };
        await world.repository.commit({
          ".stackwright.yaml": configFile({ ...name, repository_url: other.url, ...fields }),
        });
        const made = Object.entries(files).map(async ([path, make]) =>
          [path.replace("STACK", world.stack), await make()] as const
        );
        await other.commit(Object.fromEntries(await Promise.all(made)));
        world.fake?.setBehaviour("web", { refuse: `no ${WORD}` });
        const run = await pollTo(world, "failed");
        assert.match(JSON.stringify(run), /\*\*\*/);
        await assertSilent(world);
      }));
  }

  it("stay silent in the record of a stack's first release, which knew a claim alone", () =>
    withTwo(async (world) => {
      const commit = async (login: string) =>
        await world.repository.commit({
          ".stackwright.yaml": await sealed({ name: world.stack, environment: { LOGIN: login } }),
          "compose.yaml": web({ environment: { LOGIN: "${LOGIN}" } }),
        });
      await commit(WORD);
      await pollTo(world, "succeeded");
      await commit("marblefish");
      await pollTo(world, "succeeded");
      await world.restart();
      prints(world);
      const path = `/v1/api/project/${world.stack}/restart`;
      const answer = await (await world.request(path, { method: "POST" })).text();
      assert.match(answer, /logged in as \*\*\*/);
      await assertSilent(world, `/v1/api/deployment/${world.stack}/diff?from=1&to=2`);
    }));

  it("stay silent in a run of several sources, none of which it is of", () =>
    withTwo(async (world, other) => {
      await world.repository.commit({
        ".stackwright.yaml": await sealed({ name: world.stack, timeout: WORD }),
        "compose.yaml": web(),
      });
      await other.commit({ "nothing.txt": "" });
      const body = [world.repository.url, other.url].map((url) => ({ url, reference: "main" }));
      const answer = await world.request("/v1/api/poll/run?wait=true", {
        method: "POST",
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      assert.match(text, /\*\*\*/);
      assert.ok(!text.includes(WORD), text);
      await assertSilent(world);
    }));

  it("stay silent while another source names the stack that nobody has yet", () =>
    withTwo(async (world, other) => {
      await world.repository.commit({
        ".stackwright.yaml": await sealed({ name: world.stack, environment: { P: WORD } }),
        "compose.yaml": web({ ports: ["${P}"] }),
      });
      await other.commit({
        ".stackwright.yaml": configFile({ name: world.stack, pause: true }),
        "compose.yaml": web(),
      });
      const victim = pollTo(world, "failed");
      let isDone = false;
      const ended = victim.finally(() => isDone = true);
      while (!isDone) await world.poll({ url: other.url });
      await ended;
      await world.poll({ url: other.url });
      await assertSilent(world);
    }));
});
