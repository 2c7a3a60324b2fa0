import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Repositories of tests are small; looking after them would cost a process for each commit. */
const NO_MAINTENANCE = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/** One file to commit: text, bytes, or something special. */
export type FakeFile =
  | string
  | Uint8Array
  | { readonly executable: string }
  | { readonly link: string };

/** A real repository made for a test: a bare one to fetch from, and a checkout to commit in. */
export interface FakeRepository {
  /** Absolute path of the bare repository. */
  readonly path: string;
  /** `file://` URL of the bare repository. */
  readonly url: string;
  /** Writes files, commits and pushes the current branch; returns the commit id. */
  commit(files: Readonly<Record<string, FakeFile>>, message?: string): Promise<string>;
  /** Removes paths, commits and pushes. */
  remove(paths: readonly string[], message?: string): Promise<string>;
  /** Makes a branch at `at` (default: the current commit) on the remote, forced. */
  branch(name: string, at?: string): Promise<void>;
  /** Deletes a reference on the remote. */
  deleteRef(name: string): Promise<void>;
  /** Makes a tag and pushes it, forced; with a message it is annotated. */
  tag(name: string, options?: { readonly at?: string; readonly message?: string }): Promise<void>;
  /** Puts the current branch at an earlier commit and pushes that by force. */
  reset(commit: string): Promise<void>;
  /** Adds a submodule at `path` with any URL, pinned to `commit`; nothing is cloned. */
  submodule(path: string, url: string, commit: string): Promise<string>;
  /** Runs git in the checkout and returns its trimmed output. */
  git(...args: string[]): Promise<string>;
}

/**
 * Makes a repository with branch `main` and no commit below `directory`. Ids are the same in every
 * run: author, dates and settings are fixed.
 */
export async function createRepository(directory: string): Promise<FakeRepository> {
  const path = join(directory, "remote.git");
  const work = join(directory, "work");
  await initialise(path, `\tbare = true\n[http]\n\treceivepack = false\n`);
  // A push costs half a dozen processes, so what would be pushed is already there: only names are missing.
  await initialise(
    join(work, ".git"),
    `\tbare = false\n[remote "origin"]\n\turl = ${path}\n`,
    path,
  );
  const git = (...args: string[]) => run(work, args);
  const publish = (ref: string, id: string) => writeRef(path, ref, id);
  const push = async () => {
    const head = await readFile(join(work, ".git/HEAD"), "utf8");
    const ref = head.replace(/^ref: /, "").trim();
    const id = (await readFile(join(work, ".git", ref), "utf8")).trim();
    await publish(ref, id);
    return id;
  };
  return {
    path,
    url: `file://${path}`,
    git,
    async commit(files, message = "change") {
      for (const [name, content] of Object.entries(files)) await place(join(work, name), content);
      await git("add", "--all", "--force");
      await git("commit", "--quiet", "--allow-empty", "--message", message);
      return await push();
    },
    async remove(paths, message = "remove") {
      await git("rm", "-r", "--quiet", "--", ...paths);
      await git("commit", "--quiet", "--message", message);
      return await push();
    },
    async branch(name, at = "HEAD") {
      await publish(`refs/heads/${name}`, await git("rev-parse", at));
    },
    async deleteRef(name) {
      await run(path, ["update-ref", "-d", name]);
    },
    async tag(name, { at = "HEAD", message } = {}) {
      const annotation = message === undefined ? [] : ["--annotate", "--message", message];
      await git("tag", "--force", ...annotation, name, at);
      await publish(`refs/tags/${name}`, await git("rev-parse", `refs/tags/${name}`));
    },
    async reset(commit) {
      await git("reset", "--quiet", "--hard", commit);
      await push();
    },
    async submodule(name, url, commit) {
      await git("config", "--file", ".gitmodules", `submodule.${name}.path`, name);
      await git("config", "--file", ".gitmodules", `submodule.${name}.url`, url);
      await git("add", "--all");
      // Without its directory the next commit would remove the submodule again.
      await mkdir(join(work, name), { recursive: true });
      await git("update-index", "--add", "--cacheinfo", `160000,${commit},${name}`);
      await git("commit", "--quiet", "--message", `add submodule ${name}`);
      return await push();
    },
  };
}

/** What `git init` makes, without two processes and their templates for each of a thousand tests. */
async function initialise(directory: string, config: string, objects?: string): Promise<void> {
  await mkdir(join(directory, "refs/heads"), { recursive: true });
  if (objects === undefined) await mkdir(join(directory, "objects/pack"), { recursive: true });
  else await symlink(join(objects, "objects"), join(directory, "objects"));
  await writeFile(join(directory, "HEAD"), "ref: refs/heads/main\n");
  const format = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n";
  await writeFile(join(directory, "config"), `${format}${config}${NO_MAINTENANCE}`);
}

/** Points a name of the remote at `id`, at once for everybody who looks. */
async function writeRef(remote: string, ref: string, id: string): Promise<void> {
  const file = join(remote, ref);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${id}\n`);
  await rename(`${file}.new`, file);
}

async function place(path: string, content: FakeFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true, recursive: true });
  if (typeof content === "string" || content instanceof Uint8Array) {
    await writeFile(path, content, { mode: 0o644 });
  } else if ("link" in content) {
    await symlink(content.link, path);
  } else {
    await writeFile(path, content.executable);
    await chmod(path, 0o755);
  }
}

async function run(cwd: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute("git", [...args], { cwd, env: environment() });
  return stdout.trim();
}

function environment(): Record<string, string> {
  const date = "2024-01-02T03:04:05Z";
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Ann Author",
    GIT_AUTHOR_EMAIL: "ann@example.com",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: "Ann Author",
    GIT_COMMITTER_EMAIL: "ann@example.com",
    GIT_COMMITTER_DATE: date,
  };
}
