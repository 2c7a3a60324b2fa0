import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { refusal } from "../../src/docker/api_refusal.ts";
import { detailed } from "../../src/docker/container_details.ts";
import { collectLines, PART } from "../../src/docker/logs.ts";
import { failureOf } from "../../src/deploy/compose/compose_failure.ts";
import { refusedCache } from "../../src/compose/build_cache.ts";
import { tooLargeProject } from "../../src/compose/mod.ts";
import { badImageName, lastWithin, messageOf } from "../../src/model/mod.ts";
import { GuardRefusals } from "../../src/prepare/guard_refusals.ts";
import { createSopsProgram } from "../../src/secrets/sops/sops_program.ts";
import { gitError } from "../../src/source/git/git_failure.ts";
import { requireSuccess } from "../../src/source/git/git_result.ts";
import { collectOutput } from "../../src/system/command_bounds.ts";
import { type Command, createRedactor } from "../../src/system/mod.ts";

const SECRET = "xK9#fjaw 77!pLz Qe42mm zzTop91 wert55";
const never = new AbortController().signal;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Places where what others say is cut: how many characters are kept, and what becomes of a text. */
interface Place {
  readonly name: string;
  readonly most: number;
  readonly tell: (text: string) => string | Promise<string>;
}

function printed(text: string, command: Partial<Command>): string {
  const child = { stdout: new EventEmitter(), stderr: new EventEmitter() };
  const end = collectOutput(
    child as unknown as ChildProcess,
    { argv: ["x"], env: {}, ...command },
    () => assert.fail(),
  );
  const bytes = bytesOf(text);
  for (let at = 0; at < bytes.length; at += 4096) {
    child.stdout.emit("data", bytes.subarray(at, at + 4096));
  }
  return new TextDecoder().decode(end().stdout);
}

function failed(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return messageOf(error);
  }
  return assert.fail();
}

async function logged(text: string): Promise<string> {
  async function* chunks() {
    const bytes = bytesOf(text);
    for (let at = 0; at < bytes.length; at += 1 << 16) {
      await Promise.resolve();
      yield { stream: "stdout", bytes: bytes.subarray(at, at + (1 << 16)), begins: false } as const;
    }
  }
  return (await collectLines(chunks())).join("\n");
}

const result = (stderr: string) => ({ code: 1, stdout: new Uint8Array(), stderr });

const PLACES: readonly Place[] = [
  {
    name: "the output of a health check, by the engine",
    most: 4096,
    tell: (text) =>
      detailed({ State: { Health: { Log: [{ Output: `${text.slice(0, 4096)}...` }] } } })
        .healthOutput,
  },
  {
    name: "the error of a container",
    most: 8192,
    tell: (text) => detailed({ State: { Error: text } }).error,
  },
  { name: "a line of a container's output", most: PART, tell: logged },
  { name: "the output of a job", most: 16 * 1024, tell: (text) => lastWithin(text, 16 * 1024) },
  {
    name: "a refusal of the engine",
    most: 2000,
    tell: async (text) => {
      async function* body() {
        await Promise.resolve();
        yield bytesOf(JSON.stringify({ message: text }));
      }
      const response = { status: 500, headers: {}, body: body(), discard() {} };
      return messageOf(await refusal({ method: "GET", path: "/x" }, response));
    },
  },
  {
    name: "a message of git",
    most: 600,
    tell: (stderr) => messageOf(gitError({ doing: "fetching", failure: "other", stderr })),
  },
  {
    name: "a message of git on a mirror",
    most: 300,
    tell: (stderr) =>
      failed(() => requireSuccess({ ...result(stderr), failure: "corrupt" }, "looking")),
  },
  {
    name: "a message of compose",
    most: 4000,
    tell: (stderr) =>
      messageOf(failureOf("deploy_failed", {
        result: result(stderr),
        command: { argv: ["docker", "compose", "up"], env: {} },
        project: { files: [] } as unknown as Parameters<typeof failureOf>[1]["project"],
      })),
  },
  {
    name: "a message of sops",
    most: 400,
    tell: async (stderr) => {
      const commands = { run: () => Promise.resolve(result(stderr)) };
      const parts = { commands, env: {}, ageKey: undefined };
      const program = createSopsProgram(
        parts as unknown as Parameters<typeof createSopsProgram>[0],
      );
      return await program.decrypt({ bytes: new Uint8Array(), output: "json" }, never)
        .then(() => assert.fail(), messageOf);
    },
  },
  {
    name: "a line of a program",
    most: 64 * 1024,
    tell: (text) => {
      const lines: string[] = [];
      printed(text, { onLine: (line) => void lines.push(line) });
      return lines.join("\n");
    },
  },
  {
    name: "an image that has no name",
    most: 199,
    tell: (text) => badImageName(`:${text}`) ?? assert.fail(),
  },
  {
    name: "a type of cache",
    most: 50,
    tell: (text) => refusedCache(`type=${text}`) ?? assert.fail(),
  },
  {
    name: "a path of a compose file",
    most: 200,
    tell: (text) => messageOf(new GuardRefusals("/t").unclear("/t/a.yaml", text, "is unclear")),
  },
  {
    name: "an exposed port",
    most: 100,
    tell: (text) =>
      tooLargeProject({ services: { a: { expose: [text] } } }, { isStack: false }) ?? assert.fail(),
  },
];

/** The longest part of the secret in a text; up to seven characters of its beginning are told before a cut. */
function partIn(text: string): string | undefined {
  let rest = text;
  for (let length = 7; length > 3; length--) {
    rest = rest.replaceAll(`${SECRET.slice(0, length)}…`, "…");
  }
  for (let length = SECRET.length; length > 3; length--) {
    for (let at = 0; at + length <= SECRET.length; at++) {
      const part = SECRET.slice(at, at + length);
      if (rest.includes(part)) return part;
    }
  }
  return undefined;
}

describe("a text that is cut before it is masked", () => {
  const redactor = createRedactor();
  redactor.add(SECRET, "shop");
  /** What is told in the middle of a sentence. */
  const shown = (text: string) => redactor.redact(`it said: ${text}; it is put back`, "shop");
  const fill = (length: number) => `${"www ".repeat(length).slice(0, length - 1)} `;

  for (const { name, most, tell } of PLACES) {
    it(`has no part of a secret at its end, nor in front: ${name}`, async () => {
      // Masking a megabyte takes time.
      const step = most > 100_000 ? 9 : 1;
      for (let length = 1; length <= SECRET.length; length += step) {
        const behind = `${fill(most - length)}${SECRET} ${fill(200)}`;
        assert.equal(partIn(shown(await tell(behind))), undefined, `${length} before the cut`);
        const infront = `${fill(200)}${SECRET} ${fill(most - length)}`.trimEnd();
        assert.equal(partIn(shown(await tell(infront))), undefined, `${length} behind the cut`);
      }
    });
  }

  it("has no part of a secret in front where a program prints more than is kept", () => {
    for (let length = 1; length <= SECRET.length; length++) {
      const chunks = `${"w".repeat(2 * 16 * 1024 - length)}${SECRET}`.padEnd(3 * 16 * 1024, "w");
      const text = shown(printed(`${chunks}\n${"the end\n".repeat(4000)}`, { keptBytes: 40_000 }));
      assert.equal(partIn(text), undefined, String(length));
      assert.ok(text.includes("the end"));
    }
  });

  it("tells the rest of it", async () => {
    assert.equal(lastWithin("one\ntwo\nthree", 9), "two\nthree");
    assert.equal(lastWithin("one\ntwo\nthree", 8), "three");
    assert.equal(lastWithin("one\ntwo\nthree", 3), "thr…");
    assert.equal(lastWithin("one", 3), "one");
    const [first, second] = (await logged(`${"x".repeat(PART)}end\nmore`)).split("\n");
    assert.deepEqual([first, second], [`${"x".repeat(PART)}…`, "more"]);
  });

  it("is told as a whole where it is shorter, by every place", async () => {
    for (const { name, most, tell } of PLACES) {
      if (name.includes("by the engine")) continue;
      const text = `${fill(most - 20)}the end`;
      assert.ok((await tell(text)).includes("the end"), name);
    }
  });
});
