/**
 * A program: a proxy on port 80 that hands every connection to port 80 of the host in its first
 * argument, whose name it looks up anew each time. It tries once: what fails there has failed, and the
 * answer says why, where, after how many milliseconds, and for how long the proxy itself stood still
 * meanwhile, because its machine had no time for it.
 */
import net from "node:net";
import process from "node:process";

/** Before whoever asks gives up, so that the reason is told. */
const LONGEST_MS = 40_000;

const TICK_MS = 50;
/** Time that is remembered of standing still, in ticks. */
const REMEMBERED = LONGEST_MS / TICK_MS;

const host = process.argv[2] ?? "";
/** When each of the last ticks came. */
const ticks = [performance.now()];
setInterval(() => {
  ticks.push(performance.now());
  if (ticks.length > REMEMBERED) ticks.shift();
}, TICK_MS);

/** Milliseconds of the longest pause between two ticks since a time. */
function longestPause(since: number): number {
  const pauses = [...ticks, performance.now()].map((
    tick,
    at,
    all,
  ) => [tick, tick - (all[at - 1] ?? tick)]);
  return Math.max(0, ...pauses.flatMap(([tick = 0, pause = 0]) => tick < since ? [] : [pause]));
}

net.createServer({ allowHalfOpen: true }, (client) => {
  const server = net.connect({ host, port: 80, family: 4, allowHalfOpen: true });
  const started = performance.now();
  const passed = () => `${(performance.now() - started).toFixed(0)} ms`;
  const stages: string[] = [];
  const fail = (why: unknown) =>
    client.end(
      `HTTP/1.0 502 \r\n\r\n${why}; ${stages.join(", ")}, failed ${passed()}, ` +
        `stood still ${longestPause(started).toFixed(0)} ms\n`,
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
