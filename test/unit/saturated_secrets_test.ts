import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createLog,
  createRedactor,
  redactTexts,
  sourceAsOwner,
  stackAsOwner,
} from "../../src/system/mod.ts";
import { isSample } from "../fakes/sample.ts";
import { takesAtMost } from "./processor_time.ts";

/** Processor time for which one text may keep everything else waiting, with room for a slow machine. */
const MOST_MS = 1000;
const LENGTH = 300_000;
const STACK = { context: "default", name: "shop" };
const [OWNER, SOURCE] = [stackAsOwner(STACK), sourceAsOwner("h/acme/shop")];

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const PATH = "services/backend/configuration/of/the/environment/number-";
const rotations = (text: string) => numbers(340).map((at) => (text + text).slice(at, at + 6000));
const period = numbers(340).map((at) => (at * at * 7919 % 36).toString(36)).join("").repeat(18);

/** Secrets as a repository may have them: 5000 texts, 2 MiB. */
const SECRETS: Readonly<Record<string, () => string[]>> = {
  "of one letter, each longer": () => numbers(340).map((at) => "a".repeat(6000 + at)),
  "of one letter, of all lengths": () => numbers(5000).map((at) => "a".repeat(at % 400 + 4)),
  "that part at every letter": () =>
    numbers(5000).map((at) => `${"a".repeat(at % 70)}${at}$$$${"a".repeat(at % 70)}`),
  "that begin like one path": () => numbers(5000).map((at) => `${PATH}${at}$`),
  "that begin alike and look random": () => numbers(5000).map((at) => `aB3-aB3-aB3-${at}`),
  "that are each other's rotations": () => rotations(period),
  "of quotes": () => numbers(300).map((at) => `${at}${"\"'$".repeat(2000)}`),
  "that are words": () => numbers(5000).map((at) => `${"ab".repeat(at % 40)}word${at % 10}`),
};

const of = (part: string) => part.repeat(Math.ceil(LENGTH / part.length)).slice(0, LENGTH);
const TEXTS: Readonly<Record<string, () => string>> = {
  "of one letter": () => of("a"),
  "of two letters": () => of("ab"),
  "of letters and cuts": () => of(`${"a".repeat(63)}…`),
  "of paths": () => numbers(5000).map((at) => `${PATH}${at}.yaml`).join("\n"),
  "of beginnings that look random": () => of("aB3-"),
  "of rotations": () => of(period),
  "of quotes": () => of("\"'$"),
  "of assignments": () => of("a_password=aB3-"),
  "of headers": () => of("authorization: a "),
  "of URLs": () => of("x://a:b@"),
  "of queries": () => of("?token=a&"),
};

/** What is tried where not everything is. */
const FEW = ["that begin like one path", "of quotes"];
const isFew = isSample || "Bun" in globalThis;

describe("secrets and texts that are as hostile as they may be", () => {
  for (const [what, secrets] of Object.entries(SECRETS)) {
    if (isFew && !FEW.includes(what)) continue;
    it(`do not stop the service with secrets ${what}`, async () => {
      const slow: string[] = [];
      const redactor = createRedactor();
      redactor.belongs(OWNER, SOURCE);
      const all = secrets();
      for (const owner of [OWNER, SOURCE]) {
        if (!await takesAtMost(MOST_MS, () => all.forEach((each) => redactor.add(each, owner)))) {
          slow.push(owner);
        }
      }
      const lines: string[] = [];
      const write = (line: string) => void lines.push(line);
      const log = createLog({ level: "info", timeZone: "UTC", format: "json", redactor, write });
      const about = { stack: STACK.name, context: STACK.context, repository: "h/acme/shop" };
      const redact = (text: string) => redactor.redact(text, OWNER, SOURCE);
      for (const [called, make] of Object.entries(TEXTS)) {
        const text = make();
        const changes = text.match(/[^]{1,200}/g) ?? [];
        if (!await takesAtMost(MOST_MS, () => redact(text))) slow.push(`a model ${called}`);
        if (!await takesAtMost(MOST_MS, () => redactor.redact(text))) {
          slow.push(`a text about nobody ${called}`);
        }
        if (!await takesAtMost(MOST_MS, () => redactTexts({ changes }, redact))) {
          slow.push(`a decision ${called}`);
        }
        if (!await takesAtMost(MOST_MS, () => log.info(text, about))) {
          slow.push(`a log line ${called}`);
        }
      }
      assert.deepEqual(slow, [], `they take longer than ${MOST_MS} ms`);
      for (const line of lines) assert.equal(JSON.parse(line).level, "info");
      // A secret that repeats itself begins once more before its end, and ends after its beginning: then the
      // rest of the word is masked, or its beginning.
      // Nothing is told of a stack that has more than there is room for.
      const isHidden = (each: string) => /^<?\*\*\*>?$/.test(redact(`<${each}>`));
      assert.equal(all.filter((each) => !isHidden(each)).length, 0);
      assert.ok(await takesAtMost(MOST_MS, () => redactor.forget(OWNER)));
    });
  }

  it("do not stop the service where an author has as many owners of one word each as there is room for", async () => {
    const redactor = createRedactor();
    for (const at of numbers(15_500)) {
      const stack = stackAsOwner({ context: "default", name: `e${at}` });
      redactor.belongs(stack, "source h/evil/evil");
      redactor.add("hunterwolfalpha", `${stack} of source h/evil/evil`);
    }
    redactor.belongs(OWNER, SOURCE);
    redactor.settle(OWNER, SOURCE);
    let added = 0;
    const add = () => {
      for (const _ of numbers(1000)) {
        redactor.add(`aB3${(added++).toString(36)}xK9qT${added}`, OWNER);
      }
    };
    assert.ok(await takesAtMost(MOST_MS, add), `they take longer than ${MOST_MS} ms`);
    assert.equal(redactor.redact("hello aB30xK9qT1", OWNER), "hello ***");
  });
});
