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
import { fileURLToPath, pathToFileURL } from "node:url";

/** One generated page. */
interface Page {
  /** Where it is written, from the root. */
  readonly path: string;
  /** Module, from the root, and its function without arguments that returns the Markdown body. */
  readonly source: string;
  readonly maker: string;
  readonly head: string;
}

const PAGES: readonly Page[] = [
  {
    path: "docs/configuration.md",
    source: "src/config/config_reference.ts",
    maker: "configReference",
    head: `# Configuration

What a repository says about its deployments (\`.stackwright.yaml\`, one document per deployment), and
what a poll entry (\`POLL_CONFIG\`) may hold. Unknown keys are errors. \`stackwright validate DIR\` checks
a checkout, \`stackwright schema\` prints the same as JSON Schema for editors.
`,
  },
  {
    path: "docs/settings.md",
    source: "src/settings/settings_reference.ts",
    maker: "settingsReference",
    head: `# Settings

Read once at start from the environment. A setting with a second name \`…_FILE\` can also be read from
the file that this names. Every problem is reported, one line each, and the program then exits with code 78.
`,
  },
];

const root = fileURLToPath(new URL("..", import.meta.url));

async function main(check: boolean): Promise<number> {
  let stale = 0;
  for (const page of PAGES) {
    if (!existsSync(join(root, page.source))) continue;
    const text = formatted(`${page.head}\n${await bodyOf(page)}`);
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

async function bodyOf({ source, maker }: Page): Promise<string> {
  const module: Record<string, unknown> = await import(pathToFileURL(join(root, source)).href);
  const make = module[maker];
  if (typeof make !== "function") throw new Error(`${source} exports no function ${maker}()`);
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

process.exitCode = await main(process.argv.includes("--check"));
