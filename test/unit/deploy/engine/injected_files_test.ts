import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { injectedFiles } from "../../../../src/deploy/mod.ts";
import { isStackwrightError } from "../../../../src/model/mod.ts";

const model = {
  services: {
    web: {
      configs: [{ source: "c", target: "/etc/c", uid: "3", gid: "4", mode: "0640" }, {
        source: "f",
      }],
      secrets: [{ source: "s", mode: 0o400 }, { source: "s", target: "other" }],
    },
  },
  configs: { c: { content: "text" }, f: { file: "/on/the/host" } },
  secrets: { s: { environment: "TOKEN" } },
};

describe("the values of a service's configs and secrets", () => {
  it("are files at their places, in either spelling of a mode", () => {
    const secret = { content: "t$$1", uid: 0, gid: 0 };
    assert.deepEqual(injectedFiles(model, "web", { TOKEN: "t$$1" }), [
      { ...secret, path: "/run/secrets/s", mode: 0o400 },
      { ...secret, path: "/run/secrets/other", mode: 0o444 },
      { path: "/etc/c", content: "text", mode: 0o640, uid: 3, gid: 4 },
    ]);
  });

  it("are refused where a variable is not set", () => {
    assert.throws(
      () => injectedFiles(model, "web", {}),
      (error) => isStackwrightError(error, "deploy_failed") && /TOKEN/.test(error.message),
    );
  });
});
