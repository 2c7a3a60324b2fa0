import type { ComposeCall } from "../deploy/mod.ts";
import { objectAt, serviceOf } from "../compose/mod.ts";
import { errors } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** Texts as compose interpolates them, in a model made for this. Throws `render_failed`. */
export async function interpolate(
  { host: { compose } }: Pick<PrepareParts, "host">,
  { project, variables }: Pick<ComposeCall, "project" | "variables">,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const labels = Object.fromEntries(texts.map((text, index) => [`p${index}`, text]));
  const model = { services: { texts: { image: "texts", labels } } };
  const call = { project: { ...project, files: ["-"], profiles: [] }, variables, model };
  const rendered = await compose.render(call, signal);
  const values = objectAt(serviceOf(rendered, "texts"), "labels");
  return texts.map((_, index) => {
    const value = values[`p${index}`];
    if (typeof value === "string") return value.replaceAll("$$", "$");
    throw errors.internal("docker compose did not print an interpolated text");
  });
}
