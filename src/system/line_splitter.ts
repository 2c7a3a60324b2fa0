/** Characters of a line that is under way: it is looked through again with every chunk. */
const LONGEST_LINE = 64 * 1024;

/** Tells each line of a text that comes in chunks, without its line break. */
export function lineSplitter(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  return {
    push(chunk: Uint8Array) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
      lines.forEach(onLine);
    },
    end() {
      if (rest !== "") onLine(rest);
    },
  };
}
