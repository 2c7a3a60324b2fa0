import process from "node:process";

/** Whether a person can watch and press keys. */
export function isTerminal(): boolean {
  return process.stdout.isTTY === true && process.stdin.isTTY === true;
}

/** Prints one line. */
export function say(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a numbered heading of the demo. */
export function heading(number: number, title: string): void {
  const text = `${number}. ${title}`;
  say(`\n${process.stdout.isTTY === true ? `\x1b[1m${text}\x1b[0m` : text}`);
}

/** Prints a block of text, each line set off by a bar. */
export function quote(text: string): void {
  for (const line of text.trimEnd().split("\n")) say(`   | ${line}`);
}

/**
 * Shows that `work` goes on: a turning sign with the seconds on a terminal, otherwise a line now and
 * then. Ends with a line that says how long it took; what `work` throws is passed on.
 */
export async function withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const live = process.stdout.isTTY === true;
  let frame = 0;
  const show = live
    ? () => void process.stdout.write(`\r   ${"|/-\\"[frame++ % 4]} ${title} ${seconds()} `)
    : () => say(`   ... ${title}, ${seconds()} so far`);
  if (!live) say(`   ${title} ...`);
  const timer = setInterval(show, live ? 120 : 3000);
  try {
    const result = await work();
    say(`${live ? "\r" : ""}   ${title}: done in ${seconds()}`);
    return result;
  } catch (error) {
    say(`${live ? "\r" : ""}   ${title}: failed after ${seconds()}`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
