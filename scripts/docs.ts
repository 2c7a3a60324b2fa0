/**
 * Writes the reference pages from the tables the program itself reads, so that they cannot be wrong:
 *
 *   ./scripts/docs            writes docs/configuration.md and docs/settings.md
 *   ./scripts/docs --check    exits 1 when one of them is not what it would write
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { configReference } from "./lib/config_reference.ts";
import { settingsReference } from "./lib/settings_reference.ts";

/** One generated page. */
interface Page {
  /** Where it is written, from the root. */
  readonly path: string;
  /** The table that it shows, from the root. */
  readonly source: string;
  /** Makes the Markdown body. */
  readonly make: () => string;
  readonly head: string;
}

const PAGES: readonly Page[] = [
  {
    path: "docs/configuration.md",
    source: "src/config/deployment_schema.ts",
    make: configReference,
    head: `# Configuration

What a repository says about its deployments (\`.stackwright.yaml\`, one document per deployment), and
what a poll entry (\`POLL_CONFIG\`) may hold. Unknown keys are errors. \`stackwright validate DIR\` checks
a checkout, \`stackwright schema\` prints the same as JSON Schema for editors.
`,
  },
  {
    path: "docs/settings.md",
    source: "src/settings/settings_table.ts",
    make: settingsReference,
    head: `# Settings

Read once at start from the environment. A setting with a second name \`…_FILE\` can also be read from
the file that this names. Every problem is reported, one line each, and the program then exits with code 78.
`,
  },
];

const root = fileURLToPath(new URL("..", import.meta.url));

function main(check: boolean): number {
  let stale = 0;
  for (const page of PAGES) {
    const text = formatted(`${page.head}\n${bodyOf(page)}`);
    const file = join(root, page.path);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    if (check) {
      process.stderr.write(`${page.path} is not what ${page.source} says; run ./scripts/docs\n`);
      stale++;
    } else {
      writeFileSync(file, text);
      process.stdout.write(`wrote ${page.path}\n`);
    }
  }
  return stale === 0 ? 0 : 1;
}

function bodyOf({ source, make }: Page): string {
  return `<!-- Written by ./scripts/docs from ${source}; change it there. -->\n\n${make()}`;
}

/** The text as \`deno fmt\` leaves it, because the gate checks these pages' format too. */
function formatted(text: string): string {
  const result = spawnSync("deno", ["fmt", "--ext", "md", "-"], {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  if (result.status !== 0) throw new Error(`deno fmt failed: ${result.stderr}`);
  return result.stdout;
}

process.exitCode = main(process.argv.includes("--check"));
