import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** What a page did while it was watched. */
export interface PageReport {
  /** Text that a person sees. */
  readonly text: string;
  /** Errors and warnings on its console, uncaught exceptions included. */
  readonly complaints: readonly string[];
  /** Every address it asked for. */
  readonly requests: readonly string[];
}

/** A real browser without a window, driven through its own protocol. */
export interface Browser {
  /** Opens a page, waits until `ready` (JavaScript) is true on it, and tells what it did. */
  visit(url: string, ready: string): Promise<PageReport>;
  close(): Promise<void>;
}

/**
 * The browser's program on this machine, or `undefined`, which is said loudly. In continuous integration
 * (`CI=true`) its absence is a failure.
 */
export function findBrowser(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const found = names.find((name) => spawnSync(name, ["--version"]).status === 0);
  if (found !== undefined) return found;
  const unavailable = `NO BROWSER, TESTS SKIPPED: none of ${names.join(", ")} is installed`;
  if (process.env["CI"] === "true") throw new Error(unavailable);
  process.stderr.write(`\n*** ${unavailable} ***\n`);
  return undefined;
}

const LIMIT_MS = 120_000;

/** Starts the browser. It ends with {@link Browser.close}, by its process id. */
export async function startBrowser(program: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "swt-browser-"));
  const child = spawn(program, [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-port=0",
    `--user-data-dir=${profile}`,
    "about:blank",
  ], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    // It is killed, and would leave a directory for its lock there.
    env: { ...process.env, TMPDIR: profile },
  });
  const address = await listeningAt(child);
  return {
    visit: (url, ready) => visit(new URL(address).host, url, ready),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      // It is a family of processes, and all of them write to the profile.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended;
      await removed(profile);
    },
  };
}

/** The last of the processes may still be on its way out when the first one has ended. */
async function removed(directory: string): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await rm(directory, { recursive: true, force: true });
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

/** The address of the debugger, which the browser prints when it is there. */
function listeningAt(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error(`no debugger: ${text}`)), LIMIT_MS);
    child.stderr?.on("data", (chunk) => {
      text += chunk;
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`the browser ended with ${code}: ${text}`)));
  });
}

async function visit(host: string, url: string, ready: string): Promise<PageReport> {
  const opened = await fetch(`http://${host}/json/new?about:blank`, { method: "PUT" });
  const { webSocketDebuggerUrl } = await opened.json() as { webSocketDebuggerUrl: string };
  const session = await openSession(webSocketDebuggerUrl);
  const complaints: string[] = [];
  const requests: string[] = [];
  session.on("Runtime.exceptionThrown", (event) => complaints.push(JSON.stringify(event)));
  session.on("Runtime.consoleAPICalled", (event) => {
    if (event["type"] === "error" || event["type"] === "warning") {
      complaints.push(JSON.stringify(event["args"]));
    }
  });
  session.on("Log.entryAdded", (event) => {
    const entry = event["entry"] as { level: string; text: string; url?: string };
    if (entry.level !== "info" && entry.level !== "verbose") {
      complaints.push(`${entry.text} ${entry.url ?? ""}`);
    }
  });
  session.on("Network.requestWillBeSent", (event) => {
    requests.push((event["request"] as { url: string }).url);
  });
  for (const domain of ["Runtime", "Log", "Network", "Page"]) {
    await session.send(`${domain}.enable`);
  }
  await session.send("Page.navigate", { url });
  const evaluate = async (expression: string) => {
    const answer = await session.send("Runtime.evaluate", { expression, returnByValue: true });
    return (answer["result"] as { value?: unknown }).value;
  };
  const until = Date.now() + LIMIT_MS;
  while (await evaluate(ready) !== true) {
    if (Date.now() > until) {
      throw new Error(`${url} never became ready: ${complaints.join("; ")}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  const text = String(await evaluate("document.body.innerText"));
  session.close();
  return { text, complaints, requests };
}

type Event = Readonly<Record<string, unknown>>;

interface Session {
  send(method: string, params?: Event): Promise<Event>;
  on(method: string, listener: (event: Event) => void): void;
  close(): void;
}

async function openSession(url: string): Promise<Session> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: Event) => void>();
  const listeners = new Map<string, (event: Event) => void>();
  let count = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data));
    if (message.id !== undefined) waiting.get(message.id)?.(message.result ?? {});
    else listeners.get(message.method)?.(message.params);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`no session at ${url}`));
  });
  return {
    send: (method, params = {}) =>
      new Promise((resolve) => {
        const id = ++count;
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      }),
    on: (method, listener) => void listeners.set(method, listener),
    close: () => socket.close(),
  };
}
