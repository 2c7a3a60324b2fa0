import { deploymentJsonSchema } from "../config/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { VERSION } from "./version.ts";

/** `stackwright schema` */
export const schemaCommand: Command = {
  help: `Usage: stackwright schema [--json]

Prints a JSON Schema (draft-07) for .stackwright.yaml, for editors and checks before a commit.
The output is JSON with and without --json.
`,
  run(io) {
    readArguments(io.args, 0);
    io.out(JSON.stringify(deploymentJsonSchema(VERSION), null, 2) + "\n");
    return Promise.resolve(EXIT.ok);
  },
};
