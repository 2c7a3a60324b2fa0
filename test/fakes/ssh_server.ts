import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "./free_port.ts";

const PROGRAM = "/usr/sbin/sshd";

/** A real SSH server on the loopback interface, for the user who runs the tests. */
export interface SshServer {
  readonly port: number;
  readonly user: string;
  /** Private key that may log in. */
  readonly key: string;
  /** The same key, protected by {@link passphrase}. */
  readonly protectedKey: string;
  readonly passphrase: string;
  /** A line for a known hosts file. */
  readonly knownHost: string;
  /** Starts again on the same port with another host key. */
  changeHostKey(): Promise<void>;
  close(): Promise<void>;
}

/** Why SSH cannot be tried here, or false. In CI its absence is an error instead. */
export function sshMissing(): string | false {
  if (existsSync(PROGRAM)) return false;
  if (process.env["CI"] === "true") {
    throw new Error(`${PROGRAM} is missing: install openssh-server`);
  }
  return `${PROGRAM} is missing: install openssh-server`;
}

/** Starts a server; only the key made for it may log in. */
export async function startSshServer(
  { passphrase = "correct horse battery", host = "127.0.0.1", forced }: {
    readonly passphrase?: string;
    /** What a shell runs instead of what it is asked to run. */
    readonly forced?: string;
    /** Address to listen on. */
    readonly host?: string;
  } = {},
): Promise<SshServer> {
  const directory = mkdtempSync("/tmp/swt-sshd-");
  const makeKey = (name: string, secret = "") => {
    const path = join(directory, name);
    rmSync(path, { force: true });
    const args = ["-q", "-t", "ed25519", "-N", secret, "-C", "test", "-f", path];
    execFileSync("ssh-keygen", args, { stdio: "ignore" });
    return path;
  };
  const read = (path: string) => readFileSync(path, "utf8");
  const hostKey = makeKey("host");
  const key = read(makeKey("client"));
  const open = read(join(directory, "client.pub"));
  const protectedKey = read(makeKey("protected", passphrase));
  writeFileSync(join(directory, "authorized"), open + read(join(directory, "protected.pub")));
  const port = await freePort();
  writeFileSync(join(directory, "config"), configuration(directory, host, port, forced));
  let stop = await start(directory, host, port);
  const hostLine = () => `[${host}]:${port} ${read(`${hostKey}.pub`).trim()}\n`;
  return {
    port,
    user: execFileSync("id", ["-un"], { encoding: "utf8" }).trim(),
    key,
    protectedKey,
    passphrase,
    knownHost: hostLine(),
    async changeHostKey() {
      await stop();
      makeKey("host");
      stop = await start(directory, host, port);
    },
    async close() {
      await stop();
      rmSync(directory, { recursive: true });
    },
  };
}

function configuration(directory: string, host: string, port: number, forced?: string): string {
  return [
    `ListenAddress ${host}:${port}`,
    `HostKey ${join(directory, "host")}`,
    `AuthorizedKeysFile ${join(directory, "authorized")}`,
    `PidFile ${join(directory, "pid")}`,
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "PermitRootLogin prohibit-password",
    ...(forced === undefined ? [] : [`ForceCommand ${forced}`]),
    "",
  ].join("\n");
}

async function start(directory: string, host: string, port: number): Promise<() => Promise<void>> {
  // The server insists on this directory when it runs as root.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  const server = spawn(PROGRAM, ["-D", "-e", "-f", join(directory, "config")], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
  for (let tries = 0; !await answers(host, port); tries++) {
    if (tries === 200) throw new Error("sshd did not start");
    await wait(25);
  }
  return async () => {
    server.kill("SIGKILL");
    await ended;
  };
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
