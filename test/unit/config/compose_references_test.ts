import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeReferences } from "../../../src/config/mod.ts";

const NOTHING = { composeFiles: [], files: [], ofIncludes: [], wide: false, outside: false };

/** A compose file and what rendering it reads, as compose 2.26 and 2.40 do. */
const TABLE: readonly {
  readonly what: string;
  readonly text: string;
  readonly found: Partial<ReturnType<typeof composeReferences>>;
}[] = [
  { what: "nothing for plain services", text: "services: {a: {image: x}}", found: {} },
  { what: "nothing for an empty document of a map", text: "{}", found: {} },
  {
    what: "included files, and the .env beside each",
    text: "include: [a.yaml, sub/b.yaml]",
    found: { composeFiles: ["a.yaml", "sub/b.yaml"], files: [".env", "sub/.env"] },
  },
  {
    what: "an include with one path",
    text: "include: [{path: sub/b.yaml}]",
    found: { composeFiles: ["sub/b.yaml"], files: ["sub/.env"] },
  },
  {
    what: "an include that is a single text",
    text: "include: sub/b.yaml",
    found: { composeFiles: ["sub/b.yaml"], files: ["sub/.env"] },
  },
  {
    what: "an include with its own env file, which stands for the one beside it",
    text: "include: [{path: sub/b.yaml, env_file: x.env}]",
    found: { composeFiles: ["sub/b.yaml"], files: ["x.env"], ofIncludes: ["x.env"] },
  },
  {
    what: "an include with several env files",
    text: "include: [{path: sub/b.yaml, env_file: [x.env, y.env]}]",
    found: {
      composeFiles: ["sub/b.yaml"],
      files: ["x.env", "y.env"],
      ofIncludes: ["x.env", "y.env"],
    },
  },
  {
    what: "an include that merges files of one directory",
    text: "include: [{path: [sub/b.yaml, sub/c.yaml]}]",
    found: { composeFiles: ["sub/b.yaml", "sub/c.yaml"], files: ["sub/.env"] },
  },
  {
    what: "everything when an include merges files of two directories, whose base is the first's",
    text: "include: [{path: [sub/b.yaml, other/c.yaml]}]",
    found: { composeFiles: ["sub/b.yaml", "other/c.yaml"], files: ["sub/.env"], wide: true },
  },
  {
    what: "everything when an include has a base of its own",
    text: "include: [{path: sub/b.yaml, project_directory: elsewhere}]",
    found: { composeFiles: ["sub/b.yaml"], files: ["sub/.env"], wide: true },
  },
  {
    what: "what a merge key may bring",
    text: "services: {a: {<<: {env_file: b, extends: {file: c}}, env_file: !reset [], extends: a}}",
    found: { composeFiles: ["c"], files: ["b"] },
  },
  {
    what: "something outside for a variable behind a merge key",
    text: "services: {a: {<<: {env_file: $b}, env_file: !reset []}}",
    found: { outside: true },
  },
  {
    what: "something outside for a remote include",
    text: "include: ['https://h.example/o/r.git#main:c.yaml']",
    found: { outside: true },
  },
  {
    what: "something outside for a path in the home directory",
    text: "services: {a: {image: x, env_file: ['~/../etc/x', './a/~/y', ok~.env]}}",
    found: { outside: true, files: ["ok~.env"] },
  },
  {
    what: "something outside for an include over SSH",
    text: "include: ['git@h.example:o/r.git']",
    found: { outside: true },
  },
  {
    what: "something outside for an include that early versions of compose take for a repository",
    text: "include: ['x/y.git']",
    found: { outside: true, composeFiles: ["x/y.git"], files: ["x/.env"] },
  },
  {
    what: "nothing outside for other files with such a name",
    text: "services: {a: {image: x, env_file: x/y.git}}",
    found: { files: ["x/y.git"] },
  },
  {
    what: "something outside for an include of an artifact",
    text: "include: ['oci://h.example/o/r:1']",
    found: { outside: true },
  },
  {
    what: "something outside for an include by a variable",
    text: "include: ['${WHICH}/compose.yaml']",
    found: { outside: true, files: [] },
  },
  {
    what: "the file a service extends",
    text: "services: {a: {extends: {file: base.yaml, service: a}}}",
    found: { composeFiles: ["base.yaml"] },
  },
  {
    what: "nothing for a service that extends one of the same file",
    text: "services: {a: {extends: {service: b}}, b: {image: x}, c: {extends: b}}",
    found: {},
  },
  {
    what: "env files in each of their forms",
    text: [
      "services:",
      "  a: {env_file: a.env}",
      "  b: {env_file: [b.env, {path: c.env, required: false}, {path: d.env}]}",
      "  c: {label_file: e.labels}",
      "  d: {label_file: [f.labels]}",
    ].join("\n"),
    found: { files: ["a.env", "b.env", "c.env", "d.env", "e.labels", "f.labels"] },
  },
  {
    what: "a file that several services read once",
    text: "services: {a: {env_file: a.env}, b: {env_file: a.env}}",
    found: { files: ["a.env"] },
  },
  {
    what: "something outside for an env file of the host",
    text: "services: {a: {env_file: /etc/a.env}}",
    found: { outside: true },
  },
  {
    what: "something outside for an env file by a variable",
    text: "services: {a: {env_file: '$STAGE.env'}}",
    found: { outside: true },
  },
  {
    what: "what anchors and merges bring in",
    text: "x-a: &a {env_file: a.env}\nservices: {a: {<<: *a, image: x}}",
    found: { files: ["a.env"] },
  },
  {
    what: "what stands beside tags of compose",
    text: "services: {a: {ports: !reset [], env_file: !override [a.env]}}",
    found: { files: ["a.env"] },
  },
  {
    what: "every document of a file",
    text: "services: {a: {env_file: a.env}}\n---\nservices: {a: {env_file: b.env}}",
    found: { files: ["a.env", "b.env"] },
  },
  {
    what: "JSON",
    text: '{"services":{"a":{"env_file":"a.env"}}}',
    found: { files: ["a.env"] },
  },
  { what: "everything for broken YAML", text: "services: {a: [", found: { wide: true } },
  { what: "everything for a list", text: "- a", found: { wide: true } },
  { what: "nothing for an empty file, which reads nothing", text: "", found: {} },
  {
    what: "everything where values have types that compose will refuse",
    text: "include: [3, null]\nservices: {a: 4, b: {env_file: 5, extends: [x]}}",
    found: { wide: true },
  },
  {
    what: "everything where services are no map",
    text: "services: [a]",
    found: { wide: true },
  },
  {
    what: "the .env beside an include whose list of them is empty, as compose does",
    text: "include: [{path: sub/b.yaml, env_file: []}]",
    found: { composeFiles: ["sub/b.yaml"], files: ["sub/.env"] },
  },
];

describe("composeReferences()", () => {
  for (const { what, text, found } of TABLE) {
    it(`finds ${what}`, () => {
      assert.deepEqual(composeReferences(text), { ...NOTHING, ...found });
    });
  }
});
