import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import {
  claimAsOwner,
  createRedactor,
  type Redactor,
  redactTexts,
  SHORTEST_SECRET,
  stackAsOwner,
} from "../../../src/system/mod.ts";
import { processorMs } from "../processor_time.ts";

const CANARY = `can"ary/4711+\\x$y z=<é&'`;
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

/** What a redactor that knows `secrets` makes of `text`. */
function redact(text: string, ...secrets: string[]): string {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor.redact(text);
}

describe("asks() of a redactor", () => {
  const about = stackAsOwner(stackKey("", "shop"));

  it("adds a stack's secrets before a text about it is redacted", () => {
    const redactor = createRedactor();
    redactor.asks((key) => {
      redactor.add("hunterwolf", stackAsOwner(key));
      return true;
    });
    assert.equal(redactor.redact("it said hunterwolf", "source a", about), "it said ***");
    assert.equal(
      redactor.redact("it said hunterwolf", stackAsOwner(stackKey("b", "a"))),
      "it said ***",
    );
    assert.equal(redactor.redact("it said hunterwolf", "source a"), "it said hunterwolf");
  });

  it("asks nobody for texts about no stack, for what is known, and after its end", () => {
    const redactor = createRedactor();
    const asked: unknown[] = [];
    const end = redactor.asks((key) => asked.push(key) > 0);
    for (
      const owner of ["", "source a", "external secrets", claimAsOwner(stackKey("", "a"), "s")]
    ) {
      redactor.redact("text", owner);
    }
    redactor.redactKnown("text", about);
    assert.deepEqual(asked, []);
    redactor.redact("text", about);
    assert.deepEqual(asked, [stackKey("", "shop")]);
    end();
    redactor.redact("text", about);
    assert.equal(asked.length, 1);
  });

  it("tells nothing of a text about a stack whose secrets are not known yet", () => {
    const redactor = createRedactor();
    redactor.asks(({ name }) => name !== "shop");
    const other = stackAsOwner(stackKey("", "other"));
    assert.equal(redactor.redact("it said hunterwolf", other, about), "***");
    assert.equal(redactor.redact("it said hunterwolf", other), "it said hunterwolf");
    assert.equal(redactor.redact("", about), "");
  });

  it("waits until a text can be told, whatever goes wrong, but for an abort", async () => {
    const redactor = createRedactor();
    const { signal } = new AbortController();
    await redactor.learned([about], signal);
    const learnt = new Set<string>();
    redactor.asks(({ name }) => learnt.has(name), ({ name }) => {
      learnt.add(name);
      return name === "shop" ? Promise.resolve() : Promise.reject(new Error("the ledger is away"));
    });
    const other = stackAsOwner(stackKey("", "other"));
    await redactor.learned(["source a", about, other], signal);
    assert.equal(redactor.redact("it said so", about, other), "it said so");
    const gone = AbortSignal.abort(new Error("the client went away"));
    await assert.rejects(redactor.learned([other], gone), /the client went away/);
  });

  it("redacts a text although whoever is asked fails, and asks nothing for what he says", () => {
    const redactor = createRedactor();
    redactor.add("hunterwolf");
    let times = 0;
    redactor.asks(() => {
      times++;
      redactor.redact("the ledger is away", about);
      throw new Error("the ledger is away");
    });
    assert.equal(redactor.redact("it said hunterwolf", about), "it said ***");
    assert.equal(times, 1);
  });
});

describe("limits of a redactor", () => {
  const secret = (at: number) => `x${at}Zq8${at * 7919}Kw2r${at * 104729}`;

  /** How many of 60 secrets of a victim are hidden once an author has added many in many names. */
  function kept(sourceAt: (at: number) => string): number {
    const redactor = createRedactor({ group: 1_000_000, all: 2_000_000 });
    const victims = Array.from({ length: 60 }, (_, at) => secret(at + 1_000_000));
    redactor.belongs("stack -/shop", "source h.example/victim/shop");
    for (const each of victims) redactor.add(each, "stack -/shop");
    for (let at = 0; at < 6000; at++) {
      redactor.add(secret(at), sourceAt(Math.floor(at / 20)));
    }
    return victims.filter((each) => redactor.redactKnown(each) === "***").length;
  }

  it("has an author with many small sources lose before another with one", () => {
    assert.equal(kept((at) => `source h.example/author/r${at}`), 60);
    assert.ok(kept((at) => `source h${at}.example/a/r`) < 60);
  });

  it("takes no encoded forms away from who comes after an author with many small sources", () => {
    const redactor = createRedactor({ group: 1_000_000, all: 2_000_000 });
    for (let at = 0; at < 400; at++) {
      redactor.add(secret(at), `source h.example/author/r${at < 300 ? at % 12 : at}`);
    }
    const victims = Array.from({ length: 60 }, (_, at) => secret(at + 1_000_000));
    for (const each of victims) redactor.add(each, "stack -/shop");
    const shown = victims.filter((each) => redactor.redactKnown(btoa(each)) !== "***");
    assert.deepEqual(shown, []);
  });

  const stack = (name: string) => stackAsOwner(stackKey("", name));

  /** Adds secrets to an owner, so many that it is closed. */
  function fill(redactor: Redactor, owner: string): void {
    for (let at = 0; at < 200; at++) redactor.add(secret(at), owner);
  }

  it("tells no text about who has too much, and about his source, and all about others", () => {
    const redactor = createRedactor({ group: 1_000_000, all: 200_000 });
    redactor.belongs(stack("shop"), "source config", "source app");
    redactor.belongs(stack("wiki"), "source config");
    redactor.add("hunterwolf", stack("wiki"));
    fill(redactor, stack("shop"));
    for (const about of [stack("shop"), "source app", "everyone"]) {
      assert.equal(redactor.redact("it said so", about), "***", about);
    }
    for (const about of [stack("wiki"), "source config", "source other"]) {
      assert.equal(redactor.redact("it said so", about, stack("wiki")), "it said so", about);
    }
    assert.equal(redactor.redact("hunterwolf", stack("wiki")), "***");
    redactor.forget(stack("shop"));
    assert.equal(redactor.redact("it said so", stack("shop"), "source app"), "it said so");
  });

  it("says once whom it closes, and opens him again to be told anew what he has", async () => {
    const redactor = createRedactor({ group: 1_000_000, all: 200_000 });
    const closed: string[] = [];
    redactor.onClosed((owner) => closed.push(owner));
    fill(redactor, stack("shop"));
    assert.deepEqual(closed, [], "not while it adds: whoever is told may ask for texts");
    await Promise.resolve();
    assert.deepEqual(closed, [stack("shop")]);
    redactor.reopen(stack("shop"));
    redactor.add("hunterwolf", stack("shop"));
    assert.equal(redactor.redact("it said hunterwolf", stack("shop")), "it said ***");
    fill(redactor, stack("shop"));
    await Promise.resolve();
    assert.deepEqual(closed, [stack("shop"), stack("shop")]);
    assert.equal(redactor.redact("it said hunterwolf", stack("shop")), "***");
  });

  it("opens with a stack what it was closed for before anybody owned it", () => {
    const redactor = createRedactor({ group: 1_000_000, all: 200_000 });
    const claim = `${stack("shop")} of source h/org/shop`;
    redactor.belongs(stack("shop"), "source h/org/shop");
    fill(redactor, claim);
    redactor.settle(stack("shop"), "source h/org/shop");
    assert.equal(redactor.redact("it said so", stack("shop")), "***");
    redactor.reopen(stack("shop"));
    assert.equal(redactor.redact("it said so", stack("shop"), claim), "it said so");
  });

  /** Adds secrets to stacks of a source, each of which has fewer than the shop, until nothing is told of it. */
  function fillStacks(redactor: Redactor, source: string): string | undefined {
    for (let at = 0; at < 900; at++) {
      const owner = stack(`s${Math.floor(at / 15)}`);
      redactor.settle(owner, source);
      redactor.add(secret(at), owner);
      if (redactor.isClosed(stack("shop"))) return `after ${at} secrets`;
    }
    return undefined;
  }

  it("closes stacks of the source with the most before a larger one of the same author", () => {
    const redactor = createRedactor({ group: 1_000_000, all: 400_000 });
    redactor.settle(stack("shop"), "source h/org/shop");
    for (let at = 0; at < 40; at++) redactor.add(secret(at + 1_000_000), stack("shop"));
    assert.equal(fillStacks(redactor, "source h/org/evil"), undefined);
    assert.ok(redactor.isClosed(stack("s0"), stack("s1"), stack("s2")));
  });

  it("counts what is deployed for who owns the stack, and not for who only names or claims it", () => {
    const ways: readonly ((redactor: Redactor) => void)[] = [
      (redactor) => redactor.belongs(stack("claimed"), "source h/evil/evil", "source h/org/app"),
      (redactor) => redactor.settle(stack("theirs"), "source h/evil/evil", "source h/org/app"),
      (redactor) => redactor.belongs(stack("shop"), "source h/evil/evil"),
    ];
    for (const [at, first] of ways.entries()) {
      for (const isFirst of [true, false]) {
        const redactor = createRedactor({ group: 1_000_000, all: 400_000 });
        if (isFirst) first(redactor);
        redactor.settle(stack("shop"), "source h/org/conf", "source h/org/app");
        if (!isFirst) first(redactor);
        for (let at = 0; at < 10; at++) redactor.add(secret(at + 1_000_000), stack("shop"));
        for (let at = 0; at < 20; at++) redactor.add(secret(at + 2_000_000), "source h/org/app");
        const closed = fillStacks(redactor, "source h/evil/evil");
        assert.equal(closed, undefined, `way ${at}, ${isFirst ? "before" : "after"}`);
      }
    }
  });

  it("closes one who claims a stack in texts about that, until it is settled whose it is", () => {
    const redactor = createRedactor({ group: 1_000_000, all: 200_000 });
    fill(redactor, claimAsOwner(stackKey("", "shop"), "theirs"));
    assert.equal(redactor.redact("it said so", stack("shop")), "***");
    redactor.settle(stack("shop"), "source ours");
    assert.equal(redactor.redact("it said so", stack("shop")), "it said so");
  });

  it("closes no store: what was read last is known", () => {
    const redactor = createRedactor({ group: 1_000_000, all: 200_000 });
    fill(redactor, "external secrets");
    assert.equal(redactor.redact(`it said ${secret(199)}`, stack("shop")), "it said ***");
  });

  it("forgets nothing while work is under way whose texts may be about it", () => {
    const redactor = createRedactor();
    redactor.belongs(stack("shop"), "source config", "source app");
    redactor.add("hunterwolf", "source app");
    redactor.add("silverotter", stack("shop"));
    const shown = () =>
      ["hunterwolf", "silverotter"].filter((each) => redactor.redact(each, stack("shop")) === each);
    const [endFirst, endSecond] = [redactor.during(), redactor.during()];
    redactor.forget(stack("shop"));
    const endLater = redactor.during();
    assert.deepEqual(shown(), []);
    endFirst();
    assert.deepEqual(shown(), []);
    endSecond();
    assert.deepEqual(shown(), ["hunterwolf", "silverotter"]);
    endLater();
  });

  it("forgets what work under way is not about, and that of what it is about once it is over", () => {
    const redactor = createRedactor();
    const all = ["shop", "blog", "wiki"];
    for (const each of all) {
      redactor.settle(stack(each), `source h/${each}`);
      redactor.add(`${each}otter`, stack(each));
    }
    const known = () =>
      all.filter((each) => redactor.redact(`${each}otter`, stack(each)) === "***");
    const endJob = redactor.during(stack("shop"));
    const endRun = redactor.during();
    redactor.forget(stack("shop"));
    redactor.forget(stack("blog"));
    assert.deepEqual(known(), all);
    endRun();
    assert.deepEqual(known(), ["shop", "wiki"]);
    redactor.forget(stack("wiki"));
    assert.deepEqual(known(), ["shop"]);
    endJob();
    assert.deepEqual(known(), []);
  });

  it("knows what a stack is made of where it is deployed again before the work is over", () => {
    for (const again of ["settle", "belongs"] as const) {
      const redactor = createRedactor();
      redactor.belongs(stack("shop"), "source config", "source app");
      redactor.add("hunterwolf", "source app");
      const end = redactor.during();
      redactor.forget(stack("shop"));
      redactor[again](stack("shop"), "source config", "source app");
      end();
      assert.equal(redactor.redact("hunterwolf", stack("shop")), "***", again);
    }
    const redactor = createRedactor();
    redactor.settle(stack("shop"), "source config", "source app");
    redactor.add("hunterwolf", "source app");
    assert.equal(redactor.redact("hunterwolf", stack("shop")), "***");
  });

  it("remembers few sources of a stack that nobody owns, and tells nothing of it where they are more", () => {
    const redactor = createRedactor();
    const claim = (from: number, to: number) => {
      for (let at = from; at < to; at++) redactor.belongs(stack("shop"), `source h/a/${at}`);
    };
    const about = stack("shop");
    claim(0, 20);
    claim(0, 20);
    assert.equal(redactor.redact("it said so", about), "it said so");
    claim(20, 21);
    assert.equal(redactor.redact("it said so", about), "***");
    assert.equal(redactor.redact("it said so", "source h/a/0"), "it said so");
    redactor.add("hunterwolf", "source app");
    redactor.settle(about, "source h/a/0", "source app");
    assert.equal(redactor.redact("it said hunterwolf", about), "it said ***");
    claim(1, 21);
    redactor.forget(about);
    assert.equal(redactor.redact("it said so", about), "it said so");
  });

  it("forgets what a stack was although it is named again before the work is over", () => {
    for (const again of ["settle", "belongs"] as const) {
      const redactor = createRedactor();
      redactor.settle(stack("shop"), "source config", "source app");
      redactor.add("silverotter", stack("shop"));
      const end = redactor.during();
      redactor.forget(stack("shop"));
      redactor[again](stack("shop"), "source other", "source other");
      redactor.add("greenbadger", stack("shop"));
      const all = "silverotter greenbadger";
      assert.equal(redactor.redact(all, stack("shop")), "*** ***");
      end();
      assert.equal(redactor.redact(all, stack("shop")), "silverotter ***", again);
    }
  });

  it("opens a stack that was closed and removed, although it is named again before the work is over", () => {
    const redactor = createRedactor({ group: 1000, all: 40_000 });
    redactor.settle(stack("shop"), "source config");
    for (let at = 0; at < 400; at++) redactor.add(secret(at), stack("shop"));
    assert.ok(redactor.isClosed(stack("shop")));
    const end = redactor.during();
    redactor.forget(stack("shop"));
    redactor.belongs(stack("shop"), "source other", "source other");
    redactor.add("greenbadger", stack("shop"));
    end();
    assert.equal(redactor.redact("no greenbadger", stack("shop")), "no ***");
  });

  it("leaves a later run the texts of a source whose last stack goes", () => {
    const redactor = createRedactor();
    redactor.belongs(stack("shop"), "source config", "source app");
    const end = redactor.during();
    redactor.forget(stack("shop"));
    const endLater = redactor.during();
    redactor.add("hunterwolf", "source app");
    end();
    redactor.belongs(stack("blog"), "source config", "source app");
    endLater();
    assert.equal(redactor.redact("hunterwolf", stack("blog")), "***");
  });

  it("forgets many stacks without a look at all others, with pauses", async () => {
    const redactor = createRedactor();
    for (let at = 0; at < 10_000; at++) redactor.belongs(stack(`n${at}`), "source h/evil/names");
    const gone = Array.from({ length: 300 }, (_, at) => stack(`d${at}`));
    for (const [at, each] of gone.entries()) {
      redactor.settle(each, "source h/evil/config", `source h/evil/app${at}`);
      redactor.add(secret(at), each);
    }
    const end = redactor.during();
    for (const each of gone) redactor.forget(each);
    const shown = () => gone.filter((_, at) => redactor.redact(secret(at)) === secret(at)).length;
    const began = processorMs();
    end();
    const spent = processorMs() - began;
    assert.ok(spent < 300, `one go took ${spent} ms`);
    assert.ok(shown() < gone.length, "it made no pause");
    for (let go = 0; go < 100 && shown() < gone.length; go++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.equal(shown(), gone.length);
  });

  it("forgets the texts of a source with its last stack", () => {
    const redactor = createRedactor();
    redactor.belongs(stack("shop"), "source config", "source app");
    redactor.belongs(stack("wiki"), "source config");
    for (const source of ["config", "app"]) redactor.add(secret(7), `source ${source}`);
    const shown = () => redactor.redact(secret(7));
    redactor.forget(stack("shop"));
    assert.equal(shown(), "***", "config has a stack");
    redactor.forget(stack("wiki"));
    assert.equal(shown(), secret(7));
  });
});

describe("createRedactor", () => {
  const forms: [string, string][] = [
    ["as it is", CANARY],
    ["in JSON", JSON.stringify(CANARY).slice(1, -1)],
    [
      "in JSON as Go writes it",
      JSON.stringify(CANARY).slice(1, -1).replace("<", "\\u003c").replace("&", "\\u0026"),
    ],
    ["in JSON of ASCII", JSON.stringify(CANARY).slice(1, -1).replace("é", "\\u00e9")],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(CANARY).slice(1, -1)).slice(1, -1)],
    ["quoted byte by byte", JSON.stringify(CANARY).slice(1, -1).replace("é", "\\xc3\\xa9")],
    ["in YAML between single quotes", CANARY.replaceAll("'", "''")],
    ["in a shell between single quotes", CANARY.replaceAll("'", "'\\''")],
    ["in a shell between double quotes", CANARY.replace(/["$`\\]/g, "\\$&")],
    ["in a shell without quotes", CANARY.replace(/[^\w@%+=:,./-]/g, "\\$&")],
    [
      "in HTML",
      CANARY.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&#34;").replace("'", "&#39;"),
    ],
    ["in a URL", encodeURIComponent(CANARY)],
    [
      "in a URL of lower-case escapes",
      encodeURIComponent(CANARY).replace(/%../g, (each) => each.toLowerCase()),
    ],
    ["in a form", new URLSearchParams({ a: CANARY }).toString().slice(2)],
    [
      "in the user information of a URL",
      new URL(`http://u:${encodeURIComponent(CANARY)}@h`).password,
    ],
    ["in hexadecimal", Buffer.from(CANARY).toString("hex")],
    ["in upper-case hexadecimal", Buffer.from(CANARY).toString("hex").toUpperCase()],
    ["in base64 that is safe in URLs", base64(CANARY).replaceAll("+", "-").replaceAll("/", "_")],
    ["in base64", base64(CANARY)],
    ["with doubled dollars", CANARY.replaceAll("$", "$$$$")],
  ];
  for (const [what, form] of forms) {
    it(`redact() hides a secret ${what}, wherever it stands and however often`, () => {
      assert.equal(redact(form, CANARY), "***");
      assert.equal(redact(`a ${form} b ${form}: c`, CANARY), "a *** b ***: c");
      assert.equal(redact(`a${form}b`, CANARY), "a***b");
    });
  }

  it("redact() hides a secret inside a longer text that was encoded, wherever it begins", () => {
    const secret = "canary-4711??>>";
    for (const before of ["", "u", "us", "use", "user:"]) {
      for (const after of ["", "@", "@h", "@host"]) {
        const whole = base64(`${before}${secret}${after}`);
        for (const text of [whole, whole.replaceAll("+", "-").replaceAll("/", "_")]) {
          const visible = Buffer.from(redact(text, secret).replace("***", ""), "base64");
          assert.ok(!redact(text, secret).includes(text.slice(8, 20)), text);
          assert.doesNotMatch(visible.toString("utf8"), /ana|nar|471|11\?/);
        }
      }
    }
  });

  it("redact() hides a secret in a log line of JSON and leaves the rest readable", () => {
    const line = JSON.stringify({ msg: `login ${CANARY} failed`, stack: "web" });
    assert.deepEqual(JSON.parse(redact(line, CANARY)), { msg: "login *** failed", stack: "web" });
  });

  const key = "-----BEGIN KEY-----\nQUJDREVGR0g=\r\n  c2VjcmV0\n\nab\n-----END KEY-----\n";
  it("redact() hides every line of a secret with several, alone and in all forms", () => {
    for (const line of ["QUJDREVGR0g=", "c2VjcmV0"]) {
      for (const form of [line, encodeURIComponent(line), base64(line)]) {
        assert.equal(redact(`at ${form}!`, key), "at ***!");
      }
    }
    assert.equal(redact(key, key), "***");
    assert.equal(redact(key.trim(), key), "***");
    assert.equal(redact(JSON.stringify(key), key), '"***"');
    assert.equal(redact(base64(key), key), "***");
  });

  it("redact() leaves lines of a secret alone that are shorter than a secret can be", () => {
    assert.equal(redact("cab ab", key), "cab ab");
  });

  it("redact() hides a secret without the white space around it", () => {
    assert.equal(redact("is canary-4711.", " canary-4711\n"), "is ***.");
  });

  const overlaps: [string, string[], string, string][] = [
    ["one inside the other", ["canary", "canary-4711"], "<canary-4711> <canary>", "<***> <***>"],
    ["in the other order", ["canary-4711", "canary"], "<canary-4711> <canary>", "<***> <***>"],
    ["one at the end of the other", ["canary-4711", "4711"], "<canary-4711> <4711>", "<***> <***>"],
    ["overlapping at the ends", ["canary-47", "47-nest"], "<canary-47-nest>", "<***>"],
    ["in a chain", ["abcdef", "efghij", "ijklmn"], "<abcdefghijklmn>", "<***>"],
    ["the second longer", ["abcd", "bcdefghij"], "<abcdefghij>", "<***>"],
    ["with itself", ["abab"], "<ababab>", "<***>"],
    ["side by side", ["abcd", "efgh"], "<abcdefgh>", "<***>"],
  ];
  for (const [what, secrets, text, expected] of overlaps) {
    it(`redact() leaves no end of secrets visible that overlap: ${what}`, () => {
      assert.equal(redact(text, ...secrets).replaceAll("******", "***"), expected);
    });
  }

  it("redact() takes a secret as text, whatever a pattern would make of it", () => {
    for (const secret of ["a.*b", "(x)+?", "[a-z]{4}", "^$|\\d", "a/b-c", "$&$1"]) {
      assert.equal(redact(`<${secret}> axxb xxx abcd`, secret), "<***> axxb xxx abcd");
    }
  });

  it("redact() learns secrets between calls, also the same one twice", () => {
    const redactor = createRedactor();
    assert.equal(redactor.redact("canary-4711 nest-4711"), "canary-4711 nest-4711");
    redactor.add("canary-4711");
    redactor.add("canary-4711");
    assert.equal(redactor.redact("canary-4711 nest-4711"), "*** nest-4711");
    redactor.add("nest-4711");
    assert.equal(redactor.redact("canary-4711 nest-4711"), "*** ***");
  });

  it("redact() hides a date, a time or a duration only in texts about the stack that has it", () => {
    const own = stackAsOwner(stackKey("default", "evil"));
    const other = stackAsOwner(stackKey("default", "shop"));
    const redactor = createRedactor();
    const told = ["2026-11-27T23", "27T23:30:00.000Z", "1h30m15s", "20261127T233000Z"];
    for (const each of told) redactor.add(each, own);
    for (const each of told) {
      assert.equal(redactor.redact(`until ${each}`, other), `until ${each}`);
      assert.equal(redactor.redact(`until ${each}`, own), "until ***");
    }
  });

  it("add() ignores what is too short to be told from ordinary words", () => {
    const short = "x".repeat(SHORTEST_SECRET - 1);
    assert.equal(redact(`${short}${short}`, short, "", " "), `${short}${short}`);
    assert.equal(redact("xxxx", "xxxx"), "***");
  });

  it("add() takes a text that has no URL form", () => {
    assert.equal(redact("<canary\ud800>", "canary\ud800"), "<***>");
  });

  const urls: [string, string][] = [
    ["https://user:canary@host/o/r", "https://***@host/o/r"],
    ["https://canary@host", "https://***@host"],
    ["https://user:can@ry@host/x@y", "https://***@host/x@y"],
    ["HTTPS://u:canary@host", "HTTPS://***@host"],
    ["ssh://git@host:22/r", "ssh://git@host:22/r"],
    ["git+https://u:canary@h", "git+https://***@h"],
    ["(http://u:canary@a) 'http://u:canary@b'", "(http://***@a) 'http://***@b'"],
    ['{"url":"http://u:canary@a","at":"x@y"}', '{"url":"http://***@a","at":"x@y"}'],
    ["https://host/path@2", "https://host/path@2"],
    ["https://host?to=a@b", "https://host?to=a@b"],
    ["mail a@b, see https://host", "mail a@b, see https://host"],
  ];
  for (const [text, expected] of urls) {
    it(`redact() makes ${expected} of ${text} without knowing a secret`, () => {
      assert.equal(redact(text), expected);
    });
  }

  const queries: [string, string][] = [
    ["/x?token=canary", "/x?token=***"],
    ["/x?a=1&access_token=canary&b=2", "/x?a=1&access_token=***&b=2"],
    ["/x?PASSWORD=canary api_key=1", "/x?PASSWORD=*** api_key=1"],
    ["'/x?secret=canary'", "'/x?secret=***'"],
    ["/x?private_token=canary&apikey=canary", "/x?private_token=***&apikey=***"],
    ["/x?tokens=1&mytoken=2", "/x?tokens=1&mytoken=2"],
    ["token=plain words", "token=plain words"],
  ];
  for (const [text, expected] of queries) {
    it(`redact() makes ${expected} of ${text}`, () => {
      assert.equal(redact(text), expected);
    });
  }
});

describe("createRedactor, where somebody cut a text off", () => {
  const secret = "aB3$k9xYz-4711-qwertz";
  const cuts: [string, string][] = [
    ["an ellipsis", `found "aB3$k9xY…"`],
    ["the end", "found aB3$k9xY"],
    ["something else, when much of it is left", "found aB3$k9xYz-471) and"],
  ];
  for (const [what, text] of cuts) {
    it(`redact() hides the beginning of a secret before ${what}`, () => {
      const shown = redact(text, secret);
      assert.ok(shown.startsWith("found") && shown.includes("***"), shown);
      assert.doesNotMatch(shown, /aB3/);
    });
  }

  it("redact() leaves a short beginning alone, and a long one of ordinary words", () => {
    assert.equal(redact("aB3$k9xY is more", secret), "aB3$k9xY is more");
    const url = "https://hooks.example.com/x4711aBcDeFg";
    assert.equal(redact("https://hooks.example.com/y", url), "https://hooks.example.com/y");
  });

  it("redact() tells nobody whether a guess at a beginning was right", () => {
    const hex = (text: string) => Buffer.from(text).toString("hex");
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const known = "ghp_x4711aBc";
    const token = `${known}DeFg9Zz3kLmN5pQrS`;
    const tell = (guess: string) => redact(guess, token);
    for (
      const [right, wrong] of [["D", "E"], ["DeFg9", "DeFg8"], ["DeFg9Zz3kLmN5p", "E"]] as const
    ) {
      for (const end of ["", "…", " more", "x…", "x"]) {
        assert.equal(tell(`a ${known}${right}${end}`), tell(`a ${known}${wrong}${end}`));
        for (const encoded of [hex, base64]) {
          const text = encoded(`${known}${wrong}`);
          assert.equal(tell(`a ${text}${end}`), `a ${text}${end}`);
          const guess = encoded(`${known}${right}`);
          assert.equal(tell(`a ${guess}${end}`), `a ${guess}${end}`);
        }
      }
    }
    assert.equal(tell("a ghp_x47…"), "a ghp_x47…");
    assert.equal(tell(`a ${hex(token)} b`), "a *** b");
  });

  it("redact() hides user information of a URL that was cut off", () => {
    assert.equal(redact("'https://bob:pa%24s…'"), "'https://***…'");
    assert.equal(redact(`"https://bob:pa%22's…"`), `"https://***…"`);
    assert.equal(redact("'https://host:8080/x…'"), "'https://host:8080/x…'");
  });
});

describe("redactTexts()", () => {
  it("redactTexts() redacts every text, however deep, and nothing else", () => {
    const redact = (text: string) => text.replaceAll("null", "***");
    const at = new Date(0);
    const value = { a: "null", b: null, c: [{ d: "x null", at }], e: 1, f: true, g: undefined };
    assert.deepEqual(redactTexts(value, redact), {
      a: "***",
      b: null,
      c: [{ d: "x ***", at }],
      e: 1,
      f: true,
      g: undefined,
    });
  });
});

describe("createRedactor, for secrets that nobody told it", () => {
  const rows: [string, string][] = [
    ["DB_PASSWORD=hunter2xyz PATH=/usr/bin", "DB_PASSWORD=*** PATH=/usr/bin"],
    [`API_TOKEN="hunter2 xyz" x`, "API_TOKEN=*** x"],
    ["found the text DB_PASSWORD=hunt…", "found the text DB_PASSWORD=hunt…"],
    ["found the text DB_PASSWORD=hunter2…", "found the text DB_PASSWORD=***…"],
    ["PASSWORD_FILE=/run/secrets/db", "PASSWORD_FILE=/run/secrets/db"],
    ["key=service:web level=error", "key=service:web level=error"],
    ["TOKEN=short", "TOKEN=short"],
    ["Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"],
    ['"authorization": "Bearer abcdefgh.ijkl"', '"authorization": "Bearer ***"'],
    ["authorization failed: no such user", "authorization failed: no such user"],
  ];
  for (const [text, expected] of rows) {
    it(`redact() makes ${expected} of ${text}`, () => assert.equal(redact(text), expected));
  }
});
