import process from "node:process";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { engines } from "./world.ts";

/** The engines on which images are built here: the real one, where compose can. */
export async function buildingEngines(): Promise<readonly "real"[]> {
  const real = (await engines()).filter((each) => each === "real");
  const missing = real.length === 0 ? undefined : await cannotBuild();
  if (missing === undefined) return real;
  const text = `BUILDING IS NOT TESTED: this compose ${missing}`;
  if (process.env["CI"] === "true") throw new Error(text);
  process.stderr.write(`\n*** ${text} ***\n`);
  return [];
}

/** Why this machine's compose cannot build, if it cannot: a newer one needs a newer buildx. */
async function cannotBuild(): Promise<string | undefined> {
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  try {
    const model = `services: {a: {build: {context: /nowhere}}}`;
    const { output } = await compose.run("unix:///nowhere", ["-f", "-", "build"], model);
    return /requires buildx [\d.]+ or later/.exec(output)?.[0];
  } finally {
    await compose.close();
  }
}
