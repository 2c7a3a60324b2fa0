import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Compose } from "../../../src/deploy/mod.ts";
import { createImages } from "../../../src/prepare/mod.ts";
import { createExternalSecrets } from "../../../src/secrets/mod.ts";
import {
  type Command,
  type CommandResult,
  type Commands,
  createRedactor,
  noMeter,
  type Redactor,
  systemFiles,
} from "../../../src/system/mod.ts";
import { createFakeClock, type FakeClock, settle } from "../../fakes/fake_clock.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";
import { createRecordingLog, type RecordingLog, writtenLines } from "../../fakes/recording_log.ts";

const signal = new AbortController().signal;
const SECRET = "aB3k9xY7zQ1w";

/** Calls with images whose credentials the programs of a configuration keep; `run` runs programs. */
async function withImages(
  configuration: object,
  run: Commands["run"],
  work: (
    pull: (references: readonly string[]) => Promise<void>,
    more: { redactor: Redactor; log: RecordingLog; clock: FakeClock },
  ) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-helper-"));
  const log = createRecordingLog();
  const redactor = createRedactor();
  const clock = createFakeClock();
  const commands = { run, start: () => assert.fail("nothing is started") };
  const scratch = { files: systemFiles, prefix: directory };
  const images = createImages({
    pulls: { begin: () => () => {}, all: () => [], forget: () => {} },
    engine: createMemoryEngine(),
    compose: new Compose({ commands, programEnvironment: {}, log, scratch }),
    commands,
    files: systemFiles,
    log,
    meter: noMeter,
    clock,
    programEnvironment: {},
    secrets: createExternalSecrets({ provider: undefined, redactor }),
    clientConfigFile: join(directory, "config.json"),
  });
  const project = { name: "shop", directory, files: [], envFiles: [], profiles: [] };
  const pull = (references: readonly string[]) =>
    images.pull({
      key: { context: "default", name: "shop" },
      services: references.map((image, index) => ({ name: `service-${index}`, image })),
      call: { project, variables: {} },
      timeoutSeconds: 60,
      progress: () => {},
    }, signal);
  try {
    await writeFile(join(directory, "config.json"), JSON.stringify(configuration));
    await work(pull, { redactor, log, clock });
  } finally {
    await rm(directory, { recursive: true });
  }
}

const ended = (code: number, stdout = "") =>
  Promise.resolve({ code, stdout: Buffer.from(stdout), stderr: "" });

describe("images of registries whose credentials a program keeps", () => {
  it("are pulled with these unprintable, although compose alone is given them", async () => {
    const asked: string[] = [];
    const run = ({ argv, stdin, onLine }: Command) => {
      if (argv[0] === "docker-credential-kept") {
        asked.push(String(stdin));
        return ended(0, JSON.stringify({ Username: "bob", Secret: SECRET }));
      }
      // A registry may repeat what it was sent.
      if (argv.includes("pull")) {
        onLine?.(`Error unauthorized: ${SECRET}, ${btoa(`bob:${SECRET}`)}`);
      }
      return ended(argv.includes("pull") ? 1 : 0);
    };
    const configuration = { credHelpers: { "registry.test:5000": "kept" } };
    await withImages(configuration, run, async (pull, { redactor, log }) => {
      const references = ["registry.test:5000/a:1", "registry.test:5000/b:1", "other.test/c:1"];
      await assert.rejects(pull(references));
      const lines = writtenLines(log.lines, redactor).join("");
      assert.match(lines, /Error unauthorized: \*\*\*, Ym9iOm\*\*\*/);
      assert.deepEqual(asked, ["registry.test:5000"]);
    });
  });

  const many = Array.from({ length: 40 }, (_, index) => `registry-${index}.test/a:1`);

  it("start few of these programs at once, however many registries a repository names", async () => {
    let [now, most, pulls] = [0, 0, 0];
    const run = async ({ argv }: Command) => {
      if (argv.includes("pull")) pulls++;
      if (argv[0] !== "docker-credential-kept") return await ended(0);
      most = Math.max(most, ++now);
      // The others begin when the machine has time for them.
      for (let turns = 0; turns < 1000 && most < 4; turns++) await settle();
      await settle();
      now--;
      return await ended(1);
    };
    await withImages({ credsStore: "kept" }, run, async (pull) => {
      await pull(many);
      assert.deepEqual([most, pulls], [4, 1]);
    });
  });

  it("are given up with the pull where these programs take too long", async () => {
    const asked = Promise.withResolvers<void>();
    const run = ({ argv }: Command, within: AbortSignal) => {
      if (argv[0] !== "docker-credential-kept") return ended(0);
      asked.resolve();
      return new Promise<CommandResult>((_, reject) =>
        within.addEventListener("abort", () => reject(within.reason))
      );
    };
    await withImages({ credsStore: "kept" }, run, async (pull, { clock }) => {
      const late = assert.rejects(pull(many.slice(0, 1)), /was not done within 900 s/);
      await asked.promise;
      await clock.advance(900_000);
      await late;
    });
  });
});
