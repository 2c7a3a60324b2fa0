/**
 * The gate's import check: holds the architecture's table of rooms as data and reports every import
 * under src/ that breaks it. Run it as `deno task imports`; it exits 1 when it found something.
 */
import { dirname, join, normalize } from "node:path/posix";
import { reportOn, type Sources, type Violation } from "./lib/gate.ts";
import { type Found, scanImports } from "./lib/import_scanner.ts";

/** What one room may import. */
interface Room {
  /** Other rooms of ours. */
  readonly rooms: readonly string[];
  /** Packages from npm. */
  readonly packages: readonly string[];
}

/** The rooms, and the files of src/ that are rooms of their own (`pipeline.ts` is `pipeline`). */
export const ROOMS: Readonly<Record<string, Room>> = {
  model: room(""),
  system: room("model"),
  settings: room("model config", "zod yaml"),
  config: room("model", "re2js zod yaml"),
  source: room("model config system"),
  secrets: room(
    "model config system",
    "@jmespath-community/jmespath age-encryption aws4fetch yaml",
  ),
  docker: room("model system"),
  trigger: room("model config system docker plan record"),
  plan: room("model config", "croner"),
  compose: room("model config system"),
  deploy: room("model system docker compose"),
  prepare: room("model system config source secrets docker plan compose deploy"),
  record: room("model system"),
  tell: room("model system record"),
  pipeline: room(
    "model system settings config source secrets docker plan compose deploy prepare record tell",
  ),
  intake: room("model system record"),
  api: room("model config system plan source docker deploy record pipeline intake", "diff zod"),
  serve: room(
    "model config system record trigger api intake",
    "@modelcontextprotocol/server swagger-ui-dist zod",
  ),
  app: room(
    "model system settings config source secrets docker trigger plan compose deploy prepare record tell pipeline intake api serve",
  ),
  cli: room("model system settings config source plan api app", "yaml"),
  main: room("cli"),
};

/** Modules with side effects, and the files that may import them; all others get ports. */
const WORLD_MODULES = [
  "node:fs",
  "node:fs/promises",
  "node:http",
  "node:https",
  "node:http2",
  "node:net",
  "node:dgram",
  "node:child_process",
  "node:tls",
];
const WORLD_FILES = [
  "src/docker/ssh_forward.ts",
  "src/docker/transport.ts",
  "src/serve/listener.ts",
];
const WORLD_ROOMS = ["system"];

/** Modules that one room keeps for itself. */
const PRIVATE_MODULES: Readonly<Record<string, string>> = { "node:sqlite": "record" };

/** Files outside src/ that a room may import. */
const OUTSIDE_FILES: Readonly<Record<string, readonly string[]>> = { cli: ["package.json"] };

function room(rooms: string, packages = ""): Room {
  const words = (text: string) => text.split(" ").filter((word) => word !== "");
  return { rooms: words(rooms), packages: words(packages) };
}

/** Checks `main.ts` and everything under `src/`; returns what breaks a rule, in order of files. */
export function checkImports(sources: Sources): Violation[] {
  const edges = new Map<string, Edge>();
  const violations = [...sources].flatMap(([file, text]) => checkFile(file, text, edges));
  return [
    ...violations,
    ...roomsWithoutModule(sources),
    ...cycles([...edges.values()], "rooms"),
    ...cycles([...sources].flatMap(([file, text]) => edgesOfFile(file, text)), "files"),
  ];
}

/** An import of another file inside a room; imports of types count like any other. */
function edgesOfFile(file: string, text: string): Edge[] {
  const own = scanImports(text).imports.filter((found) => found.text.startsWith("."));
  return own.flatMap(({ text, line }) => {
    const to = normalize(join(dirname(file), text));
    return roomOf(to) === roomOf(file) ? [{ from: file, to, file, line }] : [];
  });
}

/** An import that makes one room or file depend on another. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly line: number;
}

function checkFile(file: string, text: string, edges: Map<string, Edge>): Violation[] {
  const name = roomOf(file);
  const rules = name === undefined ? undefined : ROOMS[name];
  if (name === undefined || rules === undefined) {
    const rule = "belongs to no room of the architecture's table; add it there first";
    return [{ file, line: 1, rule }];
  }
  const scan = scanImports(text);
  const touchesWorld = WORLD_ROOMS.includes(name) || WORLD_FILES.includes(file);
  const broken: Violation[] = [];
  const report = ({ line }: Found, rule: string) => broken.push({ file, line, rule });
  for (const found of scan.globals) {
    if (!touchesWorld) report(found, `only ${worldNames()} may use ${found.text}; take a port`);
  }
  for (const found of scan.imports) {
    const rule = found.text.startsWith(".")
      ? ownImportRule({ file, name, rules, found, edges })
      : packageRule({ specifier: found.text, name, rules, touchesWorld });
    if (rule !== undefined) report(found, rule);
  }
  return broken;
}

/** `src/deploy/x.ts` is of `deploy`, `src/app.ts` of `app`, `main.ts` of `main`. */
function roomOf(file: string): string | undefined {
  if (file === "main.ts") return "main";
  return /^src\/([^/]+?)(?:\.ts$|\/)/.exec(file)?.[1];
}

function ownImportRule(
  { file, name, rules, found, edges }: {
    file: string;
    name: string;
    rules: Room;
    found: Found;
    edges: Map<string, Edge>;
  },
): string | undefined {
  const target = normalize(join(dirname(file), found.text));
  const to = roomOf(target);
  if (to === name) return undefined;
  if (to === undefined) {
    const outside = OUTSIDE_FILES[name] ?? [];
    return outside.includes(target) ? undefined : `${name} may not import ${target}`;
  }
  const key = `${name} ${to}`;
  if (!edges.has(key)) edges.set(key, { from: name, to, file, line: found.line });
  if (rules.rooms.includes(to)) return undefined;
  return `${name} may not import ${to}; it may import ${listed(rules.rooms)}`;
}

function packageRule(
  { specifier, name, rules, touchesWorld }: {
    specifier: string;
    name: string;
    rules: Room;
    touchesWorld: boolean;
  },
): string | undefined {
  if (specifier.startsWith("node:")) {
    const owner = PRIVATE_MODULES[specifier];
    if (owner !== undefined && owner !== name) return `only ${owner} may import ${specifier}`;
    if (!WORLD_MODULES.includes(specifier) || touchesWorld) return undefined;
    return `only ${worldNames()} may import ${specifier}; take a port`;
  }
  const packageName = specifier.replace(/^npm:/, "")
    .replace(/^((?:@[^/]+\/)?[^/@]+).*$/, "$1");
  if (rules.packages.includes(packageName)) return undefined;
  return `${name} may not import the package ${packageName}; it may import ${
    listed(rules.packages)
  }`;
}

function worldNames(): string {
  return [...WORLD_ROOMS.map((name) => `${name}/`), ...WORLD_FILES].join(", ");
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}

function roomsWithoutModule(sources: Sources): Violation[] {
  const folders = new Set(
    [...sources.keys()].flatMap((file) => /^src\/[^/]+(?=\/)/.exec(file)?.[0] ?? []),
  );
  // A folder beside `src/pipeline.ts` holds its parts; that file is the room's front then.
  const isOpen = (folder: string) => sources.has(`${folder}/mod.ts`) || sources.has(`${folder}.ts`);
  return [...folders].filter((folder) => !isOpen(folder)).map((folder) => ({
    file: `${folder}/mod.ts`,
    line: 1,
    rule: "is missing: every room has a mod.ts that says what the room is for",
  }));
}

/** One violation per ring of rooms or files that import each other, at an import that is part of it. */
function cycles(edges: readonly Edge[], what: "rooms" | "files"): Violation[] {
  const violations: Violation[] = [];
  const done = new Set<string>();
  const from = Map.groupBy(edges, (edge) => edge.from);
  const visit = (name: string, path: readonly Edge[]) => {
    const start = path.findIndex(({ from }) => from === name);
    if (start !== -1) return void violations.push(ring(path.slice(start), what));
    if (done.has(name)) return;
    for (const edge of from.get(name) ?? []) visit(edge.to, [...path, edge]);
    done.add(name);
  };
  for (const name of from.keys()) visit(name, []);
  return violations;
}

function ring(path: readonly Edge[], what: string): Violation {
  const last = path.at(-1) as Edge;
  const names = [...path.map(({ from }) => from), last.to].join(" -> ");
  return { file: last.file, line: last.line, rule: `closes a cycle of ${what}: ${names}` };
}

if (import.meta.main) reportOn("imports", checkImports);
