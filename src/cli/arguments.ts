import { parseArgs } from "node:util";
import { messageOf, StackwrightError } from "../model/mod.ts";

/** Flags and operands of a command line. */
export interface Arguments {
  readonly json: boolean;
  readonly operands: readonly string[];
}

/**
 * Reads the arguments of a command that takes `--json` and at most `most` operands.
 *
 * Throws `bad_request` for anything else.
 */
export function readArguments(args: readonly string[], most: number): Arguments {
  const { values, positionals } = parse(args);
  if (positionals.length > most) {
    throw new StackwrightError(
      "bad_request",
      `unexpected argument ${positionals[most]}; see --help`,
    );
  }
  return { json: values.json === true, operands: positionals };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { json: { type: "boolean" } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new StackwrightError("bad_request", `${messageOf(error)}; see --help`, { cause: error });
  }
}
