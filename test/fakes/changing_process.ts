/**
 * Begins a deployment of the stack `web` by the ledger in a directory, as a process of its own; says so,
 * and ends when its standard input does. Its arguments: the directory.
 */
import { join } from "node:path";
import process from "node:process";
import { stackKey } from "../../src/model/mod.ts";
import { InstanceKey, Ledger, processesOf } from "../../src/record/mod.ts";
import { createIds, systemClock } from "../../src/system/mod.ts";
import { releaseOf } from "../unit/record/releases.ts";

const [directory = ""] = process.argv.slice(2);
const ledger = new Ledger(join(directory, "state.db"), {
  key: new InstanceKey(new Uint8Array(32).fill(7)),
  clock: systemClock,
  ids: createIds(systemClock),
  processes: processesOf(directory),
  redact: String,
});
ledger.beginDeploy(releaseOf(stackKey("", "web"), "a1"));
process.stdout.write("begun\n");
process.stdin.on("end", () => {
  ledger.close();
  process.exit(0);
});
process.stdin.resume();
