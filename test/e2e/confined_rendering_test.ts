/** Variables of a deployment reach compose, where rendering is confined, and nothing in front of it. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { Compose } from "../../src/deploy/mod.ts";
import { renderProject } from "../../src/prepare/render_project.ts";
import type { Target } from "../../src/prepare/target.ts";
import { CONFINED } from "../../src/system/confined_programs.ts";
import { type Commands, systemCommands, systemFiles } from "../../src/system/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { NO_LANDLOCK } from "./no_landlock.ts";
import { executables, ServiceProcess } from "./service_process.ts";

const { signal } = new AbortController();

/** What a runtime, an allocator or a loader would obey. */
const STEERING = {
  MIMALLOC_MAX_VABITS: "32",
  MIMALLOC_DISALLOW_OS_ALLOC: "1",
  JavaScriptCoreUseJIT: "0",
  BUN_JSC_useJIT: "0",
  DYLD_INSERT_LIBRARIES: "./evil.dylib",
  MallocStackLogging: "1",
  PWD: "theirs",
};

if (executables().length === 0) {
  it.skip(
    "NOT TRIED: variables and files of a confined program, as ./scripts/build made no executable",
  );
}
for (const program of executables()) {
  describe(`variables of a confined program: ${program.title}`, { skip: NO_LANDLOCK }, () => {
    let directory: string;
    let engine: FakeEngine;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), "swt-confined-"));
      engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
    });
    after(async () => {
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    });

    it("are its own alone, with its limits, whatever the executable would make of them", async () => {
      const given = { ...STEERING, TEXT: "a=b\n'\u{1f600}", EMPTY: "" };
      const env = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [`STACKWRIGHT_GIVEN_${name}`, value]),
      );
      const limits = JSON.stringify({ mostMemory: 1024 ** 3, mostProcessorSeconds: 5 });
      const { code, stdout, stderr } = await systemCommands.run({
        argv: ["/bin/cat", "/proc/self/environ", "/proc/self/limits"],
        env: { ...env, OTHER: "1" },
        startedBy: [...program.argv, CONFINED, limits, "/proc", "--"] as [string, ...string[]],
      }, signal);
      assert.equal(code, 0, stderr);
      const said = new TextDecoder().decode(stdout).split("\0");
      const wanted = Object.entries(given).map((each) => each.join("="));
      assert.deepEqual(said.slice(0, -1).toSorted(), wanted.toSorted());
      const [kernel = ""] = said.slice(-1);
      assert.match(kernel, /^Max cpu time +5 +6 /m);
      assert.match(kernel, /^Max data size +1073741824 +1073741824 /m);
      assert.match(kernel, /^Max core file size +0 +0 /m);
    });

    it("do not lead to files of the configuration but its dotenv files, also by a link", async () => {
      const [own, beside] = [join(directory, "deployed"), join(directory, "configuration")];
      const files = [
        join(own, "compose.yaml"),
        join(beside, "real.env"),
        join(beside, "other.env"),
      ];
      await mkdir(own);
      await mkdir(beside);
      for (const file of files) await writeFile(file, `SAYS=${basename(file)}\n`);
      await symlink("real.env", join(beside, "common.env"));
      const target = { key: { name: "a" }, deployment: { workingDir: "." } } as unknown as Target;
      const project = renderProject(
        target,
        { tree: own, configurationTree: beside },
        ["compose.yaml"],
        {
          environment: {},
          envFiles: [],
          configurationEnvFiles: ["common.env"],
          profiles: [],
          secretVariables: [],
        },
      );
      const read = new Map<string, string>();
      const commands: Commands = {
        start: () => assert.fail("compose is never talked to while it runs"),
        // Instead of compose, which the guard would keep from naming such a file.
        run: async ({ mayRead = [] }, signal) => {
          for (const file of [...files, join(beside, "common.env")]) {
            const startedBy = [...program.argv, CONFINED, "{}", ...mayRead, "--"];
            const { code, stdout, stderr } = await systemCommands.run({
              argv: ["/bin/cat", file],
              env: {},
              startedBy: startedBy as [string, ...string[]],
            }, signal);
            const text = new TextDecoder().decode(stdout).trim();
            read.set(basename(file), code === 0 ? text : stderr.replace(/^.*: /s, "").trim());
          }
          return { code: 0, stdout: new TextEncoder().encode("{}"), stderr: "" };
        },
      };
      const scratch = { files: systemFiles, prefix: join(directory, "scratch-") };
      const log = createRecordingLog();
      const compose = new Compose({ commands, programEnvironment: {}, log, scratch });
      await compose.render({ project, variables: {} }, signal);
      assert.deepEqual(Object.fromEntries(read), {
        "compose.yaml": "SAYS=compose.yaml",
        "real.env": "SAYS=real.env",
        "common.env": "SAYS=real.env",
        "other.env": "Permission denied",
      });
    });

    for (const plugin of composePlugins()) {
      it(`are interpolated like any other by compose, ${plugin || "installed"}`, async () => {
        const command = await createComposeCommand(plugin);
        const checkout = await mkdtemp(join(directory, "checkout-"));
        try {
          const labels = Object.fromEntries(
            Object.keys(STEERING).map((name) => [`of.${name}`, `<\${${name}}>`]),
          );
          const files = {
            ".stackwright.yaml": { name: "confined", environment: STEERING },
            "compose.yaml": { services: { web: { image: "a", labels } } },
          };
          for (const [name, content] of Object.entries(files)) {
            await writeFile(join(checkout, name), JSON.stringify(content));
          }
          const { PATH = "" } = process.env;
          const as = ["-c", "user.name=a", "-c", "user.email=a@b"];
          const steps = [["init", "-q"], ["add", "-A"], [...as, "commit", "-qm", "x"]];
          for (const step of steps) {
            const argv = ["git", "-C", checkout, ...step] as const;
            const { code, stderr } = await systemCommands.run({ argv, env: { PATH } }, signal);
            assert.equal(code, 0, stderr);
          }
          const { code, stdout, stderr } = await new ServiceProcess(program, ["plan", checkout], {
            DATA_DIR: join(directory, "data"),
            DOCKER_HOST: engine.host,
            DOCKER_CONFIG: command.configDirectory,
          }).ended;
          assert.equal(code, 2, stdout + stderr);
          // `PWD` sounds secret: it is shown as a digest.
          const { PWD: _pwd, ...shown } = STEERING;
          const planned = [...stdout.matchAll(/^\+ +of\.(\w+): <(.*)>$/gm)];
          assert.deepEqual(
            Object.fromEntries(planned.map(([, name, value]) => [name, value])),
            shown,
          );
        } finally {
          await command.close();
        }
      });
    }
  });
}
