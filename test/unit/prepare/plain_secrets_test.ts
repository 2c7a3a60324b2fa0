import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PlainSecrets } from "../../../src/prepare/plain_secrets.ts";
import { createExternalSecrets, type ExternalSecrets } from "../../../src/secrets/mod.ts";
import {
  createRedactor,
  createTurns,
  MOST_OF_AN_OWNER,
  stackAsOwner,
  systemClock,
  systemFiles,
} from "../../../src/system/mod.ts";
import { processorMs } from "../processor_time.ts";

const never = new AbortController().signal;
const turns = createTurns(systemClock);
const KEY = { context: "default", name: "web" };

interface Made {
  readonly plain: PlainSecrets;
  readonly secrets: ExternalSecrets;
  readonly tree: string;
  readonly shown: (text: string) => string;
}

async function withTree(
  files: Readonly<Record<string, string>>,
  test: (made: Made) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-plain-"));
  const tree = join(directory, "tree");
  try {
    await mkdir(tree);
    for (const [name, text] of Object.entries(files)) await writeFile(join(tree, name), text);
    const redactor = createRedactor();
    const secrets = createExternalSecrets({ provider: undefined, redactor });
    const plain = new PlainSecrets({ files: systemFiles, secrets, turns }, stackAsOwner(KEY));
    await test({ plain, secrets, tree, shown: (text) => redactor.redact(text, stackAsOwner(KEY)) });
  } finally {
    await rm(directory, { recursive: true });
  }
}

const INVOCATION = { environment: {}, envFiles: [], profiles: [] };

describe("PlainSecrets", () => {
  it("hideVariables() hides variables by their names, and passwords in all of them", () =>
    withTree({}, ({ plain, shown }) => {
      plain.hideVariables({
        API_TOKEN: "a-token-4711",
        URL: "db://u:pass4711@h",
        PLAIN: "a-plain-1",
      });
      assert.equal(shown("a-token-4711 pass4711 a-plain-1"), "*** *** a-plain-1");
      assert.deepEqual(plain.texts, []);
      return Promise.resolve();
    }));

  const NAMING = {
    "a.env": "LIMIT=${GOMEMLIMIT:-1}\n",
    "compose.yaml": "services: {web: {environment: [GOGC]}}\n",
    "large.env": "#".repeat(300_000),
  };
  for (const name of Object.keys(NAMING)) {
    it(`namesCollector is true once it looked at ${name}`, () =>
      withTree({ ...NAMING, "b.env": "A=${GO}\n" }, async ({ plain, tree }) => {
        await plain.hideDotenv(
          [join(tree, "b.env"), join(tree, "gone.env"), tree, "/dev/null"],
          never,
        );
        await plain.hideCompose([join(tree, "b.env")], never);
        assert.equal(plain.namesCollector, false);
        await plain.hideCompose([join(tree, name)], never);
        assert.equal(plain.namesCollector, true);
      }));
  }

  it("hideDotenv() hides what is a secret in a file, and keeps it for the ledger", () =>
    withTree({ "a.env": "PLAIN=word\nX='k9$2mQ7z!'\nDB_PASS=hunter2xyz\n" }, async (made) => {
      const { plain, tree, shown } = made;
      await plain.hideDotenv(
        [join(tree, "a.env"), join(tree, "gone.env"), tree, "/dev/null"],
        never,
      );
      assert.equal(shown("word k9$2mQ7z! hunter2xyz"), "word *** ***");
      assert.ok(plain.texts.includes("k9$2mQ7z!") && plain.texts.includes("hunter2xyz"));
    }));

  it("refuses more secrets than are remembered of a stack, and those are forgotten with it", () => {
    const redactor = createRedactor();
    const secrets = createExternalSecrets({ provider: undefined, redactor });
    const plain = new PlainSecrets({ files: systemFiles, secrets, turns }, stackAsOwner(KEY));
    const variables = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`TOKEN_${at}`, `xq81Zr0pKw77${at}`]),
      );
    plain.hideVariables(variables(MOST_OF_AN_OWNER));
    assert.equal(redactor.redact("xq81Zr0pKw777 xq81Zr0pKw774999"), "*** ***");
    assert.throws(() => plain.hideVariables({ ONE_TOKEN_MORE: "another-xq81Zr0pKw" }), {
      code: "config_invalid",
      message: /stack default\/web has more than 5000 texts that look like secrets/,
    });
    secrets.forget(stackAsOwner(KEY));
    assert.equal(
      redactor.redact("xq81Zr0pKw777 xq81Zr0pKw774999"),
      "xq81Zr0pKw777 xq81Zr0pKw774999",
    );
  });

  it("refuses secrets that are longer together than anybody's are", () => {
    const secrets = createExternalSecrets({ provider: undefined, redactor: createRedactor() });
    const plain = new PlainSecrets({ files: systemFiles, secrets, turns }, stackAsOwner(KEY));
    const token = (at: number) => ({ [`TOKEN_${at}`]: `${at}-xq81Zr0pKw77`.repeat(4000) });
    for (let at = 0; at < 30; at++) plain.hideVariables(token(at));
    assert.throws(() => {
      for (let at = 30; at < 60; at++) plain.hideVariables(token(at));
    }, {
      code: "config_invalid",
      message:
        /stack default\/web has more than 2097152 characters of texts that look like secrets/,
    });
  });

  it("looks at 4 MiB of dotenv files of a deployment and refuses more", () => {
    const names = Array.from({ length: 17 }, (_, at) => `${at}.env`);
    const text = `A=${"x".repeat(256 * 1024 - 2)}`;
    return withTree(
      Object.fromEntries(names.map((name) => [name, text])),
      async ({ plain, tree }) => {
        const files = names.map((name) => join(tree, name));
        await plain.hideDotenv(files.slice(0, 16), never);
        await plain.hideDotenv(files.slice(0, 16), never);
        await assert.rejects(plain.hideDotenv(files, never), {
          code: "config_invalid",
          message: /dotenv files of the deployment have more than 4194304 bytes together/,
        });
      },
    );
  });

  it("hides nothing that is a part of what the target is called", () =>
    withTree(
      { "a.env": "APP=web-a1b2c3d4\nDB_PASSWORD=a1b2c3d4\nX=web-9f8e7d6c\n" },
      async (made) => {
        const { tree, secrets, shown } = made;
        const plain = new PlainSecrets({ files: systemFiles, secrets, turns }, stackAsOwner(KEY), [
          "shop-web-a1b2c3d4",
        ]);
        await plain.hideDotenv([join(tree, "a.env")], never);
        assert.equal(shown("web-a1b2c3d4, web-9f8e7d6c"), "web-a1b2c3d4, ***");
        assert.ok(!plain.texts.includes("web-a1b2c3d4"));
      },
    ));

  it("hideModel() hides a variable that is used as a secret, whatever its name is", () =>
    withTree({ "a.env": "PLAIN=just some words\n" }, async ({ plain, tree, shown }) => {
      await plain.hideDotenv([join(tree, "a.env")], never);
      assert.equal(shown("just some words"), "just some words");
      const secrets = { s: { environment: "PLAIN" }, t: { environment: "GIVEN" } };
      const environment = { GIVEN: "given words" };
      await plain.hideModel({ secrets }, { ...INVOCATION, environment });
      assert.equal(shown("just some words, given words"), "***, ***");
      assert.deepEqual(plain.texts, ["just some words"]);
    }));

  it("hideFiles() hides files of secrets, those mounted like some, and none outside the tree", () =>
    withTree({
      "secret.txt": "first line\nsecond line\n",
      "mounted": "mounted words",
      "other": "other words",
    }, async ({ plain, tree, shown }) => {
      const outside = join(tree, "../outside");
      await writeFile(outside, "outside words");
      await symlink(outside, join(tree, "link"));
      const volume = (source: string, target: string) => ({ type: "bind", source, target });
      await plain.hideFiles({
        services: {
          web: {
            volumes: [
              volume(join(tree, "mounted"), "/run/secrets/m"),
              volume(join(tree, "other"), "/etc/other"),
            ],
          },
        },
        secrets: {
          a: { file: join(tree, "secret.txt") },
          b: { file: outside },
          c: { file: join(tree, "link") },
          d: { file: join(tree, "gone") },
        },
      }, tree);
      assert.equal(shown("second line, mounted words"), "***, ***");
      assert.equal(shown("other words, outside words"), "other words, outside words");
    }));

  it("hideFiles() hides what lies at the place of secrets, in directories and configs as well", () =>
    withTree({
      "a.txt": "first words",
      "b.txt": "second words",
      "c": "third words",
      "d": "fourth words",
    }, async ({ plain, tree, shown }) => {
      await mkdir(join(tree, "run/secrets/deep"), { recursive: true });
      await mkdir(join(tree, "more"));
      await writeFile(join(tree, "run/secrets/deep/e"), "fifth words");
      await writeFile(join(tree, "run/f"), "sixth words");
      await writeFile(join(tree, "more/g"), "seventh words");
      await symlink("..", join(tree, "more/round"));
      const bind = (source: string, target: string) => ({
        type: "bind",
        source: join(tree, source),
        target,
      });
      await plain.hideFiles(
        {
          services: {
            web: {
              volumes: [bind("run", "/run"), bind("more", "/run/secrets/")],
              configs: [
                { source: "a", target: "/run/secrets/a" },
                { source: "b", target: "/run/secretsb" },
                { source: "c", target: "/x/../run/secrets/c" },
                { source: "d", target: "/run/secrets/d" },
              ],
            },
          },
          configs: {
            a: { file: join(tree, "a.txt") },
            b: { file: join(tree, "b.txt") },
            c: { content: "eighth words" },
            d: { environment: "D" },
          },
        },
        tree,
        { D: "ninth words" },
      );
      const words = (numbers: string) => numbers.split(" ").map((each) => `${each} words`).join();
      // The link leads to all of the tree.
      const hidden = words("first second third fourth fifth sixth seventh eighth ninth");
      assert.equal(shown(hidden), Array(9).fill("***").join());
    }));

  it("hideDecrypted() keeps its texts for the ledger, and refuses more than are recorded", () =>
    withTree({}, ({ plain, shown }) => {
      plain.hideDecrypted(["decrypted words", "x".repeat(70_000)]);
      assert.equal(shown("decrypted words"), "***");
      assert.deepEqual(plain.texts.map(({ length }) => length), [15, 65_536]);
      const many = Array.from({ length: MOST_OF_AN_OWNER }, (_, at) => `${at}-xq81Zr0pKw77`);
      assert.throws(() => plain.hideDecrypted(many), {
        code: "config_invalid",
        message: /stack default\/web has more than 5000 texts that are encrypted in its files/,
      });
      return Promise.resolve();
    }));

  it("texts have what the model does not show by itself, without names of its things", () =>
    withTree({}, async ({ plain }) => {
      plain.hideVariables({
        NPM_TOKEN: "argument-4711",
        A_KEY: "shown-4711",
        B_KEY: "database-4711",
      });
      const services = { "database-4711": { environment: { A_KEY: "shown-4711" } } };
      await plain.hideModel({ services }, INVOCATION);
      assert.deepEqual(plain.texts, ["argument-4711"]);
    }));

  it("takes little time for texts and names that say the same again and again", () =>
    withTree({ ".env": `${"x".repeat(10)}=1` }, async ({ secrets, tree }) => {
      const names = Array(1900).fill("a".repeat(2000));
      const plain = new PlainSecrets(
        { files: systemFiles, secrets, turns },
        stackAsOwner(KEY),
        names,
      );
      const half = "a".repeat(500);
      const lines = Array.from({ length: 100 }, (_, at) => `P${at}_PASSWORD=${half}${at}${half}`);
      await writeFile(join(tree, ".env"), lines.join("\n"));
      const start = processorMs();
      await plain.hideDotenv([join(tree, ".env")], never);
      assert.ok(processorMs() - start < 2000, `${processorMs() - start} ms`);
    }));
});
