import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { startByHand } from "../flow/by_hand.ts";
import { composeFile, configFile, type Part, service } from "../flow/compose_text.ts";
import { listeningCompose, OURS, STEERING, subcommand } from "../flow/listening_compose.ts";
import {
  bytesBelow,
  CANARY,
  filesOf,
  makePrey,
  type NamedAttack,
  one,
  OURS as OURS_MOUNTED,
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

/**
 * The many attacks on paths that test/flow/path_safety_test.ts tries in its own process, each of them: here
 * one of each four, of a sample one of each twelve. `ATTACKS=all` tries all.
 */
const EVERY = { all: 1, sample: 12 }[process.env["ATTACKS"] ?? ""] ?? 4;
const chosen = (attacks: readonly NamedAttack[]) =>
  attacks.filter((_, index) => index % EVERY === 0);

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
async function applyInside(project: string, options: readonly string[] = []): Promise<Ended> {
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
    ...options,
    ...[IMAGE, `/program/${basename(PROGRAM.argv[0])}`, "apply", "--json", world.repository.url],
  ] as const;
  return await new ServiceProcess({ title: "docker", argv: ["docker"] }, argv, {}).ended;
}

/** A mirror below a directory. */
async function mirrorBelow(directory: string): Promise<string> {
  const heads = (await readdir(directory, { recursive: true })).filter((path) =>
    basename(path) === "HEAD"
  );
  assert.ok(heads[0] !== undefined, "there is no mirror");
  return join(directory, dirname(heads[0]));
}

function refused(ended: Ended, says: RegExp): void {
  const shown = `${ended.stdout}${ended.stderr}`;
  assert.equal(ended.code, 1, shown);
  assert.match(shown, says);
  assert.ok(!shown.includes(CANARY) && !shown.includes(TOKEN), "the canary was shown");
}

/** What says whose something is, as only we may say it. */
const FORGED = { "stackwright.source.configuration": "host/evil" };

describe("a hostile repository before the executable", { skip }, () => {
  let good: string;
  before(async () => {
    const made = await makePrey();
    proof = join(made.outside, "proof");
    await writeFile(join(made.outside, "evil.sh"), `#!/bin/sh\ntouch '${proof}'\n`, {
      mode: 0o755,
    });
    world = await createWorld({ engine: "real" });
    for (const name of ["to-data", "to$data"]) {
      await symlink(world.dataDir, join(made.outside, name));
    }
    prey = { ...made, dataDir: world.dataDir };
    const first = await commitAndApply({
      "compose.yaml": composeFile({
        web: service({
          volumes: ["./state:/state", "data:/data"],
          labels: FORGED,
        }),
      }, { volumes: { data: { labels: FORGED } } }),
      "state/kept": "one",
    });
    assert.equal(first.code, 0, first.stderr);
    good = await world.repository.git("rev-parse", "HEAD");
  });
  after(async () => {
    await world.close();
    await rm(prey.outside, { recursive: true });
  });

  it("says nothing about itself in labels that are ours", async () => {
    const web = await docker(world, "inspect", `${world.stack}-web-1`);
    const data = await docker(world, "volume", "inspect", `${world.stack}_data`);
    assert.match(web, /"stackwright.source.configuration": "local\//);
    assert.match(data, /"stackwright.source.name": "local\//);
    assert.doesNotMatch(web + data, /host\/evil/);
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
    const config = join(prey.outside, "docker");
    const { started } = await listeningCompose(config);
    const evil = join(prey.outside, "evil.sh");
    const steering = { ...STEERING, BASH_ENV: evil, ENV: evil, GIT_SSH_COMMAND: evil };
    const lines = Object.entries(steering).map(([name, value]) => `${name}=${value}\n`);
    const shell = { "BASH_FUNC_read%%": `() { ${evil}; }`, SHELLOPTS: "xtrace", PS4: `$(${evil})` };
    const build = { context: ".", dockerfile_inline: `FROM ${IMAGE}\nARG WORD=none\n` };
    const web = { ...service({ build, secrets: ["token"] }), image: "swt-steered:1" };
    const ended = await commitAndApply(
      {
        // The second service has a key for which compose is called.
        "compose.yaml": composeFile({ web, other: service({ links: ["web"] }) }, {
          secrets: { token: { environment: "AWS_SECRET_ACCESS_KEY" } },
        }),
        ".env": `${lines.join("")}AWS_SECRET_ACCESS_KEY=of-the-repository\n`,
      },
      {
        environment: { BASH_ENV: evil, SHELLOPTS: "xtrace", PS4: `$(${evil})` },
        build: { args: { WORD: "word-of-the-build" } },
      },
      { ...shell, DOCKER_CONFIG: config },
    );
    // Not by another engine, which the dotenv file names.
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(existsSync(proof), false, "a program of the repository's choice was started");
    const calls = await started();
    assert.deepEqual([...new Set(calls.map(subcommand))].sort(), ["build", "config", "up"]);
    for (const call of calls) {
      assert.ok(call.by.startsWith("stackwright"), `${call.by} stands before ${call.args}`);
      assert.deepEqual(call.names.filter((name) => !OURS.test(name)), [], call.args);
      assert.doesNotMatch(call.args, /word-of-the-build/);
      assert.equal(/ --env-file \S*\/\.env /.test(call.args), subcommand(call) === "config");
    }
    await docker(world, "rm", "--force", `${world.stack}-web-1`);
    await docker(world, "image", "rm", "--force", "swt-steered:1");
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

  it("starts no program by files of a checkout that look like another repository to git", async () => {
    await world.repository.reset(good);
    const config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /tmp\n" +
      `\tfsmonitor = "touch '${proof}'; false"\n[remote "origin"]\n\turl = https://h.example/x\n`;
    const looks = { HEAD: "ref: refs/heads/x\n", "refs/x": "x", "objects/x": "x", config };
    const files = Object.entries(looks).map(([path, text]) => [`apps/shop/${path}`, text]);
    await world.repository.commit({ ...Object.fromEntries(files), "apps/shop/sub/x": "x" });
    const top = await world.repository.git("rev-parse", "--show-toplevel");
    refused(await apply(join(top, "apps/shop")), /looks like a bare repository/);
    const ended = await apply(join(top, "apps/shop/sub"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, new RegExp(`"stack":"${world.stack}"`));
    assert.equal(existsSync(proof), false, "a program of the repository's choice was started");
  });

  const refusals: [string, Part, RegExp][] = [
    [
      "a remote build context",
      { build: "https://example.org/x.git" },
      /build context from elsewhere/,
    ],
    ["a seccomp profile behind a line break", {
      security_opt: ["seccomp=x\n/../../../etc/passwd"],
    }, /seccomp profile by a relative path/],
    ["a quoted destination of a build cache", {
      build: { context: ".", cache_to: ['type=local,"dest=/etc/x"'] },
    }, /cache_to with a directory/],
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

  it("names no variable that only a shell could read", async () => {
    await world.repository.reset(good);
    const environment = { "BASH_FUNC_read%%": "() { id; }" };
    const files = { "compose.yaml": composeFile({ web: service() }) };
    refused(await commitAndApply(files, { environment }), /BASH_FUNC_read%%.* is no name of a var/);
  });

  it("reads no mirror of another source as its submodule", async () => {
    // It lies beside the data directory, so that relative URLs lead there.
    const thief = await createRepository(dirname(world.dataDir));
    await thief.commit({
      ".stackwright.yaml": configFile({ name: `${world.stack}-thief` }),
      "compose.yaml": composeFile({ web: service() }),
    });
    const mirror = await mirrorBelow(join(world.dataDir, "sources"));
    for (const url of [`../${relative(dirname(world.dataDir), mirror)}`, mirror]) {
      await thief.submodule("evil", url, good);
      refused(await apply(thief.url), /submodule evil: /);
    }
    // Nor what lies elsewhere on this machine.
    const far = await createRepository(join(prey.outside, "far"));
    await far.commit({
      ".stackwright.yaml": configFile({ name: `${world.stack}-far` }),
      "compose.yaml": composeFile({ web: service() }),
    });
    for (const url of [world.repository.path, relative(far.path, world.repository.path)]) {
      await far.submodule("evil", url, good);
      refused(await apply(far.url), /submodule evil: .* is a path on this machine/);
    }
  });

  it("gets no mount of our data from another project's container", async () => {
    await world.repository.reset(good);
    const name = `${world.stack}-prey`;
    await docker(world, "create", "--name", name, "--volume", `${world.dataDir}:/x`, IMAGE);
    try {
      const web = service({ volumes_from: [`container:${name}:ro`] });
      refused(await commitAndApply({ "compose.yaml": composeFile({ web }) }), OURS_MOUNTED);
    } finally {
      await docker(world, "rm", "--force", name);
    }
  });

  it("sends nothing to a terminal that steers it", async () => {
    await world.repository.reset(good);
    const command = ["sh", "-c", "printf '\\033]0;evil\\007bad\\n'; exit 3"];
    const failed = await commitAndApply(
      { "compose.yaml": composeFile({ web: service({ command }) }) },
      {},
      { LOG_FORMAT: "text" },
    );
    assert.equal(failed.code, 1, failed.stdout);
    assert.ok(PROGRAM);
    const told = await new ServiceProcess(PROGRAM, ["explain", world.stack], world.env).ended;
    assert.equal(told.code, 0, told.stderr);
    for (const shown of [failed.stderr, told.stdout]) {
      assert.match(shown, /\\u001b\]0;evil\\u0007bad/);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(`${shown}${failed.stdout}`, /[\u001b\u0007]/);
    }
  });

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
    // Also where no ledger knows the stack: its volumes say whose it is.
    const empty = join(prey.outside, "empty");
    await mkdir(empty);
    refused(await apply(thief.url, { DATA_DIR: empty }), /stackwright adopt/);
    assert.deepEqual(await ids(world), {});
    const back = await apply();
    assert.equal(back.code, 0, back.stderr);
  });

  it("prepares no volume or network for a stack to come, whatever labels it gives it", async () => {
    await world.repository.reset(good);
    const later = `${world.stack}-later`;
    const victim = await createRepository(join(prey.outside, "later"));
    await victim.commit({
      ".stackwright.yaml": configFile({ name: later }),
      "compose.yaml": JSON.stringify(one({ volumes: ["data:/data"] }, { volumes: { data: {} } })),
    });
    const junk = Object.fromEntries(
      Array.from({ length: 700 }, (_, at) => [`cd.doco.z${at}`, "x"]),
    );
    const hiding = { "com.docker.compose.service": "a".repeat(5000) };
    const traps = [
      [{ volumes: ["mine:/mine"] }, {
        volumes: { mine: { name: `${later}_data`, labels: hiding } },
      }],
      [{ networks: ["mine"] }, { networks: { mine: { name: `${later}_default`, labels: junk } } }],
    ] as const;
    const empty = join(prey.outside, "hidden");
    await mkdir(empty);
    for (const [use, trap] of traps) {
      const set = await commitAndApply({
        "compose.yaml": composeFile({ web: service(use) }, trap),
      });
      assert.equal(set.code, 0, set.stderr);
      refused(await apply(victim.url), /which runs from|already has/);
      refused(await apply(victim.url, { DATA_DIR: empty }), /which runs from|already has/);
      assert.deepEqual(await ids(world, later), {});
      const gone = await commitAndApply({}, { destroy: true });
      assert.equal(gone.code, 0, gone.stderr);
    }
    await world.repository.reset(good);
    assert.equal((await apply()).code, 0);
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

  it("cannot do so where that shares another container's network, and joins none of its namespaces", async () => {
    await world.repository.reset(good);
    const [side, inside] = [`${world.stack}-side`, `${world.stack}-inside`];
    const within = ["--network", `container:${side}`, "--name", inside];
    await docker(world, "run", "--detach", "--init", "--name", side, IMAGE, "sleep", "1000");
    try {
      const attempt = async (name: string, keys: Record<string, unknown>, says: RegExp) => {
        await world.repository.commit({
          ".stackwright.yaml": configFile({ name }),
          "compose.yaml": composeFile({ app: service(keys) }),
        });
        refused(await applyInside(`${world.stack}-own`, within), says);
      };
      await attempt(`${world.stack}-own`, {}, /is the project that Stackwright itself runs in/);
      const pid = `container:${inside}`;
      await attempt(world.stack, { pid }, /the container \S+ is Stackwright itself, whose/);
      const network_mode = `container:${side}`;
      await attempt(world.stack, { network_mode }, /shares namespaces with Stackwright itself/);
    } finally {
      await docker(world, "rm", "--force", side);
    }
  });

  describe("what containers mount that no model names", () => {
    /** A key that leaves the containers to docker compose, which hands mounts on. */
    const BY_COMPOSE = { links: ["web"] };
    const web = service();

    it("is not handed on from the containers of a project that a person started", async () => {
      const stack = `${world.stack}h`;
      const backup = service({ volumes: [`${world.dataDir}:/v:ro`] });
      for (
        const services of [
          { web, backup: service({ ...BY_COMPOSE, volumes: ["/v"] }) },
          { web: service({ volumes_from: ["backup"] }), backup: service({ scale: 0 }) },
        ]
      ) {
        await startByHand(world, composeFile({ backup }), { project: stack });
        const ended = await commitAndApply({ "compose.yaml": composeFile(services) }, {
          name: stack,
        });
        refused(ended, /its compose file does not name|no container of its own/);
        const mounts = await docker(world, "inspect", `${stack}-backup-1`);
        assert.match(mounts, /"RW": false/);
        const there = Object.values(await ids(world, stack));
        await docker(world, "rm", "--force", ...there);
      }
    });

    it("is not handed on from a container before, by a link that was put there since", async () => {
      const stack = `${world.stack}l`;
      const inner = (more: Part) => ({ web, inner: service({ ...BY_COMPOSE, ...more }) });
      const first = inner({ volumes: ["./own/sub:/v"] });
      const { code, stderr } = await commitAndApply({ "compose.yaml": composeFile(first) }, {
        name: stack,
      });
      assert.equal(code, 0, stderr);
      const sub = join(world.dataDir, "releases/default", stack, "live/own/sub");
      await rm(sub, { recursive: true });
      await symlink(world.dataDir, sub);
      const next = inner({ volumes: ["/v"], environment: { A: "2" } });
      const ended = await commitAndApply({ "compose.yaml": composeFile(next) }, { name: stack });
      refused(ended, /its compose file does not name/);
      assert.match(await docker(world, "inspect", `${stack}-inner-1`), /"Status": "created"/);
      await docker(world, "rm", "--force", ...Object.values(await ids(world, stack)));
    });
  });

  it("gets nothing written into a commit's files by a volume that shows them", async () => {
    const name = `${world.stack}-shown`;
    const driver_opts = { type: "none", o: "bind", device: "./shown" };
    const shows = { name, driver: "local", driver_opts };
    const writes = service({
      command: ["sh", "-c", "echo written > /x/written; sleep 1000"],
      volumes: ["again:/x"],
      depends_on: ["web"],
    });
    const ended = await commitAndApply({
      "compose.yaml": composeFile({
        web: service({ volumes: ["shown:/x:ro", "./state:/state"] }),
        writes,
      }, { volumes: { shown: shows, again: { name } } }),
      "shown/file": "one",
    });
    assert.equal(ended.code, 0, ended.stderr);
    const live = join(world.dataDir, "releases/default", world.stack, "live/shown");
    assert.deepEqual((await readdir(live)).sort(), ["file", "written"]);
    const below = await readdir(join(world.dataDir, "sources"), { recursive: true });
    assert.ok(below.some((path) => path.endsWith("shown/file")));
    assert.deepEqual(below.filter((path) => path.endsWith("written")), []);
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
      ["a word of 120,000 characters", {
        "compose.yaml": `services: {web: ${"x".repeat(120_000)}}`,
      }],
      ["a comment of 250,000 characters", {
        "compose.yaml": `# ${"-".repeat(250_000)}\nservices: []\n`,
      }],
      ["spaces without an end in a dotenv file", {
        "compose.yaml": composeFile({ web: service() }),
        ".env": `A=b${" ".repeat(80_000)}c\n`,
      }],
      ["a file of megabytes", {
        "compose.yaml": Array.from({ length: 250_000 }, (_, n) => `k${n}: 1\n`).join(""),
      }],
      ["40,000 keys", {
        "compose.yaml": `services:\n${
          Array.from({ length: 40_000 }, (_, n) => `  s${n}: 1\n`).join("")
        }`,
      }],
    ] as const
  ) {
    it(`${title} is answered`, async () => {
      await world.repository.reset(good);
      await world.repository.commit({
        ".stackwright.yaml": configFile({ name: world.stack }),
        ...files,
      });
      assert.ok(PROGRAM);
      // The kernel ends what thinks for long: an apply takes half a second of a processor.
      const bounded = ["-c", 'ulimit -t 10; exec "$@"', "sh", ...PROGRAM.argv, "apply", "--json"];
      const program = { title: "sh", argv: ["/bin/sh"] } as const;
      const ended = new ServiceProcess(program, [...bounded, world.repository.url], world.env);
      const { code, signal, stderr } = await ended.ended;
      assert.ok(code === 0 || code === 1, `${code} ${signal} ${stderr}`);
    });
  }
});
