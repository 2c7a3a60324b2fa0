import { posix } from "node:path";
import type { Problem } from "../model/mod.ts";
import { configFileNames, isConfigFileName } from "./config_file_names.ts";
import { parseDeployments } from "./deployment.ts";
import { duplicateStacks } from "./duplicate_stacks.ts";
import { problemsIn } from "./problem_sink.ts";
import type { Checkout } from "./checkout.ts";
import {
  type Declared,
  type DeclaredStack,
  declaredStacks,
  isEncrypted,
  notChecked,
  problemAt,
} from "./validate_discovery.ts";
import type { JobChecks } from "./validate_compose.ts";
import { composeFindings } from "./compose_findings.ts";
import { missingFiles } from "./missing_files.ts";

interface ValidateOptions extends JobChecks {
  /** Directory of the configuration files, `.` when absent. */
  readonly baseDir?: string;
  readonly allowLocalRepositoryUrl?: boolean;
}

interface Validation extends Omit<Declared, "overrides"> {
  /** Configuration files that were read, those of discovered directories included. */
  readonly files: readonly string[];
}

/**
 * Checks every deployment configuration of a checkout, for every target: syntax and keys, that the
 * listed compose files and dotenv files exist, names that occur twice, and what a discovery in this
 * checkout finds with the overrides it would merge. Never throws for what is in the files.
 */
export async function validateCheckout(
  checkout: Checkout,
  options: ValidateOptions = {},
): Promise<Validation> {
  const base = posix.normalize((options.baseDir ?? ".").replace(/^\/+/, "") || ".");
  const names = (await checkout.names()).filter(isConfigFileName).sort();
  const found: Validation[] = [];
  for (const name of names) {
    found.push(await validateFile(checkout, posix.join(base, name), { ...options, baseDir: base }));
  }
  const problems = found.flatMap((each) => each.problems);
  return {
    files: [...new Set(found.flatMap((each) => each.files))],
    stacks: found.flatMap((each) => each.stacks),
    problems: names.length === 0 ? [noConfiguration(base)] : problems,
    warnings: found.flatMap((each) => each.warnings),
  };
}

async function validateFile(
  checkout: Checkout,
  file: string,
  options: ValidateOptions,
): Promise<Validation> {
  const read = await readDocuments(checkout, file, options);
  const problems = [...read.problems];
  const warnings: Problem[] = [...read.warnings];
  const stacks: DeclaredStack[] = [];
  const files = [file];
  for (const document of read.documents) {
    warnings.push(...document.warnings);
    const declared = await declaredStacks(checkout, { file, document }, options.baseDir ?? ".");
    problems.push(...declared.problems);
    warnings.push(...declared.warnings);
    stacks.push(...declared.stacks);
    files.push(...declared.overrides);
  }
  problems.push(...duplicates(stacks));
  const jobs = { ...options, stacks: new Set(stacks.map(({ deployment }) => deployment.name)) };
  for (const stack of stacks) {
    problems.push(...await missingFiles(checkout, stack));
    const compose = await composeFindings(checkout, stack, jobs);
    problems.push(...compose.problems);
    warnings.push(...compose.warnings);
  }
  return { files, stacks, problems, warnings };
}

/** Duplicate names with a discovered stack; the reader of a file already compared its own names. */
function duplicates(stacks: readonly DeclaredStack[]): Problem[] {
  return duplicateStacks(stacks.map((each) => each.deployment)).flatMap((indexes) => {
    const same = indexes.flatMap((index) => stacks[index] ?? []);
    const last = same.at(-1);
    if (last === undefined || same.every((each) => each.directory === undefined)) return [];
    const places = same.map((each) => each.directory ?? each.deployment.workingDir).join(", ");
    const { name } = last.deployment;
    return [
      problemAt(
        last,
        "name",
        `deployment ${name} is configured ${same.length} times (in ${places})`,
      ),
    ];
  });
}

function noConfiguration(base: string): Problem {
  const [first] = configFileNames("");
  return {
    file: posix.join(base, first ?? ""),
    message: `no deployment configuration found; expected ${configFileNames("").join(", ")}`,
  };
}

async function readDocuments(checkout: Checkout, file: string, options: ValidateOptions) {
  const none = { documents: [], problems: [], warnings: [] };
  try {
    const text = await checkout.read(file);
    if (text === undefined) {
      return { ...none, problems: [{ file, message: "the file cannot be read" }] };
    }
    if (isEncrypted(text)) return { ...none, warnings: [notChecked(file)] };
    const allow = options.allowLocalRepositoryUrl === true;
    const parse = { file, trusted: false, allowLocalRepositoryUrl: allow };
    return { ...none, documents: parseDeployments(text, parse) };
  } catch (error) {
    return { ...none, problems: problemsIn(error) };
  }
}
