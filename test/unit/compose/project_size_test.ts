import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tooLargeProject } from "../../../src/compose/mod.ts";

describe("tooLargeProject()", () => {
  const of = (...services: Record<string, unknown>[]) =>
    tooLargeProject({
      services: Object.fromEntries(services.map((each, at) => [`s${at}`, each])),
    });
  const many = (count: number) => Array.from({ length: count }, () => ({ image: "a" }));

  it("has nothing against what machines run", () => {
    assert.equal(of(), undefined);
    assert.equal(of(...many(500)), undefined);
    assert.equal(of({ deploy: { replicas: 600 } }, { scale: 400 }, { scale: 0 }), undefined);
  });
  it("refuses very many services", () => {
    assert.match(of(...many(501)) ?? "", /^services has 501 entries, the most is 500$/);
  });
  it("refuses very many containers, of one service or of all", () => {
    const said = /containers, the most is 1000$/;
    assert.match(of({ deploy: { replicas: 2_000_000_000 } }) ?? "", said);
    assert.match(of({ scale: 600 }, { deploy: { replicas: 401 } }) ?? "", said);
  });
  it("refuses what makes the list of all containers too long to be read", () => {
    const said = /^an engine would list its containers with \d+ characters/;
    const labels = { a: "x".repeat(60_000) };
    assert.equal(of({ labels, scale: 30 }, { labels, deploy: { replicas: 35 } }), undefined);
    assert.match(of({ labels, scale: 30 }, { labels, scale: 45 }) ?? "", said);
    assert.match(of({ command: ["x".repeat(10_000)], scale: 500 }) ?? "", said);
    assert.match(of({ entrypoint: Array(2000).fill("abcd"), scale: 500 }) ?? "", said);
    assert.match(of({ expose: ["1-65535"], scale: 2 }) ?? "", said);
    assert.match(of({ expose: Array(3).fill("1-65535/udp") }) ?? "", said);
    const volumes = Array(1000).fill({ type: "bind", source: "/a", target: "/b" });
    assert.match(of({ volumes, scale: 100 }) ?? "", said);
    assert.match(of({ annotations: { a: "x".repeat(100_000) }, scale: 50 }) ?? "", said);
    assert.match(of({ links: Array(2000).fill("db:a"), scale: 400 }) ?? "", said);
    // As the engine writes them: an escape of six bytes, and three for a character.
    assert.match(of({ labels: { a: "\u2028".repeat(9_000) }, scale: 80 }) ?? "", said);
    assert.match(of({ labels: { a: "€".repeat(20_000) }, scale: 70 }) ?? "", said);
    // What is mounted because another one mounts it, and who takes it over from there.
    assert.equal(of({ volumes }, { scale: 100 }), undefined);
    assert.match(of({ volumes }, { volumes_from: ["s0"], scale: 100 }) ?? "", said);
    const around = { volumes_from: ["s2", "s1:ro", "container:x"] };
    assert.match(
      of({ volumes }, { ...around, scale: 100 }, { volumes_from: ["s1", "s0"] }) ?? "",
      said,
    );
  });
  it("refuses services that name more than can be digested with each of them", () => {
    const large = { name: "big", labels: { a: "x".repeat(100_000) } };
    const named = (count: number, service: Record<string, unknown>) =>
      tooLargeProject({
        services: Object.fromEntries(
          Array.from({ length: count }, (_, at) => [`s${at}`, { ...service, scale: 0 }]),
        ),
        networks: { big: large },
        volumes: { big: large },
        secrets: { big: { ...large, file: "./a" } },
      });
    const said = /^its services name networks, .* of \d+ characters .* the most is 16777216$/;
    assert.equal(named(160, { networks: { big: null } }), undefined);
    assert.match(named(170, { networks: { big: null } }) ?? "", said);
    assert.equal(named(400, { networks: { other: null } }), undefined);
    const mount = { type: "volume", source: "big", target: "/a" };
    assert.match(named(1, { volumes: Array(170).fill(mount) }) ?? "", said);
    assert.equal(named(1, { volumes: Array(170).fill({ ...mount, type: "bind" }) }), undefined);
    const secrets = [{ source: "big" }];
    for (const service of [{ secrets }, { build: { secrets } }]) {
      assert.equal(named(160, service), undefined);
      assert.match(named(170, service) ?? "", said);
    }
  });
  it("counts the arguments that a deployment gives to each of its builds", () => {
    const buildArguments = { A: "x".repeat(100_000) };
    const building = (count: number) => ({
      services: Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [`s${at}`, at < count ? { build: {} } : {}]),
      ),
    });
    assert.equal(tooLargeProject(building(160), { buildArguments }), undefined);
    const said = /and build\.args of 17\d{6} characters .* the most is 16777216$/;
    assert.match(tooLargeProject(building(170), { buildArguments }) ?? "", said);
    assert.equal(tooLargeProject(building(170)), undefined);
  });
  it("refuses labels that would make each event of a container too long", () => {
    const said = /^service s0: each container has labels of \d+ characters .* the most is 65536$/;
    const labels = { a: "x".repeat(65_600) };
    assert.match(of({ labels }) ?? "", said);
    assert.match(tooLargeProject({ services: { s0: { labels } } }, { isStack: true }) ?? "", said);
    assert.equal(of({ labels, scale: 0 }), undefined);
    const names = Array.from({ length: 499 }, (_, at) => `s${at + 1}`.padEnd(200, "x"));
    const all = Object.fromEntries(names.map((name) => [name, { condition: "service_started" }]));
    assert.match(of({ depends_on: all }) ?? "", said);
  });
  it("counts all that a service says for each task of a swarm", () => {
    const service = { environment: { A: "x".repeat(10_000) }, deploy: { replicas: 500 } };
    const model = { services: { web: service } };
    assert.equal(tooLargeProject(model), undefined);
    assert.match(tooLargeProject(model, { isStack: true }) ?? "", /^an engine would list/);
    // The service itself is listed, too, also without tasks.
    const idle = { environment: { A: "x".repeat(250_000) }, deploy: { replicas: 0 } };
    const services = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`s${at}`, idle]));
    assert.match(tooLargeProject({ services }, { isStack: true }) ?? "", /^an engine would list/);
    const deploy = { replicas: 0, labels: { a: "x".repeat(70_000) } };
    const labelled = tooLargeProject({ services: { web: { deploy } } }, { isStack: true });
    assert.match(labelled ?? "", /has labels of/);
    const labels = { "stackwright.job.swarm.replicas": "500" };
    const job = { services: { job: { ...service, labels, deploy: { replicas: 1 } } } };
    assert.match(tooLargeProject(job, { isStack: true }) ?? "", /^an engine would list/);
  });

  it("refuses ranges of published ports that are long together, or none, and takes others", () => {
    const published = (...all: string[]) =>
      of({ ports: all.map((published) => ({ target: 80, published })) });
    for (
      const all of [["1-65535"], ["1-4096", "9-9"], ["9-8"], ["a-b"], ["80-"], ["1-99999999999"]]
    ) {
      assert.match(published(...all) ?? "", /^service s0: ports: with ".*", ranges of the host's/);
    }
    assert.equal(published("", "80", "1-4095", "9-9"), undefined);
  });

  it("refuses ports to expose that are none, and takes those that are", () => {
    const ranges = ["1-99999999", "0-4294967295", "5-4", "70000", "1e9", "", "a", "1-2-3", "-1"];
    for (const each of ranges) {
      assert.match(
        of({ expose: ["80", each] }) ?? "",
        /^service s0: expose: ".*" is no port or range/,
      );
    }
    assert.equal(of({ expose: ["80", 81, "90-99/udp", "53/TCP", "1-65535"] }), undefined);
  });
  it("refuses a number that is none", () => {
    for (const scale of [-1, 1.5, "many", Infinity]) {
      assert.match(of({ scale }) ?? "", /^service s0: the number of its containers/);
    }
  });
});
