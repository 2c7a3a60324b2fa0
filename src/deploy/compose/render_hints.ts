/** Advice for errors of compose, which rarely says where, in words that vary with its versions. */
const HINTS: readonly (readonly [says: RegExp, hint: (kind: string) => string])[] = [
  [
    /refers to undefined (network|volume|config|secret)/,
    (kind) => `declare it below ${kind}s:, or take it from the service`,
  ],
  // Of one that no file has and of one whose profile is off; of links, network_mode and others too.
  [
    /depends on undefined service/,
    () =>
      "name a service of the project; where it is one whose profile is off, list that in profiles of " +
      "the deployment, or say required: false in depends_on",
  ],
  [
    /unsupported env_file format/,
    () => "this compose is too old for format: install compose 2.30 or newer, or write NAME=value",
  ],
  [/env file .*not found/, () => "commit it, or write {path: …, required: false}"],
  [/open \S+: no such file or directory/, () => "commit it, or take out what names it"],
  [
    /[Aa]dditional propert(?:y|ies) .*not allowed/,
    () => "compose knows no such key there: look for a misspelled or wrongly indented one",
  ],
  [
    /line \d+: (?:unexpected character|unterminated quoted value|key cannot)/,
    () => "a dotenv file (env_file, env_files) has that line: write NAME=value, and end each quote",
  ],
  [
    /required variable \S+ is missing a value/,
    () => "set it by environment, env_files or external_secrets of the deployment",
  ],
  [
    /[Ii]nvalid (?:containerPort|hostPort|port|proto|ip)/i,
    () => "ports are written [ADDRESS:][PUBLISHED:]TARGET[/PROTOCOL], in numbers up to 65535",
  ],
];

/** The hint to append to an error of compose for a project with these files; empty without one. */
export function renderHint(said: string, files: readonly string[]): string {
  for (const [says, hint] of HINTS) {
    const found = says.exec(said);
    if (found === null) continue;
    const where = files.includes("-") ? "its compose files" : files.join(", ");
    return `\nin ${where}: ${hint(found[1] ?? "")}`;
  }
  return "";
}
