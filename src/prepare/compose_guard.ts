import { createHash } from "node:crypto";
import { posix } from "node:path";
import { type ComposeInclude, composePaths, UNSURE_IN_PATHS } from "../config/compose_paths.ts";
import { HOME_PATH, isConfigFileName, isFetched, MOST_BYTES, tooLongPath } from "../config/mod.ts";
import { insideTree } from "../compose/mod.ts";
import { RealTree } from "../deploy/mod.ts";
import { errors, ownVariablesIn } from "../model/mod.ts";
import { readText } from "../system/mod.ts";
import { MOST_COMPOSE_FILES, tooManyFiles } from "./compose_files.ts";
import { CountedPlaces } from "./counted_places.ts";
import { DeclaredParts } from "./declared_parts.ts";
import { FilesLookedAt } from "./files_looked_at.ts";
import { GuardRefusals } from "./guard_refusals.ts";
import type { GuardedInputs, GuardedProject, GuardParts } from "./guarded_inputs.ts";
import {
  type IncludeChain,
  joined,
  kindAt,
  longerChain,
  NOT_INCLUDED,
  placedAgain,
  placesFrom,
} from "./include_bases.ts";
import { countSigns } from "./recorded_bounds.ts";

/** How compose may read a file. */
interface Reading {
  /**
   * Directories its paths may be relative to: versions of compose differ, and one may read a file from
   * one of them and take the paths in it from another.
   */
  readonly bases: readonly string[];
  /**
   * Further directories that an include's `project_directory` and `env_file` may be relative to:
   * compose takes an include's own directory as one below where compose runs. They may lie
   * anywhere; only paths resolved from them are checked.
   */
  readonly working: readonly string[];
  readonly chain: IncludeChain;
  /** Whether compose reads it with a dotenv file of its own, whose variables are unknown here. */
  readonly ownVariables: boolean;
}

/** A compose file to be checked; files that one include names share how they are read. */
interface Pending extends Reading {
  readonly file: string;
}

/** Paths that compose would fetch remotely, or resolve in the home directory. */
const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|[^/@\s]+@[^/:\s]+:|github\.com\/|~)/i;

/**
 * Ensures that rendering reads only files of the tree. Compose itself reads any path, with this
 * service's rights, and the content would end up in containers or messages.
 *
 * Throws `path_escapes` with file and path, and `config_invalid` for a file that cannot be understood.
 */
export async function guardRendering(
  project: GuardedProject,
  parts: GuardParts,
  signal: AbortSignal,
): Promise<GuardedInputs> {
  const guard = new Guard(project, parts, signal);
  await guard.run();
  return {
    files: [...guard.variableFiles],
    interpolates: guard.interpolates,
    own: guard.own,
    declared: guard.declared.in(project.composeFiles),
    states: guard.looked.states,
    areSame: () => guard.looked.areSame(),
  };
}

class Guard {
  readonly #project: GuardedProject;
  readonly #parts: GuardParts;
  readonly #signal: AbortSignal;
  readonly #tree: RealTree;
  readonly #refusals: GuardRefusals;
  readonly #queue: Pending[] = [];
  readonly #seen = new Set<string>();
  readonly #readAll = countSigns();
  readonly #places: CountedPlaces;
  readonly looked: FilesLookedAt;
  readonly declared = new DeclaredParts();
  readonly variableFiles = new Set<string>();
  readonly own = new Map<string, string>();
  interpolates = false;

  constructor(project: GuardedProject, parts: GuardParts, signal: AbortSignal) {
    this.#project = project;
    this.#parts = parts;
    this.#signal = signal;
    this.#tree = new RealTree(parts.files, project.tree);
    this.#refusals = new GuardRefusals(project.tree);
    this.looked = new FilesLookedAt(parts.files);
    this.#places = new CountedPlaces(project.tree);
    this.#push(project.composeFiles, {
      bases: [project.directory],
      working: [],
      chain: NOT_INCLUDED,
      ownVariables: false,
    });
  }

  async run(): Promise<void> {
    // Paths are interpolated with them.
    for (const file of this.#project.envFiles) await this.looked.note(file);
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#look(next);
    }
  }

  async #look(at: Pending): Promise<void> {
    // Compose itself reports a missing file, with the one that names it.
    const name = this.#refusals.shown(at.file);
    await this.looked.note(at.file);
    const size = (await this.#parts.files.stat(at.file))?.size ?? 0;
    if (size > MOST_BYTES) {
      throw errors.config_invalid(
        `the compose file ${name} has ${size} bytes, the most that is read is ${MOST_BYTES}`,
      );
    }
    const text = await readText(this.#parts.files, at.file, MOST_BYTES);
    if (text === undefined) return;
    const found = await this.#parts.turns.take(() => {
      this.#readAll(text);
      for (const each of ownVariablesIn(text).keys()) {
        this.own.set(each, this.own.get(each) ?? name);
      }
      return composePaths(text, name);
    }, this.#signal);
    this.declared.noteFile(at.file, found);
    const values = await this.#values(at, [
      ...found.files,
      ...found.extended,
      ...found.unsure.files,
      ...found.unsure.extended,
      ...found.includes.flatMap((each) => [...each.paths, ...each.envFiles, each.projectDirectory]),
    ]);
    const value = (text: string) => values.get(text) ?? text;
    for (const file of found.files) {
      await this.#addVariableFiles(await this.#resolve(at, value(file), at.bases));
    }
    for (const file of found.unsure.files) await this.#resolve(at, value(file), at.bases);
    for (const file of new Set([...found.extended, ...found.unsure.extended].map(value))) {
      const targets = await this.#resolve(at, file, at.bases);
      if (isFetched(file, "extends")) throw this.#refusals.fetched(at.file, file);
      this.#push(targets, { ...at, bases: targets.map(posix.dirname), working: [] });
    }
    const own = found.includes.length === 0 ? [] : this.#starts(at);
    for (const include of found.includes) {
      await this.#include(at, own, {
        paths: include.paths.map(value),
        envFiles: include.envFiles.map(value),
        projectDirectory: value(include.projectDirectory),
      });
    }
  }

  /** Looks at what an include names; `own` are the directories that it may be relative to. */
  async #include(at: Pending, own: readonly string[], include: ComposeInclude): Promise<void> {
    const { directory, envFiles } = this.#project;
    const { paths, projectDirectory } = include;
    // Compose takes the working directory for it.
    if (paths.includes("")) throw this.#refusals.unclear(at.file, "", "is what an include names");
    const chain = longerChain(at.chain, paths, projectDirectory);
    if (at.chain.hasDirectory && chain.climbs) throw this.#refusals.climbs(at.file, paths[0] ?? "");
    const { targets, beside } = await this.#included(at, paths, own);
    // Early versions resolve some paths against this directory, others against the file's own.
    const bases = projectDirectory === ""
      ? beside
      : [...await this.#projectDirectories(at, projectDirectory, own), ...beside];
    const dotenv = include.envFiles.length === 0
      ? this.#places.distinct(joined(bases, ".env"))
      : await this.#resolveAll(at, include.envFiles, [...own, ...bases]);
    await this.#addVariableFiles(dotenv);
    const known = new Set(envFiles);
    let { ownVariables } = at;
    for (const file of dotenv) {
      ownVariables ||= !known.has(file) && await this.#parts.files.stat(file) !== undefined;
    }
    this.declared.noteIncluded(at.file, targets);
    const working = placesFrom(directory, include);
    this.#push(targets, { bases, working, chain, ownVariables });
  }

  /** Directories that an include in a file may be relative to, as versions of compose take it. */
  #starts(at: Pending): string[] {
    const { directory } = this.#project;
    const own = [...new Set([...at.bases, ...at.working, directory])];
    if (!at.chain.hasDirectory) return own;
    this.#places.count(own.length ** 2);
    return this.#places.distinct(placedAgain(own, directory), 0);
  }

  /** The files that an include names, and the directories that their own paths may be relative to. */
  async #included(at: Pending, paths: readonly string[], own: readonly string[]) {
    const { files } = this.#parts;
    const bases = at.chain.hasDirectory ? own : at.bases;
    const found = { targets: new Set<string>(), beside: new Set<string>() };
    for (const [index, path] of paths.entries()) {
      const targets = await this.#resolve(at, path, bases);
      if (isFetched(path, "include")) throw this.#refusals.fetched(at.file, path);
      const kinds = new Set<string | undefined>();
      for (const target of targets) kinds.add(await kindAt(files, target));
      // Some versions would take the file's name for a directory of its own.
      if (kinds.has("directory")) {
        throw this.#refusals.unclear(at.file, path, "leads to a directory");
      }
      if (index === 0) targets.forEach((target) => found.beside.add(posix.dirname(target)));
      const here = posix.join(this.#project.directory, path);
      // Early versions take a missing file from where they run, and its paths from the base of this one.
      if (kinds.has(undefined) && await kindAt(files, here) !== undefined) {
        targets.push(await this.#inside(at, path, here));
        own.forEach((each) => found.beside.add(each));
      }
      targets.forEach((target) => found.targets.add(target));
    }
    return { targets: [...found.targets], beside: [...found.beside] };
  }

  async #addVariableFiles(files: readonly string[]): Promise<void> {
    for (const file of files) {
      await this.looked.note(file);
      this.variableFiles.add(file);
    }
  }

  /** Directories that compose may use as a project directory: a file stands for its parent. */
  async #projectDirectories(
    at: Pending,
    path: string,
    bases: readonly string[],
  ): Promise<string[]> {
    const { files } = this.#parts;
    const places = await this.#resolve(at, path, bases);
    for (const place of [...places]) {
      if (await kindAt(files, place) === "directory") continue;
      places.push(await this.#inside(at, path, posix.dirname(place)));
    }
    return places;
  }

  /** Looks at each of the files later, as one from any of the bases. */
  #push(targets: readonly string[], { chain, ownVariables, ...from }: Reading): void {
    const bases = this.#places.distinct(from.bases);
    const working = this.#places.distinct(from.working);
    // By its digest: with 500 files, whose bases includes below each other multiply, the texts take gigabytes.
    const reading = createHash("sha256")
      .update(JSON.stringify([bases, working, chain, ownVariables])).digest("base64");
    for (const file of targets) {
      const key = `${reading} ${file}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      if (this.#seen.size > MOST_COMPOSE_FILES) throw tooManyFiles();
      this.#queue.push({ file, bases, working, chain, ownVariables });
    }
  }

  /** The interpolated texts, by those with a variable. */
  async #values(at: Pending, texts: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const open = [...new Set(texts.filter((text) => text.includes("$")))];
    if (open.length === 0) return new Map();
    this.interpolates = true;
    if (at.ownVariables) throw this.#refusals.variable(at.file, open[0] ?? "");
    const values = await this.#parts.interpolate(open);
    return new Map(open.map((text, index) => [text, values[index] ?? ""]));
  }

  /** The targets of a path from each of the bases, all of which must lie in the tree. */
  async #resolve(at: Pending, path: string, bases: readonly string[]): Promise<string[]> {
    if (path === "") return [];
    if (UNSURE_IN_PATHS.test(path)) {
      const why = "holds control characters, which versions of compose read apart";
      throw this.#refusals.unclear(at.file, path, why);
    }
    if (ELSEWHERE.test(path) || posix.isAbsolute(path)) throw this.#refusals.escapes(at.file, path);
    const targets = this.#places.distinct(joined(bases, path));
    for (const target of targets) await this.#inside(at, path, target);
    return targets;
  }

  async #resolveAll(at: Pending, paths: readonly string[], bases: readonly string[]) {
    const found: string[] = [];
    for (const path of paths) found.push(...await this.#resolve(at, path, bases));
    return found;
  }

  /** The target of a path, checked to lie in the tree and to have no `~` that compose expands. */
  async #inside(at: Pending, path: string, target: string): Promise<string> {
    const place = insideTree(target, this.#project.tree);
    if (tooLongPath(place ?? "") !== undefined) {
      throw this.#refusals.unclear(at.file, path, "is too long for a file of a repository");
    }
    if (place === undefined || await this.#tree.leadsOut(target)) {
      throw this.#refusals.escapes(at.file, path);
    }
    const real = await this.#parts.files.realPath(target) ?? target;
    if (isConfigFileName(posix.basename(real))) throw this.#refusals.configuration(at.file, path);
    if (HOME_PATH.test(place)) throw this.#refusals.home(at.file, path);
    return target;
  }
}
