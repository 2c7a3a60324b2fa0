import net from "node:net";
import process from "node:process";

/** The real engine of this machine, or why there is none. */
export type RealEngine =
  | { readonly socketPath: string; readonly unavailable?: undefined }
  | { readonly unavailable: string };

/**
 * Looks for an engine behind `DOCKER_HOST` (unix sockets only) or the default socket. In continuous
 * integration (`CI=true`) its absence is a failure, so that no test is skipped unnoticed.
 */
export async function findRealEngine(): Promise<RealEngine> {
  const host = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
  const reason = host.startsWith("unix://")
    ? await connectFailure(host.slice("unix://".length))
    : `DOCKER_HOST=${host.split("://")[0]}://… is no unix socket`;
  if (reason === undefined) return { socketPath: host.slice("unix://".length) };
  const unavailable = `NO REAL ENGINE, TESTS SKIPPED: ${reason}`;
  if (process.env["CI"] === "true") throw new Error(unavailable);
  process.stderr.write(`\n*** ${unavailable} ***\n`);
  return { unavailable };
}

function connectFailure(socketPath: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath);
    socket.on("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on("error", (error) => resolve(error.message));
  });
}
