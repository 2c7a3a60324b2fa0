import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCompose } from "../../../src/config/compose_text.ts";
import { undefinedNames } from "../../../src/config/undefined_names.ts";

/** What is found in files that all say something of the same service. */
function found(...said: readonly string[]): string[] {
  const files = said.map((text, at) =>
    readCompose(`services: {a: {${text}}}\nsecrets: {s: }\nconfigs: {c: }\n`, `${at}.yaml`)
  );
  return undefinedNames(files).map(({ file, message }) => `${file} ${message.split(" ").at(-1)}`);
}

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
});
