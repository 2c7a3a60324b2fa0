import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Buffer } from "node:buffer";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "./free_port.ts";

const PROGRAM = "/usr/bin/docker-registry";
const USER = "swt";
const PASSWORD = "registry-secret-4711";
/** The password as the server keeps it. */
const HASH = "$2y$05$abcdefghijklmnopqrstuuh6kAQOMZXEVGrNWFwm0uH2DxcY607Oq";

/** A real registry on the loopback interface that gives nothing without credentials. */
export interface ImageRegistry {
  /** `127.0.0.1:port`, as it stands in front of an image's name. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
  /** An entry of `auths` with the credentials. */
  readonly auth: { readonly auth: string };
  /**
   * Writes a credential helper `docker-credential-<name>` that knows the credentials into
   * `directory`; it appends every question to `<directory>/<name>.log`.
   */
  writeHelper(directory: string, name: string): Promise<void>;
  /** Ends the server; images stay until `close`. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Why there is no registry to try here, or false. In CI its absence is an error instead. */
export function registryMissing(): string | false {
  if (existsSync(PROGRAM)) return false;
  const reason = `${PROGRAM} is missing: install docker-registry`;
  if (process.env["CI"] === "true") throw new Error(reason);
  return reason;
}

/** Where a registry listens that is reached from another network namespace than ours. */
export interface ElsewhereOptions {
  /** An address of that namespace. */
  readonly address: string;
  /** Its file in `/proc`. */
  readonly namespace: string;
}

/** Starts a registry with one user and no image, on the loopback interface or `elsewhere`. */
export async function startImageRegistry(elsewhere?: ElsewhereOptions): Promise<ImageRegistry> {
  const directory = await mkdtemp(join(tmpdir(), "swt-registry-"));
  const place: Place = elsewhere === undefined
    ? { directory, host: `127.0.0.1:${await freePort()}`, entering: [] }
    : {
      directory,
      host: `${elsewhere.address}:5000`,
      entering: ["nsenter", `--net=${elsewhere.namespace}`],
    };
  const { host } = place;
  await writeFile(join(directory, "htpasswd"), `${USER}:${HASH}\n`);
  await writeFile(join(directory, "config.json"), configuration(directory, host));
  let stop = await start(place);
  return {
    host,
    user: USER,
    password: PASSWORD,
    auth: { auth: Buffer.from(`${USER}:${PASSWORD}`).toString("base64") },
    async writeHelper(place, name) {
      const answer = JSON.stringify({ ServerURL: host, Username: USER, Secret: PASSWORD });
      const script = `#!/bin/sh\nread -r asked\n` +
        `echo "$1 $asked" >>'${place}/${name}.log'\nprintf '%s' '${answer}'\n`;
      const path = join(place, `docker-credential-${name}`);
      await writeFile(path, script);
      await chmod(path, 0o755);
    },
    stop: () => stop(),
    async start() {
      stop = await start(place);
    },
    async close() {
      await stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** JSON is YAML. */
function configuration(directory: string, host: string): string {
  return JSON.stringify({
    version: "0.1",
    log: { level: "error", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(directory, "images") } },
    auth: { htpasswd: { realm: "swt", path: join(directory, "htpasswd") } },
    http: { addr: host },
  });
}

/** Where a registry is, and what a program is put behind to be there. */
interface Place {
  readonly directory: string;
  readonly host: string;
  readonly entering: readonly string[];
}

async function start({ directory, host, entering }: Place): Promise<() => Promise<void>> {
  const [program = "", ...args] = [...entering, PROGRAM, "serve", join(directory, "config.json")];
  const server = spawn(program, args, {
    stdio: "ignore",
    env: { PATH: process.env["PATH"] ?? "", OTEL_TRACES_EXPORTER: "none" },
  });
  const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
  for (let tries = 0; !await answers(host, entering); tries++) {
    if (tries === 400 || server.exitCode !== null) throw new Error("docker-registry did not start");
    await wait(25);
  }
  return async () => {
    server.kill("SIGKILL");
    await ended;
  };
}

async function answers(host: string, entering: readonly string[]): Promise<boolean> {
  const url = `http://${host}/v2/`;
  const [program, ...args] = [...entering, "/usr/bin/busybox", "wget", "-q", "-O", "-", url];
  if (entering.length > 0 && program !== undefined) {
    return / 401 /.test(spawnSync(program, args, { encoding: "utf8" }).stderr);
  }
  try {
    const answer = await fetch(url);
    await answer.body?.cancel();
    return answer.status === 401;
  } catch {
    return false;
  }
}
