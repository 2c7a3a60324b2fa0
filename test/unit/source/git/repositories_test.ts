import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOST_OPEN, Repositories } from "../../../../src/source/git/repositories.ts";

type Parts = ConstructorParameters<typeof Repositories>[0];

describe("Repositories", () => {
  it("keeps those open that were used lately, however many there are", async () => {
    const never = () => {
      throw new Error("nothing is asked of them");
    };
    const git = { start: never, local: never, error: never } as unknown as Parts["git"];
    const repositories = new Repositories({ git } as Parts);
    const open = (number: number) => repositories.open(`/mirrors/${number}`, `git.test/${number}`);
    const [first, second] = [open(1), open(2)];
    for (let number = 3; number <= 3 * MOST_OPEN; number++) {
      open(number);
      assert.equal(open(1), first);
    }
    assert.notEqual(open(2), second);
    await repositories.close();
  });
});
