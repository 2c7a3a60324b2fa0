import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRouter } from "../../../src/serve/router.ts";

const routes = [
  ["GET", "/v1/health"],
  ["HEAD", "/v1/health"],
  ["GET", "/v1/api/project/{name}"],
  ["DELETE", "/v1/api/project/{name}"],
  ["POST", "/v1/api/project/{name}/start"],
  ["GET", "/v1/api/project/all"],
  ["POST", "/v1/api/poll/run"],
] as const;
const router = createRouter(
  routes.map(([method, path]) => ({ method, path, value: `${method} ${path}` })),
);

describe("Router.match()", () => {
  const found: [string, string, string, Record<string, string>][] = [
    ["GET", "/v1/health", "GET /v1/health", {}],
    ["HEAD", "/v1/health", "HEAD /v1/health", {}],
    ["GET", "/v1/api/project/web", "GET /v1/api/project/{name}", { name: "web" }],
    ["GET", "/v1/api/project/a%2Fb%20c", "GET /v1/api/project/{name}", { name: "a/b c" }],
    ["GET", "/v1/api/project/all", "GET /v1/api/project/all", {}],
    ["POST", "/v1/api/project/all/start", "POST /v1/api/project/{name}/start", { name: "all" }],
    ["GET", "/v1/api/project/__proto__", "GET /v1/api/project/{name}", { name: "__proto__" }],
  ];
  for (const [method, path, value, params] of found) {
    it(`finds ${value} for ${method} ${path}`, () => {
      assert.deepEqual(router.match(method, path), { kind: "found", value, params });
    });
  }

  const wrong: [string, string, string[]][] = [
    ["POST", "/v1/health", ["GET", "HEAD"]],
    ["PUT", "/v1/api/project/web", ["DELETE", "GET"]],
    ["get", "/v1/api/project/web", ["DELETE", "GET"]],
    ["constructor", "/v1/api/poll/run", ["POST"]],
  ];
  for (const [method, path, allow] of wrong) {
    it(`knows the methods of ${path} when asked for ${method}`, () => {
      assert.deepEqual(router.match(method, path), { kind: "wrong_method", allow });
    });
  }

  for (
    const path of [
      "",
      "/",
      "v1/health",
      "/v1",
      "/v1/health/",
      "//v1/health",
      "/V1/health",
      "/v1/api/project/",
      "/v1/api/project//start",
      "/v1/api/project/web/stop",
      "/v1/api/project/%zz",
      "/v1/health/..",
    ]
  ) {
    it(`finds nothing at ${JSON.stringify(path)}`, () => {
      assert.deepEqual(router.match("GET", path), { kind: "not_found" });
    });
  }
});

describe("createRouter()", () => {
  const entry = (path: string) => ({ method: "GET", path, value: 1 });
  it("refuses the same route twice", () => {
    assert.throws(() => createRouter([entry("/a/{x}"), entry("/a/{x}")]), /BUG: two routes/);
  });
  it("refuses two names for one segment", () => {
    assert.throws(() => createRouter([entry("/a/{x}"), entry("/a/{y}/b")]), /BUG: two names/);
  });
});
