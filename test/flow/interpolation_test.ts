import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FakeFile } from "../fakes/git_repository.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld, label, pollTo, replaced } from "./steps.ts";
import { createWorld, decidingEngine, type World } from "./world.ts";

/** One way to give the variable `VALUE`, and what becomes of it. */
interface Variable {
  readonly title: string;
  readonly configuration?: Part;
  readonly files?: Readonly<Record<string, FakeFile>>;
  readonly passEnv?: boolean;
  readonly becomes: string;
}

/** The process has the variable in every row; whether that counts is another matter. */
const PROCESS = { VALUE: "process", ONLY_PROCESS: "process" };

const VARIABLES: readonly Variable[] = [
  { title: "nothing", becomes: "default" },
  { title: "the process, which is not passed on", becomes: "default" },
  { title: "the process with PASS_ENV", passEnv: true, becomes: "process" },
  {
    title: "environment",
    configuration: { environment: { VALUE: "configuration" } },
    becomes: "configuration",
  },
  {
    title: "environment, over the process with PASS_ENV",
    configuration: { environment: { VALUE: "configuration" } },
    passEnv: true,
    becomes: "configuration",
  },
  { title: "the .env beside the compose file", files: { ".env": "VALUE=dot" }, becomes: "dot" },
  {
    title: "the .env, over the process with PASS_ENV",
    files: { ".env": "VALUE=dot" },
    passEnv: true,
    becomes: "dot",
  },
  {
    title: "environment, over the .env",
    files: { ".env": "VALUE=dot" },
    configuration: { environment: { VALUE: "configuration" } },
    becomes: "configuration",
  },
  {
    title: "the later of two files",
    files: { "a.env": "VALUE=a\n", "b.env": "VALUE=b\n" },
    configuration: { env_files: ["a.env", "b.env"] },
    becomes: "b",
  },
  {
    title: "the later of two files, in the order of the list and not of their names",
    files: { "a.env": "VALUE=a\n", "b.env": "VALUE=b\n" },
    configuration: { env_files: ["b.env", "a.env"] },
    becomes: "a",
  },
  {
    title: "the only file that has it",
    files: { "a.env": "VALUE=a\n", "b.env": "OTHER=b\n" },
    configuration: { env_files: ["a.env", "b.env"] },
    becomes: "a",
  },
  {
    title: "a file, over the process with PASS_ENV, exported and quoted",
    files: { "a.env": "# first\nexport VALUE='a b'\n" },
    configuration: { env_files: ["a.env"] },
    passEnv: true,
    becomes: "a b",
  },
  {
    title: "a file that begins with a byte order mark, over the process with PASS_ENV",
    files: { "a.env": "\u{feff}VALUE=a\n" },
    configuration: { env_files: ["a.env"] },
    passEnv: true,
    becomes: "a",
  },
  {
    title: "the process with PASS_ENV, over a line inside of another value",
    files: { "a.env": "OTHER='\nVALUE=a\n'\n" },
    configuration: { env_files: ["a.env"] },
    passEnv: true,
    becomes: "process",
  },
  {
    title: "environment, over every file and the process",
    files: { "a.env": "VALUE=a\n", "b.env": "VALUE=b\n" },
    configuration: { env_files: ["a.env", "b.env"], environment: { VALUE: "configuration" } },
    passEnv: true,
    becomes: "configuration",
  },
  {
    title: "no .env when other files are listed",
    files: { ".env": "VALUE=dot\n", "a.env": "OTHER=a\n" },
    configuration: { env_files: ["a.env"] },
    becomes: "default",
  },
  {
    title: "no file when the list is empty",
    files: { ".env": "VALUE=dot\n" },
    configuration: { env_files: [] },
    becomes: "default",
  },
  {
    title: "a listed .env that is not there",
    files: { "a.env": "VALUE=a\n" },
    configuration: { env_files: ["a.env", ".env"] },
    becomes: "a",
  },
  {
    title: "a file above the working directory",
    files: { "common.env": "VALUE=common\n", "app/compose.yaml": compose() },
    configuration: { working_dir: "app", env_files: ["../common.env"] },
    becomes: "common",
  },
  {
    title: "the .env of the working directory, not of the root",
    files: { ".env": "VALUE=root\n", "app/.env": "VALUE=app\n", "app/compose.yaml": compose() },
    configuration: { working_dir: "app" },
    becomes: "app",
  },
  {
    title: "an empty text of environment, over the .env",
    files: { ".env": "VALUE=dot\n" },
    configuration: { environment: { VALUE: "" } },
    becomes: "",
  },
  {
    title: "no variable of the program that renders",
    files: { ".env": "VALUE=${GOGC:-unset}${GOMEMLIMIT:+set}\n" },
    becomes: "unset",
  },
  {
    title: "a number as its author wrote it",
    files: { ".stackwright.yaml": "environment: {VALUE: 0o17}" },
    becomes: "0o17",
  },
];

function compose(): string {
  return composeFile({
    web: service({
      labels: { "test.value": "${VALUE-default}", "test.own": "${API_SECRET-none}" },
    }),
  });
}

describe("variables for interpolation", () => {
  for (const row of VARIABLES) {
    it(`come from ${row.title}: ${JSON.stringify(row.becomes)}`, async () => {
      const env = { ...PROCESS, PASS_ENV: String(row.passEnv === true) };
      const world = await createWorld({ engine: "fake", env });
      try {
        await world.repository.commit({ "compose.yaml": compose(), ...withName(world, row) });
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "test.value"), row.becomes);
        assert.equal(await label(world, "web", "test.own"), "none", "a secret setting got out");
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      } finally {
        await world.close();
      }
    });
  }
});

describe("PWD", () => {
  // Versions of compose set it to the directory of the commit.
  const file = composeFile({
    web: service({ labels: { "test.value": "<${PWD}>", "test.default": "${PWD:-none}" } }),
  });
  const becomes = async (world: World, value: string) => {
    await pollTo(world, "succeeded");
    assert.equal(await label(world, "web", "test.value"), `<${value}>`);
    assert.equal(await label(world, "web", "test.default"), value || "none");
  };

  it("is empty, and no commit replaces what names it", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": file });
      await becomes(world, "");
      const first = await ids(world);
      await commit(world, { "compose.yaml": `${file}\n# again\n`, README: "more" });
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world), first);
    }));

  it("is what the deployment says, in a dotenv file or in environment, which wins", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": file, ".env": "PWD='own place' # x\n" });
      await becomes(world, "own place");
      await commit(world, {}, { environment: { PWD: "theirs" } });
      await becomes(world, "theirs");
    }));

  it("is refused where it is absolute: compose may take it for the directory that it reads", () =>
    inWorld("fake", async (world) => {
      const refused = async () => {
        const said = JSON.stringify(await pollTo(world, "failed"));
        assert.match(said, /PWD \(of environment, a dotenv file or .*\) is an absolute path/);
      };
      await commit(world, { "compose.yaml": file, ".env": "PWD='/proc/self/cwd'\n" });
      await refused();
      await commit(world, { ".env": "" }, { environment: { PWD: "/proc/self/cwd" } });
      await refused();
    }));

  it("is refused in a dotenv file where versions of compose would read it apart", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": file, ".env": "A=1\nPWD=$A/x\n" });
      assert.match(
        JSON.stringify(await pollTo(world, "failed")),
        /a dotenv file sets PWD with/,
      );
    }));
});

describe("a variable that is longer than a program takes", () => {
  const LONG = "x".repeat(140_000);
  const deployed = (world: World, web: Part, more: Part = {}) =>
    commit(world, { "compose.yaml": composeFile({ web: service(web) }, more) }, {
      environment: { LONG },
    });

  it("is interpolated all the same", () =>
    inWorld("fake", async (world) => {
      // A container's labels may not be as long: each of its events has them.
      await deployed(world, {}, { networks: { default: { labels: { "test.value": "${LONG}" } } } });
      await pollTo(world, "succeeded");
      const networks = world.fake?.networks() ?? [];
      assert.ok(networks.some(({ labels }) => labels["test.value"] === LONG));
    }));

  it("is refused by name where a container or a secret needs it, before anything is touched", () =>
    inWorld("fake", async (world) => {
      await deployed(world, { environment: { VALUE: "${LONG}" } });
      const container = JSON.stringify(await pollTo(world, "failed"));
      assert.match(container, /services.web.environment: the variable VALUE is 136 KiB long/);
      await deployed(world, { secrets: ["token"] }, {
        secrets: { token: { environment: "LONG" } },
      });
      const secret = JSON.stringify(await pollTo(world, "failed"));
      assert.match(secret, /secrets.token: the variable LONG is 136 KiB long.*at most 128 KiB/);
      assert.equal(world.proxy.mutations(), 0);
    }));
});

/** The files of a row, with the stack's name in the configuration. */
function withName(world: World, { files = {}, configuration = {} }: Variable) {
  const written = files[".stackwright.yaml"];
  return {
    ...files,
    ".stackwright.yaml": written === undefined
      ? configFile({ name: world.stack, ...configuration })
      : `name: ${world.stack}\n${String(written)}\n`,
  };
}

for (const engine of await decidingEngine()) {
  describe(`changed variables on the ${engine} engine`, () => {
    it("replace exactly the services that use them, wherever the value comes from", async () => {
      const world = await createWorld({ engine });
      try {
        const files = {
          "compose.yaml": composeFile({
            web: service({ environment: { VALUE: "${VALUE-}" } }),
            worker: service({ labels: { "test.other": "${OTHER-}" } }),
          }),
        };
        await commit(world, { ...files, ".env": "VALUE=1\nOTHER=1\n" });
        await pollTo(world, "succeeded");
        const first = await ids(world);

        await commit(world, { ".env": "VALUE=1\nOTHER=2\n" });
        await pollTo(world, "succeeded");
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["worker-1"]);
        assert.equal(await label(world, "worker", "test.other"), "2");

        await commit(world, {}, { environment: { VALUE: "2" } });
        await pollTo(world, "succeeded");
        const third = await ids(world);
        assert.deepEqual(replaced(second, third), ["web-1"]);

        await commit(world, {}, { environment: { VALUE: "2", UNUSED: "x" } });
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.deepEqual(await ids(world), third);
        assert.equal(world.proxy.mutations(), 0);
      } finally {
        await world.close();
      }
    });
  });
}
