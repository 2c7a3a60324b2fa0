import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { output } from "./command.ts";

/** What the demo's repository is made of. */
export interface DemoRepository {
  /** Folder of the repository, which is also its URL. */
  readonly path: string;
  /** Name of the deployment. */
  readonly name: string;
  /** Image of both containers. */
  readonly image: string;
  /** Port on this machine where the page is served. */
  readonly port: number;
}

/** The file that the second commit changes. */
export const PAGE_FILE = "site/index.html";

/** Makes the repository with its first commit: two services and how they are deployed. */
export async function createRepository(repository: DemoRepository): Promise<void> {
  await mkdir(join(repository.path, "site"), { recursive: true });
  await git(repository, "init", "--quiet");
  await git(repository, "symbolic-ref", "HEAD", "refs/heads/main");
  await write(repository, ".stackwright.yaml", `name: ${repository.name}\n`);
  await write(repository, "compose.yaml", composeFile(repository));
  await commitPage(repository, "Hello from the first commit");
}

/** Commits a page with this headline. */
export async function commitPage(repository: DemoRepository, headline: string): Promise<void> {
  const page = `<!doctype html>\n<title>Stackwright demo</title>\n<h1>${headline}</h1>\n`;
  await write(repository, PAGE_FILE, page);
  await git(repository, "add", "--all");
  await git(repository, "commit", "--quiet", "--message", headline);
}

/** The last commit in short form with its subject. */
export function lastCommit(repository: DemoRepository): Promise<string> {
  return git(repository, "log", "-1", "--format=%h %s");
}

function composeFile({ image, port }: DemoRepository): string {
  return `services:
  web:
    image: ${image}
    pull_policy: never
    command: [/bin/busybox, httpd, -f, -p, "8080", -h, /www]
    stop_signal: SIGKILL # httpd as the first process would ignore the polite one
    ports: ["127.0.0.1:${port}:8080"]
    volumes: ["./site:/www:ro"]
    healthcheck:
      test: [CMD, /bin/busybox, wget, -q, -O-, "http://127.0.0.1:8080/"]
      interval: 1s
      timeout: 2s
      retries: 10
  worker:
    image: ${image}
    pull_policy: never
    command: [/bin/busybox, sleep, "1000000"]
    stop_signal: SIGKILL
`;
}

function write({ path }: DemoRepository, file: string, text: string): Promise<void> {
  return writeFile(join(path, file), text);
}

/** Git with a configuration of its own, so that the person's signing keys and hooks stay out. */
function git({ path }: DemoRepository, ...args: string[]): Promise<string> {
  return output(["git", "-C", path, ...args], {
    env: {
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_AUTHOR_NAME: "Demo",
      GIT_AUTHOR_EMAIL: "demo@example.invalid",
      GIT_COMMITTER_NAME: "Demo",
      GIT_COMMITTER_EMAIL: "demo@example.invalid",
    },
  });
}
