import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { command } from "./commands.ts";
import { listeningCompose, OURS, type Started, STEERING, subcommand } from "./listening_compose.ts";
import { commit, docker, ids, inWorld, pollTo, readInside } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

/** Those that are ours where a compose file asks for them. */
const WINS_HERE = ["DOCKER_HOST", "SSL_CERT_FILE"];

const WEB = service({
  environment: {
    ...Object.fromEntries(Object.keys(STEERING).map((name) => [name, `\${${name}}`])),
    AWS_PROFILE: "${AWS_PROFILE}",
    BARE: null,
    FROM_BOTH: "${FROM_BOTH}",
    SEARCHED: "/opt/bin:${PATH}",
    HTTP_PROXY: null,
  },
  secrets: ["token"],
});

const FILES = {
  // The second service has a key for which compose is called.
  "compose.yaml": composeFile({ web: WEB, other: service({ links: ["web"] }) }, {
    secrets: { token: { environment: "AWS_SECRET_ACCESS_KEY" } },
  }),
  ".env": Object.entries({
    ...STEERING,
    AWS_SECRET_ACCESS_KEY: "'two $words'",
    BARE: "bare",
    FROM_BOTH: "${AWS_PROFILE}+",
  }).map(([name, value]) => `${name}=${value}\n`).join(""),
};

const CONFIGURATION = {
  environment: { AWS_PROFILE: 'it\'s "$HOME" \\ here', HTTP_PROXY: "http://proxy.example" },
};

for (const engine of await engines()) {
  describe(`what steers programs on the ${engine} engine`, () => {
    it("is interpolated, but no program is started with it", () =>
      withListening(engine, async (world, started) => {
        await commit(world, FILES, CONFIGURATION);
        await pollTo(world, "succeeded");
        const environment = await environmentOf(world, "web");
        for (const [name, value] of Object.entries(STEERING)) {
          if (!WINS_HERE.includes(name)) assert.equal(environment[name], value, name);
        }
        assert.equal(environment["AWS_PROFILE"], CONFIGURATION.environment.AWS_PROFILE);
        assert.equal(environment["FROM_BOTH"], `${CONFIGURATION.environment.AWS_PROFILE}+`);
        assert.equal(environment["BARE"], "bare");
        assert.equal(environment["SEARCHED"], `/opt/bin:${process.env["PATH"]}`);
        assert.equal(environment["HTTP_PROXY"], "http://proxy.example");
        if (engine === "real") {
          assert.equal(await readInside(world, "web", "/run/secrets/token"), "two $words");
        }
        const first = await started();
        assert.deepEqual([...new Set(first.map((each) => subcommand(each)))], ["config", "up"]);
        for (const { args, names } of first) {
          assert.deepEqual(names.filter((name) => !OURS.test(name)), [], args);
          assert.equal(/ --env-file \S*\/\.env /.test(args), subcommand({ args }) === "config");
        }
        const written = first.flatMap(({ args }) => args.match(/\S*stackwright-render-\S*/g) ?? []);
        assert.ok(written.length > 0, "this test has nothing to show otherwise");
        assert.deepEqual(written.filter((file) => existsSync(dirname(file))), []);

        // A recorded release has what it needs for the way back.
        await commit(world, { "compose.yaml": composeFile({ web: service() }), ".env": "" });
        await pollTo(world, "succeeded");
        await started();
        const back = await command(world, ["rollback", world.stack]);
        assert.equal(back.code, 0, back.err);
        if (engine === "real") {
          assert.equal(await readInside(world, "web", "/run/secrets/token"), "two $words");
        }
        const ups = (await started()).filter((each) => subcommand(each) === "up");
        assert.ok(ups.length > 0);
        for (const { names } of ups) {
          assert.deepEqual(names.filter((name) => name.startsWith("STACKWRIGHT_")), [
            "STACKWRIGHT_VALUE_AWS_SECRET_ACCESS_KEY",
          ]);
        }
      }));
  });
}

describe("a build", () => {
  it("has its secret and its arguments, which stand on no command line", async () => {
    // The fake engine builds nothing.
    if (!(await engines()).includes("real")) return;
    await withListening("real", async (world, started) => {
      const secret = 'printf %s "$(cat /run/secrets/token)" > /secret.txt';
      const dockerfile = [
        `FROM ${IMAGE}`,
        "ARG WORD=none",
        "ARG OWN=none",
        `RUN --mount=type=secret,id=token ${secret}`,
        'RUN printf "%s|%s" "$WORD" "$OWN" > /words.txt',
      ].join("\n");
      const build = { context: ".", args: { OWN: "own", WORD: "lost" }, secrets: ["token"] };
      await commit(world, {
        "compose.yaml": composeFile({ web: { ...service({ build }), image: undefined } }, {
          secrets: { token: { environment: "LD_AUDIT" } },
        }),
        "Dockerfile": dockerfile,
        ".env": "LD_AUDIT=of-a-build\n",
      }, { build: { args: { WORD: "a $b 'c'" } } });
      try {
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/words.txt"), "a $b 'c'|own");
        assert.equal(await readInside(world, "web", "/secret.txt"), "of-a-build");
        const [built] = (await started()).filter((each) => subcommand(each) === "build");
        assert.ok(built !== undefined);
        assert.doesNotMatch(built.args, /WORD|a \$b/);
        assert.deepEqual(built.names.filter((name) => !OURS.test(name)), []);
      } finally {
        for (const { id } of await world.containers()) await docker(world, "rm", "--force", id);
        await docker(world, "image", "rm", "--force", `${world.stack}-web`);
      }
    });
  });
});

describe("a secret of a variable that nothing sets", () => {
  it("is refused by name before anything is touched", () =>
    inWorld("fake", async (world) => {
      await commit(world, {
        "compose.yaml": composeFile({ web: service({ secrets: ["token"] }) }, {
          secrets: { token: { environment: "NOT_SET" }, unused: { environment: "NEITHER" } },
        }),
      });
      const finished = await pollTo(world, "failed");
      assert.match(
        JSON.stringify(finished),
        /secrets\.token takes its value from the variable NOT_SET, which is not set/,
      );
      assert.equal(world.proxy.mutations(), 0);
      await commit(world, { ".env": "NOT_SET=\n" });
      await pollTo(world, "succeeded");
    }));
});

async function environmentOf(world: World, name: string): Promise<Record<string, string>> {
  const id = (await ids(world))[`${name}-1`] ?? "";
  const text = await docker(world, "inspect", "--format", "{{json .Config.Env}}", id);
  return Object.fromEntries((JSON.parse(text) as string[]).map((each) => {
    const at = each.indexOf("=");
    return [each.slice(0, at), each.slice(at + 1)];
  }));
}

/** A world whose compose writes down what it is started with, and then is the real one. */
async function withListening(
  engine: "fake" | "real",
  test: (world: World, started: () => Promise<Started[]>) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-steered-"));
  const { started } = await listeningCompose(directory);
  try {
    await inWorld(engine, (world) => test(world, started), {
      DOCKER_CONFIG: directory,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
