import { claimsOf, portHolders } from "../compose/mod.ts";
import {
  COMPOSE_LABELS,
  DEFAULT_CONTEXT,
  type HostPort,
  type ObservedContainer,
  type Release,
} from "../model/mod.ts";
import { type Files, procText } from "../system/mod.ts";
import type { Host } from "./host.ts";

/** The kernel's tables, and the engine for comparing them with its machine. */
interface LookParts {
  readonly files: Pick<Files, "readIfExists">;
  readonly host: Pick<Host, "info" | "sharesFiles"> & {
    readonly engine: Pick<Host["engine"], "findNetworks">;
  };
}

/** Tables of Linux with the sockets of the network that this process is in. */
const TABLES = ["tcp", "tcp6", "udp", "udp6"];
/** One socket in such a table: its address and port, those of its other end, and its state. */
const SOCKET = /^ *\d+: ([\dA-F]+):([\dA-F]{4}) ([\dA-F]+:[\dA-F]{4}) ([\dA-F]{2}) /gm;
/** States of sockets that hold their port for others: one that listens, and one of UDP. */
const [LISTENING, BOUND] = ["0A", "07"] as const;

/**
 * Obstacles to starting services, one sentence each: ports of the host that a program holds which
 * is no container with published ports among `containers`, all those of the engine.
 *
 * Looks only where this process is surely in the network of the engine's machine, by what Linux
 * tells of it; finds nothing where it is not sure, as the engine refuses a taken port itself.
 */
export async function takenByPrograms(
  parts: LookParts,
  { key, model }: Pick<Release, "key" | "model">,
  { services, containers }: {
    readonly services: readonly string[];
    readonly containers: readonly ObservedContainer[];
  },
  signal: AbortSignal,
): Promise<string[]> {
  const own = containers.filter(({ labels }) => labels[COMPOSE_LABELS.project] === key.name);
  if (key.context !== DEFAULT_CONTEXT || !parts.host.sharesFiles || own.some(mayListen)) return [];
  const needed = services.flatMap((name) =>
    claimsOf(model, name).ports.map((port) => ({ name, port }))
  );
  if (needed.length === 0) return [];
  const programs = portHolders(await listeners(parts));
  // What is replaced holds its port until then, and clashes with other projects are told already.
  const published = portHolders(containers);
  const taken = needed.filter(({ port }) =>
    programs([port]).size > 0 && published([port]).size === 0
  );
  if (taken.length === 0 || !await isInHostNetwork(parts, signal)) return [];
  return taken.map(({ name, port: { port, protocol } }) =>
    `service ${name} needs port ${port}/${protocol} of the host, which a program holds that is no ` +
    `container, or one in the host's network (ss -lnp 'sport = :${port}' says which); end it, or ` +
    "publish another port"
  );
}

/** True for a container whose ports the engine does not tell: it may hold one that is needed. */
function mayListen({ state, networkNames = [] }: ObservedContainer): boolean {
  return state === "restarting" || state === "running" && networkNames.includes("host");
}

async function listeners(parts: LookParts): Promise<{ readonly hostPorts: HostPort[] }[]> {
  const found = TABLES.map(async (table) => {
    const text = await tableOf(parts, `/proc/net/${table}`);
    return { hostPorts: listeningPorts(table, text) };
  });
  return await Promise.all(found);
}

/** The ports that sockets in a table hold for others. */
function listeningPorts(table: string, text: string): HostPort[] {
  const protocol = table.slice(0, 3);
  const wanted = protocol === "tcp" ? LISTENING : BOUND;
  return [...text.matchAll(SOCKET)].flatMap(([, address = "", port = "", other = "", state]) =>
    state === wanted && /^0+:0000$/.test(other)
      ? [{ address: addressOf(address), port: parseInt(port, 16), protocol }]
      : []
  );
}

/** An address in a table: words of four bytes, each with its last byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const decimal = bytes.slice(-4).map((each) => parseInt(each, 16)).join(".");
  if (bytes.length === 4) return decimal;
  const text = bytes.join("").toLowerCase();
  if (text.startsWith("00000000000000000000ffff")) return decimal;
  return new URL(`http://[${(text.match(/.{4}/g) ?? []).join(":")}]`).hostname.slice(1, -1);
}

/** Whether this machine has the engine's name, and an address that the engine's bridge gave it. */
async function isInHostNetwork(parts: LookParts, signal: AbortSignal): Promise<boolean> {
  const name = (await tableOf(parts, "/proc/sys/kernel/hostname")).trim();
  if (name === "" || (await parts.host.info(signal)).hostname !== name) return false;
  const routes = await tableOf(parts, "/proc/net/fib_trie");
  const bridges = await parts.host.engine.findNetworks(["bridge"], signal);
  return bridges.flatMap(({ network }) => network?.pools ?? []).some(({ gateway }) =>
    routes.split(`|-- ${gateway}\n`).slice(1).some((after) => /^ +\/32 host LOCAL/.test(after))
  );
}

/** A table of the kernel; empty where this process cannot read it, or there is none. */
async function tableOf({ files }: LookParts, path: string): Promise<string> {
  return await procText(files, path).catch(() => "");
}
