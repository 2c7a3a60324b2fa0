import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { realSocket, type World } from "./world.ts";

/**
 * Starts a project as a person at a terminal does; relative paths of the model are below `directory`,
 * by default an empty one. The world takes it away where its name begins with the world's stack.
 */
export async function startByHand(
  world: World,
  model: string,
  { project = world.stack, directory }: { readonly project?: string; readonly directory?: string } =
    {},
): Promise<void> {
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const host = world.fake?.host ?? `unix://${await realSocket()}`;
  const empty = await mkdtemp(join(tmpdir(), "swt-by-hand-"));
  const place = ["-p", project, "--project-directory", directory ?? empty, "-f", "-"];
  try {
    const up = await compose.run(host, [...place, "up", "-d", "--pull", "never"], model);
    assert.equal(up.code, 0, up.output);
  } finally {
    await compose.close();
    await rm(empty, { recursive: true, force: true });
  }
}
