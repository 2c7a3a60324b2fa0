import { StackwrightError } from "../model/mod.ts";

/** Whether the engine had closed a connection that was kept open. */
export function isDeadConnection(error: unknown): boolean {
  const code = codeOf(error instanceof StackwrightError ? error.cause : error);
  return code === "ECONNRESET" || code === "EPIPE";
}

/** Whether no connection to the address is possible: nobody listens, or access is denied. */
export function isRefusedConnection(error: unknown): boolean {
  return ["ENOENT", "EACCES", "ECONNREFUSED", "EPERM"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code;
}
