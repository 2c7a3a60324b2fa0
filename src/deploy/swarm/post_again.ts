import { messageOf } from "../../model/mod.ts";

/** Number of attempts while others change the service at the same time. */
const MOST_POSTS = 3;

/** Reads and posts a service, again when the engine reports a change in between. */
export async function postAgain<Result>(post: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1;; attempt++) {
    try {
      return await post();
    } catch (error) {
      if (attempt === MOST_POSTS || !/update out of sequence/.test(messageOf(error))) throw error;
    }
  }
}
