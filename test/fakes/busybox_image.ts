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

/**
 * Makes sure the real engine has an image with every busybox applet, built from nothing but the
 * host's static busybox, so that tests need no registry. Does nothing when it is there.
 */
export async function ensureBusyboxImage(tag: string = BUSYBOX_IMAGE): Promise<void> {
  const run = promisify(execFile);
  if (await run("docker", ["image", "inspect", tag]).then(() => true, () => false)) return;
  const directory = await fs.mkdtemp(join(tmpdir(), "stackwright-busybox-"));
  try {
    await fs.copyFile(BUSYBOX, join(directory, "busybox"));
    await fs.writeFile(join(directory, "Dockerfile"), DOCKERFILE);
    // Two that build one name at the same time disturb each other in containerd's store.
    const isBuilt = () => run("docker", ["build", "-q", "-t", tag, directory]).then(() => true);
    if (!await isBuilt().catch(() => false)) await isBuilt();
  } finally {
    await fs.rm(directory, { recursive: true, force: true });
  }
}
