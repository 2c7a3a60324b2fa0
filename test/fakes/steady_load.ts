import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What became of the requests so far. */
export interface LoadReport {
  readonly seconds: number;
  /** How often each answer came. */
  readonly answers: Readonly<Record<string, number>>;
  /** What was no answer of the server. */
  readonly failures: readonly string[];
  /** Failures in which load and proxy lost so much time that nothing can be said about the server. */
  readonly stalled: readonly string[];
  /** Requests that were not made because too many were under way. */
  readonly withheld: number;
}

/**
 * Requests at a steady rate, made by a process of their own, so that what else the test does does not
 * slow them down.
 */
export class SteadyLoad {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #report: LoadReport = { seconds: 0, answers: {}, failures: [], stalled: [], withheld: 0 };
  #stderr = "";

  /** @param rate requests a second to `address`, a host and a port. */
  constructor(address: string, rate: number) {
    const [host = "", port = ""] = address.split(":");
    const program = fileURLToPath(new URL("load_program.ts", import.meta.url));
    const argv = ["run", "-A", "--no-check", "--quiet", program, host, port, String(rate)];
    this.#child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stderr?.on("data", (chunk) => this.#stderr += String(chunk));
    if (this.#child.stdout === null) throw new Error("the load has no output");
    const lines = createInterface({ input: this.#child.stdout });
    lines.on("line", (line) => this.#report = JSON.parse(line));
    this.#ended = Promise.all([
      new Promise((resolve) => this.#child.on("close", resolve)),
      new Promise((resolve) => lines.on("close", resolve)),
    ]);
  }

  /** What it said last, at most a second ago. */
  get report(): LoadReport {
    return this.#report;
  }

  /** Ends it and waits for what is under way; returns what became of all. */
  async stop(): Promise<LoadReport> {
    this.#child.stdin?.end();
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`the load failed: ${this.#stderr}`);
    return this.#report;
  }
}
