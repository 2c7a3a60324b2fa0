import type { Random } from "../fakes/random.ts";
import { chance, pick } from "./guard_picks.ts";

/** Values that texts of compose files are made of. */
export type Value = string | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** A model in one of the many ways that YAML has to write it. */
export function written(random: Random, model: Value): string {
  const head = pick(random, ["", "", "", "---\n", "%YAML 1.1\n---\n", "\ufeff"]);
  const anchors: [string, string][] = [];
  const text = block(random, model, 0, anchors).replace(/^\n/, "");
  const tail = pick(random, ["", "", "", "...\n", "---\nx-y: 1\n", "# end"]);
  const whole = head + text + "\n" + tail;
  return chance(random, 12) ? whole.replaceAll("\n", "\r\n") : whole;
}

/** A value below a key or a dash, with what leads to it: a blank, or a line end. */
function block(random: Random, value: Value, depth: number, anchors: [string, string][]): string {
  const known = anchors.find(([, text]) => text === JSON.stringify(value));
  if (known !== undefined && chance(random, 2)) return ` *${known[0]}`;
  const before = prefix(random, value, depth, anchors);
  const pad = "  ".repeat(depth);
  if (isList(value) && value.length > 0 && !chance(random, 4)) {
    return before +
      value.map((each) => `\n${pad}-${block(random, each, depth + 1, anchors)}`).join("");
  }
  if (isMap(value) && Object.keys(value).length > 0 && !chance(random, 6)) {
    const lines = Object.entries(value).map(([key, each]) => {
      const inner = block(random, each, depth + 1, anchors);
      if (chance(random, 40)) return `\n${pad}? ${key}\n${pad}:${inner}`;
      return `\n${pad}${keyText(random, key)}:${inner}`;
    });
    // A list of maps begins them on the line of the dash only where it is written so.
    return before + merged(random, lines, pad, depth).join("");
  }
  return `${before} ${flow(random, value, depth)}${
    chance(random, 12) ? " # env_file: ../../a.env" : ""
  }`;
}

/** Some of the lines of a map by way of a merge key. */
function merged(random: Random, lines: string[], pad: string, depth: number): string[] {
  if (depth === 0 || lines.length < 2 || !chance(random, 9)) return lines;
  const [first = "", ...rest] = lines;
  const inner = first.replaceAll("\n", "\n  ");
  return [...rest, `\n${pad}<<:${inner}`];
}

function prefix(random: Random, value: Value, depth: number, anchors: [string, string][]): string {
  let text = "";
  if (chance(random, 10)) {
    const name = pick(random, ["a", "b", "c-c"]);
    text += ` &${name}`;
    const at = anchors.findIndex(([each]) => each === name);
    if (at >= 0) anchors.splice(at, 1);
    anchors.push([name, JSON.stringify(value)]);
  }
  if (depth > 1 && chance(random, 20)) {
    text += pick(random, [" !reset", " !override", " !!str", " !"]);
  } else if (chance(random, 25)) {
    text += isMap(value) ? " !!map" : isList(value) ? " !!seq" : " !!str";
  }
  return text;
}

function flow(random: Random, value: Value, depth: number): string {
  if (isList(value)) return `[${value.map((each) => flow(random, each, depth)).join(", ")}]`;
  if (isMap(value)) {
    const entries = Object.entries(value).map(([key, each]) => {
      const colon = chance(random, 6) ? ":" : ": ";
      return (colon === ":" ? JSON.stringify(key) : keyText(random, key)) + colon +
        flow(random, each, depth);
    });
    return `{${entries.join(chance(random, 8) ? ",\n" + "  ".repeat(depth + 1) : ", ")}}`;
  }
  return typeof value === "string" ? scalar(random, value, depth) : String(value);
}

function keyText(random: Random, key: string): string {
  return pick(random, [key, key, key, key, `"${key}"`, `'${key}'`, `${key} `]);
}

function scalar(random: Random, text: string, depth: number): string {
  const way = random(8);
  if (way < 3 && /^[\w./$][\w./$:{}+-]*$/.test(text) && !/[{}]/.test(text)) return text;
  if (way < 5 && !text.includes("\n")) return `'${text.replaceAll("'", "''")}'`;
  if (way === 5) {
    const escaped = JSON.stringify(text).replace(
      /[./]/g,
      (sign) => chance(random, 3) ? `\\x${sign.charCodeAt(0).toString(16)}` : sign,
    );
    return chance(random, 4) ? escaped.replace("/", `/\\\n${"  ".repeat(depth + 1)}`) : escaped;
  }
  return JSON.stringify(text);
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isMap(value: Value): value is { readonly [key: string]: Value } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
