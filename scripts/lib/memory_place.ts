import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";

/** Most that files of tests take in memory, in kilobytes: some four stages run at a time, and tidy up. */
const KILOBYTES = 3 * 1024 ** 2;

/** Directory whose files are in memory, or none where this machine has no room for it. */
export interface MemoryPlace {
  readonly directory: string | undefined;
  /** Takes it away with what is in it. */
  close(): Promise<void>;
}

/** Makes one, with the program of the checkout at `root`; it also goes when this process ends. */
export async function memoryPlace(root: string, kilobytes = KILOBYTES): Promise<MemoryPlace> {
  const program = join(root, "scripts/lib/memory_place.sh");
  const child = spawn(program, [String(kilobytes)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => {
    child.on("close", () => resolve());
    child.on("error", () => resolve());
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return {
    directory: value as string | undefined,
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
