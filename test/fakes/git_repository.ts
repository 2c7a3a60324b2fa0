import { execFile } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const execute = promisify(execFile);

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
  await mkdir(directory, { recursive: true });
  await run(directory, ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  await run(directory, ["init", "--quiet", "--initial-branch=main", work]);
  await run(work, ["remote", "add", "origin", path]);
  await run(path, ["config", "http.receivepack", "false"]);
  const git = (...args: string[]) => run(work, args);
  const push = async () => {
    await git("push", "--quiet", "--force", "origin", "HEAD");
    return await git("rev-parse", "HEAD");
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
      await git("push", "--quiet", "--force", "origin", `${at}:refs/heads/${name}`);
    },
    async deleteRef(name) {
      await run(path, ["update-ref", "-d", name]);
    },
    async tag(name, { at = "HEAD", message } = {}) {
      const annotation = message === undefined ? [] : ["--annotate", "--message", message];
      await git("tag", "--force", ...annotation, name, at);
      await git("push", "--quiet", "--force", "origin", `refs/tags/${name}`);
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
