import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AnswerParser } from "../../../../src/source/git/answer_parser.ts";

describe("AnswerParser.push()", () => {
  const id = "a".repeat(40);
  const stream = new TextEncoder().encode(
    `${id} blob 5\nab\ncd\nrefs/x^{commit} missing\n${id} blob 0\n\n${id} tree 3\n\0\n\0\n`,
  );
  const expected = [
    ["blob", [97, 98, 10, 99, 100]],
    undefined,
    ["blob", []],
    ["tree", [0, 10, 0]],
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    it(`finds the same answers in chunks of ${size} bytes`, () => {
      const parser = new AnswerParser(() => true);
      const answers = [];
      for (let at = 0; at < stream.length; at += size) {
        answers.push(...parser.push(stream.subarray(at, at + size)));
      }
      const found = answers.map((each) => each && [each.type, [...each.data]]);
      assert.deepEqual(found, expected);
    });
  }
  it("takes sizes without content, among answers with content", () => {
    const hasContent = [false, true, false, true];
    const parser = new AnswerParser(() => hasContent[0] ?? true);
    const lines = `${id} blob 5000\n${id} blob 2\nab\nx missing\n${id} blob 1\nc\n`;
    const answers = [];
    for (const answer of parser.push(new TextEncoder().encode(lines))) {
      hasContent.shift();
      answers.push(answer && [answer.size, answer.data.length]);
    }
    assert.deepEqual(answers, [[5000, 0], [2, 2], undefined, [1, 1]]);
  });
});
