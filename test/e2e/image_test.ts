import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import { freePort } from "../fakes/free_port.ts";
import { DEBIAN_IMAGE, isMirrorsFault, noDebian, run } from "./debian.ts";
import { NO_LANDLOCK } from "./no_landlock.ts";
import { ROOT } from "./service_process.ts";

const name = `swt-image-${randomBytes(3).toString("hex")}`;

/** Builds the image, and returns what is wrong with it; throws where its packages cannot be had. */
async function build(): Promise<unknown> {
  const base = ["--build-arg", `BASE=${DEBIAN_IMAGE}`, "--network", "host"];
  const argv = ["build", "-q", "-f", `${ROOT}Containerfile`, ...base, "-t", name, ROOT];
  return await run("docker", argv).then(() => undefined, (error: unknown) => {
    if (isMirrorsFault(error)) throw error;
    return error;
  });
}

let fault: unknown;
const skip = await noDebian(async () => void (fault = await build())) ?? false;

/** docs/compose.yaml, with names, paths and ports of this test's own, and a repository to poll. */
function composeFile(text: string, directory: string, port: number): string {
  return text
    .replace(/^name: .*$/m, `name: ${name}`)
    .replace("image: stackwright", `image: ${name}`)
    .replace("127.0.0.1:8080:8080", `127.0.0.1:${port}:8080`)
    .replaceAll("/var/lib/stackwright", `${directory}/data`)
    .replace("    command: [serve]", `      - ${directory}/shop:/srv/shop:ro\n    command: [serve]`)
    .replace(/^ {6}# A list;.*$/m, "      - {url: /srv/shop, reference: main, interval: 0}");
}

const SHOP = `services:
  web:
    image: ${name}-web
    build: {context: ., dockerfile_inline: "FROM ${BUSYBOX_IMAGE}"}
    command: [httpd, -f, -p, "80", -h, /site]
    init: true
    volumes: ["./site:/site:ro", "./data:/data"]
  other: {image: "${BUSYBOX_IMAGE}", init: true}
`;

describe("the image, started with docs/compose.yaml", { skip }, () => {
  let directory: string;
  let port: number;

  const compose = (...args: string[]) =>
    run("docker", ["compose", "--project-directory", directory, ...args]);
  const git = (...args: string[]) =>
    run("git", ["-C", `${directory}/shop`, "-c", "user.name=t", "-c", "user.email=t@t", ...args]);
  const ids = async () => {
    const containers = await run("docker", [
      "ps",
      "--filter",
      `label=com.docker.compose.project=${name}-shop`,
      "--format",
      '{{.Label "com.docker.compose.service"}} {{.ID}}',
    ]);
    return new Map(
      containers.trim().split("\n").map((line) => line.split(" ") as [string, string]),
    );
  };
  const commit = async (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      await writeFile(join(directory, "shop", path), text);
    }
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "a change");
  };
  const poll = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/api/poll/run?wait=true`, {
      method: "POST",
      headers: { "x-api-key": "key-of-the-image-test" },
      body: JSON.stringify([{ url: "/srv/shop", reference: "main" }]),
    });
    assert.equal(answer.status, 200, await answer.text());
  };

  before(async () => {
    if (fault !== undefined) throw fault;
    await ensureBusyboxImage();
    directory = await mkdtemp(join(tmpdir(), "stackwright-image-"));
    port = await freePort();
    await mkdir(join(directory, "shop/site"), { recursive: true });
    await git("init", "--quiet", "--initial-branch", "main");
    const text = await readFile(`${ROOT}docs/compose.yaml`, "utf8");
    await writeFile(join(directory, "compose.yaml"), composeFile(text, directory, port));
    await writeFile(join(directory, "api_secret.txt"), "key-of-the-image-test\n");
    await commit({
      ".stackwright.yaml": `name: ${name}-shop\n`,
      "compose.yaml": SHOP,
      "site/index.html": "one",
    });
    await compose("up", "--detach", "--wait");
  });
  after(async () => {
    await compose("down", "--volumes").catch(() => "");
    await run("docker", ["compose", "-p", `${name}-shop`, "down", "--volumes", "-t", "0"])
      .catch(() => "");
    await run("docker", ["image", "rm", "--force", name, `${name}-web`]).catch(() => "");
    await rm(directory, { recursive: true, force: true });
  });

  it("has programs that are new enough for all that is promised", async () => {
    const says = await compose("exec", "-T", "stackwright", "stackwright", "doctor");
    assert.match(says, /^ok +compose +(?:2\.(?:[3-9]\d)|[3-9]|\d\d)/m);
  });

  it(
    "has the kernel confine rendering, by the engine's own seccomp profile",
    { skip: NO_LANDLOCK },
    async () => {
      const says = await compose("exec", "-T", "stackwright", "stackwright", "doctor");
      assert.match(says, /^ok +confinement +the kernel confines rendering \(Landlock, /m);
    },
  );

  it(
    "says why the kernel does not, where a seccomp profile forbids it",
    { skip: NO_LANDLOCK },
    async () => {
      const profile = (errnoRet: number) => ({
        defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{ names: ["landlock_create_ruleset"], action: "SCMP_ACT_ERRNO", errnoRet }],
      });
      const says = async (errno: number) => {
        const file = join(directory, `seccomp-${errno}.json`);
        await writeFile(file, JSON.stringify(profile(errno)));
        const argv = ["run", "--rm", "--security-opt", `seccomp=${file}`, name, "doctor", "--json"];
        // It has no engine.
        const text = await run("docker", argv).catch(({ stdout }) => stdout as string);
        const all = JSON.parse(text) as { about: string; ok: unknown; says: string }[];
        const said = all.find(({ about }) => about === "confinement");
        assert.equal(said?.ok, null);
        return said?.says ?? "";
      };
      assert.match(await says(1), /does not confine rendering: a seccomp profile/);
      assert.match(
        await says(38),
        /does not confine rendering: .*or a container's seccomp profile/,
      );
    },
  );

  it("builds and deploys a stack, whose containers read and write files of the host", async () => {
    await poll();
    const web = (await ids()).get("web") ?? "";
    const mounts = await run("docker", ["inspect", web, "--format", "{{json .Mounts}}"]);
    const sources = (JSON.parse(mounts) as { Source: string }[]).map(({ Source }) => Source).sort();
    const release = `${directory}/data/releases/default/${name}-shop`;
    assert.deepEqual(sources, [`${release}/current/site`, `${release}/live/data`]);
    assert.equal(await run("docker", ["exec", web, "cat", "/site/index.html"]), "one");
    await run("docker", ["exec", web, "touch", "/data/kept"]);
  });

  it("replaces what a commit changes, and nothing else", async () => {
    const earlier = await ids();
    await commit({ "site/index.html": "two" });
    await poll();
    const now = await ids();
    assert.equal(now.get("other"), earlier.get("other"));
    const web = now.get("web") ?? "";
    assert.notEqual(web, earlier.get("web"));
    assert.equal(await run("docker", ["exec", web, "cat", "/site/index.html"]), "two");
    await run("docker", ["exec", web, "test", "-e", "/data/kept"]);
  });

  it("says what runs to who asks in the container", async () => {
    const status = await compose("exec", "-T", "stackwright", "stackwright", "status");
    assert.match(status, new RegExp(`^synced +${name}-shop +2 `, "m"));
  });

  it("leaves what it deployed running when it is taken away, and no volume", async () => {
    const own = (await compose("ps", "--quiet")).trim();
    const mounts = await run("docker", ["inspect", own, "--format", "{{json .Mounts}}"]);
    assert.doesNotMatch(mounts, /"Type":"volume"/);
    const earlier = await ids();
    await compose("down");
    assert.deepEqual(await ids(), earlier);
  });
});
