import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeInputs } from "../../../src/prepare/compose_files.ts";
import { guardRendering } from "../../../src/prepare/compose_guard.ts";
import type { Deployment, Revision } from "../../../src/model/mod.ts";
import type { Source } from "../../../src/source/source.ts";
import type { Files } from "../../../src/system/mod.ts";

/** The text at a path of a repository. */
type Repository = (path: string) => string | undefined;

function guard(repository: Repository): Promise<readonly string[]> {
  const at = (path: string) => repository(path.replace(/^\/t\//, ""));
  const files = {
    stat: (path: string) => Promise.resolve(at(path) === undefined ? undefined : { kind: "file" }),
    readIfExists: (path: string) => {
      const text = at(path);
      return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
    },
    realPath: (path: string) => Promise.resolve(path),
  } as unknown as Files;
  return guardRendering(
    { tree: "/t", directory: "/t", composeFiles: ["/t/compose.yaml"], envFiles: [] },
    { files, interpolate: (texts) => Promise.resolve(texts) },
  );
}

function follow(repository: Repository) {
  const source = {
    entries: (_revision: Revision, paths: readonly string[]) =>
      Promise.resolve(new Map(paths.map((path) => [path, { kind: "file", id: "a" }]))),
    read: (_revision: Revision, path: string) =>
      Promise.resolve(new TextEncoder().encode(repository(path) ?? "")),
  } as unknown as Source;
  const deployment = {
    name: "a",
    workingDir: ".",
    composeFiles: ["compose.yaml"],
    composeFilesGiven: true,
    envFiles: [],
  } as unknown as Deployment;
  return composeInputs(source, {} as Revision, deployment, AbortSignal.timeout(60_000));
}

/** Compose files each of which includes the next one. */
const chain = (length: number): Repository => (path) => {
  const at = Number(/(\d+)\.yaml$/.exec(path)?.[1] ?? 0);
  return at + 1 < length ? `include: [c${at + 1}.yaml]\n` : "services: {}\n";
};
/** A compose file whose files each name so many others. */
const naming = (files: number, each: number): Repository => (path) => {
  const at = /c(\d+)\.yaml$/.exec(path)?.[1];
  if (at !== undefined) {
    const named = Array.from({ length: each }, (_, index) => `${at}-${index}.env`);
    return `services: {a: {env_file: [${named.join(", ")}]}}\n`;
  }
  return `include: [${Array.from({ length: files }, (_, index) => `c${index}.yaml`).join(", ")}]\n`;
};

for (const [what, look] of [["guardRendering()", guard], ["composeInputs()", follow]] as const) {
  describe(what, () => {
    it("takes 500 compose files and refuses more", async () => {
      await look(chain(500));
      await assert.rejects(look(chain(501)), /consists of more than 500 compose files/);
    });
    it("takes compose files that name others at 20000 places and refuses more", async () => {
      await look(naming(9, 2000));
      await assert.rejects(look(naming(11, 2000)), /at more than 20000 places/);
    });
  });
}
