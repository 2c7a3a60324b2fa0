import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FakeFile } from "../fakes/git_repository.ts";
import { configFile, type Part, service } from "./compose_text.ts";
import { IMAGE } from "./world.ts";

/** Stands in every file that no repository may read. */
export const CANARY = "canary-4f1c9b7d2e";
/** Stands in a secret of the service's environment. */
export const TOKEN = "canary-token-83ad51";

/** Where the files lie that an attacker is after. */
export interface Prey {
  /** Directory outside of every repository; holds `x.env`, `x.json`, `compose.yaml`, `Dockerfile`. */
  readonly outside: string;
  /** The same, as a path relative to the root of a tree. */
  readonly climbing: string;
  readonly dataDir: string;
}

/** A repository that tries to get at what is not its own. */
export interface Attack {
  readonly title: string;
  readonly files: (prey: Prey) => Readonly<Record<string, FakeFile | Part>>;
  /** Keys of the deployment configuration. */
  readonly configuration?: (prey: Prey) => Part;
  /** Whether it may also pass as something harmless. */
  readonly says?: RegExp;
}

const LEAVES = /leads? out of the repository|lies outside the repository|links must stay inside/;
export const OURS = /mounts data or secrets of Stackwright itself/;

/** A compose file whose only service has these keys. */
export const one = (more: Part, rest: Part = {}) => ({ services: { web: service(more) }, ...rest });
/** A compose file whose only service has these keys. */
const web = (more: Part, rest: Part = {}): Readonly<Record<string, Part>> => ({
  "compose.yaml": one(more, rest),
});
const text = (compose: string): Readonly<Record<string, string>> => ({ "compose.yaml": compose });
const plain = web({});
const yaml = `services:\n  web:\n    image: ${IMAGE}\n    command: [sleep, "1000"]\n`;
/** A Dockerfile that shows the secret of its build. */
const READS_SECRET = `FROM ${IMAGE}\nRUN --mount=type=secret,id=s cat /run/secrets/s >&2; exit 1\n`;
const building = (build: Part, rest: Part = {}) => ({
  ...web({ image: "swt-path:1", build }, rest),
  "Dockerfile": "FROM scratch\nCOPY . /\n",
});

const READS: readonly Attack[] = [
  {
    title: "env_file with an absolute path",
    files: ({ outside }) => web({ env_file: [`${outside}/x.env`] }),
  },
  {
    title: "env_file that climbs out",
    files: ({ climbing }) => web({ env_file: `${climbing}/x.env` }),
  },
  {
    title: "env_file in its long form",
    files: ({ outside }) => web({ env_file: [{ path: `${outside}/x.env`, required: false }] }),
  },
  {
    title: "env_file below the home directory",
    files: () => web({ env_file: "~/.docker/config.json" }),
  },
  {
    title: "env_file of the process",
    files: () => web({ env_file: "/proc/self/environ" }),
  },
  {
    title: "env_file by a variable of a dotenv file",
    files: ({ outside }) => ({
      ...web({ env_file: "${WHERE}/x.env" }),
      ".env": `WHERE=${outside}\n`,
    }),
  },
  {
    title: "env_file by the default of a variable",
    files: ({ outside }) => web({ env_file: `\${NOT_SET:-${outside}}/x.env` }),
  },
  {
    title: "env_file by a variable that climbs",
    files: ({ climbing }) => ({
      ...web({ env_file: "sub/${UP}/x.env" }),
      ".env": `UP=../${climbing}\n`,
      "sub/a": "",
    }),
  },
  {
    title: "env_file by the configuration's environment",
    files: () => web({ env_file: "${WHERE}" }),
    configuration: ({ outside }) => ({ environment: { WHERE: `${outside}/x.env` } }),
  },
  {
    title: "label_file with an absolute path",
    files: ({ outside }) => web({ label_file: `${outside}/x.env` }),
  },
  {
    title: "extends of a file outside",
    files: ({ outside }) => web({ extends: { file: `${outside}/compose.yaml`, service: "prey" } }),
  },
  ...(Object.entries(
    {
      "env_file, once it makes containers,": ({ outside }) => ({
        env_file: `\${NOT_SET:-${outside}/x.env}`,
      }),
      "a program": ({ outside }) => ({ provider: { type: `${outside}/run` } }),
    } satisfies Record<string, (prey: Prey) => Part>,
  ).map(([what, base]): Attack => ({
    // Compose leaves such an extends in the model, merges it with the other, and looks again.
    title:
      `${what} by extends of a service without a key, which another file gives a name that has some`,
    files: (prey) => ({
      "compose.yaml": {
        services: { s2: service({}), web: service({ extends: { file: "o.yml", service: "nul" } }) },
      },
      "b.yaml": "services:\n  s2:\n  web: {extends: {service: s2}}\n",
      "o.yml": { services: { nul: null, s2: base(prey) } },
      ".env": "NOT_SET=x.env\n",
      "x.env": "A=1\n",
    }),
    configuration: () => ({ compose_files: ["compose.yaml", "b.yaml"] }),
    says: /web: extends of a service without a key/,
  }))),
  {
    title:
      "a directory, once it builds, by extends of a service without a key, and a second document",
    files: ({ outside }) => ({
      "compose.yaml": [
        {
          services: {
            s2: service({}),
            web: service({
              image: "swt-path:1",
              build: { context: ".", dockerfile_inline: `FROM ${IMAGE}\nCOPY --from=h / /h/\n` },
              extends: { file: "o.yml", service: "nul" },
            }),
          },
        },
        { services: { s2: null, web: { extends: { service: "s2" } } } },
      ].map((each) => JSON.stringify(each)).join("\n---\n"),
      "o.yml": { services: { nul: null, s2: { build: { additional_contexts: { h: outside } } } } },
    }),
    says: /web: extends of a service without a key/,
  },
  {
    title: "extends that climbs out",
    files: ({ climbing }) =>
      web({ extends: { file: `${climbing}/compose.yaml`, service: "prey" } }),
  },
  {
    title: "include of a file outside",
    files: ({ outside }) => ({ "compose.yaml": { include: [`${outside}/compose.yaml`] } }),
  },
  {
    title: "include that climbs out",
    files: ({ climbing }) => ({
      "compose.yaml": { include: [{ path: `${climbing}/compose.yaml` }] },
    }),
  },
  {
    title: "include of a deployment configuration, which may be encrypted, by a variable",
    files: () => ({
      "compose.yaml": { include: ["${P}"] },
      ".env": "P=sub/.stackwright.yaml\n",
      "sub/.stackwright.yaml": one({}),
    }),
    says: /deployment configuration, which no compose file may name/,
  },
  {
    title: "a volume with a name as engines make them, which successors take along",
    files: () => ({
      "compose.yaml": one({ volumes: ["vv:/d"] }, {
        volumes: {
          vv: {
            name: "a1".repeat(32),
            driver: "local",
            driver_opts: { type: "none", o: "bind", device: "./x" },
          },
        },
      }),
      "x/a": "",
    }),
    says: /with a name as engines make them/,
  },
  {
    title: "include with a dotenv file outside",
    files: ({ outside }) => ({
      "compose.yaml": { include: [{ path: "a/b.yaml", env_file: `${outside}/x.env` }] },
      "a/b.yaml": one({ environment: { GOT: "${CANARY}" } }),
    }),
  },
  {
    title: "include with a project directory outside",
    files: ({ outside }) => ({
      "compose.yaml": { include: [{ path: "a/b.yaml", project_directory: outside }] },
      "a/b.yaml": one({ env_file: "x.env" }),
    }),
  },
  {
    title: "include with a project directory of the machine, relative to where compose runs",
    files: () => ({
      "compose.yaml": { include: [{ path: "a/b.yaml", project_directory: "etc" }] },
      "a/b.yaml": one({ env_file: "../etc/passwd" }),
    }),
    says: /passwd|etc/,
  },
  {
    title: "include with a project directory that is none, so that compose takes its parent",
    files: () => ({
      "compose.yaml": { include: [{ path: "b.yaml", project_directory: "none" }] },
      "b.yaml": one({ env_file: "../x.env${NOTHING:-}" }),
      "x.env": "A=1\n",
    }),
  },
  {
    title: "include with a project directory that early versions of compose pass over",
    files: () => ({
      "compose.yaml": { include: [{ path: "b.yaml", project_directory: "a/b/c" }] },
      "b.yaml": one({ env_file: "../../../x.env${NOTHING:-}" }),
      "a/b/c/d": "",
      "x.env": "A=1\n",
    }),
  },
  {
    title: "env_file of an included file that begins with the home directory at the second look",
    files: () => ({
      "compose.yaml": { include: ["b.yaml"] },
      "b.yaml": one({ env_file: "./~/.docker/config.json" }),
      "~/.docker/config.json": "{}",
    }),
    says: /begins with ~/,
  },
  {
    title: "extends of a file in a directory that is called like the home directory",
    files: () => ({
      ...web({ extends: { file: "~x/../c/d.yaml", service: "web" } }),
      "c/d.yaml": one({ extends: { file: "./~/e.yaml", service: "web" } }),
      "c/~/e.yaml": one({}),
    }),
  },
  {
    title: "an extended file that extends one of the home directory at the second look",
    files: () => ({
      ...web({ extends: { file: "c.yaml", service: "web" } }),
      "c.yaml": one({ extends: { file: "a/.././~/e.yaml", service: "web" } }),
      "~/e.yaml": one({}),
    }),
    says: /begins with ~/,
  },
  {
    title: "include of a file outside by a key in another case",
    files: ({ outside }) => ({
      "compose.yaml": { include: [{ Path: `${outside}/compose.yaml` }] },
    }),
    says: /include\.Path/,
  },
  {
    title: "include with a dotenv file outside by a key in another case",
    files: ({ outside }) => ({
      "compose.yaml": { include: [{ path: "a/b.yaml", ENV_FILE: `${outside}/x.env` }] },
      "a/b.yaml": one({ environment: { GOT: "${CANARY}" } }),
    }),
    says: /include\.ENV_FILE/,
  },
  {
    title: "include by an alias, of what shows where a key is taken out before it merges",
    files: ({ outside }) =>
      text(
        `x-a: &a\n  <<: {path: ${outside}/compose.yaml}\n  path: !reset b.yaml\ninclude: [*a]\n${yaml}`,
      ),
    says: /write it out/,
  },
  {
    title: "env_file by a variable that only a rendering has, in a file that only compose finds",
    files: ({ climbing }) => ({
      "compose.yaml": { include: [{ path: "a/b.yaml", project_directory: "p" }] },
      "a/b.yaml": { include: ["c.yaml"] },
      "a/c.yaml": one({}),
      "p/c.yaml": one({ env_file: `x\${GOGC:+/../../${climbing}}/x.env` }),
    }),
    says: /p\/x\/x\.env/,
  },
  {
    title: "an included file that reads outside",
    files: ({ outside }) => ({
      "compose.yaml": { include: ["a/b.yaml"] },
      "a/b.yaml": one({ env_file: `${outside}/x.env` }),
    }),
  },
  {
    title: "an included file whose path holds a variable of its own dotenv file",
    files: ({ outside }) => ({
      "compose.yaml": { include: ["a/b.yaml"] },
      "a/b.yaml": one({ env_file: "${WHERE:-safe.env}" }),
      "a/safe.env": "A=1\n",
      "a/.env": `WHERE=${outside}/x.env\n`,
    }),
    says: /holds a variable/,
  },
  {
    title: "an extended file that reads outside",
    files: ({ outside }) => ({
      ...web({ extends: { file: "base/c.yaml", service: "web" } }),
      "base/c.yaml": one({ env_file: `${outside}/x.env` }),
    }),
  },
  {
    title: "include of another repository",
    files: () => ({
      "compose.yaml": { include: ["https://github.com/some/repository.git#main:compose.yaml"] },
    }),
  },
  {
    title: "include of another repository in its short form, with a file of that name",
    files: () => ({
      "compose.yaml": { include: ["github.com/some/repository"] },
      "github.com/some/repository": JSON.stringify(one({})),
    }),
  },
  {
    title: "include of an artifact",
    files: () => ({ "compose.yaml": { include: ["oci://registry.example/some/app:1"] } }),
  },
  {
    title: "env_file by an anchor and a merge key",
    files: ({ outside }) => text(`x-a: &a\n  env_file: ${outside}/x.env\n${yaml}    <<: *a\n`),
  },
  {
    title: "env_file by a tagged merge key",
    files: ({ outside }) => text(`x-a: &a\n  env_file: ${outside}/x.env\n${yaml}    ! "<<": *a\n`),
    says: /merge key/,
  },
  {
    title: "env_file that shows where a key is taken out before it merges",
    files: ({ outside }) =>
      text(`${yaml}    <<: {env_file: ${outside}/x.env}\n    env_file: !reset []\n`),
  },
  {
    title: "extends that shows where a key is taken out before it merges",
    files: ({ outside }) =>
      text(
        `${yaml}    <<: {extends: {file: ${outside}/compose.yaml, service: prey}}\n` +
          "    extends: !reset {service: web}\n",
      ),
  },
  {
    title: "env_file beside a key that is an alias of it",
    files: ({ outside }) =>
      text(
        `x-k: &k env_file\nx-a: &a\n  env_file: ${outside}/x.env\n  *k : a.env\n${yaml}    <<: *a\n`,
      ),
    says: /not an alias/,
  },
  {
    title: "env_file under the tag of a merge key",
    files: ({ outside }) => text(`${yaml}    !!merge "env_file": [{path: ${outside}/x.env}]\n`),
    says: /merge is not supported/,
  },
  {
    title: "env_file behind byte order marks",
    files: ({ outside }) =>
      text(`\ufeff\ufeffx-a: 1\n\ufeff${yaml}    env_file: ${outside}/x.env\n`),
    says: /byte order mark/,
  },
  {
    title: "env_file in base64",
    files: ({ outside }) => text(`${yaml}    env_file: !!binary ${btoa(`${outside}/x.env`)}\n`),
    says: /binary is not supported/,
  },
  {
    title: "a key in base64",
    files: ({ outside }) => text(`${yaml}    !!binary ${btoa("env_file")}: ${outside}/x.env\n`),
    says: /binary is not supported/,
  },
  ...["\\N", "\\L", "\\P"].map((sign, index): Attack => ({
    // Compose read these within JSON as ends of lines, and in the file as they stand.
    title: `extends by a variable and the sign ${sign}, which names two files`,
    files: ({ outside }) => ({
      ...text(yaml + `    extends: {file: "\${NOPE:-x}${sign}.yaml", service: s}\n`),
      "x .yaml": `services: {s: {image: '${IMAGE}'}}\n`,
      [`x${"\u0085\u2028\u2029"[index]}.yaml`]:
        `services: {s: {image: '${IMAGE}', env_file: ['${outside}/x.env']}}\n`,
    }),
    says: /control characters/,
  })),
  {
    title: "env_file behind a line end that only some readers know",
    files: ({ outside }) => text(`${yaml}    # note\u2028    env_file: ${outside}/x.env\n`),
    says: /compose\.yaml:5.*line end/,
  },
  {
    title: "env_file behind a lone carriage return",
    files: ({ outside }) => text(`${yaml}    # note\r    env_file: ${outside}/x.env\n`),
    says: /compose\.yaml:5.*line end/,
  },
  {
    title: "env_file in another encoding",
    files: ({ outside }) => ({ "compose.yaml": utf16(`${yaml}    env_file: ${outside}/x.env\n`) }),
    says: /compose\.yaml:1/,
  },
  {
    title: "env_file in a text that only some readers take",
    files: ({ outside }) => text(`${yaml}    env_file: ${outside}/x.env\n    env_file: a.env\n`),
    says: /compose\.yaml:6.*not valid YAML/,
  },
  {
    title: "env_file in the second document",
    files: ({ outside }) => text(`${yaml}---\n${yaml}    env_file: ${outside}/x.env\n`),
  },
  {
    title: "env_file in an override file",
    files: ({ outside }) => ({
      ...plain,
      "more.yaml": { services: { web: { env_file: `${outside}/x.env` } } },
    }),
    configuration: () => ({ compose_files: ["compose.yaml", "more.yaml"] }),
  },
  {
    title: "env_file under the tag of an override",
    files: ({ outside }) => text(`${yaml}    env_file: !override [${outside}/x.env]\n`),
  },
  {
    title: "env_file through a link out of the repository",
    files: ({ outside }) => ({
      ...web({ env_file: "l.env" }),
      "l.env": { link: `${outside}/x.env` },
    }),
  },
  {
    title: "env_file through a directory link that climbs out",
    files: ({ climbing }) => ({ ...web({ env_file: "d/x.env" }), d: { link: climbing } }),
  },
  {
    title: "compose_files with an absolute path",
    files: () => plain,
    configuration: ({ outside }) => ({ compose_files: [`${outside}/compose.yaml`] }),
    says: /compose_files/,
  },
  {
    title: "compose_files that climb out",
    files: () => plain,
    configuration: ({ climbing }) => ({ compose_files: [`${climbing}/compose.yaml`] }),
    says: /compose_files/,
  },
  {
    title: "env_files with an absolute path",
    files: () => plain,
    configuration: ({ outside }) => ({ env_files: [`${outside}/x.env`] }),
    says: /env_files/,
  },
  {
    title: "env_files that climb out",
    files: () => plain,
    configuration: ({ climbing }) => ({ env_files: [`${climbing}/x.env`] }),
    says: /env_files/,
  },
  {
    title: "working_dir that climbs out",
    files: () => plain,
    configuration: ({ climbing }) => ({ working_dir: climbing }),
    says: /working_dir/,
  },
  {
    title: "working_dir through a link",
    files: ({ outside }) => ({ ...plain, out: { link: outside } }),
    configuration: () => ({ working_dir: "out" }),
    says: /out/,
  },
];

/** Levels of directories below the root of a tree: more than lie above it. */
const DEEP = Array.from({ length: 30 }, (_, at) => `${at}`).join("/");
const UP = DEEP.replace(/\d+/g, "..");
const CLIMBS = /project_directory: no path of the includes/;

/** Includes in includes, whose paths versions of compose put behind each other in several ways. */
const NESTED: readonly Attack[] = [
  {
    title: "extends below three includes, that takes a file of one directory as one of another",
    configuration: () => ({ working_dir: `t2/t/${DEEP}` }),
    files: ({ outside }) => ({
      [`t2/t/${DEEP}/compose.yaml`]: { include: [{ path: "i1.yml", project_directory: UP }] },
      [`t2/t/${DEEP}/i1.yml`]: { include: [{ path: "i2.yml", project_directory: "app" }] },
      ...Object.fromEntries(["t2/t", `t2/t/${DEEP}`].flatMap((at) => [
        [`${at}/i2.yml`, { include: [{ path: "i3.yml", project_directory: "c" }] }],
        [`${at}/app/i3.yml`, one({ extends: { file: "../ext.yml", service: "web" } })],
        [`${at}/app/c/k`, ""],
      ])),
      [`t2/t/${DEEP}/app/ext.yml`]: {
        services: {
          web: { env_file: [{ path: `${UP}/../../..${outside}/x.env`, required: false }] },
        },
      },
      "t2/t/app/ext.yml": { services: { web: { labels: { x: "y" } } } },
    }),
    says: CLIMBS,
  },
  {
    title: "env_file of a file below two includes, behind what leads to the first of them twice",
    configuration: () => ({ working_dir: DEEP }),
    files: ({ outside }) => ({
      [`${DEEP}/compose.yaml`]: { include: [`${UP}/i1.yml`] },
      "i1.yml": { include: [{ path: "i2.yml", project_directory: "." }] },
      "i2.yml": { include: ["i3.yml"] },
      "i3.yml": one({ env_file: `${outside.slice(1)}/x.env` }),
    }),
    says: CLIMBS,
  },
];

const BUILDS: readonly Attack[] = [
  { title: "build context outside", files: ({ outside }) => building({ context: outside }) },
  {
    title: "build context that climbs out",
    files: ({ climbing }) => building({ context: climbing }),
  },
  {
    title: "build context by a variable",
    files: ({ outside }) => ({
      ...building({ context: "${WHERE}" }),
      ".env": `WHERE=${outside}\n`,
    }),
  },
  {
    title: "build context that climbs out once buildx evaluated it",
    files: ({ climbing }) => {
      const context = climbing.replaceAll("..", ".%{if true}.%{endif}");
      return building({ context });
    },
    says: /context with \$\{ or %\{/,
  },
  {
    title: "build context by a function of buildx",
    files: ({ climbing }) => {
      const words = JSON.stringify(climbing.split("/"));
      return building({ context: `a/$\${join("/", ${words})}` });
    },
    says: /context with \$\{ or %\{/,
  },
  {
    title: "dockerfile outside",
    files: ({ outside }) => building({ context: ".", dockerfile: `${outside}/Dockerfile` }),
  },
  {
    title: "dockerfile that climbs out",
    files: ({ climbing }) => building({ context: ".", dockerfile: `${climbing}/Dockerfile` }),
  },
  {
    title: "additional context outside",
    files: ({ outside }) => building({ context: ".", additional_contexts: { a: outside } }),
  },
  {
    title: "additional context that is an image on this machine",
    files: ({ outside }) =>
      building({ context: ".", additional_contexts: [`a=oci-layout://${outside}:1`] }),
    says: /from elsewhere: only directories of the repository are built/,
  },
  {
    title: "additional context that some versions take for a service, and others for a path",
    files: ({ climbing }) => ({
      ...building({ context: ".", additional_contexts: { a: `service:x:///../../${climbing}` } }),
      "service:x:/y": "",
    }),
    says: /additional_contexts\.a from elsewhere|unknown service/,
  },
  {
    title: "build secret outside",
    files: ({ outside }) =>
      building({ context: ".", secrets: ["s"] }, { secrets: { s: { file: `${outside}/x.env` } } }),
  },
  {
    title: "build secret of a file whose name goes on, to buildx, with another file",
    files: ({ outside }) =>
      building({ dockerfile_inline: READS_SECRET, context: ".", secrets: ["s"] }, {
        secrets: { s: { file: `./x,src=${outside}/x.env` } },
      }),
    says: /comma or a quotation mark/,
  },
  {
    title: "build secret by a path that is absolute on Windows, and climbs from there",
    files: ({ climbing }) => ({
      ...building({ dockerfile_inline: READS_SECRET, context: ".", secrets: ["s"] }, {
        secrets: { s: { file: `c:/../${climbing}/x.env` } },
      }),
      "c:/a": "",
    }),
    says: /not absolute here/,
  },
  {
    title: "env_file by a text that is a map elsewhere",
    files: ({ outside }) => ({
      "compose.yaml": `services: {web: {image: "${IMAGE}", env_file: [${outside}/x.env:]}}\n`,
    }),
    says: /colon at the end/,
  },
  {
    title: "env_file by a key that begins with a question mark elsewhere",
    files: ({ outside }) => ({
      "compose.yaml": `services: {web: {image: "${IMAGE}", ?env_file: ${outside}/x.env}}\n`,
    }),
    says: /between quotes/,
  },
  {
    title: "env_file behind an anchor whose name ends earlier elsewhere",
    files: ({ outside }) => ({
      "compose.yaml": `services:\n  web:\n    image: "${IMAGE}"\n    env_file:\n` +
        `      - &x:/../../../../../../../../../../../../..${outside}/x.env\n`,
    }),
    says: /a blank behind it/,
  },
  {
    title: "env_file behind a tag that goes on with a comma elsewhere",
    files: ({ outside }) => ({
      "compose.yaml":
        `services: {web: {image: "${IMAGE}", env_file: [!override,x ${outside}/x.env]}}\n`,
    }),
    says: /a tag has a blank behind it/,
  },
  {
    title: "build secret by a name that goes on with another file, and what follows in quotes",
    files: ({ outside }) => ({
      ...building({
        dockerfile_inline: READS_SECRET,
        context: ".",
        secrets: [{ source: "s", target: `s,src=${outside}/x.env,"id=x` }],
      }, { secrets: { s: { file: './a"' } } }),
      'a"': "a",
    }),
    says: /comma or a quotation mark/,
  },
  {
    title: "key for the build",
    files: ({ outside }) => building({ context: ".", ssh: [`k=${outside}/x.env`] }),
    // This compose cannot even print it.
    says: /builds get no keys of this machine|SSHKey/,
  },
  {
    title: "build cache written to this machine",
    files: ({ outside }) =>
      building({ context: ".", cache_to: [`type=local,dest=${outside}/cache`] }),
    says: /cache_to with a directory/,
  },
  {
    title: "build cache written to this machine, in quotes",
    files: ({ outside }) =>
      building({ context: ".", cache_to: [`"type=local","dest=${outside}/cache"`] }),
    says: /cache_to with a directory/,
  },
  {
    title: "build cache with the credentials of this machine",
    files: () => building({ context: ".", cache_from: ["type=s3,bucket=b,region=r"] }),
    says: /cache_from of type s3 without/,
  },
  {
    title: "build context of another repository",
    files: () => building({ context: "https://git.example/a.git#main" }),
    says: /build context from elsewhere/,
  },
  {
    title: "build cache read from this machine",
    files: ({ outside }) => building({ context: ".", cache_from: [`type=local,src=${outside}`] }),
    says: /cache_from with a directory/,
  },
  {
    title: "seccomp profile outside",
    files: ({ outside }) => web({ security_opt: [`seccomp:${outside}/x.json`] }),
  },
  {
    title: "seccomp profile by a relative path",
    files: ({ climbing }) => web({ security_opt: [`seccomp=${climbing}/x.json`] }),
    says: /seccomp profile by a relative path/,
  },
];

const MOUNTS: readonly Attack[] = [
  {
    title: "a mount of the data directory",
    files: ({ dataDir }) => web({ volumes: [`${dataDir}:/x`] }),
    says: OURS,
  },
  {
    title: "a mount of the instance key, with detours",
    files: ({ dataDir }) =>
      web({ volumes: [`${dirname(dataDir)}/./none/../data//instance.key:/x:ro`] }),
    says: OURS,
  },
  {
    title: "a mount of the instance key through the process",
    files: ({ dataDir }) => web({ volumes: [`/proc/self/root${dataDir}/instance.key:/x:ro`] }),
    says: /volume through what a process has open/,
  },
  {
    title: "a mount of what the engine's working directory leads to",
    files: ({ dataDir }) => web({ volumes: [`/proc/self/cwd${dataDir}:/x:ro`] }),
    says: /volume through what a process has open/,
  },
  {
    title: "a volume in which what the engine's processes have open can be found",
    files: () =>
      web({ volumes: ["vol:/x"] }, {
        volumes: { vol: { driver_opts: { type: "none", o: "bind", device: "/proc" } } },
      }),
    says: /volumes\.vol that shows the processes of the host/,
  },
  {
    title: "a mount that climbs from the tree into the data directory",
    files: () => web({ volumes: ["../../../../../..:/x:ro"] }),
    says: OURS,
  },
  {
    title: "a mount of the data directory through a link on the host",
    files: ({ outside }) => web({ volumes: [`${outside}/to-data:/x:ro`] }),
    says: OURS,
  },
  {
    title: "a mount of the data directory through a link with a dollar sign in its name",
    files: ({ outside }) => web({ volumes: [`${outside}/to$$data:/x:ro`] }),
    says: OURS,
  },
  {
    title: "a volume over the data directory",
    files: ({ dataDir }) =>
      web({ volumes: ["vol:/x"] }, {
        volumes: { vol: { driver_opts: { type: "none", o: "bind", device: dataDir } } },
      }),
    says: OURS,
  },
  {
    title: "a volume over the data directory, by a type without files and a relative path",
    files: ({ dataDir }) =>
      web({ volumes: ["vol:/x"] }, {
        volumes: { vol: { driver_opts: { type: "tmpfs", o: "bind", device: `../..${dataDir}` } } },
      }),
    says: OURS,
  },
  {
    title: "a volume over the data directory, by climbing back from where a link leads",
    files: ({ dataDir }) =>
      web({ volumes: ["vol:/x"] }, {
        volumes: {
          vol: { driver_opts: { type: "none", o: "bind", device: `/var/run/..${dataDir}` } },
        },
      }),
    says: /volumes\.vol by a path that climbs back/,
  },
  {
    title: "an overlay over the data directory",
    files: ({ dataDir }) =>
      web({ volumes: ["vol:/x"] }, {
        volumes: {
          vol: {
            driver_opts: { type: "overlay", device: "overlay", o: `lowerdir=/none:${dataDir}` },
          },
        },
      }),
    says: OURS,
  },
  {
    title: "a place of another driver in the data directory",
    files: ({ dataDir }) =>
      web({ volumes: ["vol:/x"] }, {
        volumes: { vol: { driver: "local-persist", driver_opts: { mountpoint: `${dataDir}/x` } } },
      }),
    says: OURS,
  },
  {
    title: "a secret that is the ledger",
    files: ({ dataDir }) =>
      web({ secrets: ["s"] }, { secrets: { s: { file: `${dataDir}/state.db` } } }),
    says: OURS,
  },
  {
    title: "a config that is the instance key",
    files: ({ dataDir }) =>
      web({ configs: [{ source: "c", target: "/x" }] }, {
        configs: { c: { file: `${dataDir}/instance.key` } },
      }),
    says: OURS,
  },
  {
    title: "a mount of a file with one of our secrets",
    files: ({ outside }) => web({ volumes: [`${outside}/token:/x:ro`] }),
    says: OURS,
  },
];

/** Text in UTF-16 with its mark, as Go's reader of YAML recognises it. */
function utf16(content: string): Uint8Array {
  const bytes = new Uint8Array(2 + content.length * 2);
  bytes.set([0xff, 0xfe]);
  for (let n = 0; n < content.length; n++) bytes[2 + n * 2] = content.charCodeAt(n);
  return bytes;
}

/** An attack, what it tries, and what it is told. */
export interface NamedAttack extends Attack {
  readonly says: RegExp;
}

/** Everything that repositories try in order to get at files that are not theirs. */
export const PATH_ATTACKS: readonly NamedAttack[] = [
  ...named("reading", [...READS, ...NESTED], LEAVES),
  ...named("building", BUILDS, LEAVES),
  ...named("mounting", MOUNTS, OURS),
];

function named(group: string, attacks: readonly Attack[], usual: RegExp): NamedAttack[] {
  return attacks.map((each) => ({ says: usual, ...each, title: `${group}: ${each.title}` }));
}

/** The files of an attack's commit. */
export function filesOf(
  attack: Attack,
  prey: Prey,
  name: string,
): Readonly<Record<string, FakeFile>> {
  const files = Object.entries(attack.files(prey)).map(([path, content]) => [
    path,
    isPart(content) ? JSON.stringify(content) : content,
  ]);
  return {
    ".stackwright.yaml": configFile({ name, ...attack.configuration?.(prey) }),
    ...Object.fromEntries(files),
  };
}

/** Lays out what attackers are after in a directory of its own; who calls it removes `outside`. */
export async function makePrey(): Promise<Omit<Prey, "dataDir">> {
  const outside = await mkdtemp(join(tmpdir(), "swt-canary-"));
  await writeFile(join(outside, "x.env"), `CANARY=${CANARY}\n`);
  await writeFile(join(outside, "x.json"), JSON.stringify({ canary: CANARY }));
  await writeFile(join(outside, "token"), TOKEN);
  await writeFile(join(outside, "Dockerfile"), `FROM scratch\nLABEL a=${CANARY}\n`);
  await writeFile(
    join(outside, "compose.yaml"),
    `services: {prey: {image: ${IMAGE}, environment: {GOT: ${CANARY}}}}\n`,
  );
  return { outside, climbing: `${"../".repeat(20)}${outside.slice(1)}` };
}

function isPart(content: FakeFile | Part): content is Part {
  return typeof content === "object" && !(content instanceof Uint8Array) &&
    !("link" in content) && !("executable" in content);
}

/** Every byte below a directory, as text. */
export async function bytesBelow(directory: string): Promise<string> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile());
  const texts = await Promise.all(
    files.map((each) => readFile(join(each.parentPath, each.name), "latin1")),
  );
  return texts.join("\n");
}
