/** A test that failed, or the end of what a command said that did. */
export interface Failure {
  readonly name: string;
  /** What the error says, shortened; empty when nothing was found. */
  readonly message: string;
}

/** Characters that are kept of what an error says. */
const MESSAGE_LENGTH = 400;

/** Failures that are told of one stage; a broken engine fails them all alike. */
const TOLD = 5;

/** The innermost cases that failed, from a JUnit report written by `deno test`. */
export function failuresOfJunit(report: string): Failure[] {
  const cases = [...report.matchAll(
    /<testcase name="([^"]*)"[^>]*>\s*<(?:failure|error)\b[^>]*>([^<]*)<\/(?:failure|error)>/g,
  )].map(([, name = "", message = ""]) => ({ name: unescaped(name), message: unescaped(message) }));
  const isGroup = (name: string) => cases.some((each) => each.name.startsWith(`${name} > `));
  return cases.filter(({ name }) => !isGroup(name)).map(shortened);
}

/** The cases that failed, from what `bun test` writes: the error comes before the line with the name. */
export function failuresOfBun(output: string): Failure[] {
  const failures: Failure[] = [];
  let before: string[] = [];
  for (const line of output.split("\n")) {
    const [, outcome, name = ""] =
      /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+m?s\])?$/.exec(line) ?? [];
    if (outcome === "fail") failures.push(shortened({ name, message: errorIn(before) }));
    if (outcome === undefined) before.push(line);
    else before = [];
  }
  return failures;
}

/** The last lines of a command that failed. */
export function failureOfCommand(name: string, output: string): Failure {
  return { name, message: output.trimEnd().slice(-MESSAGE_LENGTH) };
}

/** What is said of failures once more at the end: a log is often read, or kept, from its end only. */
export function toldFailures(stage: string, failures: readonly Failure[]): string {
  const told = failures.slice(0, TOLD).map(({ name, message }) =>
    `  ${name}\n${message.replace(/^/gm, "    ")}`
  );
  const more = failures.length - told.length;
  return [`failed in "${stage}":`, ...told, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}

/** From the line that names the error to the first that names a place in the code. */
function errorIn(lines: readonly string[]): string {
  const from = lines.findIndex((line) => /^\w*error: /i.test(line));
  if (from < 0) return "";
  const rest = lines.slice(from);
  const until = rest.findIndex((line) => /^\s+at /.test(line));
  return rest.slice(0, until < 0 ? rest.length : until + 1).join("\n");
}

function shortened({ name, message }: Failure): Failure {
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
