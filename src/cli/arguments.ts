import { parseArgs } from "node:util";
import { nearestKey } from "../config/nearest_key.ts";
import { errors, type StackKey, stackKey } from "../model/mod.ts";

/** Flags, options and operands of a command line. */
export interface Arguments {
  readonly json: boolean;
  /** Values of the options the command knows, by name. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly operands: readonly string[];
}

/**
 * Reads the arguments of a command that takes `--json`, the named options with a value each, and at
 * most `most` operands.
 *
 * Throws `bad_request` for anything else.
 */
export function readArguments(
  args: readonly string[],
  most: number,
  options: readonly string[] = [],
): Arguments {
  const { values, positionals } = parse(args, options);
  if (positionals.length > most) {
    throw errors.bad_request(`unexpected argument ${positionals[most]}; see --help`);
  }
  const { json, ...rest } = values;
  return {
    json: json === true,
    values: rest as Readonly<Record<string, string | undefined>>,
    operands: positionals,
  };
}

/** Parses leniently, so that our own messages report errors instead of those of each runtime. */
function parse(args: readonly string[], names: readonly string[]) {
  const named = names.map((name) => [name, { type: "string" as const }] as const);
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: { json: { type: "boolean" }, ...Object.fromEntries(named) },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "option") requireKnown(token, names);
  }
  return { values, positionals };
}

interface GivenOption {
  readonly name: string;
  /** As it was typed. */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Whether the value was typed behind `=`. */
  readonly inlineValue?: boolean | undefined;
}

/** Throws `bad_request` for an unknown option, and for one whose value is missing or unexpected. */
function requireKnown(
  { name, rawName, value, inlineValue }: GivenOption,
  names: readonly string[],
): void {
  const known = [...names, "json", "help"];
  if (!known.includes(name)) {
    const near = nearestKey(name, known);
    const meant = near === undefined ? "" : `: did you mean --${near}?`;
    throw errors.bad_request(`there is no option ${rawName}${meant}; see --help`);
  }
  const takesValue = names.includes(name);
  const hasValue = value !== undefined && (inlineValue === true || !value.startsWith("-"));
  if (takesValue !== hasValue) {
    const words = takesValue ? "needs a value" : "takes no value";
    throw errors.bad_request(`${rawName} ${words}; see --help`);
  }
}

/** The stack that the first operand and `--context` name. Throws `bad_request` without a name. */
export function stackOf({ operands, values }: Arguments): StackKey {
  const [name] = operands;
  if (name === undefined || name === "") {
    throw errors.bad_request("the name of a stack is missing; see --help");
  }
  return stackKey(values["context"] ?? "", name);
}

/** A release number. Throws `bad_request` for anything that is none. */
export function releaseNumber(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) {
    throw errors.bad_request(`${text} is no release number; see stackwright history`);
  }
  return Number(text);
}
