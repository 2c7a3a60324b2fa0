/** Characters of one command's output that are logged. */
const MOST_TOLD = 4 * 1024 * 1024;
/** Characters that a line takes in the log beside its own: it has a time and the stack's name. */
const A_LINE = 100;

/**
 * Passes the lines of one command on to the log, without blanks around them and without empty ones.
 * After 4 million characters, 100 more for each line, it says once that the rest is left out: a
 * build prints as much as its author likes, also in lines of one character.
 */
export function limitedOutput(tell: (line: string) => void): (line: string) => void {
  let told = 0;
  return (line) => {
    const text = line.trim();
    if (text === "" || told > MOST_TOLD) return;
    told += text.length + A_LINE;
    tell(told > MOST_TOLD ? "further output of compose is left out" : text);
  };
}
