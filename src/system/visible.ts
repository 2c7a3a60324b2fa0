/**
 * Characters that a terminal takes for commands or that reorder the shown text: control characters
 * except line ends and tabs, and marks of direction.
 */
const CONTROL = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028\\u2029" +
    "\\u202a-\\u202e\\u2066-\\u2069]",
  "g",
);

/**
 * `text` for a terminal: what steers one is shown as `\u001b` and its like. Texts of containers,
 * repositories and servers may hold anything. In JSON it means the same afterwards.
 */
export function visible(text: string): string {
  return text.replace(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
