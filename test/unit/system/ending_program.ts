import process from "node:process";
import { systemCommands } from "../../../src/system/mod.ts";

/**
 * Runs a program with a child that ends with this process, and prints both ids, and `fed` when it has
 * read its input. For a test that kills this process.
 */
await systemCommands.run({
  argv: ["/bin/sh", "-c", "echo $$; sleep 1000 & echo $!; read -r line; echo $line; wait"],
  env: { PATH: "/usr/bin:/bin" },
  endsWithUs: true,
  stdin: "fed\n",
  onLine: (line) => void process.stdout.write(`${line}\n`),
}, new AbortController().signal);
