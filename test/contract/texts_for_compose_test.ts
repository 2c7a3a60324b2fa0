/** What compose reads of the model that it is handed is what the model holds, whatever the texts are. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { interpolate } from "../../src/prepare/interpolate.ts";
import type { PrepareParts } from "../../src/prepare/parts.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createComposeProgram } from "../fakes/compose_program.ts";
import { never } from "../fakes/git_source.ts";
import { randomFrom } from "../fakes/random.ts";
import { pick, some } from "./guard_picks.ts";

/** The texts as compose gives them back. */
async function throughCompose(plugin: string, texts: readonly string[]): Promise<string[]> {
  const command = await createComposeCommand(plugin);
  const directory = await mkdtemp(join(tmpdir(), "swt-texts-"));
  const compose = createComposeProgram(command, directory);
  const project = { name: "x", directory, files: [], envFiles: ["/dev/null"], profiles: [] };
  try {
    const parts = { host: { compose } } as unknown as PrepareParts;
    return await interpolate(parts, { project, variables: {} }, texts, never());
  } finally {
    await command.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Every character of the first plane but halves of others, the dollar sign, and NUL. */
function* everyCharacter(): Generator<string> {
  for (let code = 1; code <= 0xffff; code++) {
    if (code === 0x24 || (code >= 0xd800 && code <= 0xdfff)) continue;
    yield String.fromCharCode(code);
  }
}

const SIGNS = [
  ..." \t\n\r:,-?#&*!|>'\"%@`[]{}\\/=~.<0aé\u{1f600}",
  ..."\u0001\u007f\u0080\u0085\u009f\u00a0\u2028\u2029\ufeff\ufffe\uffff\u200b",
  ..."\\N,\\u0085,<<,---,...,  ,${NOPE:-x}".split(","),
];

for (const plugin of composePlugins()) {
  describe(`texts that compose is handed, ${plugin || "installed"}`, () => {
    it("come back as they were with every character in them, and blanks around it", async () => {
      const around = [...everyCharacter()].map((each) => `a ${each} b ${each}${each} d`);
      const texts = around.flatMap((_, at) =>
        at % 64 === 0 ? around.slice(at, at + 64).join("") : []
      );
      const back = await throughCompose(plugin, texts);
      assert.deepEqual(texts.filter((each, at) => each !== back[at]), []);
    });

    it("come back as they were however their signs follow each other", async () => {
      const random = randomFrom(4711);
      const texts = Array.from(
        { length: 2000 },
        () => some(random, 8, () => pick(random, SIGNS)).join(""),
      );
      const back = await throughCompose(plugin, texts);
      const wanted = texts.map((each) => each.replaceAll("${NOPE:-x}", "x"));
      assert.deepEqual(wanted.filter((each, at) => each !== back[at]), []);
    });
  });
}
