/**
 * A program: a proxy on port 80 that hands every connection to port 80 of the host in its first
 * argument, whose name it looks up anew each time. It tries once: what fails there has failed, and the
 * answer says why, where, after how many milliseconds, and how many of them the proxy itself lost.
 */
import net from "node:net";
import process from "node:process";
import { LostTime } from "./lost_time.ts";

/** Before whoever asks gives up, so that the reason is told. */
const LONGEST_MS = 40_000;

const host = process.argv[2] ?? "";
const lost = new LostTime(LONGEST_MS);

net.createServer({ allowHalfOpen: true }, (client) => {
  const server = net.connect({ host, port: 80, family: 4, allowHalfOpen: true });
  const started = performance.now();
  const passed = () => `${(performance.now() - started).toFixed(0)} ms`;
  const stages: string[] = [];
  const fail = (why: unknown) =>
    client.end(
      `HTTP/1.0 502 \r\n\r\n${why}; ${stages.join(", ")}, failed ${passed()}, ` +
        `lost ${lost.since(started)} ms\n`,
    );
  server.on("lookup", (_error, address) => stages.push(`${address} ${passed()}`));
  server.on("connect", () => stages.push(`connected ${passed()}`));
  server.on("error", fail);
  server.setTimeout(LONGEST_MS, () => {
    fail(`nothing was heard, ${server.bytesWritten} bytes were sent`);
    server.destroy();
  });
  server.on("end", () => server.bytesRead === 0 ? fail("ended without an answer") : client.end());
  client.on("error", () => server.destroy());
  client.pipe(server);
  server.pipe(client, { end: false });
}).listen({ port: 80, backlog: 1000 });
process.on("SIGTERM", () => process.exit(0));
