import process from "node:process";
import { main } from "./src/cli/mod.ts";

// No top-level await: Bun cannot compile it to bytecode.
main().then((code) => process.exit(code));
