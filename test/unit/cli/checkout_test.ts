import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { polledSources, requestOf } from "../../../src/cli/checkout.ts";
import type { System } from "../../../src/app.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { systemCommands, systemFiles, withTemporaryDirectory } from "../../../src/system/mod.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("a repository whose poll has deployments of its own", () => {
  const inline = "deployments: [{name: shop}]";
  const two =
    `${inline}}, {url: "https://h.example/o/r", reference: next, deployments: [{name: new}]`;
  type Input = { url: string; identity?: string; reference?: string; target?: string };
  const files = `interval: 60}, {url: "https://h.example/o/r.git", ${inline}`;
  /** Each source as its reference, and the names of its inline deployments or `files`. */
  const cases: [what: string, poll: string, input: Input, sources: string[], said?: RegExp][] = [
    ["is what that says", inline, { url: "https://h.example/o/r.git" }, ["main shop"], /as by the/],
    ["is known by another form of its URL", inline, { url: "git@h.example:o/r.git" }, [
      "main shop",
    ]],
    ["is known by its checkout", inline, { url: "/src/r", identity: "h.example/o/r" }, [
      "HEAD shop",
    ]],
    ["is its files for another target", inline, { url: "https://h.example/o/r", target: "a" }, [
      "HEAD files",
    ]],
    ["is told from others", inline, { url: "https://h.example/o/other" }, ["HEAD files"]],
    ["is told from one without", "interval: 60", { url: "https://h.example/o/r" }, ["main files"]],
    ["has files too where another entry has none", files, { url: "https://h.example/o/r" }, [
      "main shop files",
    ]],
    ["has files too in a checkout", files, { url: "/src/r", identity: "h.example/o/r" }, [
      "HEAD shop files",
    ]],
    [
      "is its files for another reference",
      inline,
      { url: "https://h.example/o/r", reference: "feature" },
      ["feature files"],
      /\(refs\/heads\/main\) has deployments of its own: this reads the files.*--ref/,
    ],
    ["has all references where none is named", two, { url: "https://h.example/o/r" }, [
      "main shop",
      "next new",
    ]],
    [
      "has each reference once, in whichever form entries name it",
      files.replace("interval: 60", "reference: main"),
      { url: "https://h.example/o/r" },
      ["main shop files"],
    ],
    [
      "is asked for by a reference where there are two, in a checkout",
      two,
      { url: "/src/r", identity: "h.example/o/r" },
      ["HEAD files"],
      /--ref/,
    ],
    ["has those of the reference", two, { url: "https://h.example/o/r", reference: "next" }, [
      "next new",
    ]],
  ];
  for (const [what, poll, input, sources, said] of cases) {
    it(what, () => {
      const POLL_CONFIG = `[{url: "https://h.example/o/r", ${poll}}]`;
      const { polls } = readSettings({ POLL_CONFIG }, () => "", { uid: 0 });
      const log = createRecordingLog();
      const found = polledSources({ reference: "HEAD", ...input }, polls, log);
      const told = found.map(({ reference, deployments, withFiles }) => {
        const names = deployments.map(({ deployment }) => deployment.name);
        const all = [...names, ...(withFiles ?? names.length === 0 ? ["files"] : [])];
        return `${reference.replace("refs/heads/", "")} ${all.join(" ")}`;
      });
      assert.deepEqual(told, sources);
      if (said !== undefined) assert.match(log.lines.map(({ message }) => message).join(), said);
    });
  }
});

/** What a directory of this machine stands for, and what was logged. */
async function standsFor(directory: string) {
  const log = createRecordingLog();
  const env = { PATH: process.env["PATH"], HOME: dirname(directory) };
  const system = { commands: systemCommands, files: systemFiles, env, log };
  const named = { repository: basename(directory), cwd: dirname(directory) };
  const request = await requestOf(
    system as unknown as System,
    { ...named, reference: "", target: "" },
    new AbortController().signal,
  );
  return { request, said: log.lines.map(({ message }) => message).join() };
}

/** Runs `work` with a checkout with a commit, which a name for proofs and an empty directory lie beside. */
async function withCheckout(
  work: (parts: { repository: FakeRepository; top: string; outside: string }) => Promise<void>,
) {
  await withTemporaryDirectory(systemFiles, join(tmpdir(), "swt-checkout-"), async (made) => {
    const directory = await realpath(made);
    const repository = await createRepository(directory);
    await repository.commit({ "apps/shop/compose.yaml": "services: {}\n" });
    const top = await repository.git("rev-parse", "--show-toplevel");
    await work({ repository, top, outside: directory });
  });
}

/** Files of a commit that git takes for a repository: of another one's name, and with a program to run. */
const bareLooking = (proof: string) => ({
  "HEAD": "ref: refs/heads/main\n",
  "refs/x": "x",
  "objects/x": "x",
  "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n" +
    `\tfsmonitor = "touch ${proof}; false"\n[remote "origin"]\n\turl = https://h.example/victim\n`,
});

const below = (directory: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${directory}/${path}`, text]));

describe("a checkout", () => {
  const origins = [
    ["https://h.example/o/r.git", "h.example/o/r"],
    ["../git/o/r.git", "/git/o/r.git"],
  ];
  for (const [origin = "", identity = ""] of origins) {
    it(`stands for the repository that it was cloned from: ${origin}`, () =>
      withCheckout(async ({ repository, top, outside }) => {
        await repository.git("config", "remote.origin.url", origin);
        const expected = identity.startsWith("/") ? `local${outside}${identity}` : identity;
        const request = { url: top, reference: "HEAD", target: "", identity: expected };
        assert.deepEqual(await standsFor(top), { request, said: "" });
        // So does any place in it, other than one where git itself would look for a bare repository.
        assert.deepEqual((await standsFor(join(top, "apps/shop"))).request, request);
        await writeFile(join(top, "new"), "");
        assert.match((await standsFor(top)).said, /has changes that are not committed/);
      }));
  }

  it("is known by its own configuration alone, and a link to it by the link", () =>
    withCheckout(async ({ repository, top, outside }) => {
      await writeFile(
        join(outside, ".gitconfig"),
        '[remote "origin"]\n\turl = https://h.example/x\n',
      );
      await repository.git("remote", "remove", "origin");
      await symlink(top, join(outside, "link"));
      for (const place of [top, join(outside, "link")]) {
        const { request } = await standsFor(place);
        assert.deepEqual(request, { url: place, reference: "HEAD", target: "" });
      }
    }));

  it("is one also as another worktree and as a submodule", () =>
    withCheckout(async ({ repository, top, outside }) => {
      await repository.git("config", "remote.origin.url", "https://h.example/o/r");
      await repository.git("worktree", "add", "--quiet", join(outside, "tree"), "HEAD");
      const allow = ["-c", "protocol.file.allow=always"];
      await repository.git(...allow, "submodule", "--quiet", "add", repository.path, "sub");
      const tree = await standsFor(join(outside, "tree/apps"));
      assert.equal(tree.request.identity, "h.example/o/r");
      assert.equal(tree.request.url, join(outside, "tree"));
      assert.equal(tree.said, "");
      const sub = await standsFor(join(top, "sub"));
      assert.equal(sub.request.identity, `local${repository.path}`);
    }));

  it("that has commits which its origin does not have is told that it is put back", () =>
    withCheckout(async ({ repository, top }) => {
      await repository.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
      await repository.git("config", "branch.main.remote", "origin");
      await repository.git("config", "branch.main.merge", "refs/heads/main");
      await repository.git("update-ref", "refs/remotes/origin/main", "HEAD");
      assert.equal((await standsFor(top)).said, "");
      await repository.commit({ "x": "x" });
      const told = /^\S+ has commits that were not pushed to its origin: a poll .* puts back/;
      assert.match((await standsFor(top)).said, told);
    }));

  it("with files that look like a bare repository stays the one it is, and runs nothing", () =>
    withCheckout(async ({ repository, top, outside }) => {
      const proof = join(outside, "proof");
      await repository.git("config", "remote.origin.url", "https://h.example/o/r");
      await repository.commit({
        ...below("apps/shop", bareLooking(proof)),
        ...bareLooking(proof),
        "apps/shop/sub/x": "x",
      });
      await assert.rejects(standsFor(join(top, "apps/shop")), /looks like a bare repository and/);
      for (const place of [top, join(top, "apps"), join(top, "apps/shop/sub")]) {
        const { request, said } = await standsFor(place);
        assert.deepEqual([request.url, request.identity, said], [top, "h.example/o/r", ""], place);
      }
      // Without its `.git`, as from an archive: no repository, or one that nobody else's name is taken from.
      await rm(join(top, ".git"), { recursive: true });
      for (const place of [top, join(top, "apps/shop"), join(top, "apps/shop/sub")]) {
        await assert.rejects(standsFor(place), /is no Git repository/, place);
      }
      await writeFile(
        join(top, "config"),
        '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[remote "origin"]\n\turl = /x\n',
      );
      assert.deepEqual((await standsFor(top)).request, { url: top, reference: "HEAD", target: "" });
      assert.equal(existsSync(proof), false, "a program was started");
    }));

  it("runs no program that its own or a person's configuration names", () =>
    withCheckout(async ({ repository, top, outside }) => {
      const proof = join(outside, "proof");
      const program = `touch ${proof}; cat`;
      await repository.commit({
        ".gitattributes": "*.yaml filter=a=b\n*.x filter=own\n",
        "a.x": "",
      });
      await repository.git("config", "filter.a=b.clean", program);
      await repository.git("config", "filter.a=b.required", "true");
      await repository.git("config", "core.fsmonitor", program);
      await repository.git("config", "core.hooksPath", outside);
      await writeFile(join(outside, ".gitconfig"), `[filter "own"]\n\tprocess = "${program}"\n`);
      await writeFile(join(outside, "post-index-change"), `#!/bin/sh\n${program}\n`, {
        mode: 0o755,
      });
      // What has another time is read again.
      for (const path of ["a.x", "apps/shop/compose.yaml"]) await utimes(join(top, path), 1, 1);
      assert.equal((await standsFor(top)).said, "");
      assert.equal(existsSync(proof), false, "a program was started");
    }));

  it("is told from a bare repository, which stands for itself", () =>
    withCheckout(async ({ repository, top, outside }) => {
      const { path } = repository;
      await repository.git("--git-dir", path, "config", "remote.origin.url", "https://h.example/x");
      const hidden = join(outside, "bare/.git");
      await cp(path, hidden, { recursive: true });
      for (const place of [path, hidden, dirname(hidden)]) {
        const { request } = await standsFor(place);
        assert.deepEqual(request, { url: place, reference: "HEAD", target: "" });
      }
      await cp(path, join(top, "x.git"), { recursive: true });
      await assert.rejects(
        standsFor(join(top, "x.git")),
        /name that one, or file:\/\/.*x\.git for/,
      );
      await assert.rejects(standsFor(join(path, "refs")), /is no Git repository/);
    }));

  it("of another user is not said to be no repository", async () => {
    const stderr = "fatal: detected dubious ownership in repository at '/src/shop'\nTo add an …\n";
    const run = () => Promise.resolve({ code: 128, stdout: new Uint8Array(), stderr });
    const log = createRecordingLog();
    const system = { commands: { run }, files: systemFiles, env: {}, log };
    const named = { repository: "shop", cwd: "/src", reference: "", target: "" };
    const asked = requestOf(system as unknown as System, named, new AbortController().signal);
    await assert.rejects(
      asked,
      /^[^:]*: \/src\/shop cannot be opened: it is another user's, which/,
    );
  });

  it("that is not there is not said to be no repository", async () => {
    await assert.rejects(
      standsFor("/nowhere/at/all"),
      /^[^:]*: \/nowhere\/at\/all cannot be opened: No such file or dir/,
    );
  });
});
