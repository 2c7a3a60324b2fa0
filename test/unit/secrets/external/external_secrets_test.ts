import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SecretReference, StackwrightError } from "../../../../src/model/mod.ts";
import { createExternalSecrets, type SecretProvider } from "../../../../src/secrets/mod.ts";
import { createRedactor, EVERYONE } from "../../../../src/system/mod.ts";

const SIGNAL = new AbortController().signal;
const text = (value: string): SecretReference => ({ kind: "text", text: value });

describe("SecretSession.resolve()", () => {
  it("asks for each distinct reference once in a run, and again in the next", async () => {
    const { secrets, asked } = make((reference) => `value of ${reference}`);
    const session = secrets.open();
    const references = { A: text("x"), B: text("x"), C: text("y") };
    const first = await session.resolve(
      { deployment: "one", repository: "shop/r", references },
      SIGNAL,
    );
    assert.deepEqual(first, { A: "value of x", B: "value of x", C: "value of y" });
    await session.resolve(
      { deployment: "two", repository: "shop/r", references: { D: text("y") } },
      SIGNAL,
    );
    assert.deepEqual(asked, ["x", "y"]);
    await secrets.open().resolve({
      deployment: "one",
      repository: "shop/r",
      references: { A: text("x") },
    }, SIGNAL);
    assert.deepEqual(asked, ["x", "y", "x"]);
  });

  it("tells references to stores apart by store and fields, in any order of these", async () => {
    const { secrets, asked } = make(() => "v");
    const store = (storeRef: string, remoteRef: Record<string, string>): SecretReference => ({
      kind: "store",
      storeRef,
      remoteRef,
    });
    await secrets.open().resolve({
      deployment: "one",
      repository: "shop/r",
      references: {
        A: store("s", { a: "1", b: "2" }),
        B: store("s", { b: "2", a: "1" }),
        C: store("s", { a: "1" }),
        D: store("t", { a: "1" }),
      },
    }, SIGNAL);
    assert.equal(asked.length, 3);
  });

  it("resolves a bounded number at the same time", async () => {
    let now = 0;
    let most = 0;
    const { secrets } = make(async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      now--;
      return "value";
    }, 3);
    const references = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`V${index}`, text(`r${index}`)]),
    );
    const found = await secrets.open().resolve({
      deployment: "one",
      repository: "shop/r",
      references,
    }, SIGNAL);
    assert.equal(Object.keys(found).length, 20);
    assert.equal(most, 3);
  });

  it("hides words of a store in texts about the stacks that have them alone", async () => {
    const redactor = createRedactor();
    const read = (reference: SecretReference) =>
      Promise.resolve(reference.kind === "text" ? reference.text : "");
    const provider = { name: "test", open: () => ({ read }) };
    const secrets = createExternalSecrets({ provider, redactor });
    const references = { A: text("complete"), B: text("xq81Zr0pKw77") };
    await secrets.open().resolve({ deployment: "one", repository: "shop/r", references }, SIGNAL);
    secrets.hide(["complete", "xq81Zr0pKw77"], "stack default/one");
    const said = "complete xq81Zr0pKw77";
    assert.equal(redactor.redact(said, "stack default/one"), "*** ***");
    assert.equal(redactor.redact(said, "stack default/two"), "complete ***");
    assert.equal(redactor.redact(said, EVERYONE), "*** ***");
  });

  it("names every variable without a value, its reason and the provider, and no value", async () => {
    const { secrets } = make((reference) => {
      if (reference === "good") return "canary-good";
      if (reference === "zero") return "canary\0zero";
      if (reference === "alien") throw new Error("canary-alien");
      throw new StackwrightError("secret_unresolved", "there is no such secret");
    });
    const references = {
      B: text("gone"),
      A: text("lost"),
      G: text("good"),
      Z: text("zero"),
      X: text("alien"),
      "N=1": text("good"),
    };
    await assert.rejects(
      secrets.open().resolve({ deployment: "shop", repository: "shop/r", references }, SIGNAL),
      {
        code: "secret_unresolved",
        message: "deployment shop: external secrets could not be read from test: " +
          "A, B: there is no such secret; N=1: is no name of a variable; " +
          "X: reading it failed unexpectedly; Z: the value has a zero byte",
      },
    );
  });

  it("asks for what one repository wants while another one of the run waits for all it may ask for", async () => {
    const gate = Promise.withResolvers<string>();
    const { secrets } = make((reference) => reference.startsWith("slow") ? gate.promise : "v", 2);
    const session = secrets.open();
    const slow = { A: text("slow-a"), B: text("slow-b"), C: text("slow-c") };
    const declared = { deployment: "slow", repository: "shop/slow", references: slow };
    const waiting = session.resolve(declared, SIGNAL);
    const other = { deployment: "other", repository: "shop/r", references: { A: text("x") } };
    assert.deepEqual(await session.resolve(other, SIGNAL), { A: "v" });
    gate.resolve("canary");
    await waiting;
  });

  it("asks for nothing more of a repository of which fifty could not be read, until the next run", async () => {
    const { secrets, asked } = make((reference) => {
      if (reference === "good") return "v";
      throw new StackwrightError("secret_unresolved", "there is no such secret");
    });
    const session = secrets.open();
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`V${at}`, text(`gone ${at}`)]),
    );
    const bad = (deployment: string, references = many) => ({
      ...{ deployment, repository: "shop/bad", references },
    });
    await assert.rejects(session.resolve(bad("one"), SIGNAL), {
      message: /there is no such secret; .*: 50 others of its repository could not be read in this/,
    });
    assert.ok(asked.length < 60, `${asked.length}`);
    const good = bad("two", { A: text("good") });
    await assert.rejects(session.resolve(good, SIGNAL), { message: /so it was not asked for$/ });
    // Neither another repository nor another run is kept from it.
    assert.deepEqual(await session.resolve({ ...good, repository: "shop/r" }, SIGNAL), { A: "v" });
    assert.deepEqual(await secrets.open().resolve(good, SIGNAL), { A: "v" });
  });

  it("asks for what one run wants while another one waits for all that it may ask for at once", async () => {
    const gate = Promise.withResolvers<string>();
    const { secrets } = make((reference) => reference.startsWith("slow") ? gate.promise : "v", 2);
    const slow = { A: text("slow-a"), B: text("slow-b"), C: text("slow-c") };
    const waiting = secrets.open().resolve({
      deployment: "slow",
      repository: "shop/r",
      references: slow,
    }, SIGNAL);
    const other = { deployment: "other", repository: "shop/r", references: { A: text("x") } };
    assert.deepEqual(await secrets.open().resolve(other, SIGNAL), { A: "v" });
    gate.resolve("canary");
    assert.equal(Object.keys(await waiting).length, 3);
  });

  it("asks for nothing where a deployment has more references than it may", async () => {
    const { secrets, asked } = make(() => "v");
    const references = Object.fromEntries(
      Array.from({ length: 1001 }, (_, index) => [`A${index}`, text(`x${index}`)]),
    );
    await assert.rejects(
      secrets.open().resolve({ deployment: "one", repository: "shop/r", references }, SIGNAL),
      {
        message:
          "deployment one has 1001 external secrets, the most it may have is 1000; nothing " +
          "was asked for",
      },
    );
    assert.deepEqual(asked, []);
  });

  it("refuses more texts of its values than are hidden", async () => {
    const texts = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => `xQ7kLm${from + at}Zr`).join("\n");
    for (
      const values of [
        [texts(0, 5000)],
        [texts(0, 1000), texts(1000, 6000)],
        Array.from({ length: 3 }, () => "a".repeat(1 << 20)),
      ]
    ) {
      const { secrets } = make((reference) => values[Number(reference)] ?? "");
      const references = Object.fromEntries(values.map((_, at) => [`V${at}`, text(String(at))]));
      await assert.rejects(
        secrets.open().resolve({ deployment: "one", repository: "shop/r", references }, SIGNAL),
        /5000 texts, or 2097152 characters, that must not be shown/,
      );
    }
  });

  it("hides a value once, however many variables have it", () => {
    let added = 0;
    const redactor = { ...createRedactor(), add: () => void added++ };
    const secrets = createExternalSecrets({ provider: undefined, redactor });
    secrets.hide(Array.from({ length: 1000 }, () => "xq81Zr0pKw77"), "stack default/one");
    assert.equal(added, 1);
  });

  it("makes every value unprintable, and those of earlier releases on request", async () => {
    const { secrets, redactor } = make(() => "c4n4ry9-value");
    await secrets.open().resolve({
      deployment: "one",
      repository: "shop/r",
      references: { A: text("x") },
    }, SIGNAL);
    secrets.hide(["canary-older"]);
    assert.equal(redactor.redact("c4n4ry9-value canary-older"), "*** ***");
  });

  it("needs no provider where nothing is referred to, and fails without one otherwise", async () => {
    const redactor = createRedactor();
    const session = createExternalSecrets({ provider: undefined, redactor }).open();
    assert.deepEqual(
      await session.resolve({ deployment: "one", repository: "shop/r", references: {} }, SIGNAL),
      {},
    );
    await assert.rejects(
      session.resolve(
        { deployment: "one", repository: "shop/r", references: { A: text("x") } },
        SIGNAL,
      ),
      {
        message: "deployment one: external secrets could not be read: " +
          "A: there is no secret provider; set SECRET_PROVIDER",
      },
    );
  });

  it("ends with the reason of its signal", async () => {
    const { secrets } = make(() => "v");
    const reason = new Error("the end");
    const resolving = secrets.open().resolve(
      { deployment: "one", repository: "shop/r", references: { A: text("x") } },
      AbortSignal.abort(reason),
    );
    await assert.rejects(resolving, { message: "the end" });
  });
});

function make(read: (reference: string) => string | Promise<string>, concurrency = 8) {
  const asked: string[] = [];
  const redactor = createRedactor();
  const provider: SecretProvider = {
    name: "test",
    open: () => ({
      async read(reference) {
        const name = reference.kind === "text" ? reference.text : JSON.stringify(reference);
        asked.push(name);
        return await read(name);
      },
    }),
  };
  return { asked, redactor, secrets: createExternalSecrets({ provider, redactor, concurrency }) };
}
