/**
 * A program: asks a web server at a steady rate, however long answers take, over a connection for each
 * request, which it ends itself. Its arguments are address, port and requests a second. Once a second it prints a line of
 * JSON, a {@link LoadReport}, and when its input ends and all was answered a last one.
 */
import net from "node:net";
import process from "node:process";
import { LostTime } from "./lost_time.ts";
import type { LoadReport } from "./steady_load.ts";

/** Requests under way at most: a machine that answers slower asks less often, and says so. */
const MOST_AT_ONCE = 200;
/** One that waits longer has failed; a packet that is lost is sent again after one, three, seven seconds. */
const LONGEST_MS = 60_000;
const TICK_MS = 5;
/**
 * A failure in which who asks, this program or the proxy, lost half of the time that an old container goes
 * on answering: what had been looked up was out of date by its own fault, which no update can help.
 */
const LOST_MS = 1000;
const LOST_BY_PROXY = /, lost (\d+) ms\n$/;
const ANSWER = /^HTTP\/1\.1 200 [^]*\r\n\r\n(version \d+)\n$/;

const [address = "", port = "", rate = ""] = process.argv.slice(2);
const answers: Record<string, number> = {};
const failures: string[] = [];
const stalled: string[] = [];
const started = performance.now();
const lost = new LostTime(LONGEST_MS);
let due = 0;
let withheld = 0;
let underWay = 0;
let ending = false;

function ask(): void {
  underWay++;
  const began = performance.now();
  const socket = net.connect({ host: address, port: Number(port) });
  const texts: string[] = [];
  let problem = "";
  socket.setTimeout(LONGEST_MS, () => socket.destroy(new Error("no answer")));
  socket.setEncoding("utf8");
  socket.on("connect", () => socket.write("GET / HTTP/1.1\r\nHost: web\r\n\r\n"));
  socket.on("data", (text: string) => {
    texts.push(text);
    if (ANSWER.test(texts.join(""))) socket.end();
  });
  socket.on("error", (error) => problem = String(error));
  socket.on("close", () => {
    underWay--;
    const text = texts.join("");
    const answer = ANSWER.exec(text)?.[1];
    if (answer !== undefined) answers[answer] = (answers[answer] ?? 0) + 1;
    else {
      const here = lost.since(began);
      const isStalled = here + Number(LOST_BY_PROXY.exec(text)?.[1] ?? 0) >= LOST_MS;
      const told = `${problem || "closed"}: ${JSON.stringify(text)}, ${here} ms lost by the load`;
      (isStalled ? stalled : failures).push(told);
    }
    if (ending && underWay === 0) conclude();
  });
}

function report(): void {
  const seconds = (performance.now() - started) / 1000;
  const line: LoadReport = { seconds, answers, failures, stalled, withheld };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function conclude(): void {
  report();
  process.exit(0);
}

// By the clock, not by the timer: one that comes late makes up for it.
const asking = setInterval(() => {
  for (const now = (performance.now() - started) * Number(rate) / 1000; due < now; due++) {
    if (underWay < MOST_AT_ONCE) ask();
    else withheld++;
  }
}, TICK_MS);
const telling = setInterval(report, 1000);

process.stdin.on("data", () => {});
process.stdin.on("end", () => {
  clearInterval(asking);
  clearInterval(telling);
  ending = true;
  if (underWay === 0) conclude();
});
