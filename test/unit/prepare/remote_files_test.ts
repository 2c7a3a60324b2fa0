import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TreeUse } from "../../../src/compose/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { requireFilesArrive } from "../../../src/prepare/remote_files.ts";

const use = (kind: TreeUse["kind"], item: string, path: string): TreeUse => ({
  service: "web",
  kind,
  item,
  path,
  writable: false,
  required: false,
});
const SHOP = { name: "shop", context: "nas" };

describe("requireFilesArrive()", () => {
  const refused = [
    ["a mount", false, [use("bind", "/site", "site")], /\/site of service web is site of the/],
    ["a mount of a stack", true, [use("bind", "/site", "site")], /\/site of service web is site/],
    [
      "a config",
      false,
      [use("config", "app", "a.conf")],
      /the config app of service web is a\.conf/,
    ],
    ["a secret", false, [use("secret", "key", "k")], /the secret key of service web is k of/],
    [
      "all of them",
      false,
      [use("secret", "key", "k"), use("build", "", "."), use("bind", "/site", "site")],
      /\/site of service web .*; the secret key of service web/,
    ],
  ] as const;
  for (const [what, isStack, uses, message] of refused) {
    it(`refuses ${what}, and says what works`, () => {
      assert.throws(() => requireFilesArrive(SHOP, uses, { isStack }), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.match(
          error.message,
          /^deployment shop: the engine of the context nas is on another/,
        );
        assert.match(error.message, message);
        assert.match(error.message, /content or environment, .*Nothing was changed$/);
        return true;
      });
    });
  }

  it("lets through what is sent to the engine", () => {
    requireFilesArrive(SHOP, [use("build", "", ".")], { isStack: false });
    const sent = [use("config", "app", "a.conf"), use("secret", "key", "k"), use("build", "", ".")];
    requireFilesArrive(SHOP, sent, { isStack: true });
  });
});
