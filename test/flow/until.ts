import assert from "node:assert/strict";

/** Milliseconds between two looks; after so many of them they are rarer, as somebody needs the processor. */
const [EVERY_MS, SOON, LATER_MS] = [20, 50, 50];
/** Looks after which it is given up: a minute, and more on a slow machine. */
const LOOKS = 1_200;

/** Waits until something is so. Rejects when it is not so after a minute. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    if (await isSo()) return;
    const pause = looks < SOON ? EVERY_MS : LATER_MS;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  assert.fail(`what was waited for never came: ${isSo}`);
}
