import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { composeFile, configFile, type Part, service } from "../flow/compose_text.ts";
import {
  bytesBelow,
  CANARY,
  filesOf,
  makePrey,
  type NamedAttack,
  one,
  PATH_ATTACKS,
  type Prey,
  TOKEN,
} from "../flow/path_attacks.ts";
import { docker, ids } from "../flow/steps.ts";
import { createWorld, engines, IMAGE, realSocket, type World } from "../flow/world.ts";
import { type Ended, executables, ServiceProcess } from "./service_process.ts";

/** What repositories may never do, tried on the compiled executable and the real engine. */
const [PROGRAM] = executables();
const skip = PROGRAM === undefined || !(await engines()).includes("real");

/** `ATTACKS=sample` tries one of each eight of the many that other tests try in the same process. */
const SAMPLE = process.env["ATTACKS"] === "sample";
const chosen = (attacks: readonly NamedAttack[]) =>
  attacks.filter((_, index) => !SAMPLE || index % 8 === 0);

/** A place to leave a trace at, for a program that no repository may start. */
let proof: string;
let world: World;
let prey: Prey;

/** Runs the executable's `apply` for a repository. */
async function apply(
  url: string = world.repository.url,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  assert.ok(PROGRAM);
  const settings = { ...world.env, WEBHOOK_SECRET_FILE: join(prey.outside, "token"), ...env };
  return await new ServiceProcess(PROGRAM, ["apply", "--json", url], settings).ended;
}

async function commitAndApply(
  files: Readonly<Record<string, string>>,
  configuration: Part = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  await world.repository.commit({
    ".stackwright.yaml": configFile({ name: world.stack, ...configuration }),
    ...files,
  });
  return await apply(world.repository.url, env);
}

/** Runs `apply` in a container of service `app` of a compose project, with the programs of this host. */
async function applyInside(project: string): Promise<Ended> {
  assert.ok(PROGRAM);
  const places = ["/usr", "/bin", "/lib", "/lib64", "/etc"].filter((each) => existsSync(each));
  const own = dirname(world.dataDir);
  const label = (name: string, value: string) => ["--label", `com.docker.compose.${name}=${value}`];
  const argv = [
    ...[
      "--host",
      `unix://${await realSocket()}`,
      "run",
      "--rm",
      "--user",
      `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    ],
    ...[...label("project", project), ...label("service", "app"), ...label("oneoff", "False")],
    ...places.flatMap((each) => ["--volume", `${each}:${each}:ro`]),
    ...["--volume", `${dirname(PROGRAM.argv[0])}:/program:ro`, "--volume", `${own}:${own}`],
    ...Object.entries(world.env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...[IMAGE, `/program/${basename(PROGRAM.argv[0])}`, "apply", "--json", world.repository.url],
  ] as const;
  return await new ServiceProcess({ title: "docker", argv: ["docker"] }, argv, {}).ended;
}

function refused(ended: Ended, says: RegExp): void {
  const shown = `${ended.stdout}${ended.stderr}`;
  assert.equal(ended.code, 1, shown);
  assert.match(shown, says);
  assert.ok(!shown.includes(CANARY) && !shown.includes(TOKEN), "the canary was shown");
}

describe("a hostile repository before the executable", { skip }, () => {
  let good: string;
  before(async () => {
    const made = await makePrey();
    proof = join(made.outside, "proof");
    await writeFile(join(made.outside, "evil.sh"), `#!/bin/sh\ntouch '${proof}'\n`, {
      mode: 0o755,
    });
    world = await createWorld({ engine: "real" });
    await symlink(world.dataDir, join(made.outside, "to-data"));
    prey = { ...made, dataDir: world.dataDir };
    const first = await commitAndApply({
      "compose.yaml": composeFile({ web: service({ volumes: ["./state:/state", "data:/data"] }) }, {
        volumes: { data: {} },
      }),
      "state/kept": "one",
    });
    assert.equal(first.code, 0, first.stderr);
    good = await world.repository.git("rev-parse", "HEAD");
  });
  after(async () => {
    await world.close();
    await rm(prey.outside, { recursive: true });
  });

  for (const attack of chosen(PATH_ATTACKS)) {
    it(`${attack.title} is refused`, async () => {
      await world.repository.reset(good);
      const running = await ids(world);
      await world.repository.commit(filesOf(attack, prey, world.stack));
      refused(await apply(), attack.says);
      assert.deepEqual(await ids(world), running);
    });
  }

  it("leaves no trace of what it was after in the data directory", async () => {
    const kept = await bytesBelow(world.dataDir);
    assert.ok(!kept.includes(CANARY) && !kept.includes(TOKEN), "the canary was kept");
  });

  it("starts no program by a dotenv file, the configuration or a shell's functions", async () => {
    await world.repository.reset(good);
    const evil = join(prey.outside, "evil.sh");
    const steering = {
      AWS_CONFIG_FILE: join(prey.outside, "aws"),
      BASH_ENV: evil,
      ENV: evil,
      GIT_SSH_COMMAND: evil,
      DOCKER_HOST: "tcp://127.0.0.1:9",
      LD_PRELOAD: evil,
      BUILDX_CONFIG: prey.outside,
    };
    await writeFile(join(prey.outside, "aws"), `[default]\ncredential_process = ${evil}\n`);
    const lines = Object.entries(steering).map(([name, value]) => `${name}=${value}\n`);
    const shell = { "BASH_FUNC_read%%": `() { ${evil}; }`, SHELLOPTS: "xtrace", PS4: `$(${evil})` };
    const build = {
      context: ".",
      dockerfile_inline: `FROM ${IMAGE}\n`,
      cache_from: ["type=s3,region=eu-central-1,bucket=b"],
    };
    const ended = await commitAndApply(
      {
        "compose.yaml": composeFile({ web: { ...service({ build }), image: undefined } }),
        ".env": lines.join(""),
      },
      { environment: { AWS_SDK_LOAD_CONFIG: "1" } },
      shell,
    );
    assert.match(`${ended.stdout}${ended.stderr}`, /deploy|build|cache/i);
    assert.equal(existsSync(proof), false, "a program of the repository's choice was started");
  });

  it("starts no program by files that look like another repository to buildx", async () => {
    await world.repository.reset(good);
    const commands = `touch '${proof}';`;
    const build = { context: ".", dockerfile_inline: `FROM ${IMAGE}\nCOPY HEAD /\n` };
    const ended = await commitAndApply({
      "compose.yaml": composeFile({
        // Beside the image that other tests use: what no container has is removed.
        web: service({}),
        made: service({ image: "swt-bare:1", build }),
      }),
      "HEAD": "ref: refs/heads/x\n",
      "refs/heads/x": `${"1".repeat(40)}\n`,
      "objects/x": "",
      // What it lacks, git fetches by the program that the remote's configuration names.
      "config": "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tworktree = .\n" +
        '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n' +
        `\turl = /tmp\n\tuploadpack = "${commands}"\n`,
    });
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(existsSync(proof), false, "a program of the repository's choice was started");
    await docker(world, "image", "rm", "--force", "swt-bare:1");
  });

  const refusals: [string, Part, RegExp][] = [
    ["a remote build context", { build: "https://example.org/x.git" }, /build/],
    ["a seccomp profile behind a line break", {
      security_opt: ["seccomp=x\n/../../../etc/passwd"],
    }, /seccomp|security_opt/],
    ["a quoted destination of a build cache", {
      build: { context: ".", cache_to: ['type=local,"dest=/etc/x"'] },
    }, /cache_to|lies? outside|leads? out/],
    ["a build context that buildx evaluates", {
      build: { context: ".%{if true}.%{endif}/.%{if true}.%{endif}/etc" },
    }, /context with \$\{ or %\{/],
    ["a service named like an option", {}, /--push/],
  ];
  for (const [title, keys, says] of refusals) {
    it(`${title} is refused`, async () => {
      await world.repository.reset(good);
      const name = title.includes("option") ? "--push" : "web";
      refused(
        await commitAndApply({ "compose.yaml": composeFile({ [name]: service(keys) }) }),
        says,
      );
    });
  }

  it("takes over nothing of a stack whose containers are gone", async () => {
    await world.repository.reset(good);
    await apply();
    await docker(world, "rm", "--force", `${world.stack}-web-1`);
    const thief = await createRepository(join(prey.outside, "thief"));
    await thief.commit({
      ".stackwright.yaml": configFile({ name: world.stack }),
      "compose.yaml": JSON.stringify(one({ volumes: ["data:/data"] }, { volumes: { data: {} } })),
    });
    refused(await apply(thief.url), /stackwright adopt/);
    assert.deepEqual(await ids(world), {});
    const back = await apply();
    assert.equal(back.code, 0, back.stderr);
  });

  it("cannot replace or remove the container that the executable runs in", async () => {
    await world.repository.reset(good);
    const project = `${world.stack}-own`;
    for (const destroy of [false, true]) {
      await world.repository.commit({
        ".stackwright.yaml": configFile({ name: project, destroy }),
        "compose.yaml": composeFile({ app: service() }),
      });
      refused(await applyInside(project), /is the project that Stackwright itself runs in/);
    }
  });

  it("gets nothing written where a container's link leads", async () => {
    await world.repository.reset(good);
    assert.equal((await apply()).code, 0);
    const live = join(world.dataDir, "releases/default", world.stack, "live");
    const stolen = join(prey.outside, "stolen");
    await rename(join(live, "state"), stolen);
    await symlink(stolen, join(live, "state"));
    const ended = await commitAndApply({
      "compose.yaml": composeFile({ web: service({ volumes: ["./state:/state"] }) }),
      "state/kept": "two",
    });
    refused(ended, /leads out of the stack's live files/);
    assert.equal(await readFile(join(stolen, "kept"), "utf8"), "one");
  });

  for (
    const [title, files] of [
      ["a word of 60,000 characters", { "compose.yaml": `services: {web: ${"x".repeat(60_000)}}` }],
      ["a comment of 250,000 characters", {
        "compose.yaml": `# ${"-".repeat(250_000)}\nservices: []\n`,
      }],
      ["spaces without an end in a dotenv file", {
        "compose.yaml": composeFile({ web: service() }),
        ".env": `A=b${" ".repeat(80_000)}c\n`,
      }],
      ["20,000 keys", {
        "compose.yaml": `services:\n${
          Array.from({ length: 20_000 }, (_, n) => `  s${n}: 1\n`).join("")
        }`,
      }],
    ] as const
  ) {
    it(`${title} is answered`, async () => {
      await world.repository.reset(good);
      const { code, stderr } = await commitAndApply(files);
      assert.ok(code === 0 || code === 1, stderr);
    });
  }
});
