/** The first line of a message for a table, without the ending that announces further lines. */
export function headline(message: string): string {
  const [line = ""] = message.split("\n");
  return line.replace(/; last output:$/, "");
}
