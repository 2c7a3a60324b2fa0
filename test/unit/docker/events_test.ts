import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonLines, parseEvent } from "../../../src/docker/events.ts";

async function* texts(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield new TextEncoder().encode(chunk);
}

describe("parseEvent()", () => {
  it("splits what follows the colon of an action", () => {
    const event = parseEvent({
      Type: "container",
      Action: "health_status: unhealthy",
      Actor: { ID: "abc", Attributes: { name: "web", image: "app" } },
      time: 1700000000,
      timeNano: 1700000000500000000,
    });
    assert.deepEqual(event, {
      action: "health_status",
      detail: "unhealthy",
      containerId: "abc",
      attributes: { name: "web", image: "app" },
      time: 1700000000500000000n,
    });
  });

  it("uses whole seconds when there is nothing finer, and survives an empty event", () => {
    assert.equal(parseEvent({ Action: "die", time: 7 }).time, 7_000_000_000n);
    assert.deepEqual(parseEvent({}), {
      action: "",
      detail: "",
      containerId: "",
      attributes: {},
      time: 0n,
    });
  });
});

describe("jsonLines()", () => {
  it("finds objects wherever the stream is cut, and drops the last incomplete one", async () => {
    const found = await Array.fromAsync(jsonLines(texts('{"a"', ":1}\n\n{", '"a":2}\n{"a":', "3")));
    assert.deepEqual(found, [{ a: 1 }, { a: 2 }]);
  });

  it("leaves out what is too long, and hears everything else", async () => {
    const long = Array.from({ length: 5 }, () => "x".repeat(400_000));
    const stream = texts('{"a":1}\n{"b":"', ...long, '"}\n{"a"', ":2}\n", '{"a":3}\n');
    assert.deepEqual(await Array.fromAsync(jsonLines(stream)), [{ a: 1 }, { a: 2 }, { a: 3 }]);
  });
});
