import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "./busybox_image.ts";
import { freePort } from "./free_port.ts";
import { type EngineCertificates, makeEngineCertificates } from "./tls_front.ts";

const PROGRAM = "/usr/sbin/dockerd";
const BUSYBOX = "/usr/bin/busybox";
const run = promisify(execFile);

/** A further real engine of this machine, which has the image of the tests and no networks. */
export interface SecondEngine {
  /** Its address by TCP, with TLS. */
  readonly host: string;
  readonly certificates: EngineCertificates;
  /** Its address by its socket. */
  readonly socketHost: string;
  /** A client by its socket. */
  readonly engine: EngineClient;
  start(): Promise<void>;
  /** Ends it and its containers; what it stored stays. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Why no second engine can be had here, or false. */
export function secondEngineMissing(): string | false {
  if (!existsSync(PROGRAM)) return `NO SECOND ENGINE, TESTS SKIPPED: ${PROGRAM} is missing`;
  if (process.getuid?.() !== 0) return "NO SECOND ENGINE, TESTS SKIPPED: starting it needs root";
  if (!existsSync(BUSYBOX)) return `NO SECOND ENGINE, TESTS SKIPPED: ${BUSYBOX} is missing`;
  return false;
}

/**
 * Starts one, with the `features` of an engine's configuration. It shares nothing with the engine beside
 * it, and touches no rules of the firewall.
 */
export async function startSecondEngine(
  features: Readonly<Record<string, boolean>> = {},
): Promise<SecondEngine> {
  const place = mkdtempSync(join(tmpdir(), "swt-engine-"));
  const certificates = makeEngineCertificates();
  const port = await freePort();
  // With none, an engine removes `docker0`, which is that of the engine beside it.
  const bridge = `swt${port}`;
  await run(BUSYBOX, ["ip", "link", "add", bridge, "type", "bridge"]);
  writeFileSync(join(place, "daemon.json"), JSON.stringify({ features }));
  const socket = join(place, "engine.sock");
  const socketHost = `unix://${socket}`;
  const engine = createEngine({ host: socketHost });
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(PROGRAM, arguments_({ place, socket, port, bridge }, certificates), {
      stdio: "ignore",
    });
    const { signal } = new AbortController();
    while (await engine.info(signal).then(() => false, () => true)) {
      if (child.exitCode !== null) throw new Error(`${PROGRAM} ended with ${child.exitCode}`);
      await wait(100);
    }
  };
  const stop = async () => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null) return;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill("SIGTERM");
    await ended;
  };
  const close = async () => {
    engine.close();
    await stop();
    for (const mount of mountsBelow(place)) await run("umount", [mount]).catch(() => {});
    await run(BUSYBOX, ["ip", "link", "delete", bridge]).catch(() => {});
    rmSync(place, { recursive: true, force: true });
    certificates.remove();
  };
  try {
    await start();
    await bringImage(place, socket);
  } catch (error) {
    await close();
    throw error;
  }
  const host = `tcp://127.0.0.1:${port}`;
  return { host, certificates, socketHost, engine, start, stop, close };
}

function arguments_(
  { place, socket, port, bridge }: {
    readonly place: string;
    readonly socket: string;
    readonly port: number;
    readonly bridge: string;
  },
  { server }: EngineCertificates,
): string[] {
  return [
    ...["--config-file", join(place, "daemon.json")],
    ...["--data-root", join(place, "data"), "--exec-root", join(place, "exec")],
    ...["--pidfile", join(place, "pid")],
    ...["--host", `unix://${socket}`, "--host", `tcp://127.0.0.1:${port}`],
    ...["--tlsverify", "--tlscacert", join(server, "ca.pem")],
    ...["--tlscert", join(server, "cert.pem"), "--tlskey", join(server, "key.pem")],
    ...[`--bridge=${bridge}`, "--iptables=false", "--ip6tables=false", "--ip-forward=false"],
  ];
}

async function bringImage(place: string, socket: string): Promise<void> {
  await ensureBusyboxImage();
  const file = join(place, "image.tar");
  await run("docker", ["save", "-o", file, BUSYBOX_IMAGE]);
  await run("docker", ["--host", `unix://${socket}`, "load", "-i", file]);
  rmSync(file);
}

function mountsBelow(place: string): string[] {
  const paths = readFileSync("/proc/mounts", "utf8").split("\n").map((line) => line.split(" ")[1]);
  return paths.filter((path): path is string => path?.startsWith(`${place}/`) === true)
    .sort().reverse();
}
