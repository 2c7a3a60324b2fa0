import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { VERSION } from "./version.ts";

/** `stackwright version` */
export const versionCommand: Command = {
  help: "Usage: stackwright version [--json]\n",
  run(io) {
    const { json } = readArguments(io.args, 0);
    io.out(json ? JSON.stringify({ version: VERSION }) + "\n" : `stackwright ${VERSION}\n`);
    return Promise.resolve(EXIT.ok);
  },
};
