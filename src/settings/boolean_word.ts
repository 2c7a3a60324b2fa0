const TRUE = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE = ["0", "f", "F", "false", "FALSE", "False"];

/** The boolean a word means, by the words Go's parser takes; `undefined` for any other. */
export function asBoolean(value: string): boolean | undefined {
  if (TRUE.includes(value)) return true;
  return FALSE.includes(value) ? false : undefined;
}
