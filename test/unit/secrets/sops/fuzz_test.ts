import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStackwrightError } from "../../../../src/model/mod.ts";
import { createSops } from "../../../../src/secrets/mod.ts";
import { createRedactor, createTurns, systemClock } from "../../../../src/system/mod.ts";
import {
  createAgeKeys,
  encryptBinary,
  encryptDotenv,
  encryptJson,
  encryptYaml,
} from "../../../fakes/sops_encryptor.ts";
import { SECRET_INI, SOPS_AGE_KEY } from "./real_files.ts";

const keys = await createAgeKeys();
const recipients = [keys.recipient];
const CANARY = "canary-deep-inside";
const tree = { a: CANARY, b: { c: ["x", 1, true], d_unencrypted: "open" } };

/** Numbers that are the same in every run. */
function numbers(seed: number): () => number {
  return () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
}

const PIECES = [
  "",
  "\n",
  ":",
  "ENC[AES256_GCM,",
  "]",
  "sops:",
  "- ",
  '"',
  "{",
  "}",
  "__list_0",
  "\0",
  "\\",
  "💥",
];

/** Cuts, repeats, swaps or puts something in. */
function mutated(text: string, random: () => number): string {
  const at = () => Math.floor(random() * text.length);
  const [start, end] = [at(), at()].sort((x, y) => x - y) as [number, number];
  const piece = PIECES[Math.floor(random() * PIECES.length)] ?? "";
  switch (Math.floor(random() * 5)) {
    case 0:
      return text.slice(0, start);
    case 1:
      return text.slice(0, start) + text.slice(Math.min(end, start + 40));
    case 2:
      return text.slice(0, start) + piece + text.slice(start);
    case 3:
      return text.slice(0, start) + text.slice(start, start + 60) + text.slice(start);
    default:
      return text.slice(0, start) + String.fromCharCode(33 + Math.floor(random() * 90)) +
        text.slice(start + 1);
  }
}

describe("decrypt() of damaged files", () => {
  const files: readonly [string, Promise<string>][] = [
    ["x.yaml", encryptYaml(tree, { recipients })],
    ["x.json", encryptJson(tree, { recipients })],
    ["x.env", encryptDotenv(`A=${CANARY}\nB=c\n`, { recipients })],
    ["x", encryptBinary(CANARY, { recipients })],
    ["x.ini", Promise.resolve(SECRET_INI)],
  ];
  for (const [name, encrypted] of files) {
    it(`decrypt() of ${name} refuses or is right, and never shows a value`, async () => {
      const text = await encrypted;
      const ageKey = `${keys.identity}\n${SOPS_AGE_KEY}`;
      const random = numbers(name.length);
      const program = { vaultAddress: undefined, decrypt: () => Promise.resolve(undefined) };
      const sops = createSops({
        ageKey,
        program,
        redactor: createRedactor(),
        turns: createTurns(systemClock),
      });
      const whole = await decrypted(text);
      let refused = 0;
      for (let count = 0; count < 400; count++) {
        let damaged = text;
        for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
          damaged = mutated(damaged, random);
        }
        const found = await decrypted(damaged);
        if (found === "refused") refused++;
        // What comes out has the values that went in, or was not taken for an encrypted file.
        else if (found.includes(CANARY)) assert.ok(whole.includes(CANARY));
      }
      assert.ok(refused > 100, `${refused} refused`);

      async function decrypted(file: string): Promise<string> {
        try {
          const bytes = new TextEncoder().encode(file);
          const plain = await sops.decrypt({ name, bytes }, new AbortController().signal);
          return new TextDecoder().decode(plain?.bytes ?? bytes);
        } catch (error) {
          assert.ok(isStackwrightError(error, "config_invalid", "unsupported"), String(error));
          assert.ok(!error.message.includes(CANARY), error.message);
          return "refused";
        }
      }
    });
  }
});
