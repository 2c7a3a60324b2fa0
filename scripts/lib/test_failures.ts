/** A test that failed, or the end of what a command said that did. */
export interface Failure {
  readonly name: string;
  /** What the error says, shortened; empty when nothing was found. */
  readonly message: string;
  /** The file of the test as its runner calls it; `undefined` where that is not known. */
  readonly file: string | undefined;
}

/** Characters that are kept of what an error says. */
const MESSAGE_LENGTH = 400;

/** Failures that are told of one stage; a broken engine fails them all alike. */
const TOLD = 5;

/** The innermost cases that failed, from a JUnit report written by `deno test`. */
export function failuresOfJunit(report: string): Failure[] {
  const cases = failedCases(report);
  const isGroup = (name: string) => cases.some((each) => each.name.startsWith(`${name} > `));
  return cases.filter(({ name }) => !isGroup(name)).map((each) => ({
    ...shortened(each),
    // Only the outermost group knows its file.
    file: cases.find(({ name, file }) => file !== undefined && isWithin(each.name, name))?.file,
  }));
}

function failedCases(report: string): Failure[] {
  const pattern =
    /<testcase name="([^"]*)" classname="([^"]*)"[^>]*>\s*<(?:failure|error)\b[^>]*>([^<]*)</g;
  return [...report.matchAll(pattern)].map(([, name = "", from = "", message = ""]) => ({
    name: unescaped(name),
    message: unescaped(message),
    file: from.endsWith("_test.ts") ? from : undefined,
  }));
}

function isWithin(name: string, group: string): boolean {
  return name === group || name.startsWith(`${group} > `);
}

/** The cases that failed, from what `bun test` writes: the error comes before the line with the name. */
export function failuresOfBun(output: string): Failure[] {
  const failures: Failure[] = [];
  let file: string | undefined;
  let before: string[] = [];
  const fail = (name: string) =>
    failures.push({ ...shortened({ name, message: errorIn(before) }), file });
  for (const line of output.split("\n")) {
    const outcome = OUTCOME_OF_BUN.exec(line);
    const [, next] = /^(\S+_test\.ts):$/.exec(line) ?? [];
    const isEnd = next !== undefined || outcome !== null;
    if (isEnd && before.some((each) => each.startsWith("# Unhandled error"))) fail("between tests");
    else if (outcome?.[1] === "fail") fail(outcome[2] ?? "");
    if (isEnd) before = [];
    else before.push(line);
    if (next !== undefined) file = next;
  }
  return failures;
}

/** The outcome of a test and its name, or the first line of the summary. */
const OUTCOME_OF_BUN = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+m?s\])?$|^ *\d+ pass$/;

/** The last lines of a command that failed. */
export function failureOfCommand(name: string, output: string): Failure {
  return { name, message: output.trimEnd().slice(-MESSAGE_LENGTH), file: undefined };
}

/**
 * What is said of failures once more at the end: a log is often read, or kept, from its end only.
 * `headline` says of which stage they are.
 */
export function toldFailures(headline: string, failures: readonly Failure[]): string {
  const told = failures.slice(0, TOLD).map(({ name, message }) =>
    `  ${name}\n${message.replace(/^/gm, "    ")}`
  );
  const more = failures.length - told.length;
  return [`${headline}:`, ...told, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}

/** From the line that names the error to the first that names a place in the code. */
function errorIn(lines: readonly string[]): string {
  const from = lines.findIndex((line) => /^\w*error: /i.test(line));
  if (from < 0) return "";
  const rest = lines.slice(from);
  const until = rest.findIndex((line) => /^\s+at /.test(line));
  return rest.slice(0, until < 0 ? rest.length : until + 1).join("\n");
}

function shortened({ name, message }: Omit<Failure, "file">): Omit<Failure, "file"> {
  const text = message.trim();
  return {
    name,
    message: text.length > MESSAGE_LENGTH ? `${text.slice(0, MESSAGE_LENGTH)} …` : text,
  };
}

function unescaped(text: string): string {
  const known: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => known[name] ?? "");
}
