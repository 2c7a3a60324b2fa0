import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const PROGRAM = "/usr/sbin/dockerd";

/** An engine of one test alone, in a network namespace of its own, which may be stopped and started. */
export interface OwnEngine {
  readonly socketPath: string;
  /** Ends the engine as a service manager does, its containers with it, and starts it again. */
  restart(): Promise<void>;
  /** Ends it and takes away all it had. */
  close(): Promise<void>;
}

/** Why no such engine can be had here; `undefined` when one can. */
export function whyNoOwnEngine(): string | undefined {
  if (process.getuid?.() !== 0) {
    return "NO ENGINE OF ITS OWN, TEST SKIPPED: starting one needs root";
  }
  if (!existsSync(PROGRAM)) return `NO ENGINE OF ITS OWN, TEST SKIPPED: ${PROGRAM} is not there`;
  try {
    execFileSync("unshare", ["--net", "true"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "NO ENGINE OF ITS OWN, TEST SKIPPED: no network namespace can be made here";
  }
}

/** Starts an engine and waits until it answers. */
export async function createOwnEngine(): Promise<OwnEngine> {
  const place = await fs.mkdtemp(join(tmpdir(), "swt-engine-"));
  const socketPath = join(place, "engine.sock");
  let engine = start(place, socketPath);
  const end = async () => {
    const ended = new Promise((resolve) => engine.once("exit", resolve));
    if (engine.exitCode === null && engine.kill("SIGTERM")) await ended;
  };
  const close = async () => {
    await end();
    const mounts = await fs.readFile("/proc/mounts", "utf8");
    const own = mounts.split("\n").map((line) => line.split(" ")[1] ?? "")
      .filter((path) => path.startsWith(`${place}/`));
    for (const path of own.sort().reverse()) await run("umount", [path]).catch(() => {});
    await fs.rm(place, { recursive: true, force: true });
  };
  try {
    await untilItAnswers(engine, { place, socketPath });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    socketPath,
    async restart() {
      await end();
      engine = start(place, socketPath);
      await untilItAnswers(engine, { place, socketPath });
    },
    close,
  };
}

function start(place: string, socketPath: string): ChildProcess {
  const at = (name: string) => join(place, name);
  const options = [
    ...["--data-root", at("data"), "--exec-root", at("exec"), "--pidfile", at("pid")],
    ...["-H", `unix://${socketPath}`, "--bridge=none", "--iptables=false"],
  ];
  const script = `exec unshare --net "$@" >>${at("log")} 2>&1`;
  const arguments_ = ["-c", script, "-", PROGRAM, ...options];
  return spawn("sh", arguments_, { stdio: "ignore" });
}

async function untilItAnswers(
  engine: ChildProcess,
  { place, socketPath }: { readonly place: string; readonly socketPath: string },
): Promise<void> {
  const asked = () => run("docker", ["--host", `unix://${socketPath}`, "version"]);
  while (!await asked().then(() => true, () => false)) {
    if (engine.exitCode !== null) {
      const log = await fs.readFile(join(place, "log"), "utf8").catch(() => "");
      throw new Error(`dockerd ended by itself: ${log.slice(-1000)}`);
    }
    await pause(100);
  }
}
