/** The first line of a message, for a table; without what announces the lines that are left out. */
export function headline(message: string): string {
  const [line = ""] = message.split("\n");
  return line.replace(/; last output:$/, "");
}
