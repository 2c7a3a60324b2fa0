import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { invocationOf } from "../../../src/prepare/invocation.ts";
import { PlainSecrets } from "../../../src/prepare/plain_secrets.ts";
import type { ResolvedTarget } from "../../../src/prepare/resolve_secrets.ts";
import { createExternalSecrets } from "../../../src/secrets/mod.ts";
import {
  createRedactor,
  createTurns,
  type FileInfo,
  stackAsOwner,
  systemClock,
  systemFiles,
} from "../../../src/system/mod.ts";

const KEY = { context: "default", name: "web" };
const TARGET = {
  key: KEY,
  deployment: { workingDir: ".", profiles: [], environment: {} },
  secrets: {},
} as unknown as ResolvedTarget;

/** Invokes with a dotenv file of the tree that has a text, and says it has `size` bytes. */
function invoke(text: string, size: number) {
  const read: string[] = [];
  const info = { kind: "file", size, id: "1" } as FileInfo;
  const files = {
    ...systemFiles,
    realPath: (path: string) => Promise.resolve(path),
    stat: () => Promise.resolve(info),
    readIfExists: (path: string) => {
      read.push(path);
      return Promise.resolve(new TextEncoder().encode(text));
    },
  };
  const secrets = createExternalSecrets({ provider: undefined, redactor: createRedactor() });
  const turns = createTurns(systemClock);
  const plain = new PlainSecrets({ files, secrets, turns }, stackAsOwner(KEY));
  const inputs = { envFiles: ["a.env"], composeFiles: ["compose.yaml"] };
  const made = { inputs, tree: "/tree", beside: undefined, plain } as unknown;
  const parts = { options: { passedVariables: { A: "passed", B: "passed" } } } as unknown;
  type Call = Parameters<typeof invocationOf>;
  const call = invocationOf(parts as Call[0], TARGET, made as Call[2], AbortSignal.timeout(5000));
  return { read, call };
}

describe("invocationOf()", () => {
  it("leaves variables of PASS_ENV to the dotenv files that set them", async () => {
    const { call } = invoke("A=file\n", 7);
    assert.deepEqual((await call).invocation.environment, { B: "passed" });
  });

  it("reads no dotenv file that is larger than any may be", async () => {
    const { call, read } = invoke("A=file\n", 300 * 1024 * 1024);
    await assert.rejects(call, {
      code: "config_invalid",
      message: /a\.env has 314572800 bytes, at most 262144 are read/,
    });
    assert.deepEqual(read, []);
  });
});
