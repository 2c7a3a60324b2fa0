import { posix } from "node:path";
import type { Random } from "../fakes/random.ts";
import { chance, either, pick, some } from "./guard_picks.ts";
import { type Value, written } from "./guard_yaml.ts";

/** Files of a repository by their paths. */
export type Repository = ReadonlyMap<string, string>;

/** Directories of every repository, and of every directory around it. */
export const PLACES = ["", "d", "d/e", "app", "app/d"] as const;
/** Files that lie in each of them: the ones that others include, extend, and read variables from. */
export const INCLUDED = ["inc1.yml", "inc2.yml", "inc3.yml"] as const;
export const EXTENDED = ["ext1.yml", "ext2.yml"] as const;
export const DOTENV = ["a.env", "b.env"] as const;

/** The compose files of a project; the second may be missing. */
export const COMPOSE_FILES = ["app/compose.yaml", "app/more.yaml"] as const;

/** A repository whose compose files name each other and files with variables in every way there is. */
export function repositoryFrom(random: Random): Repository {
  return chance(random, 3) ? nestedFrom(random) : variedFrom(random);
}

/**
 * A repository in which each included file includes the next one, and the last of them extends another:
 * by project directories that climb, and by some that are not there.
 */
function nestedFrom(random: Random): Repository {
  const files = new Map<string, string>();
  const json = (value: Value) => JSON.stringify(value);
  const env_file = (place: string) => [
    { path: pathTo(random, place, DOTENV), required: false },
    { path: DOTENV[0], required: false },
  ];
  const include = (place: string, name: string) => {
    const path = pathTo(random, place, [name]);
    if (chance(random, 2)) return { include: [path] };
    const base = chance(random, 4)
      ? pick(random, ["none", "d/none", ".."])
      : directory(random, place);
    return { include: [{ path, project_directory: base }] };
  };
  const base = (place: string, more: Record<string, Value> = {}) =>
    json({ services: { base: { image: "x", ...more, env_file: env_file(place) } } });
  const extended = (place: string, name: string) => ({
    extends: { file: pathTo(random, place, [name]), service: "base" },
  });
  for (const place of PLACES) {
    const at = (name: string) => posix.join(place, name);
    files.set(at(INCLUDED[0]), json(include(place, INCLUDED[1])));
    files.set(at(INCLUDED[1]), json(include(place, INCLUDED[2])));
    files.set(at(INCLUDED[2]), base(place, extended(place, EXTENDED[0])));
    files.set(at(EXTENDED[0]), base(place, chance(random, 2) ? extended(place, EXTENDED[1]) : {}));
    files.set(at(EXTENDED[1]), base(place));
    for (const name of DOTENV) files.set(at(name), "");
  }
  files.set("app/compose.yaml", json(include("app", INCLUDED[0])));
  return files;
}

function variedFrom(random: Random): Repository {
  const files = new Map<string, string>();
  for (const place of PLACES) {
    const at = (name: string) => place === "" ? name : `${place}/${name}`;
    const id = place.replaceAll("/", "") || "top";
    for (const [rank, name] of INCLUDED.entries()) {
      const model = composeModel(random, {
        place,
        rank: rank + 1,
        extendedRank: 0,
        service: `${id}${rank}`,
      });
      files.set(at(name), written(random, model));
    }
    for (const [rank, name] of EXTENDED.entries()) {
      const own = { place, rank: INCLUDED.length, extendedRank: rank + 1, service: "base" };
      files.set(at(name), written(random, composeModel(random, own)));
    }
    for (const name of DOTENV) files.set(at(name), dotenvText(random, `${id}${name[0]}`));
    if (chance(random, 9)) files.set(at(".env"), dotenvText(random, `${id}dot`));
  }
  const model = composeModel(random, { place: "app", rank: 0, extendedRank: 0, service: "web" });
  const second = () => written(random, secondModel(random));
  const text = written(random, model) + (chance(random, 4) ? `\n---\n${second()}` : "");
  const [first, more] = COMPOSE_FILES;
  files.set(first, chance(random, 4) ? mutated(random, text) : text);
  if (chance(random, 2)) files.set(more, second());
  return files;
}

/** What another compose file, or document, says of the same services: nothing of some of them. */
function secondModel(random: Random): Value {
  const own = { place: "app", rank: INCLUDED.length, extendedRank: 0, service: "web" };
  // Compose merges it with what the first file extends, key by key.
  const renamed = { extends: { service: "base" } };
  if (chance(random, 2)) return { services: { base: null, web: renamed } };
  const again = () => pick(random, [() => null, () => renamed, () => service(random, own)])();
  const names = ["web", "webb", "base"].filter(() => chance(random, 2));
  return { services: Object.fromEntries(names.map((name) => [name, again()])) };
}

interface Own {
  /** Directory of the file. */
  readonly place: string;
  /** Only files of a higher rank are included, so that none includes itself. */
  readonly rank: number;
  readonly extendedRank: number;
  readonly service: string;
}

export function composeModel(random: Random, own: Own): Value {
  const includes = INCLUDED.slice(own.rank);
  const model: Record<string, Value> = {};
  if (chance(random, 4)) model["x-note"] = payload(random);
  if (chance(random, 3)) {
    model["x-part"] = { env_file: climbing(random, DOTENV), k: payload(random) };
  }
  if (includes.length > 0 && chance(random, own.rank === 0 ? 1 : 2)) {
    model["include"] = some(random, 2, () => includeEntry(random, own.place, includes));
  }
  const services: Record<string, Value> = { [own.service]: service(random, own) };
  if (chance(random, 3)) services[`${own.service}b`] = service(random, own);
  // Only files that are extended may have a service without a key.
  if (own.extendedRank > 0) services["nul"] = null;
  else if (own.service === "web" && chance(random, 2)) services["base"] = service(random, own);
  model["services"] = services;
  return model;
}

function includeEntry(random: Random, place: string, names: readonly string[]): Value {
  const path = () => pathTo(random, place, names);
  if (chance(random, 3)) return path();
  const key = (name: string) => chance(random, 30) ? name.toUpperCase() : name;
  const base = chance(random, 4) ? pick(random, DOWN) : directory(random, place);
  return {
    [key("path")]: chance(random, 4) ? [path(), path()] : path(),
    ...(chance(random, 2) ? { [key("project_directory")]: base } : {}),
    ...(chance(random, 6) ? { [key("env_file")]: pathTo(random, place, DOTENV) } : {}),
  };
}

function service(random: Random, { place, extendedRank, service: name }: Own): Value {
  const names = EXTENDED.slice(extendedRank);
  const extended = names.length > 0 && chance(random, 2)
    ? { extends: extendsEntry(random, pathTo(random, place, names)) }
    : {};
  const env: Value = either(random, {
    path: pathTo(random, place, DOTENV),
    required: false,
    ...(chance(random, 5) ? { format: "raw" } : {}),
  }, pathTo(random, place, DOTENV));
  return {
    image: `x-${name}`,
    ...extended,
    ...(chance(random, 2)
      ? { env_file: chance(random, 2) ? [env] : pathTo(random, place, DOTENV) }
      : {}),
    ...(chance(random, 9) ? { label_file: pathTo(random, place, DOTENV) } : {}),
    ...(chance(random, 9) ? { profiles: ["p"] } : {}),
    ...(chance(random, 4) ? { labels: { n: payload(random) } } : {}),
  };
}

function extendsEntry(random: Random, file: string): Value {
  const service = either(random, "base", "nul");
  return chance(random, 9) ? { service } : { file, service };
}

const UP = ["${UP}", "${NONE:-..}", "${UP:+..}", ".${DOT}", "d/../.."] as const;
const DOWN = [
  "d",
  "e",
  "app",
  "${D}",
  "none",
  "none/..",
  "~",
  "l2",
  "tree",
  "$$",
  "..",
  ".",
] as const;

/** A directory as one of `place` would write it; few of them are none, or lie outside. */
function directory(random: Random, place: string): string {
  const parts = posix.relative(place, pick(random, PLACES)).split("/");
  if (chance(random, 12)) parts.splice(random(parts.length + 1), 0, pick(random, DOWN));
  const written = parts.map((part) =>
    part === ".." && chance(random, 12) ? pick(random, UP) : part
  );
  return (chance(random, 4) ? "./" : "") + (written.join("/") || ".") +
    (chance(random, 6) ? "/" : "");
}

function pathTo(random: Random, place: string, names: readonly string[]): string {
  const name = pick(random, names);
  if (chance(random, 3)) return name;
  return `${directory(random, place)}/${chance(random, 20) ? "${NONE:-}" : ""}${name}`;
}

function climbing(random: Random, names: readonly string[]): string {
  return "../".repeat(1 + random(4)) + pick(random, names);
}

/** What would be a fault if it were read as a part of the file. */
export function payload(random: Random): string {
  const path = climbing(random, DOTENV);
  return pick(random, [
    `env_file: ${path}`,
    `\nservices:\n  web:\n    env_file: ${path}\n`,
    `" \n    env_file: ${path} #`,
    `{env_file: ${path}}`,
    `\n    env_file: ${path}`,
    `\n  - ${path}`,
    `': ${path}`,
    `include: [${climbing(random, INCLUDED)}]`,
  ]);
}

/** Lines of a dotenv file, whose variables are those of paths; each says whose they are. */
function dotenvText(random: Random, id: string): string {
  const lines = [
    `SEEN_${id}=1`,
    pick(random, ["UP=..", "export UP=..", "UP='..'", 'UP=".."', "UP=${NONE:-..}", "UP: .."]),
    pick(random, ["D=d", "D=d # x", "D=d#x", 'D="d\\n"', "D=${UP}/d", "D='${UP}'", "D = d"]),
    pick(random, ["DOT=.", "DOT=", "# DOT=.", "DOT=. ", "DOT='\n.'", "DOT=$UP"]),
  ].filter(() => !chance(random, 6));
  return (chance(random, 12) ? "\ufeff" : "") + lines.join(chance(random, 8) ? "\r\n" : "\n") +
    "\n";
}

const TOKENS = [
  "&a ",
  "*a",
  "*a ",
  "!reset ",
  "!override ",
  "!!str ",
  "! ",
  "<<: *a\n",
  "<<: ",
  "? ",
  ": ",
  ":",
  "- ",
  "|\n",
  ">-\n",
  "|2\n",
  "#",
  " #",
  "\t",
  "'",
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ", ",
  "---\n",
  "...\n",
  "%TAG ! !x\n",
  "\n",
  "\n  ",
  "\n    ",
  "  ",
  " ",
  "\r\n",
  "\u00a0",
  "\\\n",
  "~",
  "null",
  "env_file",
  "include",
  "extends",
  "services",
  "file",
  "path",
  "../../a.env",
  "../../../../a.env",
  "../../../../inc1.yml",
  "${NONE",
  "}",
  "$$",
  "$",
  "@",
  "`",
  "\\x2e",
  "\\/",
  "\\u2028",
  "=",
  "0x1",
  "1e3",
  "yes",
  "\ud83d\ude00",
  "\u200b",
  "\u0085",
  "\r",
  "\v",
] as const;

/** The text with a few pieces put in, taken out, doubled or moved. */
export function mutated(random: Random, text: string): string {
  let next = text;
  for (let times = 1 + random(2); times > 0; times--) {
    const at = random(next.length + 1);
    const length = 1 + random(chance(random, 3) ? 30 : 3);
    const token = pick(random, TOKENS);
    next = pick(random, [
      () => next.slice(0, at) + token + next.slice(at),
      () => next.slice(0, at) + token + next.slice(at),
      () => atLine(next, at, (line) => line + token),
      () => atLine(next, at, (line) => token + line),
      () => atLine(next, at, (line) => `${line}\n${line}`),
      () => atLine(next, at, (line) => line.replace(/^ {2}|^/, chance(random, 2) ? "" : "    ")),
      () => atLine(next, at, (line) => line.replace(/: ?/, `: ${token}`)),
      () => next.slice(0, at) + next.slice(at + length),
    ])();
  }
  return next;
}

function atLine(text: string, at: number, change: (line: string) => string): string {
  const lines = text.split("\n");
  const index = text.slice(0, at).split("\n").length - 1;
  lines[index] = change(lines[index] ?? "");
  return lines.join("\n");
}
