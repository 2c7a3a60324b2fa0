import { DISCOVERY_DEFAULTS } from "./deployment_defaults.ts";
import { closed, field, flag, whole } from "./schema_words.ts";

/** The section `auto_discovery`. */
export const autoDiscovery = closed({
  enabled: field(flag(), "Find the compose projects below the working directory and deploy each."),
  depth: field(whole(0), "Levels of directories to look at; 0 is all."),
  delete: field(flag(), "Remove discovered deployments that the repository no longer has."),
  remove_volumes: field(
    flag(),
    "Remove the volumes of those as well, and what they wrote to relative mounts.",
  ),
  remove_images: field(flag(), "Remove the images of those as well."),
}, DISCOVERY_DEFAULTS);
