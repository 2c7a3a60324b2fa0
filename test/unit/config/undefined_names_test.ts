import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mixedUpServices } from "../../../src/config/built_services.ts";
import { readCompose } from "../../../src/config/compose_text.ts";
import {
  type ActiveProfiles,
  contentFiles,
  undefinedNames,
} from "../../../src/config/undefined_names.ts";

const NONE: ActiveProfiles = { names: [], isMore: false };

/** Files of one project, each in a directory of its own. */
function project(...texts: readonly string[]) {
  return texts.map((text, at) => ({ ...readCompose(text, `${at}.yaml`), base: `d${at}` }));
}

/** What is found in files that all say something of the same service. */
function found(...said: readonly string[]): string[] {
  const files = project(
    ...said.map((text) => `services: {a: {${text}}}\nsecrets: {s: }\nconfigs: {c: }\n`),
  );
  return undefinedNames(files, NONE).map(({ file, message }) =>
    `${file} ${message.split(" ").at(-1)}`
  );
}

/** What service `a` is told that stands beside `b`, `off` of a profile, and `un` of one that nobody knows. */
function beside(said: string, active = NONE): string[] {
  const others = "b: {image: b}, off: {image: b, profiles: [p]}, un: {profiles: ['${X}']}";
  return undefinedNames(project(`services: {a: {${said}}, ${others}}\n`), active)
    .map(({ path, message }) => `${path}: ${/"[^"]*"/.exec(message)?.[0]}`);
}

describe("mixedUpServices()", () => {
  const places = (...texts: readonly string[]) =>
    mixedUpServices(project(...texts), { names: ["on"], isMore: false })
      .map(({ file, line, path, message }) =>
        `${file}:${line} ${path} ${/only one of (.*), as/.exec(message)?.[1]}`
      );

  it("finds built services whose names are one to buildx, where they are written", () => {
    assert.deepEqual(
      places("services:\n  a.b: {build: .}\n  a_b: {build: .}\n  a-b: {build: .}\n"),
      [
        "0.yaml:3 services.a_b a.b and a_b",
      ],
    );
    assert.deepEqual(
      places(
        "services: {x_y.z: {build: .}}\n",
        "services: {x.y_z: {build: {context: .}, profiles: [on]}}\n",
      ),
      ["1.yaml:1 services.x.y_z x_y.z and x.y_z"],
    );
  });

  it("leaves alone what is not built, is off, or comes twice", () => {
    assert.deepEqual(places("services: {a.b: {build: .}, a_b: {image: x}}\n"), []);
    assert.deepEqual(places("services: {a.b: {build: .}, a_b: {build: null, image: x}}\n"), []);
    assert.deepEqual(places("services: {a.b: {build: .}, a_b: {build: ., profiles: [off]}}\n"), []);
    assert.deepEqual(places("services: {a.b: {build: .}}\n", "services: {a.b: {build: .}}\n"), []);
  });
});

describe("undefinedNames()", () => {
  it("leaves a service alone to which another file gives a profile", () => {
    const said = "networks: [nn], depends_on: [zz], volumes: ['gone:/x']";
    assert.deepEqual(found(said, "profiles: [dbg]"), []);
    assert.deepEqual(found("profiles: [dbg]", said), []);
    assert.equal(found(said, "image: a").length, 3);
  });

  it("leaves alone what an entry for the same target replaces", () => {
    const replaced: readonly (readonly [string, string])[] = [
      ["volumes: ['gone:/x']", "volumes: ['./rel:/x/:ro']"],
      ["volumes: ['gone:/x:ro']", "volumes: [{type: bind, source: ./rel, target: /x}]"],
      ["volumes: [{type: volume, source: gone, target: /x}]", "volumes: [/x]"],
      ["volumes: ['gone:/x']", "volumes: ['${DIR:-/srv}:/x']"],
      ["volumes: ['gone:/x']", "volumes: ['./rel:${TARGET}']"],
      ["volumes: ['gone:/x', './rel:/x']", "image: a"],
      ["secrets: [{source: gone, target: t}]", "secrets: [{source: s, target: t}]"],
      ["secrets: [{source: gone, target: /run/secrets/s}]", "secrets: [s]"],
      ["configs: [{source: gone, target: /t}]", "configs: [{source: c, target: /t}]"],
    ];
    for (const said of replaced) assert.deepEqual(found(...said), [], said.join("; "));
  });

  it("finds what is replaced by what is undefined too, and what has another target", () => {
    assert.deepEqual(found("volumes: ['gone:/x']", "volumes: ['lost:/x']"), [
      '0.yaml "gone"',
      '1.yaml "lost"',
    ]);
    assert.deepEqual(found("volumes: ['gone:/x', './rel:/y']", "volumes: ['./rel:/x/y']"), [
      '0.yaml "gone"',
    ]);
    assert.deepEqual(found("depends_on: [zz, '${DB}']", "secrets: ['${S}', t]"), [
      '0.yaml "zz"',
      '1.yaml "t"',
    ]);
    assert.deepEqual(found("secrets: [{source: gone, target: t}]", "secrets: [s]"), [
      '0.yaml "gone"',
    ]);
  });

  it("finds what is named by every key that names something", () => {
    const said: readonly (readonly [string, string])[] = [
      ["links: [b, 'gone:x']", "links"],
      ["network_mode: 'service:gone'", "network_mode"],
      ["ipc: 'service:gone'", "ipc"],
      ["pid: 'service:gone'", "pid"],
      ["uts: 'service:gone'", "uts"],
      ["volumes_from: ['b:ro', gone]", "volumes_from"],
      ["extends: gone", "extends"],
      ["extends: {service: gone}", "extends"],
      ["build: {context: ., secrets: [gone]}", "build.secrets"],
      ["models: [gone]", "models"],
    ];
    for (const [text, key] of said) {
      assert.deepEqual(beside(text), [`services.a.${key}: "gone"`], text);
    }
    const fine = [
      "links: [b, 'b:x', '${L}', '${L}:x']",
      "network_mode: host",
      "network_mode: 'container:gone'",
      "network_mode: 'service:${N}'",
      "volumes_from: ['container:gone', 'container:gone:ro', '${V}']",
      "extends: {service: b}",
      "extends: off",
      "build: .",
    ];
    for (const text of fine) assert.deepEqual(beside(text), [], text);
    assert.deepEqual(found("network_mode: 'service:gone'", "network_mode: host"), []);
    assert.deepEqual(found("links: [gone]", "links: [a]"), ['0.yaml "gone"']);
  });

  it("finds services whose profiles are off, where that is sure and a service needs them", () => {
    const off = (key: string) => [`services.a.${key}: "off"`];
    assert.deepEqual(beside("depends_on: [off, un]"), off("depends_on"));
    assert.deepEqual(beside("links: [off]"), off("links"));
    assert.deepEqual(beside("network_mode: 'service:off'"), off("network_mode"));
    assert.deepEqual(beside("volumes_from: [off]"), off("volumes_from"));
    const optional = "depends_on: {off: {condition: service_started, required: false}}";
    assert.deepEqual(beside(optional), []);
    assert.deepEqual(beside(`${optional}, links: [off]`), []);
    assert.deepEqual(found("profiles: [p], depends_on: [a]"), []);
    for (const names of [["p"], ["*"], ["${P}"]]) {
      assert.deepEqual(beside("depends_on: [off]", { names, isMore: false }), [], names[0]);
    }
    assert.deepEqual(beside("depends_on: [off]", { names: ["q"], isMore: false }).length, 1);
    assert.deepEqual(beside("depends_on: [off]", { names: [], isMore: true }), []);
    const said = "depends_on: [gone], profiles: [q]";
    assert.deepEqual(beside(said, { names: ["q"], isMore: false }).length, 1);
    // It has the profile of what it extends, too.
    assert.deepEqual(beside("extends: off, depends_on: [gone]"), []);
  });
});

describe("contentFiles()", () => {
  const paths = (...texts: readonly string[]) =>
    contentFiles(project(...texts), NONE).map(({ path, file }) => `${file} ${path}`);

  it("are those of configs and secrets that deployed services get", () => {
    const defined = "configs: {c: {file: ./c.conf}}\nsecrets: {s: {file: s.txt}}\n";
    const all = `services: {a: {configs: [c], secrets: [{source: s, target: t}]}}\n${defined}`;
    assert.deepEqual(paths(all), ["0.yaml d0/c.conf", "0.yaml d0/s.txt"]);
    assert.deepEqual(paths("services: {a: {configs: [c]}}\n", defined), ["1.yaml d1/c.conf"]);
    assert.deepEqual(paths(`services: {a: {build: {secrets: [s]}}}\n${defined}`), [
      "0.yaml d0/s.txt",
    ]);
    const unused = ["a: {image: b}", "a: {configs: [c], profiles: [p]}", "a: {configs: ['${C}']}"];
    for (const said of unused) assert.deepEqual(paths(`services: {${said}}\n${defined}`), [], said);
  });

  it("are not those that something may replace, or that lie elsewhere", () => {
    const used = (file: string) => `services: {a: {configs: [c]}}\nconfigs: {c: {${file}}}\n`;
    for (const file of ["/etc/x", "~/x", "../x/../../y", "${X}/y"]) {
      assert.deepEqual(paths(used(`file: '${file}'`)), [], file);
    }
    assert.deepEqual(paths(used("external: true")), []);
    assert.deepEqual(paths(used("file: a"), "configs: {c: {file: b}}\n"), []);
    const other =
      "services: {a: {configs: [{source: d, target: /c}]}}\nconfigs: {d: {external: true}}\n";
    assert.deepEqual(paths(used("file: a"), other), []);
  });

  it("are a limited number, as undefined names are", () => {
    const many = Array.from({ length: 3000 }, (_, at) => at);
    const used = `services: {a: {configs: [${many.map((at) => `c${at}`).join(", ")}]}}\n`;
    const defined = many.map((at) => `  c${at}: {file: f${at}}\n`).join("");
    assert.equal(paths(`${used}configs:\n${defined}`).length, 100);
    const files = project(`services: {a: {links: [${many.map((at) => `l${at}`).join(", ")}]}}\n`);
    assert.equal(undefinedNames(files, NONE).length, 20);
  });
});
