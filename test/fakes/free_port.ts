import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below what Linux gives to outgoing connections and to `listen(0)`: 32768 and up. */
const FIRST = 12_000;
const END = 32_000;

/** One after the other from anywhere: a process never gets one twice in a row that it did not use yet. */
let next = randomInt(FIRST, END);

/**
 * A TCP port for a program that is started in a moment and has to be told one. It lies outside the range
 * from which the kernel gives ports by itself, so that no connection of a test beside this one takes it
 * in between. Port 0 is better where the program can say which port it got.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 1 < END ? port + 1 : FIRST;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "0.0.0.0", () => server.close(() => resolve(true)));
  });
}
