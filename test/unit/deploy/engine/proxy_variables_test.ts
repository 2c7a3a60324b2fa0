import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { proxyVariables } from "../../../../src/deploy/mod.ts";

const HOST = "unix:///var/run/docker.sock";

describe("the proxies of the docker client's configuration", () => {
  it("become variables in both spellings, those of the engine before those of all", () => {
    const proxies = { default: { httpProxy: "http://p", noProxy: "" }, [HOST]: { allProxy: "a" } };
    const text = JSON.stringify({ proxies });
    assert.deepEqual(proxyVariables(text, "tcp://other"), {
      HTTP_PROXY: "http://p",
      http_proxy: "http://p",
    });
    assert.deepEqual(proxyVariables(text, HOST), { ALL_PROXY: "a", all_proxy: "a" });
  });

  it("are none where the file says nothing that can be read", () => {
    for (const text of ["", "{", "[]", "{}", `{"proxies":1}`]) {
      assert.deepEqual(proxyVariables(text, HOST), {});
    }
  });
});
