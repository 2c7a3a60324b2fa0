import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A server that says nothing, and the connections to it. */
export interface SilentServer {
  readonly open: ReadonlySet<Socket>;
  readonly port: number;
  close(): void;
}

/** A server that accepts and says nothing, until it hangs up on all. */
export async function createSilentServer(): Promise<SilentServer> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    open,
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
