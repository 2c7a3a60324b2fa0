import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { freePort } from "../fakes/free_port.ts";
import { NO_LANDLOCK } from "./no_landlock.ts";
import { isSample } from "../fakes/sample.ts";
import {
  BUN_PROGRAM,
  DENO_PROGRAM,
  type Ended,
  executables,
  type Program,
  ServiceProcess,
} from "./service_process.ts";

/** A sample leaves out what Bun has to compile at each start: the executable is the same on the same runtime. */
const SOURCES = isSample && executables().length > 0 ? [DENO_PROGRAM] : [DENO_PROGRAM, BUN_PROGRAM];
const PROGRAMS: readonly Program[] = [...SOURCES, ...executables()];

/** A command line, and what it must do wherever it runs. */
interface Invocation {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly out?: RegExp;
  readonly err?: RegExp;
}

const INVOCATIONS: readonly Invocation[] = [
  { args: ["version"], code: 0, out: /\d+\.\d+\.\d+/ },
  { args: ["--version"], code: 0, out: /\d+\.\d+\.\d+/ },
  { args: [], code: 0, out: /Usage: stackwright COMMAND/ },
  { args: ["--help"], code: 0, out: /Usage: stackwright[\s\S]*healthcheck/ },
  { args: ["serve", "--help"], code: 0, out: /Exits 0/ },
  { args: ["schema"], code: 0, out: /"x-service-version"/ },
  { args: ["validate", "GOOD"], code: 0 },
  { args: ["validate", "BAD"], code: 1, out: /:2:1/ },
  { args: ["validate", "/nonexistent-directory"], code: 1, err: /nonexistent-directory/ },
  { args: ["no-such-command"], code: 64, err: /no command no-such-command/ },
  { args: ["validate", "--no-such-option"], code: 64, err: /--no-such-option/ },
  { args: ["serve"], env: { HTTP_PORT: "none" }, code: 78, err: /HTTP_PORT/ },
  {
    args: ["serve"],
    env: { HTTP_PORT: "0", MAX_PAYLOAD_SIZE: "x", POLL_CONFIG: "- {}" },
    code: 78,
    err: /(?=[\s\S]*HTTP_PORT)(?=[\s\S]*MAX_PAYLOAD_SIZE)(?=[\s\S]*POLL_CONFIG)/,
  },
  { args: ["healthcheck"], env: { HTTP_PORT: "1" }, code: 1 },
];

describe("the command line", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "stackwright-cli-"));
    for (const [name, config] of [["good", "name: app\n"], ["bad", "name: app\nnam: x\n"]]) {
      const checkout = join(directory, name ?? "");
      const { mkdir } = await import("node:fs/promises");
      await mkdir(checkout);
      await writeFile(join(checkout, ".stackwright.yaml"), config ?? "");
      await writeFile(join(checkout, "compose.yaml"), "services: {web: {image: busybox}}\n");
    }
  });
  after(() => rm(directory, { recursive: true, force: true }));

  for (const invocation of INVOCATIONS) {
    const settings = Object.entries(invocation.env ?? {}).map((each) => each.join("="));
    const title = [...settings, "stackwright", ...invocation.args].join(" ");
    it(`${title} ends with ${invocation.code}, and says the same on every runtime`, async () => {
      const args = invocation.args.map((each) =>
        each === "GOOD" || each === "BAD" ? join(directory, each.toLowerCase()) : each
      );
      const results: Ended[] = [];
      for (const program of PROGRAMS) {
        const service = new ServiceProcess(program, args, {
          DATA_DIR: join(directory, "data"),
          ...invocation.env,
        });
        const ended = await service.ended;
        const all = `${program.title}: ${ended.stdout}${ended.stderr}`;
        assert.equal(ended.code, invocation.code, all);
        if (invocation.out) assert.match(ended.stdout, invocation.out, all);
        if (invocation.err) assert.match(ended.stderr, invocation.err, all);
        assert.doesNotMatch(ended.stderr, /^\s+at /m, all);
        results.push(ended);
      }
      for (const each of results) {
        assert.equal(each.stdout, results[0]?.stdout);
        assert.equal(withoutTime(each.stderr), withoutTime(results[0]?.stderr ?? ""));
      }
    });
  }
});

describe("Ctrl-C while a stack is deployed", () => {
  for (const program of PROGRAMS) {
    it(`ends it with 130, and says what becomes of it: ${program.title}`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "stackwright-interrupt-"));
      // An engine that never answers: the command is in the middle of something.
      const server = createServer().listen(join(directory, "engine.sock"));
      try {
        await writeFile(join(directory, ".stackwright.yaml"), "name: app\n");
        await writeFile(join(directory, "compose.yaml"), "services: {web: {image: busybox}}\n");
        const git = (...args: string[]) =>
          shell('cd "$1" && shift && git "$@"', [directory, ...args]);
        await git("init", "-q", "-b", "main");
        await git("add", "compose.yaml", ".stackwright.yaml");
        await git(
          "-c",
          "user.name=a",
          "-c",
          "user.email=a@example.com",
          "commit",
          "-q",
          "-m",
          "one",
        );
        const asked = new Promise<void>((resolve) => {
          server.on("connection", (socket) => {
            socket.on("error", () => {}).resume();
            resolve();
          });
        });
        const command = new ServiceProcess(program, ["apply", directory], {
          DATA_DIR: join(directory, "data"),
          DOCKER_HOST: `unix://${join(directory, "engine.sock")}`,
        });
        await Promise.race([asked, command.ended]);
        command.kill("SIGINT");
        const { code, stderr } = await command.ended;
        assert.equal(code, 130, stderr);
        assert.match(stderr, /^stackwright: interrupted; .* by the next stackwright apply/m);
      } finally {
        await new Promise((resolve) => server.close(resolve));
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});

describe("a directory that somebody else wrote", () => {
  for (const program of executables()) {
    it(`has no program and no settings for who works in it: ${program.title}`, async () => {
      const theirs = `mkdir "$0/theirs" && cd "$0/theirs" && echo 'LOG_LEVEL=theirs' >.env &&
        echo 'console.log("theirs")' >theirs.ts && echo 'preload = ["./theirs.ts"]' >bunfig.toml`;
      const own = 'env -u LOG_LEVEL DATA_DIR="$0/data" "$@" 2>&1; echo "code $?"';
      const text = await shell(`${theirs} && ${own}`, [...program.argv, "status"]);
      assert.match(text, /^stackwright: there is no state\.db in .*\ncode 1\n$/);
    });
  }
});

describe("a program that only may read some files", () => {
  for (const program of executables()) {
    const become = (script: string) =>
      shell(`cd "$0" && mkdir own && echo mine >own/file && echo theirs >file && ${script}`, [
        ...program.argv,
        "confined-program",
      ]);
    const cases = {
      "reads them": ['"$@" {} "$0/own" -- /bin/cat own/file', /^mine\n$/],
      "reads no others": ['"$@" {} "$0/own" -- /bin/cat file 2>&1', /ermission denied/],
      "reads no others by a way through them": [
        'ln -s ../file own/link && "$@" {} "$0/own" -- /bin/cat own/link own/../file 2>&1',
        /^(?:.*ermission denied\n){2}$/,
      ],
      "writes none": ['"$@" {} "$0" -- /bin/cp file own/copy 2>&1', /ermission denied/],
      "starts no other program": [
        '"$@" {} "$0" -- /bin/sh -c "/bin/cat own/file" 2>&1',
        /ermission denied/,
      ],
    } as const;
    for (const [what, [script, said]] of Object.entries(cases)) {
      it(`${what}: ${program.title}`, { skip: NO_LANDLOCK }, async () => {
        assert.match(await become(script), said);
      });
    }
  }
});

describe("what doctor says of that", () => {
  const doctor = async ({ argv }: Program, before: string) => {
    const script = `${before} DATA_DIR="$0/data" "$@" doctor --quick --json; true`;
    const said = JSON.parse(await shell(script, argv)) as {
      about: string;
      ok: unknown;
      says: string;
    }[];
    return said.find(({ about }) => about === "confinement");
  };
  for (const program of executables()) {
    it(
      `is that the kernel confines rendering: ${program.title}`,
      { skip: NO_LANDLOCK },
      async () => {
        const said = await doctor(program, "");
        assert.equal(said?.ok, true, said?.says);
        assert.match(said?.says ?? "", /confines rendering \(Landlock, version \d+ /);
      },
    );
    it(`is that a script in the place of compose is not confined: ${program.title}`, async () => {
      const before = `mkdir -p "$0/c/cli-plugins" && script="$0/c/cli-plugins/docker-compose" &&
        printf '#!/bin/sh\n' >"$script" && chmod +x "$script" && export DOCKER_CONFIG="$0/c";`;
      const said = await doctor(program, before);
      assert.equal(said?.ok, null);
      assert.match(said?.says ?? "", /does not confine rendering: .*docker-compose is a script/);
    });
  }
  for (const program of SOURCES) {
    it(`is that only the executable has rendering confined: ${program.title}`, async () => {
      const said = await doctor(program, "");
      assert.equal(said?.ok, null);
      assert.match(said?.says ?? "", /only the executable/);
    });
  }
});

describe("output on a pipe", () => {
  // Pipes hold 64 KiB: what is longer than that waits in the process until somebody reads.
  for (const program of PROGRAMS) {
    it(`reaches a slow reader whole: ${program.title}`, async () => {
      const words = [...program.argv, "openapi", "rest"];
      const whole = await shell(`"$@" > "$0/whole" && cat "$0/whole"`, words);
      assert.ok(whole.length > 70_000, `it needs a document that fills a pipe: ${whole.length}`);
      const slow = await shell(`"$@" | { sleep 0.5; cat; }`, words);
      assert.equal(slow.length, whole.length);
    });

    it(`may lose its reader: ${program.title}`, async () => {
      const text = await shell(`{ "$@"; echo "code $?" >&2; } 2>&1 | head -c 13`, [
        ...program.argv,
        "openapi",
        "rest",
      ]);
      assert.equal(text, '{\n  "openapi"');
    });

    it(`fails where it cannot be written: ${program.title}`, async () => {
      const text = await shell(`{ "$@" 2>&1 >/dev/full; echo "code $?"; }`, [
        ...program.argv,
        "openapi",
        "rest",
      ]);
      assert.match(text, /^stackwright: could not write the output: .*\ncode 1\n$/);
    });
  }
});

for (const program of PROGRAMS) {
  describe(`serving with ${program.title}`, () => {
    let directory: string;
    let engine: FakeEngine;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), "stackwright-serve-"));
      engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
    });
    after(async () => {
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    });

    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      it(`is healthy, logs JSON lines to standard error only, and ends with 0 on ${signal}`, async () => {
        const env = {
          DATA_DIR: join(directory, "data"),
          DOCKER_HOST: engine.host,
          HTTP_HOST: "127.0.0.2",
          HTTP_PORT: String(await freePort()),
          METRICS_PORT: String(await freePort()),
        };
        const service = new ServiceProcess(program, ["serve"], env);
        const place = `listening on http://127.0.0.2:${env.HTTP_PORT}`;
        await service.until(() => service.stderr.includes(place));
        const check = await new ServiceProcess(program, ["healthcheck"], env).ended;
        assert.equal(check.code, 0, check.stderr);
        service.kill(signal);
        const { code, stdout, stderr } = await service.ended;
        assert.equal(code, 0, stderr);
        assert.equal(stdout, "");
        const lines = stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
        for (const line of lines) {
          assert.match(line.time, /^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/);
          assert.match(line.level, /^(debug|info|warning|error)$/);
          assert.equal(typeof line.msg, "string");
        }
        assert.equal(lines.at(-1).msg, "stopped");
      });
    }

    it("is the only one of its data directory until it ends, be it killed", async () => {
      const serve = async () => {
        const env = {
          DATA_DIR: join(directory, "one"),
          DOCKER_HOST: engine.host,
          HTTP_PORT: String(await freePort()),
          METRICS_PORT: String(await freePort()),
        };
        return new ServiceProcess(program, ["serve"], env);
      };
      const first = await serve();
      await first.until(() => first.stderr.includes("listening on "));
      const second = await (await serve()).ended;
      assert.equal(second.code, 78, second.stderr);
      assert.match(second.stderr, new RegExp(`another stackwright serve \\(process ${first.pid} `));
      first.kill("SIGKILL");
      await first.ended;
      const third = await serve();
      await third.until(() => third.stderr.includes("listening on "));
      third.kill("SIGTERM");
      assert.equal((await third.ended).code, 0);
    });

    it("ends with 69 where its port is taken: who restarts it may try again", async () => {
      const other = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => other.once("listening", resolve));
      const { port } = other.address() as AddressInfo;
      try {
        const { code, stderr } = await new ServiceProcess(program, ["serve"], {
          DATA_DIR: join(directory, "data"),
          HTTP_HOST: "127.0.0.1",
          HTTP_PORT: String(port),
          METRICS_PORT: String(await freePort()),
        }).ended;
        assert.equal(code, 69, stderr);
        assert.match(stderr, new RegExp(`127.0.0.1:${port}: another program uses .* HTTP_PORT`));
        assert.doesNotMatch(stderr, /Failed to start/);
      } finally {
        await new Promise((resolve) => other.close(resolve));
      }
    });

    it("cannot start without its data directory: one line says which, the exit code is 69", async () => {
      const file = join(directory, "file");
      await writeFile(file, "");
      const service = new ServiceProcess(program, ["serve"], {
        DATA_DIR: file,
        HTTP_PORT: "18090",
      });
      const { code, stderr } = await service.ended;
      assert.equal(code, 69, stderr);
      assert.ok(stderr.includes(file), stderr);
    });
  });
}

function withoutTime(text: string): string {
  return text.replaceAll(/"time":"[^"]*"/g, '"time":""');
}

/** Standard output of a script of the shell; `$0` is an empty directory of its own. */
async function shell(script: string, words: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-pipe-"));
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn("sh", ["-c", script, directory, ...words], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const chunks: Uint8Array[] = [];
      child.stdout.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      child.on("error", reject);
      child.on("close", () => resolve(Buffer.concat(chunks).toString()));
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
