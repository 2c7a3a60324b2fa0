import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runPollsOperation, type RunPollsParts } from "../../../src/api/run_polls.ts";
import { parsePollRequest } from "../../../src/config/mod.ts";
import { StackwrightError } from "../../../src/model/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

/** What polls throw, where the contexts `two` and `broken` are there and nothing is ever started. */
function refusalOf(configs: unknown, asked: string[] = []): Promise<StackwrightError> {
  const names = ["default", "two", "two"];
  const parts = {
    parsePollRequest,
    hasContext(context: string) {
      asked.push(context);
      return Promise.resolve([...names, "broken"].includes(context));
    },
    contexts() {
      asked.push("all");
      return Promise.resolve(names);
    },
    get intake(): never {
      throw new StackwrightError("internal", "it is started");
    },
  } as unknown as RunPollsParts;
  const call = { signal: new AbortController().signal, log: createRecordingLog() };
  return runPollsOperation(parts).call({ configs }, call).then(
    () => assert.fail("it was accepted"),
    (error) => error,
  );
}

describe("runPolls with inline deployments", () => {
  const entry = (...contexts: readonly (string | undefined)[]) => ({
    url: "https://example.org/acme/shop",
    deployments: contexts.map((context, index) => ({ name: `shop${index}`, context })),
  });

  it("names the place of every context that is not there, before anything is started", async () => {
    const error = await refusalOf([entry("two"), entry(undefined, "none", "two", "nobody")]);
    assert.equal(error.code, "bad_request");
    assert.equal(error.message, "invalid poll configuration at index 1");
    assert.deepEqual(error.problems.map(({ path, message }) => [path, message]), [
      ["[1].deployments[1].context", "unknown context; expected one of default, two"],
      ["[1].deployments[3].context", "unknown context; expected one of default, two"],
    ]);
  });

  it("asks for each context once, however many deployments name it", async () => {
    const asked: string[] = [];
    const many = Array.from({ length: 50 }, (_, n) => n % 2 === 0 ? "two" : "nobody");
    const { problems } = await refusalOf([entry(...many), entry(...many)], asked);
    assert.equal(problems.length, 50);
    assert.deepEqual(asked, ["two", "nobody", "all"]);
  });

  it("takes the default one, and those that are there", async () => {
    const error = await refusalOf([entry(undefined, "default", "two", "broken")]);
    assert.equal(error.message, "it is started");
  });
});
