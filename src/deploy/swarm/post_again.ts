import { messageOf } from "../../model/mod.ts";

/** Number of times that a service is read and posted because somebody else changed it in between. */
const MOST_POSTS = 3;

/** Reads and posts a service, and does so again where the engine says that it was changed in between. */
export async function postAgain<Result>(post: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1;; attempt++) {
    try {
      return await post();
    } catch (error) {
      if (attempt === MOST_POSTS || !/update out of sequence/.test(messageOf(error))) throw error;
    }
  }
}
