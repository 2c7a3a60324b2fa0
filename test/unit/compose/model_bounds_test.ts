import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { beyondBounds, BOUNDS } from "../../../src/compose/model_bounds.ts";
import { tooLargeProject } from "../../../src/compose/mod.ts";

/** A map with so many entries. */
const map = (count: number, value: unknown = {}) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
const list = (count: number, value: unknown = "a") => Array.from({ length: count }, () => value);
const of = (service: Record<string, unknown>) => beyondBounds({ services: { web: service } });

describe("beyondBounds()", () => {
  it("has nothing against projects ten times as large as those that are known", () => {
    const service = {
      image: "a",
      environment: map(100, "a"),
      labels: map(50, "a"),
      volumes: list(10, { type: "bind", source: "/srv/a", target: "/a" }),
      networks: map(5, null),
      ports: list(20, { target: 1 }),
    };
    const kinds = { networks: map(300), volumes: map(400), secrets: map(500), configs: map(500) };
    assert.equal(beyondBounds({ name: "a", services: map(450, service), ...kinds }), undefined);
    assert.equal(of({ ports: list(BOUNDS.ports) }), undefined);
  });
  for (const kind of ["networks", "volumes", "secrets", "configs"]) {
    it(`refuses more ${kind} than a project may have`, () => {
      assert.equal(beyondBounds({ [kind]: map(BOUNDS.resources) }), undefined);
      const said = `${kind} has 1001 entries, the most is 1000`;
      assert.equal(beyondBounds({ [kind]: map(BOUNDS.resources + 1) }), said);
    });
  }
  it("refuses more entries of a list or a map, wherever it is, by its place and not its content", () => {
    assert.equal(of({ dns: list(BOUNDS.entries), networks: map(BOUNDS.entries) }), undefined);
    const said = (place: string) => `services.web.${place} has 2001 entries, the most is 2000`;
    assert.equal(of({ dns: list(2001) }), said("dns"));
    assert.equal(of({ environment: map(2001, "a") }), said("environment"));
    assert.equal(of({ networks: { a: { aliases: list(2001) } } }), said("networks.a.aliases"));
    assert.equal(of({ build: { args: map(2001, "") } }), said("build.args"));
    assert.equal(of(map(2001)), "services.web has 2001 entries, the most is 2000");
  });
  it("refuses more ports than there are, and more values than that", () => {
    const services = { a: { ports: list(40_000) }, b: { expose: list(30_001) } };
    assert.match(beyondBounds({ services }) ?? "", /^the project has .* ports, the most is 70000$/);
    const many = map(60, { environment: map(1700, "a") });
    assert.match(beyondBounds({ services: many }) ?? "", /values besides ports, .* 100000$/);
    const nested = { deep: list(2000, list(2000)) };
    assert.match(beyondBounds(nested) ?? "", /values besides ports/);
  });
  it("refuses a long device of a volume, which is taken as a path", () => {
    const device = (text: string) =>
      beyondBounds({ volumes: { a: { driver_opts: { device: text, o: "x".repeat(5000) } } } });
    assert.equal(device("/a".repeat(255)), undefined);
    const place = "volumes.a.driver_opts.device";
    assert.equal(device("/a".repeat(256)), `${place} has 257 directories, the most is 256`);
    assert.equal(device("a".repeat(4097)), `${place} has 4097 characters, the most is 4096`);
  });
  it("refuses a long text, name or key, without telling it", () => {
    assert.equal(of({ labels: { a: "x".repeat(200_000) } }), undefined);
    const text = of({ labels: { "a.b": "secret".repeat(50_000) } });
    assert.equal(text, "services.web.labels.a.b has 300000 characters, the most is 262144");
    const name = beyondBounds({ volumes: { ["x".repeat(256)]: {} } });
    assert.equal(name, "volumes has 256 characters in a key, the most is 255");
    assert.match(of({ environment: { ["x".repeat(1001)]: "" } }) ?? "", /1001 characters in a key/);
    const named = (length: number) => of({ container_name: "x".repeat(length) });
    const said = "services.web.container_name has 256 characters, the most is 255";
    assert.deepEqual([named(255), named(256)], [undefined, said]);
    for (const key of ["image", "hostname"]) {
      const said = `services.web.${key} has 4097 characters, the most is 4096`;
      assert.equal(of({ [key]: "x".repeat(4097) }), said);
    }
    const images = map(500, { image: "x".repeat(600) });
    assert.match(beyondBounds({ services: images }) ?? "", /characters in its names/);
  });
  it("refuses paths that no kernel takes, and takes anything that is none", () => {
    const mount = (source: string) => of({ volumes: [{ type: "bind", source }] });
    assert.equal(mount(`/${"a/".repeat(250)}`), undefined);
    assert.match(mount(`/${"a/".repeat(300)}`) ?? "", /^services.web.volumes.0.source has 302 dir/);
    assert.match(mount("a".repeat(5000)) ?? "", /has 5000 characters, the most is 4096$/);
    assert.match(beyondBounds({ configs: { a: { file: "/a".repeat(300) } } }) ?? "", /directories/);
    const free = { source: "/a".repeat(3000), path: "x".repeat(5000) };
    assert.equal(of({ environment: free, labels: free, command: ["/a".repeat(3000)] }), undefined);
  });
  it("refuses what an engine lists with six characters for one in what services name", () => {
    const said = (place: string) => `volumes.data.${place} has a control character`;
    const volume = (data: Record<string, unknown>) => beyondBounds({ volumes: { data } });
    assert.equal(volume({ labels: { x: "\x01" } }), said("labels.x"));
    assert.equal(volume({ labels: { "\x1f": "" } }), said("labels"));
    assert.equal(volume({ driver_opts: { o: "a\0" } }), said("driver_opts.o"));
    for (const kind of ["networks", "configs", "secrets"]) {
      assert.match(beyondBounds({ [kind]: { a: { labels: ["\b"] } } }) ?? "", /control character/);
    }
    assert.equal(volume({ labels: { x: "a\tb\r\nc" } }), undefined);
    assert.equal(beyondBounds({ configs: { a: { content: "\x01" } } }), undefined);
    assert.equal(of({ environment: { A: "\x01" }, labels: { a: "\x01" } }), undefined);
  });
  it("looks at what ports say as well", () => {
    const port = (more: Record<string, unknown>) => of({ ports: [{ target: 80, ...more }] });
    assert.equal(
      port({ name: "web", mode: "ingress", published: "80", protocol: "tcp" }),
      undefined,
    );
    const said = "services.web.ports.0.name has 300000 characters, the most is 262144";
    assert.equal(port({ name: "x".repeat(300_000) }), said);
    assert.match(port({ ["x".repeat(1001)]: 1 }) ?? "", /1001 characters in a key/);
    assert.match(port({ "x-more": map(21) }) ?? "", /ports.0.x-more has 21 entries/);
  });
  it("is asked before anything else looks at a project", () => {
    assert.match(tooLargeProject({ services: { web: { dns: list(2001) } } }) ?? "", /2001 entries/);
  });
  it("are what the page on limits says", async () => {
    const page = await readFile(new URL("../../../docs/limits.md", import.meta.url), "utf8");
    for (const [name, most] of Object.entries(BOUNDS)) {
      assert.match(page, new RegExp(`[|/] ?${most.toLocaleString("en")}[ /]`), name);
    }
  });
});
