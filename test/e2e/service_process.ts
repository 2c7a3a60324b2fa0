import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** A way to start Stackwright. */
export interface Program {
  readonly title: string;
  readonly argv: readonly [string, ...string[]];
}

export const DENO_PROGRAM: Program = {
  title: "main.ts on Deno",
  argv: ["deno", "run", "-A", "--no-check", `${ROOT}main.ts`],
};
export const BUN_PROGRAM: Program = { title: "main.ts on Bun", argv: ["bun", `${ROOT}main.ts`] };
const EXECUTABLE = `${ROOT}dist/stackwright`;

/** The compiled executable, where `scripts/build` made one. */
export function executables(): readonly Program[] {
  return existsSync(EXECUTABLE) ? [{ title: "the executable", argv: [EXECUTABLE] }] : [];
}

/** The program that is killed hundreds of times: the executable where there is one, which starts sooner. */
export const SWEPT_PROGRAM: Program = executables()[0] ?? DENO_PROGRAM;

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that was started. */
export class ServiceProcess {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";

  constructor(program: Program, args: readonly string[], env: Readonly<Record<string, string>>) {
    const [file, ...first] = program.argv;
    this.#child = spawn(file, [...first, ...args], {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: process.env["HOME"] ?? "/root",
        TMPDIR: tmpdir(),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.on("data", (chunk: Uint8Array) => this.#stdout += text(chunk));
    this.#child.stderr?.on("data", (chunk: Uint8Array) => this.#stderr += text(chunk));
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      // Not `close`: a grandchild may hold the pipes open after the service was killed.
      this.#child.on("exit", (code, signal) => {
        setTimeout(() => {
          resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
        }, 20);
      });
    });
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Id of the process that was started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What it wrote to standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  kill(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): void {
    // Not the child's own kill: Deno then reports the signal even of a process that exited with 0.
    if (this.#child.pid !== undefined && this.running) process.kill(this.#child.pid, signal);
  }

  /** Ends it gracefully, or at once where it has ended already. */
  async stop(): Promise<Ended> {
    if (this.running) this.kill("SIGTERM");
    return await this.ended;
  }

  /** Waits until `condition` holds; throws with the log when the process ends first. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 2400; turn++) {
      if (await condition()) return;
      if (!this.running) throw new Error(`the service ended:\n${this.#stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`it never happened:\n${this.#stderr}`);
  }
}

function text(chunk: Uint8Array): string {
  return new TextDecoder().decode(chunk);
}
