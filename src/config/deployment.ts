import type { Problem } from "../model/mod.ts";
import { isMigrationFile } from "./config_file_names.ts";
import { duplicateStacks } from "./duplicate_stacks.ts";
import type { Located } from "./located.ts";
import { parseLocatedYaml } from "./located_yaml.ts";
import { invalidInput, MOST_PROBLEMS, ProblemSink } from "./problem_sink.ts";
import { type DeploymentDocument, DeploymentReader } from "./deployment_reader.ts";

/** Most steps of the `webhook_filter` of all documents of a file, far more than 500 usual ones have. */
const MOST_FILTER_STEPS = 100_000;

interface ParseOptions {
  /** Path for messages; its file name also tells whether it is a file of doco-cd. */
  readonly file: string;
  /** True for settings and authenticated requests, false for files of a repository. */
  readonly trusted: boolean;
  readonly allowLocalRepositoryUrl?: boolean;
}

/**
 * Reads a configuration file: every document of it is one deployment, in order.
 *
 * Throws `config_invalid` with the problems of its documents, up to one hundred, and their positions.
 */
export function parseDeployments(text: string, options: ParseOptions): DeploymentDocument[] {
  const filters = { steps: MOST_FILTER_STEPS };
  const origin = { ...options, migration: isMigrationFile(options.file), filters };
  const readers: DeploymentReader[] = [];
  let problems = 0;
  for (const { number, root } of parseLocatedYaml(text, options.file)) {
    // Looking for what is meant takes long, and what is wrong with further documents is not shown.
    if (problems >= MOST_PROBLEMS) break;
    const sink = new ProblemSink(options.file, { document: number });
    readers.push(new DeploymentReader(root, sink, origin));
    problems += sink.problems.length;
  }
  return finish(readers, `the deployment configuration ${options.file}`);
}

/**
 * Reads the override of a discovered stack: exactly one document in which every key may be left
 * out. Rules between fields are checked after it was merged.
 *
 * Throws `config_invalid` with every problem and its position.
 */
export function parseDeploymentOverride(text: string, options: ParseOptions): DeploymentDocument {
  const origin = { ...options, migration: isMigrationFile(options.file), partial: true };
  const [first, second] = parseLocatedYaml(text, options.file);
  const sink = new ProblemSink(options.file, { document: second?.number ?? 1 });
  const what = `the deployment override ${options.file}`;
  if (second !== undefined) {
    sink.add(second.root.at, "", "expected exactly one document in an override");
  }
  const root: Located = first?.root ?? { kind: "null", at: undefined };
  const [document] = sink.clean ? finish([new DeploymentReader(root, sink, origin)], what) : [];
  if (document === undefined) throw invalidInput(what, sink.problems);
  return document;
}

/** Findings of {@link readInlineDeployments}; the documents count only without problems. */
export interface InlineReading {
  readonly documents: readonly DeploymentDocument[];
  readonly problems: readonly Problem[];
}

/** Reads located inline configurations, which are trusted; `sinkFor` gives each its own prefix. */
export function readInlineDeployments(
  items: readonly Located[],
  sinkFor: (index: number) => ProblemSink,
): InlineReading {
  const readers = items.map((item, index) =>
    new DeploymentReader(item, sinkFor(index), { trusted: true })
  );
  return finishReading(readers);
}

function finish(readers: readonly DeploymentReader[], what: string): DeploymentDocument[] {
  const { documents, problems } = finishReading(readers);
  if (problems.length > 0) throw invalidInput(what, problems);
  return [...documents];
}

function finishReading(readers: readonly DeploymentReader[]): InlineReading {
  const documents = readers.map((reader) => reader.document);
  for (const [first, ...others] of duplicateStacks(documents.map((each) => each.deployment))) {
    for (const index of others) readers[index]?.reportDuplicate(readers[first ?? 0]);
  }
  return { documents, problems: readers.flatMap((reader) => reader.problems) };
}
