import assert from "node:assert/strict";
import type { FakeFile } from "../../fakes/git_repository.ts";
import { composeFile, service } from "../compose_text.ts";
import { label } from "../steps.ts";
import type { Row, Seen, Step } from "./row.ts";
import { app, CONFIG } from "./texts.ts";

const RULE = "deploy.md §2.2";
const DIRECTORY = "apps/{{stack}}-a";

/** What a discovered stack inherits, and what its own file says about it. */
interface Override {
  /** Lines of the base. */
  readonly base?: readonly string[];
  /** Lines of the directory's own file. */
  readonly own: readonly string[];
  readonly files?: Readonly<Record<string, FakeFile>>;
  readonly status?: Step["status"];
  readonly says?: readonly RegExp[];
  readonly more?: readonly Step[];
}

/** A row about one discovered stack, called as the row's and `-a`. */
function overrideRow(
  title: string,
  covers: readonly string[],
  override: Override,
  see: (seen: Seen) => void | Promise<void>,
): Row {
  const { base = [], own, files, status = "succeeded", says = [], more = [] } = override;
  return {
    rule: RULE,
    title,
    covers,
    steps: [{
      files: {
        [CONFIG]: ["working_dir: apps", "auto_discovery: true", ...base, ""].join("\n"),
        [`${DIRECTORY}/${CONFIG}`]: [...own, ""].join("\n"),
        [`${DIRECTORY}/compose.yaml`]: app("$A$B$C"),
        ...files,
      },
      status,
      says,
      see,
    }, ...more],
  };
}

/** Requires the text of the discovered stack's label. */
const shows = (text: string | undefined, name = "a") => async ({ world, stack }: Seen) =>
  assert.equal(await label(world, "web", "test.v", `${stack}-${name}`), text);

/** Requires the services that run in the discovered stack. */
const runs = (...names: readonly string[]) => async ({ world, stack }: Seen) =>
  assert.deepEqual((await world.containers(`${stack}-a`)).map((each) => each.service), names);

const profiled = composeFile({ debug: service({ profiles: ["debug"] }), web: service() });

/** Overrides of discovered stacks. */
export const OVERRIDE_ROWS: readonly Row[] = [
  overrideRow("maps are joined name by name, the override wins", ["environment"], {
    base: ["environment: {A: a, B: b}"],
    own: ["environment: {B: own, C: c}"],
  }, shows("aownc")),
  overrideRow("null is the same as absent", ["environment", "profiles"], {
    base: ["environment: {A: a}", "profiles: [debug]"],
    own: ["environment: ~", "profiles: ~"],
    files: { [`${DIRECTORY}/compose.yaml`]: profiled },
  }, runs("debug", "web")),
  overrideRow("a list replaces the inherited one, also when it is empty", ["profiles"], {
    base: ["profiles: [debug]"],
    own: ["profiles: []"],
    files: { [`${DIRECTORY}/compose.yaml`]: profiled },
  }, runs("web")),
  overrideRow("explicit false counts", ["remove_orphans"], {
    base: ["remove_orphans: true"],
    own: ["remove_orphans: false"],
    files: { [`${DIRECTORY}/compose.yaml`]: composeFile({ web: service(), worker: service() }) },
    more: [{
      files: { [`${DIRECTORY}/compose.yaml`]: composeFile({ web: service() }) },
      status: "skipped",
      untouched: true,
      see: runs("web", "worker"),
    }],
  }, runs("web", "worker")),
  overrideRow("compose_files and env_files are relative to the directory", ["env_files"], {
    base: ["environment: {C: c}"],
    own: ["compose_files: [own.yaml]", "env_files: [own.env]"],
    files: {
      [`${DIRECTORY}/own.yaml`]: app("own $A$B$C"),
      [`${DIRECTORY}/own.env`]: "A=a\nC=never\n",
    },
  }, shows("own ac")),
  overrideRow("name and working_dir may change; the latter starts at the root", ["name"], {
    own: ["name: {{stack}}-renamed", "working_dir: elsewhere"],
    files: { "elsewhere/compose.yaml": app("there") },
  }, shows("there", "renamed")),
  overrideRow("a bare boolean changes enabled alone", ["destroy", "destroy.remove_volumes"], {
    base: ["destroy: {enabled: false, remove_volumes: false}"],
    own: ["{}"],
    files: {
      [`${DIRECTORY}/compose.yaml`]: composeFile({ web: service({ volumes: ["data:/data"] }) }, {
        volumes: { data: {} },
      }),
    },
    more: [{
      files: { [`${DIRECTORY}/${CONFIG}`]: "destroy: true\n" },
      status: "succeeded",
      see: async ({ world, stack }) => {
        await runs()({ world, stack, branch: "", run: { job_id: "", status: "" } });
        const label = { "com.docker.compose.project": `${stack}-a` };
        const volumes = await world.engine.listVolumes(label, new AbortController().signal);
        assert.equal(volumes.length, 1, "the volume was inherited as kept");
      },
    }],
  }, runs("web")),
  overrideRow("pause of one stack leaves the others alone", ["pause"], {
    own: ["{}"],
    files: { "apps/{{stack}}-b/compose.yaml": app("1") },
    more: [{
      files: {
        [`${DIRECTORY}/${CONFIG}`]: "pause: true\n",
        [`${DIRECTORY}/compose.yaml`]: app("2"),
        "apps/{{stack}}-b/compose.yaml": app("2"),
      },
      status: "succeeded",
      see: async (seen) => {
        await shows("")(seen);
        await shows("2", "b")(seen);
      },
    }],
  }, shows("")),
  overrideRow(
    "what decides about the discovery is protected, and ignored with a warning",
    ["reference", "repository_url", "source", "git_depth", "auto_discovery"],
    {
      own: [
        "reference: gone",
        "repository_url: https://gone.invalid/x.git",
        "source: oci",
        "git_depth: 7",
        "auto_discovery: false",
        "environment: {A: own}",
      ],
    },
    async (seen) => {
      await shows("own")(seen);
      const ignored = seen.world.lines.filter((line) => /ignored: a discovered/.test(line.message))
        .filter((line) => JSON.stringify(line).includes(seen.stack))
        .map((line) => /"path":"(\w+)"/.exec(JSON.stringify(line))?.[1]);
      assert.deepEqual([...new Set(ignored)].sort(), [
        "auto_discovery",
        "git_depth",
        "reference",
        "repository_url",
        "source",
      ]);
    },
  ),
  overrideRow(".stackwright.yml is read where there is no .yaml", [], {
    own: ["environment: {A: yaml}"],
    files: { [`${DIRECTORY}/.stackwright.yml`]: "environment: {A: yml}\n" },
    more: [{
      removed: [`${DIRECTORY}/${CONFIG}`],
      status: "succeeded",
      see: shows("yml"),
    }],
  }, shows("yaml")),
  overrideRow("what is wrong only together has the place in the override", ["env_files"], {
    own: ["", "env_files: [../../../x.env]"],
    status: "failed",
    says: [/-a\/\.stackwright\.yaml:2:13: env_files\[0\]: the file is outside the root/],
  }, runs()),
];
