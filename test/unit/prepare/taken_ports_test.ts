import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ObservedContainer } from "../../../src/model/mod.ts";
import { takenByPrograms } from "../../../src/prepare/taken_ports.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue\n";
/** One line of a table; `local` as the kernel writes it. */
const socket = (local: string, state: string, other = local.replace(/.*/, "00000000:0000")) =>
  `   0: ${local} ${other} ${state} 00000000:00000000 00:00000000 00000000     0        0 1 1\n`;
const NONE = "0".repeat(32);

/** Listens at 0.0.0.0:8080, 127.0.0.1:5432, [::]:9000 and [::1]:9001, and 0.0.0.0:53 for UDP. */
const TABLES: Readonly<Record<string, string>> = {
  "/proc/net/tcp": HEAD + socket("00000000:1F90", "0A") + socket("0100007F:1538", "0A") +
    // A connection, which holds no port against a listener.
    socket("0100007F:1B58", "01", "0100007F:1538"),
  "/proc/net/tcp6": HEAD + socket(`${NONE}:2328`, "0A", `${NONE}:0000`) +
    socket("00000000000000000000000001000000:2329", "0A", `${NONE}:0000`),
  "/proc/net/udp": HEAD + socket("00000000:0035", "07") +
    socket("00000000:1F91", "07", "08080808:0035"),
  "/proc/sys/kernel/hostname": "nas\n",
  "/proc/net/fib_trie": "Main:\n  |-- 172.17.0.1\n     /32 host LOCAL\n",
};

const own = (more: Partial<ObservedContainer>): ObservedContainer => ({
  ...runningContainer("shop", "web"),
  ...more,
});

interface Asked {
  readonly tables?: Readonly<Record<string, string>>;
  readonly containers?: readonly ObservedContainer[];
  readonly context?: string;
  readonly gateway?: string;
  readonly sharesFiles?: boolean;
}

async function taken(port: string, asked: Asked = {}): Promise<string[]> {
  const { context = "default", containers = [], gateway = "172.17.0.1", sharesFiles = true } =
    asked;
  const tables = { ...TABLES, ...asked.tables };
  const [, host_ip = "", published = "", protocol = "tcp"] =
    /^(?:(.+):)?(\d+)(?:\/(\w+))?$/.exec(port) ?? [];
  const network = { network: { pools: [{ subnet: "", gateway, range: "" }] } };
  const parts = {
    files: {
      readIfExists: (path: string) =>
        Promise.resolve(
          tables[path] === undefined ? undefined : new TextEncoder().encode(tables[path]),
        ),
    },
    host: {
      sharesFiles,
      info: () => Promise.resolve({ hostname: "nas" } as never),
      engine: { findNetworks: () => Promise.resolve([network as never]) },
    },
  };
  const release = {
    key: { context, name: "shop" },
    model: { services: { web: { ports: [{ host_ip, published, protocol, target: 80 }] } } },
  };
  return await takenByPrograms(parts, release, { services: ["web"], containers }, never);
}

const never = new AbortController().signal;

describe("takenByPrograms()", () => {
  it("finds a port that a program holds, at the address that is needed or at any", async () => {
    for (
      const port of [
        "8080",
        "127.0.0.1:8080",
        "5432",
        "127.0.0.1:5432",
        "9000",
        "::1:9001",
        "53/udp",
      ]
    ) {
      const [said = "", ...more] = await taken(port);
      const [, number = ""] = /(\d+)(?:\/\w+)?$/.exec(port) ?? [];
      assert.match(
        said,
        new RegExp(`service web needs port ${number}/.* which a program holds`),
        port,
      );
      assert.deepEqual(more, []);
    }
  });

  it("leaves other addresses, protocols and connections alone", async () => {
    for (const port of ["8081", "192.168.1.5:5432", "8080/udp", "7000", "53", "8081/udp"]) {
      assert.deepEqual(await taken(port), [], port);
    }
  });

  it("leaves alone what a container of the engine publishes: it may be the one that is replaced", async () => {
    const hostPorts = [{ address: "0.0.0.0", port: 8080, protocol: "tcp" }];
    assert.deepEqual(await taken("8080", { containers: [own({ hostPorts })] }), []);
    // In the host's network, or between two starts, a container's ports are not known.
    assert.deepEqual(await taken("8080", { containers: [own({ networkNames: ["host"] })] }), []);
    assert.deepEqual(await taken("8080", { containers: [own({ state: "restarting" })] }), []);
    assert.equal((await taken("8080", { containers: [own({})] })).length, 1);
  });

  it("finds nothing where it may not be in the network of the engine's machine", async () => {
    const unsure: readonly Asked[] = [
      { context: "nas" },
      { sharesFiles: false },
      { tables: { "/proc/sys/kernel/hostname": "0123456789ab\n" } },
      { gateway: "172.18.0.1" },
      { gateway: "" },
      { tables: { "/proc/net/fib_trie": "Main:\n  |-- 172.17.0.1\n     /16 link UNICAST\n" } },
    ];
    for (const each of unsure) {
      assert.deepEqual(await taken("8080", each), [], JSON.stringify(each));
    }
  });
});
