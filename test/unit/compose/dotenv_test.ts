import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dotenvEntries } from "../../../src/compose/dotenv.ts";

describe("dotenvEntries()", () => {
  const rows: readonly (readonly [string, string, Record<string, string>])[] = [
    ["plain values", "A=b\nC = d e \nE=", { A: "b", C: "d e", E: "" }],
    ["exported ones", "export A=b\n  export B=c", { A: "b", B: "c" }],
    ["colons", "A: b", { A: "b" }],
    ["comments", "# A=b\nB=c # d\nC=d#e", { B: "c", C: "d#e" }],
    ["single quotes as they are", "A='b \"\\n $C #d'", { A: 'b "\\n $C #d' }],
    ["double quotes with escapes", 'A="b \\"c\\" \\n\\\\"', { A: 'b "c" \n\\' }],
    ["values of several lines", "A='b\nc'\nD=\"e\nf\"\nG=h", { A: "b\nc", D: "e\nf", G: "h" }],
    ["line ends of Windows", "A=b\r\nC='d'\r\n", { A: "b", C: "d" }],
    ["names with dots and dashes", "a.b-c=d", { "a.b-c": "d" }],
    ["no comments and blank lines", "#A=b\n \t\n  # c\n\n", {}],
    ["what has no name as one without", "not a variable\n", { "": "not a variable" }],
    ["escapes that compose knows, and keeps others", 'A="\\a\\f\\v\\0101\\$\\m\\x41\\0z"', {
      A: "\x07\f\vA$\\m\\x41\\z",
    }],
    ["escaped quotes in single ones", "A='b\\'c\\n'", { A: "b'c\\n" }],
    ["what follows a quoted value", "A=\"b\" # c\nB='c' D=e\nF='' g", {
      A: "b",
      B: "c",
      D: "e",
      F: "",
      "": " g",
    }],
    ["blanks of any kind around signs", "A\u00a0=\u00a0'b\nc'", { A: "b\nc" }],
    ["a mere carriage return as a part of a value", "A=b\rC", { A: "b\rC" }],
    ["names of any letters, behind a mark of byte order", "\ufeffA=b\nключ=c\n1A=d\nx[0]=e", {
      A: "b",
      "ключ": "c",
      "1A": "d",
      "x[0]": "e",
    }],
    ["quotes that do not end", "A='b\nC=d", { A: "'b", C: "d" }],
  ];
  for (const [what, text, expected] of rows) {
    it(`dotenvEntries() reads ${what}`, () => {
      const found = dotenvEntries(text).map(({ name, value }) => [name, value]);
      assert.deepEqual(Object.fromEntries(found), expected);
    });
  }
});
