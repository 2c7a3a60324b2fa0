import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** A server that gives the files of a repository at `/r.git`, as servers do that know nothing of Git. */
export async function serveFiles(directory: string, pauseMs = 0) {
  const server = await listening(async (request, response) => {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(directory, pathname.replace(/^\/r\.git/, ""));
    if (existsSync(path) && statSync(path).isFile()) response.end(readFileSync(path));
    else response.writeHead(404).end();
  });
  return { url: `${server.origin}/r.git`, close: server.close };
}

/** A server on the loopback interface that answers by `answer`. */
export async function listening(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
