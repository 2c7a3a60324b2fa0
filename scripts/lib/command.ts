import { spawn } from "node:child_process";
import process from "node:process";

/** What a command may be given. */
export interface CommandOptions {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the command when aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a program and returns what it wrote to standard output, without the last line break. Throws
 * an `Error` with its standard error when it cannot be started or its exit code is not 0.
 */
export function output(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const stdout: Uint8Array[] = [];
    const stderr: Uint8Array[] = [];
    child.stdout.on("data", (chunk: Uint8Array) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Uint8Array) => stderr.push(chunk));
    child.on("error", (error) => reject(new Error(`${program} could not run: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) return resolve(text(stdout).replace(/\n$/, ""));
      reject(new Error(`${argv.slice(0, 3).join(" ")} ended with ${code}: ${text(stderr).trim()}`));
    });
  });
}

function text(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
}
