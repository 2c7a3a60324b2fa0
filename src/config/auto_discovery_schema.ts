import * as z from "zod";
import { DEPLOYMENT_DEFAULTS as D } from "./deployment_defaults.ts";
import { field, flag, whole } from "./schema_words.ts";

/** The section `auto_discovery`. */
export const autoDiscovery = z.strictObject({
  enabled: field(
    flag(),
    "Find the compose projects below the working directory and deploy each.",
    D.auto_discovery.enabled,
  ),
  depth: field(whole(0), "Levels of directories to look at; 0 is all.", D.auto_discovery.depth),
  delete: field(
    flag(),
    "Remove discovered deployments that the repository no longer has.",
    D.auto_discovery.delete,
  ),
  remove_volumes: field(
    flag(),
    "Remove the volumes of those as well.",
    D.auto_discovery.remove_volumes,
  ),
  remove_images: field(
    flag(),
    "Remove the images of those as well.",
    D.auto_discovery.remove_images,
  ),
});
