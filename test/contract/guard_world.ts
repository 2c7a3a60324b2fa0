import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { jsonForYaml } from "../../src/model/mod.ts";
import type { ComposeProject } from "../../src/deploy/mod.ts";
import { guardRendering } from "../../src/prepare/compose_guard.ts";
import { interpolate } from "../../src/prepare/interpolate.ts";
import type { PrepareParts } from "../../src/prepare/parts.ts";
import { createTurns, type Files, systemClock, systemFiles } from "../../src/system/mod.ts";
import { canonicalJson, normalModel, withPlainKeys } from "../../src/compose/mod.ts";
import { actingCall } from "../../src/deploy/compose/environment.ts";
import {
  COMPOSE_FILES,
  DOTENV,
  EXTENDED,
  INCLUDED,
  PLACES,
  type Repository,
} from "./guard_cases.ts";

/** Directories around a checkout, the outermost first, in which all files are somebody else's. */
const AROUND = ["", "l1", "l1/l2", "home"] as const;
const TREE = "l1/l2/tree";
/** Looked at before anything else, and never again unless it is read: what the file system keeps of it. */
const LONG_AGO = new Date(1_000_000);
const LATER = new Date(2_000_000);

/** What became of one repository. */
export interface Outcome {
  /** `refused` is the guard's, `failed` and `rendered` are compose's. */
  readonly end: "refused" | "failed" | "rendered";
  readonly message: string;
  /** Files that compose read although nobody had looked where they lie; relative to the outermost directory. */
  readonly unseen: readonly string[];
  /** What compose does otherwise than the rendered model says when it is handed that to act on it. */
  readonly otherwise: readonly string[];
}

/** A checkout with directories around it that have files of the same names, and a compose to read it. */
export class GuardWorld {
  readonly #root: string;
  readonly #program: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #others: readonly string[];

  /** `directory` is where a file's time of access is kept, as it is on usual file systems. */
  constructor(
    directory: string,
    program: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    this.#root = mkdtempSync(join(directory, "swt-guard-"));
    this.#program = program;
    this.#env = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(this.#root, "home"),
      COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
      COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
      ...env,
    };
    this.#others = AROUND.flatMap((around) =>
      PLACES.flatMap((place) => this.#canaries(join(around, place)))
    );
  }

  /** Whether a file that is read shows it. */
  get noticesReads(): boolean {
    const file = join(this.#root, this.#others[0] ?? "");
    utimesSync(file, LONG_AGO, LATER);
    return process.platform === "linux" && this.#readLater(file);
  }

  /** Has the guard look at a repository, and compose read it if the guard has nothing against it. */
  async try(repository: Repository): Promise<Outcome> {
    const tree = join(this.#root, TREE);
    rmSync(tree, { recursive: true, force: true });
    for (const [path, text] of repository) this.#write(join(TREE, path), text);
    const project: ComposeProject = {
      name: "guarded",
      directory: join(tree, "app"),
      files: COMPOSE_FILES.filter((path) => repository.has(path)).map((path) => join(tree, path)),
      envFiles: [join(tree, "app/a.env")],
      profiles: [],
    };
    const looked = new Set([...project.files, ...project.envFiles]);
    try {
      await this.#guard(project, tree, looked);
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      return { end: "refused", message, unseen: [], otherwise: [] };
    }
    const files = [...this.#others, ...[...repository.keys()].map((path) => join(TREE, path))]
      .map((path) => join(this.#root, path));
    const { read, code, output } = await this.#reading(files, () => this.#config(project));
    return {
      end: code === 0 ? "rendered" : "failed",
      message: output,
      unseen: read.filter((file) => !looked.has(file))
        .map((file) => file.slice(this.#root.length + 1)),
      otherwise: code === 0 ? await this.#otherwise(project, output, files) : [],
    };
  }

  /** Has compose evaluate what it is handed of a printed model when it acts, which must change nothing. */
  async #otherwise(
    project: ComposeProject,
    printed: string,
    files: readonly string[],
  ): Promise<string[]> {
    const directory = join(this.#root, "l1/l2/current");
    mkdirSync(directory, { recursive: true });
    const normal = (text: string) => normalModel(withPlainKeys(JSON.parse(text)), true);
    const handed = actingCall(this.#env, {}, normal(printed), { makesContainers: true });
    const acting = { ...project, directory, files: ["-"], envFiles: ["/dev/null"] };
    const { read, code, output } = await this.#reading(
      files,
      () => this.#config(acting, jsonForYaml(handed.model), handed.environment),
    );
    if (code !== 0) return [output];
    const before = canonicalJson(normalModel(handed.model, true));
    const after = canonicalJson(normal(output));
    return [...read.map((each) => `reads ${each}`), ...(before === after ? [] : [before, after])];
  }

  /** Has compose work, and answers which of the files it read. */
  async #reading<T>(files: readonly string[], work: () => Promise<T>) {
    for (const file of files) utimesSync(file, LONG_AGO, LATER);
    const result = await work();
    const read = files.filter((file) => statSync(file).atimeMs !== LONG_AGO.getTime());
    return { ...result, read };
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #guard(project: ComposeProject, tree: string, looked: Set<string>): Promise<void> {
    const files: Files = {
      ...systemFiles,
      realPath: (path) => {
        looked.add(path);
        return systemFiles.realPath(path);
      },
      stat: (path) => {
        looked.add(path);
        return systemFiles.stat(path);
      },
    };
    const compose = {
      render: async ({ project: asked, model }: { project: ComposeProject; model?: unknown }) => {
        const { code, output } = await this.#config(asked, jsonForYaml(model));
        if (code !== 0) throw new Error(output);
        return JSON.parse(output);
      },
    };
    const parts = { host: { compose } } as unknown as PrepareParts;
    const signal = new AbortController().signal;
    await guardRendering(
      {
        tree,
        directory: project.directory,
        composeFiles: project.files,
        envFiles: project.envFiles,
      },
      {
        files,
        turns: createTurns(systemClock),
        interpolate: (texts) => interpolate(parts, { project, variables: {} }, texts, signal),
      },
      signal,
    );
  }

  #config(
    project: ComposeProject,
    stdin = "",
    env = this.#env,
  ): Promise<{ code: number; output: string }> {
    const [program = "", ...first] = this.#program;
    const args = [
      ...first,
      "--project-name",
      project.name,
      "--project-directory",
      project.directory,
      ...project.files.flatMap((file) => ["--file", file]),
      ...project.envFiles.flatMap((file) => ["--env-file", file]),
      "config",
      "--format",
      "json",
    ];
    const child = spawn(program, args, { cwd: project.directory, env });
    let [output, errors] = ["", ""];
    child.stdout.on("data", (data) => output += data);
    child.stderr.on("data", (data) => errors += data);
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on(
        "close",
        (code) => resolve({ code: code ?? 1, output: code === 0 ? output : errors }),
      );
    });
  }

  #canaries(place: string): string[] {
    const id = place.replaceAll("/", "") || "root";
    const service = (name: string) => `services: {${name}: {image: canary-${id}}}\n`;
    const texts = [
      ...INCLUDED.map((name, at) => [name, service(`${id}-${at}`)] as const),
      ...EXTENDED.map((name) => [name, service("base")] as const),
      ...[...DOTENV, ".env"].map((name) => [name, `CANARY_${id}=1\n`] as const),
    ];
    for (const [name, text] of texts) this.#write(join(place, name), text);
    return texts.map(([name]) => join(place, name));
  }

  #write(path: string, text: string): void {
    const file = join(this.#root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  #readLater(file: string): boolean {
    const before = statSync(file).atimeMs;
    readFileSync(file);
    return statSync(file).atimeMs !== before;
  }
}
