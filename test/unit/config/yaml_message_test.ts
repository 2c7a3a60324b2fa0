import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { yamlMessage } from "../../../src/config/yaml_message.ts";

describe("yamlMessage()", () => {
  const values = [
    '"canary',
    "'canary",
    "|canary",
    ">canary",
    "*canary",
    "!canary",
    "!!canary",
    "@canary",
    "%canary",
    "`canary",
    "[canary",
    "{canary",
    '"\\canary"',
    '"\\xcanary"',
    "- canary",
    "? canary",
    "canary: canary",
    "\tcanary",
  ];
  for (const value of values) {
    it(`yamlMessage() does not repeat ${JSON.stringify(value)}`, () => {
      const documents = parseAllDocuments(`a:\n  b: ${value}\nc: d\n`, { prettyErrors: false });
      for (const error of [...documents].flatMap((each) => each.errors)) {
        const message = yamlMessage(error);
        assert.match(message, /^not valid YAML: ./);
        assert.doesNotMatch(message, /canary|xca|\\c/, error.message);
      }
    });
  }

  it("yamlMessage() says what is wrong", () => {
    const [document] = [...parseAllDocuments("a: [b\nc: d\n", { prettyErrors: false })];
    assert.match(yamlMessage(document?.errors[0] ?? new Error("")), /end with a \]/);
  });
});
