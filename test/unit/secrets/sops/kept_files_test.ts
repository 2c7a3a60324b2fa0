import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSops, type SealedFile } from "../../../../src/secrets/mod.ts";
import { createRedactor, createTurns, systemClock } from "../../../../src/system/mod.ts";
import { createAgeKeys, encryptJson, encryptYaml } from "../../../fakes/sops_encryptor.ts";

const never = new AbortController().signal;
const keys = await createAgeKeys();
const recipients = [keys.recipient];
const NAMES = [
  "config/app.yaml",
  "app.yml",
  "app.json",
  "app",
  "app.txt",
  "x/.stackwright.yaml",
  "x/.stackwright.zz.yaml",
  ".stackwright.zz.yml",
  ".stackwright.env",
  ".doco-cd.yaml",
  ".doco-cd.zz.yaml",
  "x/.stackwright.yaml/app.yaml",
];
function sopsAndRedactor() {
  const redactor = createRedactor();
  const program = { vaultAddress: undefined, decrypt: () => Promise.resolve(undefined) };
  const turns = createTurns(systemClock);
  return { redactor, sops: createSops({ ageKey: keys.identity, program, redactor, turns }) };
}

const texts = {
  "YAML": await encryptYaml(
    { source: { host: "db", password: "zk93Qx77plmWrn" }, target: { token: "q8Wk2nnPz0aa7" } },
    { recipients },
  ),
  "YAML that only its name shows": (await encryptYaml(
    { name: { password: "zk93Qx77plmWrn" } },
    { recipients },
  )).replace(/^sops:/m, '"sops":'),
  "JSON like that of a binary file": await encryptJson(
    { data: "FIRST=zk93Qx77plmWrn\nname: q8Wk2nnPz0aa7" },
    { recipients },
  ),
};

describe("what decrypt() keeps", () => {
  for (const [what, text] of Object.entries(texts)) {
    const file = (name: string, owner: string): SealedFile => ({
      name,
      bytes: new TextEncoder().encode(text),
      owner,
    });
    it(`does not depend on the name that another repository gave the same ${what}`, async () => {
      for (const order of [NAMES, NAMES.toReversed()]) {
        const { sops, redactor } = sopsAndRedactor();
        for (const name of order) {
          const fresh = await sopsAndRedactor().sops.decrypt(file(name, "source h/b/b"), never);
          await sops.decrypt(file(name, "source h/a/a"), never);
          const found = await sops.decrypt(file(name, "source h/b/b"), never);
          assert.deepEqual(found, fresh, name);
          for (const each of found?.secrets ?? []) {
            assert.ok(!redactor.redact(`it has ${each}`, "source h/b/b").includes(each));
          }
        }
      }
    });
  }
});
