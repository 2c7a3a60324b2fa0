import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { settingFiles } from "../../../src/app.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { createRedactor, systemCommands } from "../../../src/system/mod.ts";
import { createAgeKeys, encryptBinary, encryptYaml } from "../../fakes/sops_encryptor.ts";

const keys = await createAgeKeys();
const otherKeys = await createAgeKeys();
const recipients = [keys.recipient];
const never = new AbortController().signal;
const missing = { code: 127, stdout: new Uint8Array(), stderr: "" };
const commands = { ...systemCommands, run: () => Promise.resolve(missing) };

/** Reads the settings of an environment whose files are in memory. */
async function settingsOf(env: Record<string, string>, files: Record<string, string>) {
  const readFile = (path: string) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  };
  const parts = { env, readFile, commands, redactor: createRedactor() };
  return readSettings({ HOME: "/root", ...env }, await settingFiles(parts, never), { uid: 0 });
}

describe("settingFiles()", () => {
  it("settingFiles() decrypts encrypted files and leaves the others", async () => {
    const settings = await settingsOf({
      SOPS_AGE_KEY_FILE: "/key",
      API_SECRET_FILE: "/api.enc",
      WEBHOOK_SECRET_FILE: "/plain",
    }, {
      "/key": `# mine\n${keys.identity}\n`,
      "/api.enc": await encryptBinary("canary-4711\n", { recipients }),
      "/plain": "as it is\n",
    });
    assert.equal(settings.apiSecret, "canary-4711");
    assert.equal(settings.webhookSecret, "as it is");
  });

  it("settingFiles() decrypts YAML settings as well, with the key from the environment", async () => {
    const settings = await settingsOf({
      SOPS_AGE_KEY: keys.identity,
      SOURCE_URL_REWRITES_FILE: "/rewrites.yaml",
    }, {
      "/rewrites.yaml": await encryptYaml({ "github.com": "https://git.example.com" }, {
        recipients,
      }),
    });
    assert.deepEqual(Object.values(settings.git.urlRewrites), ["https://git.example.com"]);
  });

  const failures: readonly [string, string, RegExp][] = [
    ["no key", "", /API_SECRET_FILE: reading \/api\.enc failed: \/api\.enc is encrypted with SOPS/],
    ["another key", otherKeys.identity, /API_SECRET_FILE: reading \/api\.enc failed/],
  ];
  for (const [what, key, wanted] of failures) {
    it(`settingFiles() makes a file that cannot be decrypted a problem of its setting: ${what}`, async () => {
      const env = { API_SECRET_FILE: "/api.enc", ...(key === "" ? {} : { SOPS_AGE_KEY: key }) };
      const files = { "/api.enc": await encryptBinary("canary-4711", { recipients }) };
      await assert.rejects(settingsOf(env, files), (error: Error) => {
        assert.match(error.message, wanted);
        assert.ok(!error.message.includes("canary"));
        return true;
      });
    });
  }

  it("settingFiles() leaves files that cannot be read to the reader of settings", async () => {
    await assert.rejects(
      settingsOf({ API_SECRET_FILE: "/none" }, {}),
      /API_SECRET_FILE: reading \/none/,
    );
  });
});
