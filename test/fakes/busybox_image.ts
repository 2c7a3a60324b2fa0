import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Tag of the image that tests run on a real engine. */
export const BUSYBOX_IMAGE = "stackwright-test/busybox:1";

const BUSYBOX = "/usr/bin/busybox";
const DOCKERFILE = `FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
CMD ["sleep", "1000000"]
`;

const run = promisify(execFile);

/**
 * Makes sure the real engine has an image with every busybox applet, built from nothing but the
 * host's static busybox, so that tests need no registry. Does nothing when it is there.
 *
 * A container that is never started keeps it: a test that destroys a stack with its images would take it
 * away from all others, at moments when nothing else runs.
 */
export async function ensureBusyboxImage(tag: string = BUSYBOX_IMAGE): Promise<void> {
  if (!await succeeds(["image", "inspect", tag])) await buildImage(tag);
  // Another process may have made it, or be making it.
  await run("docker", ["create", "--name", tag.replace(/[/:]/g, "-"), tag])
    .catch((error) => assert.match(String(error), /is already in use/));
}

const succeeds = (args: readonly string[]) => run("docker", args).then(() => true, () => false);

async function buildImage(tag: string): Promise<void> {
  const directory = await fs.mkdtemp(join(tmpdir(), "stackwright-busybox-"));
  try {
    await fs.copyFile(BUSYBOX, join(directory, "busybox"));
    await fs.writeFile(join(directory, "Dockerfile"), DOCKERFILE);
    // Two that build one name at the same time disturb each other in containerd's store.
    const build = ["build", "-q", "-t", tag, directory];
    if (!await succeeds(build)) await run("docker", build);
  } finally {
    await fs.rm(directory, { recursive: true, force: true });
  }
}
