import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";

/** How the service is started. */
export interface ServiceOptions {
  /** Program and arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly port: number;
  readonly apiKey: string;
  /** Its settings beside port and key. */
  readonly env: Readonly<Record<string, string>>;
  /** File that receives its output. */
  readonly logFile: string;
}

/** A run as the service reports it; only what the demo reads. */
export interface RunReport {
  readonly job_id: string;
  readonly status: string;
  readonly message?: string;
  readonly deployments?: readonly {
    readonly services?: readonly {
      readonly name: string;
      readonly action: string;
      readonly because: readonly string[];
    }[];
  }[];
}

/** How long the service may take to answer, and how long to end. */
const START_LIMIT_MS = 30_000;
const END_LIMIT_MS = 15_000;

/** The service as a child of the demo. */
export class DemoService {
  readonly #options: ServiceOptions;
  #child: ChildProcess | undefined;
  #ended: string | undefined;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Starts it; to be called once. */
  start(): void {
    const { argv, cwd, port, apiKey, env, logFile } = this.#options;
    const [program = "", ...args] = argv;
    const log = openSync(logFile, "a");
    // In a process group of its own: Ctrl-C reaches only the demo, which then ends it in order.
    this.#child = spawn(program, args, {
      cwd,
      detached: true,
      stdio: ["ignore", log, log],
      env: { ...process.env, ...env, HTTP_PORT: String(port), API_SECRET: apiKey },
    });
    closeSync(log);
    this.#child.on("exit", (code, signal) => this.#ended = `ended with ${code ?? signal}`);
    this.#child.on("error", (error) => this.#ended = `could not start: ${error.message}`);
  }

  /** Its process id. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Base address of its API. */
  get url(): string {
    return `http://127.0.0.1:${this.#options.port}`;
  }

  /** Waits until it reports itself healthy. Throws when it ends or does not answer in time. */
  async untilReady(signal: AbortSignal): Promise<void> {
    const limit = Date.now() + START_LIMIT_MS;
    while (Date.now() < limit) {
      this.#failIfEnded();
      const answer = await fetch(`${this.url}/v1/health`, { signal }).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.ok === true) return;
      await pause(50, signal);
    }
    throw new Error(`the service did not get healthy within ${START_LIMIT_MS / 1000} s`);
  }

  /** Waits for the end of the first run. Throws unless it succeeded. */
  async untilFirstRun(signal: AbortSignal): Promise<RunReport> {
    while (true) {
      this.#failIfEnded();
      const { content } = await this.#call("GET", "/v1/api/runs", signal);
      const run = Array.isArray(content) ? content.at(-1) as RunReport | undefined : undefined;
      if (run?.status === "succeeded") return run;
      if (run?.status === "failed" || run?.status === "skipped") {
        throw new Error(`the first run ${run.status}: ${run.message ?? "no message"}`);
      }
      await pause(100, signal);
    }
  }

  /** Asks for a poll of these repositories and waits for its end. Throws unless it succeeded. */
  async poll(entries: readonly unknown[], signal: AbortSignal): Promise<RunReport> {
    const done = await this.#call("POST", "/v1/api/poll/run?wait=true", signal, entries);
    const { content } = await this.#call("GET", `/v1/api/run/${done.job_id}`, signal);
    return content as RunReport;
  }

  /** Asks it to end, and makes it end when it does not. May be called twice, and before start. */
  async close(): Promise<void> {
    const child = this.#child;
    if (this.#ended !== undefined || child?.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_LIMIT_MS);
    await gone;
    clearTimeout(timer);
  }

  /** The last lines of its log; empty when it was never started. */
  lastLogLines(count: number): string {
    if (this.#child === undefined) return "";
    const lines = readFileSync(this.#options.logFile, "utf8").trimEnd().split("\n");
    return lines.slice(-count).join("\n");
  }

  #failIfEnded(): void {
    if (this.#ended !== undefined) throw new Error(`the service ${this.#ended}`);
  }

  async #call(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      signal,
      headers: { "x-api-key": this.#options.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}

/** The envelope of the API. */
interface Answer {
  readonly content: unknown;
  readonly job_id?: string;
}

/** A TCP port that nothing uses now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
