import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeEndpoint, parseEndpoint } from "../../../src/docker/endpoint.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

describe("parseEndpoint()", () => {
  const tls = { DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" };
  const cases = [
    ["", {}, "unix:///var/run/docker.sock"],
    ["  ", {}, "unix:///var/run/docker.sock"],
    ["unix:///run/user/1000/docker.sock", {}, "unix:///run/user/1000/docker.sock"],
    ["unix:///run/docker.sock", tls, "unix:///run/docker.sock"],
    ["tcp://proxy", {}, "tcp://proxy:2375"],
    ["tcp://proxy:80", {}, "tcp://proxy:80"],
    ["tcp://proxy:1234/", {}, "tcp://proxy:1234"],
    ["tcp://[::1]:2375", {}, "tcp://[::1]:2375"],
    ["http://proxy:2375", {}, "tcp://proxy:2375"],
    ["http://proxy", {}, "tcp://proxy:80"],
    ["http://proxy:2375", tls, "tcp://proxy:2375"],
    ["tcp://engine", tls, "tcp://engine:2376 (TLS)"],
    ["tcp://engine:9", { DOCKER_CERT_PATH: "/certs" }, "tcp://engine:9 (TLS)"],
    ["https://engine:2376", {}, "tcp://engine:2376 (TLS)"],
    ["https://engine", {}, "tcp://engine:443 (TLS)"],
    ["ssh://engine", tls, "ssh://engine"],
    ["ssh://me@engine:80", {}, "ssh://me@engine:80"],
    ["ssh://me@[::1]:22/run/x.sock", {}, "ssh://me@[::1]:22/run/x.sock"],
  ] as const;
  for (const [host, env, expected] of cases) {
    it(`reads ${JSON.stringify(host)} with ${Object.keys(env).join(", ") || "no TLS"}`, () => {
      assert.equal(describeEndpoint(parseEndpoint(host, env)), expected);
    });
  }

  const certificates = [
    [{ DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs", HOME: "/h" }, "/certs"],
    [{ DOCKER_TLS_VERIFY: "1", HOME: "/h" }, "/h/.docker"],
    [{ DOCKER_TLS_VERIFY: "1", DOCKER_CONFIG: "/c", HOME: "/h" }, "/c"],
    [{ DOCKER_TLS_VERIFY: "1" }, undefined],
  ] as const;
  for (const [env, expected] of certificates) {
    it(`looks for certificates in ${expected} with ${Object.keys(env).join(", ")}`, () => {
      const endpoint = parseEndpoint("tcp://engine", env);
      assert.equal(endpoint.kind === "tcp" && endpoint.tls?.certificates, expected);
    });
  }

  const refused = [
    ["ssh://user:hunter2@host", /a password; use a key/],
    ["ssh://host?a=b", /more than a path/],
    ["npipe:////./pipe/docker_engine", /npipe:\/\/ is not supported/],
    ["/var/run/docker.sock", /no scheme/],
    ["unix://run/docker.sock", /not absolute/],
    ["tcp://host:2375/path", /path after the port/],
    ["tcp://:2375", /no address/],
    ["tcp://host:notaport", /no address/],
    ["tcp://user:hunter2@host:2375", /user information/],
  ] as const;
  for (const [host, message] of refused) {
    it(`throws settings_invalid for ${host}`, () => {
      assert.throws(
        () => parseEndpoint(host),
        (error) =>
          isStackwrightError(error, "settings_invalid") && message.test(error.message) &&
          !error.message.includes("hunter2"),
      );
    });
  }
});
