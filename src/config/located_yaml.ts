import { type Document, LineCounter, type YAMLError } from "yaml";
import { parseYaml, tooMuchYaml } from "./bounded_yaml.ts";
import type { Located, LocatedDocument } from "./located.ts";
import { invalidInput, ProblemSink } from "./problem_sink.ts";
import { yamlMessage } from "./yaml_message.ts";
import { Converter, positionOf } from "./yaml_converter.ts";

const MOST_DOCUMENTS = 1000;

/** Most reported syntax errors of one document: later ones usually follow from the first. */
const MOST_SYNTAX_ERRORS = 3;

/**
 * Reads a YAML or JSON text (JSON is YAML) of one or more documents and keeps positions and the
 * text of scalars. Merge keys and aliases are resolved; empty documents are left out.
 *
 * Throws `config_invalid` with a position for a syntax error, a duplicate key, an alias that leads
 * nowhere or explodes, nesting deeper than 50 levels, a text that is too large or has too many signs,
 * more than 1000 documents, and when no document remains.
 */
export function parseLocatedYaml(text: string, file: string): LocatedDocument[] {
  refuseUnreadable(text, file);
  const lines = new LineCounter();
  const parsed: Document.Parsed[] = [...parseDocuments(text, lines, file)];
  if (parsed.length > MOST_DOCUMENTS) {
    throw refusal(file, `the file has more than ${MOST_DOCUMENTS} documents`);
  }
  const sinks = parsed.map((_, index) => new ProblemSink(file, { document: index + 1 }));
  const documents: LocatedDocument[] = [];
  for (const [index, document] of parsed.entries()) {
    const sink = sinks[index] ?? new ProblemSink(file);
    reportSyntax(document, lines, sink);
    if (!sink.clean) continue;
    const root = new Converter(sink, lines).document(document);
    if (root.kind !== "null") documents.push({ number: index + 1, root });
  }
  const problems = sinks.flatMap((sink) => sink.problems);
  if (problems.length > 0) throw invalidInput(`the YAML text of ${file}`, problems);
  if (documents.length === 0) throw refusal(file, "the file has no document: it is empty");
  return documents;
}

/** A list in a text, and its name in messages. */
interface ListText {
  readonly text: string;
  /** Name of the input in messages: a file, or the variable that holds the text. */
  readonly file: string;
  /** Name of the list: `the sync windows`. */
  readonly what: string;
  /** What is in it: `windows`. */
  readonly of: string;
  readonly most?: number;
}

/**
 * Reads each item of a text that is one list, with a sink of its own.
 *
 * Throws `config_invalid` with the problems of all items.
 */
export function readList<T>(
  { text, file, what, of, most = Infinity }: ListText,
  read: (item: Located, index: number, sink: ProblemSink) => T,
): T[] {
  const [first, second] = parseLocatedYaml(text, file);
  const sink = new ProblemSink(file);
  const root = first?.root;
  const items = root?.kind === "list" ? root.items : [];
  if (second !== undefined) sink.add(second.root.at, "", "expected a single document");
  if (root?.kind !== "list") sink.add(root?.at, "", `expected a list of ${of}`);
  else if (items.length > most) {
    sink.add(root.at, "", `expected at most ${most} ${of}, found ${items.length}`);
  }
  if (!sink.clean) throw invalidInput(`${what} ${file}`, sink.problems);
  const sinks = items.map((_, index) => new ProblemSink(file, { prefix: `[${index}]` }));
  const found = items.map((item, index) => read(item, index, sinks[index] ?? sink));
  const problems = sinks.flatMap((each) => each.problems);
  if (problems.length > 0) throw invalidInput(`${what} ${file}`, problems);
  return found;
}

function refuseUnreadable(text: string, file: string): void {
  const tooMuch = tooMuchYaml(text);
  if (tooMuch !== undefined) throw refusal(file, tooMuch);
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    throw refusal(file, "the file is not text: it contains a zero byte");
  }
}

function refusal(file: string, message: string): Error {
  const sink = new ProblemSink(file, { document: 1 });
  sink.add({ line: 1, column: 1 }, "", message);
  return invalidInput(`the YAML text of ${file}`, sink.problems);
}

function parseDocuments(text: string, lines: LineCounter, file: string): Document.Parsed[] {
  try {
    return parseYaml(text, { lineCounter: lines, merge: true });
  } catch (error) {
    if (error instanceof RangeError) throw refusal(file, "the values are nested too deeply");
    throw refusal(file, "the YAML library cannot read this text");
  }
}

function reportSyntax(document: Document.Parsed, lines: LineCounter, sink: ProblemSink): void {
  const errors = [...document.errors].sort((a, b) => a.pos[0] - b.pos[0]);
  for (const error of errors.slice(0, MOST_SYNTAX_ERRORS)) {
    sink.add(positionOf(error.pos[0], lines), "", syntaxMessage(error));
  }
}

function syntaxMessage(error: YAMLError): string {
  if (error.code === "RESOURCE_EXHAUSTION") return "the values are nested too deeply";
  return yamlMessage(error);
}
