import type { DeclaredDeployment, Problem } from "../model/mod.ts";
import { isMigrationFile } from "./config_file_names.ts";
import { decode } from "./decode.ts";
import {
  buildDeployment,
  checkDeployment,
  type DeploymentOrigin,
  duplicateStacks,
} from "./deployment_rules.ts";
import { deploymentSchema, type WrittenDeployment } from "./deployment_schema.ts";
import { type Located, type LocatedMap, type Position, positionAt } from "./located.ts";
import { locateJson } from "./located_json.ts";
import { parseLocatedYaml } from "./located_yaml.ts";
import { invalidInput, ProblemSink, type Report } from "./problem_sink.ts";

/**
 * One deployment configuration and what is known of its text. Defaults were applied once, to the
 * keys that are absent or null. In `given`, `destroy: true` counts as `destroy.enabled`; presence,
 * not value, decides what an override replaces.
 */
export interface DeploymentDocument extends DeclaredDeployment {
  /** Where the document starts; absent for JSON values. */
  readonly position: Position | undefined;
  /** Number of the document and position of the value at a dotted key path, for a problem found later. */
  place(path: string): Pick<Problem, "document" | "line" | "column">;
  /** What was ignored on purpose and its author should know. */
  readonly warnings: readonly Problem[];
}

/** Options for reading a configuration file. */
export interface ParseOptions {
  /** Path for messages; its name also tells a file of the migration. */
  readonly file: string;
  /** True for settings and authenticated requests, false for everything out of a repository. */
  readonly trusted: boolean;
  readonly allowLocalRepositoryUrl?: boolean;
}

/**
 * Reads a configuration file: every document of it is one deployment, in order.
 *
 * Throws `config_invalid` with every problem of every document and its position.
 */
export function parseDeployments(text: string, options: ParseOptions): DeploymentDocument[] {
  const origin = { ...options, migration: isMigrationFile(options.file) };
  const readers = parseLocatedYaml(text, options.file).map(({ number, root }) =>
    new DeploymentReader(root, new ProblemSink(options.file, { document: number }), origin)
  );
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

/**
 * Reads the inline configurations of an authenticated request, a JSON array, by the same rules.
 * `where` names the input in messages; paths of problems start with the index (`[1].build.no_cash`).
 *
 * Throws `config_invalid` with every problem.
 */
export function parseInlineDeployments(value: unknown, where: string): DeploymentDocument[] {
  const node = locateJson(value);
  const sink = new ProblemSink(where);
  if (node?.kind !== "list") {
    const problem = node === undefined ? "nested too deeply" : "expected a list of deployments";
    sink.add(undefined, "", problem);
    throw invalidInput(where, sink.problems);
  }
  const read = readInlineDeployments(
    node.items,
    (index) => new ProblemSink(where, { prefix: `[${index}]` }),
  );
  if (read.problems.length > 0) throw invalidInput(where, read.problems);
  return [...read.documents];
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

/** Reads one located value as a deployment. */
class DeploymentReader {
  readonly document: DeploymentDocument;
  readonly #root: Located;
  readonly #sink: ProblemSink;
  readonly #report: Report;

  constructor(root: Located, sink: ProblemSink, origin: DeploymentOrigin) {
    this.#root = root;
    this.#sink = sink;
    this.#report = (path, message) => sink.add(positionAt(root, path), path, message);
    const { value, given } = decode(deploymentSchema, root, sink);
    // What did not fit the schema was reported with its place; rules on the rest would guess.
    const written: WrittenDeployment = sink.clean ? value : {};
    const deployment = sink.clean
      ? buildDeployment(written, origin, this.#report)
      : buildDeployment({ name: "unreadable" }, origin, () => {});
    this.#checkVersion(written, origin);
    if (sink.clean && origin.partial !== true) checkDeployment(deployment, this.#report);
    this.document = {
      deployment,
      given: origin.trusted ? given : withoutOci(given),
      position: root.at,
      place: (path) => this.#place(path),
      warnings: this.#warnings(given, origin),
    };
  }

  get problems(): readonly Problem[] {
    return this.#sink.problems;
  }

  reportDuplicate(first: DeploymentReader | undefined): void {
    if (first === undefined || !first.#sink.clean || !this.#sink.clean) return;
    const { name, context } = this.document.deployment;
    const line = first.#nameLine();
    const where = line === undefined ? "" : ` (the first is on line ${line})`;
    const place = context === "" ? "the default context" : `the context ${context}`;
    this.#report("name", `another deployment in ${place} is called "${name}" too${where}`);
  }

  #place(path: string): Pick<Problem, "document" | "line" | "column"> {
    const at = positionAt(this.#root, path);
    const { document } = this.#sink;
    return { ...(document === undefined ? {} : { document }), ...at };
  }

  #nameLine(): number | undefined {
    return positionAt(this.#root, "name")?.line;
  }

  /** An artifact has to say in so many words which version its configuration is. */
  #checkVersion(written: WrittenDeployment, origin: DeploymentOrigin): void {
    if (!this.#sink.clean || (written.source ?? "").trim().toLowerCase() !== "oci") return;
    const node = (this.#root as LocatedMap).entries.get("version")?.value;
    if (node === undefined || node.kind !== "scalar") return;
    const allowed = ["", "service.v1", ...(origin.migration === true ? ["doco.v1"] : [])];
    if (typeof node.value === "string" && allowed.includes(node.value.trim())) return;
    this.#report("version", "expected service.v1, the only version for source oci");
  }

  #warnings(given: ReadonlySet<string>, origin: DeploymentOrigin): readonly Problem[] {
    if (origin.trusted || !given.has("oci") || !this.#sink.clean) return [];
    const warnings = new ProblemSink(this.#sink.file, { document: this.#sink.document ?? 1 });
    warnings.add(
      positionAt(this.#root, "oci"),
      "oci",
      "ignored: signature overrides are honoured in trusted configuration only",
    );
    return warnings.problems;
  }
}

function withoutOci(given: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...given].filter((path) => path !== "oci" && !path.startsWith("oci.")));
}
