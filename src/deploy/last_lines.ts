import type { Engine } from "../docker/engine.ts";
import { errors, LAST_OUTPUT, lastWithin, messageOf } from "../model/mod.ts";
import { type Clock, withDeadline } from "../system/mod.ts";

/** Lines of a failing container's output that go into an error. */
const LOG_LINES = 20;
/** Characters of them: records keep so many of an error, and the end of the output says why. */
const MOST_OUTPUT = 1500;
/** Milliseconds for the output: what failed is put back only after it. */
const LONGEST_MS = 20_000;

/** The end of a container's output and of its health check, as text to append to a message. */
export async function lastLines(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  id: string,
  signal: AbortSignal,
): Promise<string> {
  const said: string[] = [];
  const late = () => errors.timeout("not in time");
  try {
    await withDeadline({ clock, milliseconds: LONGEST_MS, late }, async (within) => {
      const details = await engine.inspectContainer(id, within);
      const probe = details?.healthOutput.trim();
      if (details?.error) said.push(`; engine: ${details.error}`);
      if (probe) said.push(`; health check: ${probe}`);
      const lines = await engine.containerLogs(id, LOG_LINES, within);
      const end = lastWithin(lines.join("\n"), MOST_OUTPUT);
      said.push(lines.length > 0 ? `${LAST_OUTPUT}${end}` : "; it wrote no output");
    }, signal);
  } catch (error) {
    const why = messageOf(error);
    const isKept = !why.includes("logging driver does not support reading");
    said.push(
      isKept ? `; its output could not be read: ${why}` : "; its logging driver keeps no output",
    );
  }
  return said.join("");
}
