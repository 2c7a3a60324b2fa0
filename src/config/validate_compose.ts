import { posix } from "node:path";
import { isNode, LineCounter } from "yaml";
import {
  badImageName,
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type Deployment,
  isStackwrightError,
  MIGRATION_LABEL_PREFIX,
  type Problem,
  recordOf,
} from "../model/mod.ts";
import { parseYaml } from "./bounded_yaml.ts";
import { type ComposeText, misspelledKeys } from "./compose_keys.ts";
import { type ComposePaths, composePaths } from "./compose_paths.ts";
import { REMOTE } from "./compose_references.ts";
import { readJobLabels } from "./job_labels.ts";
import { clip } from "./located.ts";
import { nearestKey } from "./nearest_key.ts";
import { parseRecreateIgnore } from "./recreate_ignore.ts";

interface ComposeFindings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Files that the compose file names; empty when it cannot be read. */
  readonly references: readonly ComposeReference[];
}

/** A file of the checkout that a compose file names and compose cannot do without. */
interface ComposeReference {
  /** The key that names it. */
  readonly key: "include" | "include.env_file" | "extends" | "env_file";
  /** From the root of the checkout. */
  readonly path: string;
  /** Where the file says so, as far as that is known: lines and the keys, `services.web.env_file`. */
  readonly where?: Pick<Problem, "path" | "line" | "column">;
  /** Base of the paths in an included compose file; `undefined` for other files. */
  readonly base?: string;
}

/** Checks a compose file without an engine, as far as its text and its names tell. */
export function validateCompose(
  text: string,
  { file, base }: { readonly file: string; readonly base: string },
): ComposeFindings {
  try {
    const paths = composePaths(text, file);
    const included = paths.includes.flatMap((each) => each.paths);
    const problems = included.filter((path) => REMOTE.test(path)).map((each) => {
      const what = `${JSON.stringify(each.slice(0, 200))} is not a file of the repository`;
      return { file, path: "include", message: `${what}: put it there, or use a submodule` };
    });
    const lines = new LineCounter();
    const read = { file, documents: parseYaml(text, { merge: true, lineCounter: lines }), lines };
    const labels = labelFindings(read);
    return {
      problems: [...problems, ...imageProblems(read), ...labels.problems],
      warnings: [...misspelledKeys(read), ...labels.warnings],
      references: referencesOf(paths, base, read),
    };
  } catch (error) {
    if (!isStackwrightError(error, "config_invalid")) throw error;
    return { problems: error.problems, warnings: [], references: [] };
  }
}

/** The references with known paths: below the root of the checkout, and without variables. */
function referencesOf(
  { includes, extended, needed }: ComposePaths,
  base: string,
  read: ComposeText,
): ComposeReference[] {
  const found: ComposeReference[] = [];
  const note = (
    key: ComposeReference["key"],
    name: string,
    { inside, where }: { readonly inside?: string; readonly where?: ComposeReference["where"] } =
      {},
  ) => {
    const path = posix.join(base, name);
    if (REMOTE.test(name) || [name, inside ?? ""].some((each) => UNKNOWN.test(each))) return;
    if (path.startsWith("../")) return;
    const within = inside === undefined ? {} : { base: posix.join(base, inside) };
    found.push({ key, path, ...within, ...(where === undefined ? {} : { where }) });
  };
  for (const { paths, envFiles, projectDirectory } of includes) {
    const inside = projectDirectory || posix.dirname(paths[0] ?? "");
    for (const path of paths) note("include", path, { inside });
    for (const path of envFiles) note("include.env_file", path);
  }
  // Without a base: compose reads only one service of an extended file.
  for (const path of extended) note("extends", path);
  for (const { path, place } of needed) {
    const where = { path: place.join("."), ...lineOf(read, place) };
    note("env_file", path, { where });
  }
  return found;
}

/** The line of a key of a compose file; none where a merge brings it. */
function lineOf(
  { documents, lines }: Pick<ComposeText, "documents" | "lines">,
  keys: readonly string[],
): Pick<Problem, "line" | "column"> {
  for (const document of documents) {
    const node = document.getIn(keys, true);
    const range = isNode(node) ? node.range : undefined;
    if (!range) continue;
    const { line, col } = lines.linePos(range[0]);
    return { line, column: col };
  }
  return {};
}

/** A path with a variable, or one that does not begin in the checkout. */
const UNKNOWN = /\$|^[/~]/;

/** Invalid names of images; skips names with variables, whose values are unknown here. */
function imageProblems({ file, documents, lines }: ComposeText): Problem[] {
  return documents.flatMap((document) => {
    const services = recordOf(recordOf(document.toJS())["services"]);
    return Object.entries(services).flatMap(([service, value]) => {
      const image = recordOf(value)["image"];
      if (typeof image !== "string" || image.includes("$")) return [];
      const message = badImageName(image);
      if (message === undefined) return [];
      const place = lineOf({ documents: [document], lines }, ["services", service, "image"]);
      return [{ file, path: `services.${service}.image`, ...place, message }];
    });
  });
}

function labelFindings(
  { file, documents }: ComposeText,
): Omit<ComposeFindings, "references"> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [service, labels] of labelsOf(documents)) {
    const path = `services.${service}.labels`;
    warnings.push(...misspelledLabels(labels).map((message) => ({ file, path, message })));
    if (!JSON.stringify(labels).includes("$")) {
      try {
        // The name of the project is not known here.
        readJobLabels(labels, { project: "-", service });
      } catch (error) {
        if (!isStackwrightError(error, "config_invalid")) throw error;
        problems.push({ file, path, message: error.message });
      }
    }
    const { recreateIgnore, recreateIgnoreSignal } = BEHAVIOUR_LABELS;
    const ignore = behaviourLabel(labels, recreateIgnore);
    const signal = behaviourLabel(labels, recreateIgnoreSignal);
    // The values of variables are not known here.
    if (`${ignore}${signal}`.includes("$")) continue;
    const isOurs = [recreateIgnore, recreateIgnoreSignal].some((name) => name in labels);
    const prefix = isOurs ? {} : { prefix: MIGRATION_LABEL_PREFIX };
    try {
      parseRecreateIgnore({ ignore, signal, ...prefix });
    } catch (error) {
      if (!isStackwrightError(error, "config_invalid")) throw error;
      problems.push({ file, path, message: error.message });
    }
  }
  return { problems, warnings };
}

/** Prefixes of our labels, and of doco-cd's, which mean the same here. */
const PREFIXES = ["stackwright.", MIGRATION_LABEL_PREFIX];

/** Most reported labels of one service: more are hardly typing mistakes. */
const MOST_MISSPELLED = 10;

/** At most `most` messages about unknown labels with our prefix or doco-cd's, which do nothing. */
export function misspelledLabels(
  labels: Readonly<Record<string, string>>,
  most = MOST_MISSPELLED,
): string[] {
  const known = Object.values(BEHAVIOUR_LABELS).map((each) => each.replace(/^stackwright\./, ""));
  const unknown = Object.keys(labels).filter((name) => !name.includes("$")).flatMap((name) => {
    const prefix = PREFIXES.find((each) => name.startsWith(each));
    const rest = name.slice(prefix?.length);
    return prefix === undefined || known.includes(rest) ? [] : [{ name, prefix, rest }];
  });
  return unknown.slice(0, Math.min(most, MOST_MISSPELLED)).map(({ name, prefix, rest }) => {
    const near = nearestKey(rest, known);
    const advice = near === undefined ? "" : `: did you mean ${prefix}${near}?`;
    return `${clip(name, 80)} is no label of Stackwright and has no effect${advice}`;
  });
}

/** The labels of each service, written as a map or as a list. */
function labelsOf(
  documents: ComposeText["documents"],
): [string, Readonly<Record<string, string>>][] {
  return documents.flatMap((document) => {
    const services = recordOf(recordOf(document.toJS())["services"]);
    return Object.entries(services).map(([name, service]): [string, Record<string, string>] => {
      const labels = recordOf(service)["labels"];
      const entries = Array.isArray(labels)
        ? labels.map(splitLabel)
        : Object.entries(recordOf(labels));
      const texts = entries.map(([label, value]) => [label, String(value ?? "")] as const);
      return [name, Object.fromEntries(texts)];
    });
  });
}

function splitLabel(text: unknown): [string, string] {
  const [name = "", ...value] = String(text).split("=");
  return [name, value.join("=")];
}

/** Existing compose files of a deployment: all that its author listed, or the first default name. */
export function composeFilesIn(
  { composeFiles, composeFilesGiven, workingDir }: Pick<
    Deployment,
    "composeFiles" | "composeFilesGiven" | "workingDir"
  >,
  found: ReadonlySet<string>,
): readonly string[] {
  const there = composeFiles.map((name) => posix.join(workingDir, name))
    .filter((path) => found.has(path));
  return composeFilesGiven ? there : there.slice(0, 1);
}
