import { createPauses } from "./pauses.ts";

/** Pieces of work that begin in one turn of the event loop. */
const AT_ONCE = 8;

/**
 * The results of `work` for each of a list, side by side, as `Promise.all` gives them. In one turn of the
 * event loop only a few begin: hundreds that each look around before their first wait hold everything up.
 */
export async function allInTurns<Each, Made>(
  all: readonly Each[],
  work: (each: Each) => Promise<Made>,
): Promise<Made[]> {
  const pauses = createPauses(AT_ONCE);
  let turn: Promise<void> = Promise.resolve();
  return await Promise.all(all.map((each) => {
    const begun = turn.then(() => work(each));
    turn = turn.then(() => pauses.after(1));
    return begun;
  }));
}
