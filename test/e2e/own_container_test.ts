import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { writeContext } from "../fakes/context_files.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import {
  type SecondEngine,
  secondEngineMissing,
  startSecondEngine,
} from "../fakes/second_engine.ts";
import { composeFile, configFile, type Part, service } from "../flow/compose_text.ts";
import { IMAGE } from "../flow/world.ts";
import { executables } from "./service_process.ts";

const [PROGRAM] = executables();
const skip = process.env["SECOND_ENGINE"] === "skip" || PROGRAM === undefined
  ? "only ./scripts/test all starts a second engine, for the executable"
  : (await findRealEngine()).unavailable ?? secondEngineMissing();
if (skip !== false) process.stderr.write(`\n*** ${skip} ***\n`);

const LINKED = "swt-linked:1";
const PROJECT = "com.docker.compose.project";
/** Where the kernel mounts something into every container. */
const KERNELS = ["/dev/shm", "/dev/mqueue", "/sys/firmware", "/sys/fs/cgroup", "/dev/pts"];

describe("the executable in a VPN's network, on an engine that names no layers", { skip }, () => {
  let directory: string;
  let engine: SecondEngine;
  let repository: FakeRepository;
  before(async () => {
    engine = await startSecondEngine({ "containerd-snapshotter": true });
    directory = await mkdtemp(join(tmpdir(), "swt-own-"));
    repository = await createRepository(join(directory, "git"));
    writeContext(directory, "same", { host: "unix:///var/run/docker.sock" });
    // As in Debian, and so in the image of Stackwright.
    const linked =
      `FROM ${IMAGE}\nRUN rm -rf /var/run && mkdir -p /run /var && ln -s /run /var/run\n`;
    await writeFile(join(directory, "Dockerfile"), linked);
    await docker("build", "--quiet", "--network", "none", "--tag", LINKED, directory);
  });
  after(async () => {
    await engine?.close();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  const docker = async (...args: readonly string[]) => {
    const env = { ...process.env, DOCKER_HOST: engine.socketHost, DOCKER_BUILDKIT: "0" };
    return (await promisify(execFile)("docker", args, { env })).stdout.trim();
  };
  const ofProject = (name: string, of: string) => [
    ...["--label", `${PROJECT}=${name}`, "--label", `com.docker.compose.service=${of}`],
    ...["--label", "com.docker.compose.oneoff=False"],
  ];
  const startVpn = async () => {
    const labels = ofProject("home", "vpn");
    await docker("run", "-d", "--init", "--name", "vpn", ...labels, IMAGE, "sleep", "100000");
    // As a stack may have been deployed before: it looks as if it had more of our mounts than we have.
    const mounts = KERNELS.flatMap((each, at) => ["--volume", `spy${at}:${each}`]);
    const spy = ["--name", "spy", ...ofProject("spy", "spy"), "--network", "container:vpn"];
    await docker("run", "-d", "--init", ...spy, ...mounts, IMAGE, "sleep", "100000");
  };

  /** Runs `apply` in a container of the project `ops` that joined the VPN, and `meanwhile` before it begins. */
  async function apply(
    [configuration, body, rest]: readonly [Part, Part, Part?],
    { options = [], meanwhile = () => Promise.resolve() }: {
      options?: readonly string[];
      meanwhile?: () => Promise<unknown>;
    } = {},
  ): Promise<string> {
    assert.ok(PROGRAM);
    await repository.commit({
      ".stackwright.yaml": configFile(configuration),
      "compose.yaml": composeFile({ vpn: service({ network_mode: "none", ...body }) }, rest),
    });
    const places = ["/usr", "/bin", "/lib", "/lib64"].filter((each) => existsSync(each));
    const env = {
      ...{ PATH: process.env["PATH"], HOME: "/root", DATA_DIR: "/data" },
      ...{ DOCKER_CONFIG: directory, ALLOW_LOCAL_REPOSITORY_URL: "true" },
    };
    const program = `/program/${basename(PROGRAM.argv[0])}`;
    await docker(
      ...["run", "-d", "--init", "--name", "sw", ...ofProject("ops", "sw")],
      ...["--network", "container:vpn", "--cgroupns", "private"],
      ...places.flatMap((each) => ["--volume", `${each}:${each}:ro`]),
      ...["--volume", `${dirname(PROGRAM.argv[0])}:/program:ro`, "--volume", "swdata:/data"],
      ...["--volume", `${directory}:${directory}:ro`],
      ...["--volume", `${engine.socketHost.slice("unix://".length)}:/var/run/docker.sock`],
      ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
      ...options,
      ...[LINKED, "sh", "-c", 'until [ -e /data/go ]; do sleep 0.1; done; rm /data/go; exec "$@"'],
      ...["sh", program, "apply", repository.url],
    );
    try {
      await meanwhile();
      await docker("exec", "sw", "touch", "/data/go");
      const code = await docker("wait", "sw");
      const { stdout, stderr } = await promisify(execFile)("docker", [
        ...["--host", engine.socketHost, "logs", "sw"],
      ]);
      assert.equal(code, "1", stdout + stderr);
      return stdout + stderr;
    } finally {
      await docker("rm", "--force", "sw");
    }
  }

  const OWN = /ops is the project that Stackwright itself runs in \(container sw\)/;
  const external = { volumes: { ddd: { external: true, name: "swdata" } } };
  const readOnly = ["--read-only", "--tmpfs", "/tmp"];

  it("neither replaces itself nor the VPN, and keeps its data to itself", async () => {
    await startVpn();
    try {
      for (const options of [[], readOnly]) {
        assert.match(await apply([{ name: "ops" }, {}], { options }), OWN);
        const data = { volumes: ["ddd:/ddd"] };
        assert.match(
          await apply([{ name: "thief" }, data, external], { options }),
          /Stackwright itself/,
        );
      }
      const vpn = await docker("inspect", "--format", "{{.Id}} {{.State.StartedAt}}", "vpn");
      assert.match(
        await apply([{ name: "home" }, {}]),
        /home is the project that has the network or processes which Stackwright itself uses \(container vpn\)/,
      );
      assert.equal(await docker("inspect", "--format", "{{.Id}} {{.State.StartedAt}}", "vpn"), vpn);
    } finally {
      await docker("rm", "--force", "vpn", "spy");
    }
  });

  it("does not replace itself either where the VPN is gone, by whichever context", async () => {
    for (const context of ["default", "same"]) {
      await startVpn();
      try {
        const meanwhile = () => docker("rm", "--force", "vpn");
        assert.match(await apply([{ name: "ops", context }, {}], { meanwhile }), OWN);
      } finally {
        await docker("rm", "--force", "vpn", "spy");
      }
    }
  });
});
