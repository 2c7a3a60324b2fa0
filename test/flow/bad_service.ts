import { type Part, service } from "./compose_text.ts";
import type { World } from "./world.ts";

/** What a bad service writes before it ends; the fake engine's containers write nothing. */
export const LAST_WORDS = "cannot open the shop";

/** A service that ends with 3 right after its start, on either engine. */
export function badService(world: World, more: Part = {}): Part {
  if (world.fake === undefined) {
    return service({ command: ["sh", "-c", `echo ${LAST_WORDS}; exit 3`], ...more });
  }
  const image = `${world.stack}-bad:1`;
  world.fake.addImage(image, { where: "both", onStart: { exit: 3 } });
  return service({ image, ...more });
}
