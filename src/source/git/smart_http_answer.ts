import type { HttpAnswer } from "../../system/mod.ts";

/** Some servers answer nobody else. */
const AGENT = "git/2.39.0 (stackwright)";

/** Headers of every request. */
export function headersOf(authorization: string): Record<string, string> {
  return {
    "git-protocol": "version=2",
    "user-agent": AGENT,
    ...(authorization === "" ? {} : { authorization }),
  };
}

/** Whether an answer is one of success and of this kind. */
export function is(answer: HttpAnswer, mediaType: string): boolean {
  return answer.status === 200 && answer.header("content-type") === mediaType;
}
