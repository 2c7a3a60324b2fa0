import type { Engine } from "../docker/engine.ts";
import { messageOf } from "../model/mod.ts";

/** Lines of a failing container's output that go into an error. */
const LOG_LINES = 20;

/** The end of a container's output and of its health check, as text to append to a message. */
export async function lastLines(engine: Engine, id: string, signal: AbortSignal): Promise<string> {
  try {
    const details = await engine.inspectContainer(id, signal);
    const lines = await engine.containerLogs(id, LOG_LINES, signal);
    const probe = details?.healthOutput.trim();
    return [
      details?.error ? `; engine: ${details.error}` : "",
      probe ? `; health check: ${probe}` : "",
      lines.length > 0 ? `; last output:\n${lines.join("\n")}` : "; it wrote no output",
    ].join("");
  } catch (error) {
    return `; its output could not be read: ${messageOf(error)}`;
  }
}
