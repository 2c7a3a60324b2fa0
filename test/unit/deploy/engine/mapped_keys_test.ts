import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { notMapped, notMappedResource } from "../../../../src/deploy/mod.ts";

const networks = { default: null };

function reason(service: Record<string, unknown>, model: Record<string, unknown> = {}) {
  const web = { image: "app:1", networks, ...service };
  return notMapped({ name: "shop", services: { web }, ...model }, "web");
}

describe("a service is left to compose", () => {
  const rows: readonly (readonly [string, Record<string, unknown>])[] = [
    ["services.web.gpus", { gpus: [{ count: -1 }] }],
    ["services.web.never_heard_of", { never_heard_of: 1 }],
    ["services.web.post_start", { post_start: [{ command: ["x"] }] }],
    ["services.web.healthcheck.new", { healthcheck: { test: ["CMD"], new: 1 } }],
    ["services.web.ports.0.new", { ports: [{ target: 1, new: "x" }] }],
    ["services.web.volumes.0.image", {
      volumes: [{ type: "bind", source: "/a", target: "/a", image: { subpath: "x" } }],
    }],
    ["services.web.volumes.0.type", { volumes: [{ type: "npipe", source: "a", target: "b" }] }],
    ["services.web.deploy.resources.reservations.devices", {
      deploy: { resources: { reservations: { devices: [{ count: 1 }] } } },
    }],
    ["services.web.networks", { networks: {} }],
    ["services.web.devices", { devices: ["vendor.com/class=name"] }],
    ["services.web.security_opt", { security_opt: ["seccomp=./profile.json"] }],
  ];
  for (const [path, service] of rows) {
    it(`for ${path}`, () => assert.equal(reason(service), path));
  }

  it("for a config or secret that is neither file nor value, or cannot be put into it", () => {
    const service = { configs: [{ source: "c" }], secrets: [{ source: "s" }] };
    const value = { configs: { c: { content: "" } }, secrets: { s: { environment: "S" } } };
    assert.equal(reason(service, value), undefined);
    assert.equal(
      reason({ ...service, read_only: true }, value),
      "services.web.the file /run/secrets/s",
    );
    assert.equal(
      reason(service, { ...value, configs: { c: { name: "c", external: true } } }),
      "services.web.the file /c",
    );
    const long = { configs: [{ source: "c", target: `/${"x".repeat(101)}` }] };
    assert.match(reason(long, value) ?? "", /the file/);
  });

  it("not for what says nothing", () => {
    assert.equal(reason({ gpus: [], models: {}, use_api_socket: false, new: null }), undefined);
  });

  it("not for what is known", () => {
    const service = {
      command: null,
      entrypoint: null,
      depends_on: { db: { condition: "service_started", required: true } },
      networks: { default: { aliases: ["x"], gw_priority: 1 } },
      security_opt: ["no-new-privileges:true"],
    };
    assert.equal(reason(service), undefined);
  });
});

describe("networks and volumes are left to compose", () => {
  it("for a key that is not known", () => {
    assert.equal(notMappedResource({ networks: { a: { name: "a", new: 1 } } }), "networks.a.new");
    assert.equal(notMappedResource({ volumes: { v: { name: "v", new: 1 } } }), "volumes.v.new");
    assert.equal(notMappedResource({ networks: { a: null }, volumes: { v: {} } }), undefined);
    const config = [{ subnet: "10.0.0.0/24", aux_addresses: { x: "10.0.0.5" } }];
    assert.equal(notMappedResource({ networks: { a: { ipam: { config } } } }), undefined);
  });
});
