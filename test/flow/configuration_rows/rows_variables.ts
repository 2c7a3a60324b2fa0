import assert from "node:assert/strict";
import type { FakeFile } from "../../fakes/git_repository.ts";
import { composeFile, service } from "../compose_text.ts";
import type { Row } from "./row.ts";
import { CONFIG } from "./texts.ts";

/** A service whose labels show the variables it got. */
function shows(...names: readonly string[]): string {
  const labels = Object.fromEntries(
    names.map((name) => [`test.${name}`, `\${${name}-unset}`]),
  );
  return composeFile({ web: service({ labels }) });
}

/** Labels of {@link shows}. */
function shown(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`web test.${name}`, value]),
  );
}

/** One deployment and the values its variables have. */
function valuesRow(
  rule: string,
  title: string,
  { covers, files, values }: {
    readonly covers: readonly string[];
    readonly files: Readonly<Record<string, FakeFile>>;
    readonly values: Readonly<Record<string, string>>;
  },
): Row {
  const compose = shows(...Object.keys(values));
  return {
    rule,
    title,
    covers,
    steps: [
      {
        files: { "compose.yaml": compose, ...files },
        status: "succeeded",
        labels: shown(values),
      },
      { status: "skipped", untouched: true },
    ],
  };
}

/** `environment` and `env_files`. */
export const VARIABLE_ROWS: readonly Row[] = [
  valuesRow("interface.md §2.1 environment; deploy.md §1.2", "keeps scalars as they are written", {
    covers: ["environment"],
    files: {
      [CONFIG]: "name: {{stack}}\nenvironment:\n  A: yes\n  B: 010\n  C: 1.10\n  D: ~\n" +
        "  E: ''\n  F: 0x1F\n  G: 1_000\n  H: 2024-01-02\n  I: no\n",
    },
    values: {
      A: "yes",
      B: "010",
      C: "1.10",
      D: "unset",
      E: "",
      F: "0x1F",
      G: "1_000",
      H: "2024-01-02",
      I: "no",
    },
  }),
  valuesRow("deploy.md §1.2", "anchors, aliases and merge keys work", {
    covers: ["environment"],
    files: {
      [CONFIG]: "name: {{stack}}\nbuild:\n  args: &common {A: one, B: two}\n" +
        "environment:\n  <<: *common\n  B: three\n",
    },
    values: { A: "one", B: "three" },
  }),
  valuesRow("deploy.md §1.9", "values of the configuration are not interpolated themselves", {
    covers: ["environment"],
    files: { [CONFIG]: "name: {{stack}}\nenvironment: {A: one, B: 'x$A${A}'}\n" },
    values: { B: "x$A${A}" },
  }),
  {
    rule: "deploy.md §1.5 environment",
    title: "is for interpolation: no container gets a variable by it",
    covers: ["environment"],
    steps: [{
      files: {
        [CONFIG]: "name: {{stack}}\nenvironment: {ONLY_HERE: one, USED: two}\n",
        "compose.yaml": composeFile({ web: service({ environment: { A: "$USED" } }) }),
      },
      status: "succeeded",
      see: ({ world, stack }) => {
        const env = world.fake?.containers().find((each) => each.name === `${stack}-web-1`)?.env ??
          [];
        assert.ok(env.includes("A=two"), env.join());
        assert.doesNotMatch(env.join("\n"), /ONLY_HERE|USED/);
      },
    }],
  },
  {
    rule: "interface.md §2.1 environment",
    title: "is a map of names to scalars",
    covers: ["environment"],
    steps: [
      ["environment: [A=1]", /2:14: environment: expected a mapping of names to values/] as const,
      ["environment: {A: [1]}", /2:18: environment\.A: expected text, a number or a boolean/],
    ].map(([line, says]) => ({
      files: { [CONFIG]: `name: {{stack}}\n${line}\n`, "compose.yaml": shows() },
      status: "failed" as const,
      says: [says as RegExp],
      running: [],
      untouched: true as const,
    })),
  },
  valuesRow("interface.md §2.1 env_files; deploy.md §1.9", "the dialect of dotenv files", {
    covers: ["env_files"],
    files: {
      [CONFIG]: "name: {{stack}}\nenv_files: [all.env]\n",
      "all.env": [
        "# a comment",
        "A=plain",
        "export B=exported",
        "C='single $A'",
        'D="double ${A}"',
        "E=$A-expanded",
        "F=value # comment",
        "G='kept # here'",
        "H: colon",
        "I=",
        "",
      ].join("\n"),
    },
    values: {
      A: "plain",
      B: "exported",
      C: "single $A",
      D: "double plain",
      E: "plain-expanded",
      F: "value",
      G: "kept # here",
      H: "colon",
      I: "",
    },
  }),
  valuesRow("deploy.md §1.9", "later files win over earlier ones, environment over all of them", {
    covers: ["env_files", "environment"],
    files: {
      [CONFIG]: "name: {{stack}}\nenv_files: [a.env, sub/b.env]\nenvironment: {C: map}\n",
      "a.env": "A=a\nB=a\nC=a\n",
      "sub/b.env": "B=b\nC=b\n",
      ".env": "A=never\nD=never\n",
    },
    values: { A: "a", B: "b", C: "map", D: "unset" },
  }),
  valuesRow("deploy.md §1.9", "a later file may use the variables of an earlier one", {
    covers: ["env_files"],
    files: {
      [CONFIG]: "name: {{stack}}\nenv_files: [a.env, b.env]\n",
      "a.env": "A=one\n",
      "b.env": "B=${A}-two\nA=three\n",
    },
    values: { A: "three", B: "one-two" },
  }),
  valuesRow("deploy.md §1.9", "a shared file above working_dir is read, and remote: is the same", {
    covers: ["env_files", "working_dir"],
    files: {
      [CONFIG]: "name: {{stack}}\nworking_dir: app\n" +
        "env_files: [../common.env, 'remote:own.env']\n",
      "app/compose.yaml": shows("A", "B"),
      "app/own.env": "B=own\n",
      "common.env": "A=common\nB=common\n",
    },
    values: { A: "common", B: "own" },
  }),
  valuesRow("interface.md §2.1 env_files", ".env is the default, and null leaves it so", {
    covers: ["env_files"],
    files: { [CONFIG]: "name: {{stack}}\nenv_files: ~\n", ".env": "A=dot\n" },
    values: { A: "dot" },
  }),
  valuesRow("deploy.md §1.9", "a missing .env is no error, also in a list", {
    covers: ["env_files"],
    files: { [CONFIG]: "name: {{stack}}\nenv_files: [.env]\n" },
    values: { A: "unset" },
  }),
  {
    rule: "deploy.md §1.9",
    title: "any other missing file, and one out of the source, is an error",
    covers: ["env_files"],
    steps: [{
      files: { [CONFIG]: "name: {{stack}}\nenv_files: [x/.env]\n", "compose.yaml": shows("A") },
      status: "failed",
      says: [/x\/\.env/],
      running: [],
      untouched: true,
    }, {
      files: { [CONFIG]: "name: {{stack}}\nenv_files: [a, ../../x.env]\n" },
      status: "failed",
      says: [/\.stackwright\.yaml:2:16: env_files\[1\]: the file is outside the root/],
      untouched: true,
    }, {
      files: {
        [CONFIG]: "name: {{stack}}\nenv_files: [bad.env]\n",
        "bad.env": "A=one\nthis is no line\n",
      },
      status: "failed",
      says: [/bad\.env/],
      untouched: true,
    }],
  },
];
