import type { Clock, HttpAnswer, HttpClient } from "../../system/mod.ts";

const MOST_RETRIES = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * A client that waits and asks again, at most five times, when a store has had too many requests:
 * one second at first and twice as long each time, with a random part, or what the store says.
 */
export function patientHttp(
  http: HttpClient,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
): HttpClient {
  return {
    async send(request, signal) {
      for (let retry = 0;; retry++) {
        const answer = await http.send(request, signal);
        if (!isRateLimit(answer) || retry === MOST_RETRIES) return answer;
        await clock.sleep(pauseAfter(answer, retry, random), signal);
      }
    },
    close: () => http.close(),
  };
}

/** True when a store asks for fewer requests; AWS says so with another status. */
function isRateLimit({ status, body }: HttpAnswer): boolean {
  return status === 429 || (status === 400 && body.includes("ThrottlingException"));
}

function pauseAfter(answer: HttpAnswer, retry: number, random: () => number): number {
  const said = Number(answer.header("retry-after") ?? Number.NaN) * 1000;
  const pause = said >= 0 ? said : FIRST_PAUSE_MS * 2 ** retry;
  return Math.min(pause, LONGEST_PAUSE_MS) * (1 + random() / 2);
}
