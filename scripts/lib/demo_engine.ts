import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { output } from "./command.ts";

/** A container of the demo. */
export interface DemoContainer {
  readonly service: string;
  readonly id: string;
  readonly status: string;
}

/** Address of the engine that the `docker` command uses here, in the form of `DOCKER_HOST`. */
export async function engineAddress(): Promise<string> {
  const given = process.env["DOCKER_HOST"];
  if (given !== undefined && given !== "") return given;
  return await output(["docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]);
}

/** Builds the image from scratch around a static busybox; nothing is pulled. */
export async function buildImage(image: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyFile(staticBusybox(), join(folder, "busybox"));
  await chmod(join(folder, "busybox"), 0o755);
  await writeFile(join(folder, "Dockerfile"), "FROM scratch\nCOPY busybox /bin/busybox\n");
  await output(["docker", "build", "--quiet", "--tag", image, folder]);
}

/** Containers of a compose project, by service. */
export async function containersOf(project: string): Promise<DemoContainer[]> {
  const format = '{{.Label "com.docker.compose.service"}}\t{{.ID}}\t{{.Status}}';
  const filter = `label=com.docker.compose.project=${project}`;
  const lines = await output(["docker", "ps", "--filter", filter, "--format", format]);
  return lines.split("\n").filter((line) => line !== "").map((line) => {
    const [service = "", id = "", status = ""] = line.split("\t");
    return { service, id, status };
  }).sort((a, b) => a.service.localeCompare(b.service));
}

/** Removes a compose project's containers, networks and volumes, then the image. */
export async function removeProject(project: string, image: string): Promise<void> {
  const down = ["down", "--volumes", "--remove-orphans", "--timeout", "1"];
  await output(["docker", "compose", "--project-name", project, ...down]);
  const built = await output(["docker", "image", "ls", "--quiet", image]);
  if (built !== "") await output(["docker", "image", "rm", "--force", image]);
}

function staticBusybox(): string {
  const candidates = [process.env["BUSYBOX"], "/bin/busybox", "/usr/bin/busybox"];
  const found = candidates.find((path) => path !== undefined && existsSync(path) && isStatic(path));
  if (found !== undefined) return found;
  throw new Error(
    "no static busybox at /bin/busybox or /usr/bin/busybox; install one (package busybox-static) or name it in BUSYBOX",
  );
}

/** A dynamically linked program names its loader. */
function isStatic(path: string): boolean {
  const program = readFileSync(path);
  return ["/ld-linux", "/ld-musl"].every((loader) => !program.includes(loader));
}
