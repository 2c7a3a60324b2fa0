import { StackwrightError } from "../model/mod.ts";

/** Whether a connection that was kept open had been closed by the engine. */
export function isDeadConnection(error: unknown): boolean {
  const code = codeOf(error instanceof StackwrightError ? error.cause : error);
  return code === "ECONNRESET" || code === "EPIPE";
}

/** Whether nobody listens at the address. */
export function isRefusedConnection(error: unknown): boolean {
  return ["ENOENT", "EACCES", "ECONNREFUSED", "EPERM"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code;
}
