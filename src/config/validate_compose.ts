import { posix } from "node:path";
import { isScalar, isSeq } from "yaml";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  clip,
  type Deployment,
  errors,
  isJobService,
  isStackwrightError,
  MIGRATION_LABEL_PREFIX,
  ownVariable,
  ownVariablesIn,
  peerImage,
  type Problem,
  recordOf,
  writtenLabel,
} from "../model/mod.ts";
import { misspelledKeys } from "./compose_keys.ts";
import { wrongValues } from "./compose_values.ts";
import {
  type ComposeText,
  lineOf,
  linePlace,
  readCompose,
  servicesIn,
  takesBack,
} from "./compose_text.ts";
import { mountsOutside, type UnmadeMount, unmadeMounts } from "./mounts_outside.ts";
import { type ComposePaths, pathsIn } from "./compose_paths.ts";
import { isFetched, isFollowed, REMOTE, UNKNOWN } from "./compose_references.ts";
import { isOthersJob, readJobLabels } from "./job_labels.ts";
import { nearestKey } from "./nearest_key.ts";
import { problemsIn } from "./problem_sink.ts";
import { parseRecreateIgnore } from "./recreate_ignore.ts";

interface ComposeFindings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Files that the compose file names; empty when it cannot be read. */
  readonly references: readonly ComposeReference[];
  /** The file, if it could be read, and none of its names and keys comes from where nobody looks. */
  readonly read?: ComposeText;
  /** Mounts that are refused where the checkout has nothing at their path. */
  readonly mounts: readonly UnmadeMount[];
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

/** What is known about scheduled jobs beyond their labels. */
export interface JobChecks {
  /** A full check of schedules; their shape is checked in any case. */
  readonly checkSchedule?: (schedule: string) => string | undefined;
  /** Whether no job runs by its schedule: the settings say so. */
  readonly isSchedulerOff?: boolean;
  /** Names of the stacks of the configuration file; by default not known. */
  readonly stacks?: ReadonlySet<string>;
}

/** Checks a compose file without an engine, as far as its text and its names tell. */
export function validateCompose(
  text: string,
  { file, base, isPaused = false }: {
    readonly file: string;
    readonly base: string;
    readonly isPaused?: boolean;
  },
  jobs: JobChecks = {},
): ComposeFindings {
  try {
    const read = readCompose(text, file);
    const paths = pathsIn(read);
    const named = {
      include: paths.includes.flatMap((each) => each.paths),
      extends: paths.extended,
    };
    const problems = (["include", "extends"] as const).flatMap((path) =>
      named[path].filter((each) => isFetched(each, path)).map((each) => {
        const what = `${JSON.stringify(clip(each, 200))} is not a file of the repository`;
        const how = "put it there, by a name without .git at its end, or use a submodule";
        return { file, path, message: `${what} to every version of docker compose: ${how}` };
      })
    );
    const labels = labelFindings(read, jobs);
    const wrong = [...misspelledKeys(read), ...wrongValues(read)];
    // A tag may take such a key away before anybody looks at it.
    const [refused, doubtful] = takesBack(text) ? [[], wrong] : [wrong, []];
    return {
      problems: [
        ...problems,
        ...refused,
        ...peerImages(read, isPaused),
        ...mountsOutside(read, base),
        ...labels.problems,
      ],
      warnings: [...doubtful, ...ownVariables(text, file), ...labels.warnings],
      references: referencesOf(paths, base, read),
      mounts: unmadeMounts(read, base),
      ...(isFollowed(paths, base) ? { read } : {}),
    };
  } catch (error) {
    return { problems: problemsIn(error), warnings: [], references: [], mounts: [] };
  }
}

/** Warnings of variables that would be those of our process. */
function ownVariables(text: string, file: string): Problem[] {
  return [...ownVariablesIn(text)].map(([name, line]) => ({
    file,
    line,
    message: ownVariable(name),
  }));
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

/** Images of other managers; skips names with variables, whose values are unknown here. */
function peerImages(read: ComposeText, isPaused: boolean): Problem[] {
  return servicesIn(read).flatMap(({ name, service: { image, profiles }, lineOf }) => {
    // Rendering tells of a service with profiles, which may not be wanted.
    if (typeof image !== "string" || isPaused || profiles !== undefined) return [];
    const message = image.includes("$") ? undefined : peerImage(image);
    if (message === undefined) return [];
    return [{ file: read.file, path: `services.${name}.image`, ...lineOf("image"), message }];
  });
}

function labelFindings(
  read: ComposeText,
  jobs: JobChecks,
): Pick<ComposeFindings, "problems" | "warnings"> {
  const { file } = read;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [service, labels] of labelsOf(read)) {
    const path = `services.${service}.labels`;
    warnings.push(...misspelledLabels(labels).map((message) => ({ file, path, message })));
    const at = (label: string) => ({ file, path, ...placeOfLabel(read, service, label) });
    for (const check of [checkJob, checkRecreateIgnore]) {
      try {
        const hint = check(labels, service, jobs);
        const { jobEnabled } = BEHAVIOUR_LABELS;
        if (hint) warnings.push({ ...at(writtenLabel(labels, jobEnabled)), message: hint });
      } catch (error) {
        if (!isStackwrightError(error, "config_invalid")) throw error;
        const [, label = ""] = /^label ([^\s:]+)/.exec(error.message) ?? [];
        problems.push({ ...at(label), message: error.message });
      }
    }
  }
  return { problems, warnings };
}

type Labels = Readonly<Record<string, string>>;

/** Returns a hint about a service that is a job. Throws `config_invalid`. */
function checkJob(all: Labels, service: string, jobs: JobChecks): string | undefined {
  // The values of variables are not known here; a variable may also be the name of a label.
  const labels = Object.fromEntries(
    Object.entries(all).filter(([name]) => /\$|^(?:stackwright|cd\.doco)\.job\./.test(name)),
  );
  if (JSON.stringify(labels).includes("$")) return undefined;
  // The name of the project is not known here.
  const spec = readJobLabels(labels, { project: "-", service });
  if (spec?.enabled !== true) return undefined;
  // Its interval was read with the label, and may be shorter than that of other schedules.
  const isEvery = spec.schedule.includes("@every ");
  const problem = isEvery ? undefined : jobs.checkSchedule?.(spec.schedule);
  const label = writtenLabel(labels, BEHAVIOUR_LABELS.jobSchedule);
  if (problem !== undefined) throw errors.config_invalid(`label ${label}: ${problem}`);
  const others = new Set(spec.stopServices.map(({ project }) => project));
  const unknown = [...others].filter((each) => each !== "-" && jobs.stacks?.has(each) === false);
  const hints = [
    ...unknown.map((each) =>
      `the job stops services of ${each}, which is no stack of this file: where another repository or ` +
      "branch deploys it, each run is refused"
    ),
    ...(jobs.isSchedulerOff === true
      ? ["the job runs only when somebody asks for it: SCHEDULER_ENABLED is false"]
      : []),
  ];
  return hints.length === 0 ? undefined : hints.join("; ");
}

/** Throws `config_invalid`. */
function checkRecreateIgnore(labels: Labels): undefined {
  const { recreateIgnore, recreateIgnoreSignal } = BEHAVIOUR_LABELS;
  const ignore = behaviourLabel(labels, recreateIgnore);
  const signal = behaviourLabel(labels, recreateIgnoreSignal);
  if (`${ignore}${signal}`.includes("$")) return;
  const isOurs = [recreateIgnore, recreateIgnoreSignal].some((name) => name in labels);
  const prefix = isOurs ? {} : { prefix: MIGRATION_LABEL_PREFIX };
  parseRecreateIgnore({ ignore, signal, ...prefix });
}

/** The line of a label, else that of all labels of its service. */
function placeOfLabel(read: ComposeText, service: string, label: string) {
  const all = ["services", service, "labels"];
  const listed = read.documents.map(({ document }) => document.getIn(all, true)).filter(isSeq)
    .flatMap(({ items }) => items).filter(isScalar)
    .find(({ value }) => splitLabel(value)[0] === label);
  if (listed?.range) return linePlace(read, listed.range[0]);
  const own = lineOf(read, [...all, label]);
  return own.line === undefined ? lineOf(read, all) : own;
}

/** Prefixes of our labels, and of doco-cd's, which mean the same here. */
const PREFIXES = ["stackwright.", MIGRATION_LABEL_PREFIX];

/** Most reported labels of one service: more are hardly typing mistakes. */
const MOST_MISSPELLED = 10;

/**
 * At most `most` messages about labels with our prefix or doco-cd's that do not do what their author may
 * expect: unknown ones, and the owner of a job.
 */
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
  const owner = writtenLabel(labels, BEHAVIOUR_LABELS.jobOwner);
  const others = isJobService(labels) && isOthersJob(labels) && most > 0
    ? [`${owner} names another instance, so the job does not run here: remove the label to run it`]
    : [];
  const left = Math.min(most - others.length, MOST_MISSPELLED);
  return others.concat(
    unknown.slice(0, left).map(({ name, prefix, rest }) => {
      const near = nearestKey(rest, known);
      const advice = near === undefined ? "" : `: did you mean ${prefix}${near}?`;
      return `${clip(name, 80)} is no label of Stackwright and has no effect${advice}`;
    }),
  );
}

/** The labels of each service, written as a map or as a list. */
function labelsOf(read: ComposeText): [string, Readonly<Record<string, string>>][] {
  return servicesIn(read).map(({ name, service: { labels } }) => {
    const entries = Array.isArray(labels)
      ? labels.map(splitLabel)
      : Object.entries(recordOf(labels));
    const texts = entries.map(([label, value]) => [label, String(value ?? "")] as const);
    return [name, Object.fromEntries(texts)];
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
