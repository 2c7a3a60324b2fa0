import assert from "node:assert/strict";

/** Milliseconds between two looks, and looks after which it is given up: a minute, and more on a slow machine. */
const EVERY_MS = 20;
const LOOKS = 3_000;

/** Waits until something is so. Rejects when it is not so after a minute. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  assert.fail(`what was waited for never came: ${isSo}`);
}
