import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { findRealEngine } from "../fakes/real_engine.ts";
import { executables } from "./service_process.ts";

/** Where the packages come from, as in the Containerfile. */
const MIRROR = "http://deb.debian.org/debian";
/** Made once on an engine, as large downloads are. */
export const DEBIAN_IMAGE = "stackwright-test/debian:trixie";

const DEBOOTSTRAP = "/usr/sbin/debootstrap";

/**
 * Makes {@link DEBIAN_IMAGE} and what a test needs beside it, and says why that is not possible here;
 * `undefined` where it is. It takes root, `debootstrap` and Debian's mirror, and some minutes:
 * `IMAGE=skip` leaves it out.
 *
 * @param makeMore What else has nothing of ours in it: images with packages, a machine that starts.
 */
export async function noDebian(
  makeMore: () => Promise<void> = () => Promise.resolve(),
): Promise<string | undefined> {
  const { unavailable } = await findRealEngine();
  if (unavailable !== undefined) return unavailable;
  if (process.env["IMAGE"] === "skip") return "only in ./scripts/test all";
  const reason = await whyNot() ?? await made(makeMore);
  if (reason === undefined) return undefined;
  process.stderr.write(`\n*** NOT TRIED: the image and the systemd unit: ${reason} ***\n`);
  return reason;
}

/** Why the parts that are Debian's could not be made: a mirror fails, or a container has no rights. */
async function made(makeMore: () => Promise<void>): Promise<string | undefined> {
  try {
    await ensureDebianImage();
    await makeMore();
    return undefined;
  } catch (error) {
    return `Debian's part of it could not be made: ${error}`;
  }
}

/** Whether a build failed because packages could not be had, and not by what it does with them. */
export function isMirrorsFault(error: unknown): boolean {
  return /Failed to fetch|Unable to (?:fetch|connect)|Temporary failure|Could not (?:resolve|connect)|Hash Sum mismatch|Connection (?:failed|timed out)/
    .test(String(error));
}

async function whyNot(): Promise<string | undefined> {
  if (executables().length === 0) return "no executable; ./scripts/build makes it";
  if (process.getuid?.() !== 0 || !existsSync(DEBOOTSTRAP)) {
    return "it takes root and the program debootstrap";
  }
  return await fetch(`${MIRROR}/dists/trixie/InRelease`, { method: "HEAD" }).then(
    ({ ok, status }) => ok ? undefined : `${MIRROR} answers ${status}`,
    (error: unknown) => `${MIRROR} cannot be reached: ${error}`,
  );
}

/** Makes sure that the engine has {@link DEBIAN_IMAGE}: the smallest system of Debian 13. */
async function ensureDebianImage(): Promise<void> {
  await ensureImage(DEBIAN_IMAGE, async () => {
    const directory = await mkdtemp(join(tmpdir(), "stackwright-debian-"));
    try {
      const system = join(directory, "system");
      await run(DEBOOTSTRAP, ["--variant=minbase", "trixie", system, MIRROR]);
      // A mirror may be a snapshot of some days ago, which is as good for a test.
      await writeFile(
        join(system, "etc/apt/apt.conf.d/90snapshot"),
        'Acquire::Check-Valid-Until "false";\nAcquire::Retries "3";\n',
      );
      // What is lost when the machine loses its power is made again.
      await writeFile(join(system, "etc/dpkg/dpkg.cfg.d/90fast"), "force-unsafe-io\n");
      const archive = join(directory, "system.tar");
      await run("tar", ["-C", system, "-cf", archive, "."]);
      await run("docker", ["import", archive, DEBIAN_IMAGE]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
}

/** Makes an image where the engine has none of that name. */
export async function ensureImage(tag: string, make: () => Promise<void>): Promise<void> {
  const isThere = await run("docker", ["image", "inspect", tag]).then(() => true, () => false);
  if (!isThere) await make();
}

/** Runs a program and returns what it printed. */
export async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

/** Runs a program on a text; returns all it printed, and throws with it unless it ended with 0. */
export function runOn(input: string, program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Uint8Array) => output += new TextDecoder().decode(chunk));
    child.stderr.on("data", (chunk: Uint8Array) => output += new TextDecoder().decode(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code}:\n${output}`));
    });
    child.stdin.end(input);
  });
}
