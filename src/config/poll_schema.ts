import * as z from "zod";
import { deploymentSchema } from "./deployment_schema.ts";
import { ARTIFACT_PATTERN, REPOSITORY_PATTERN } from "./repository_url.ts";
import { choice, duration, field, flag, needed, scalar } from "./schema_words.ts";

/** Seconds between polls when neither interval nor schedule is given. */
export const DEFAULT_INTERVAL = 180;
/** Shortest interval between polls, in seconds. */
export const LEAST_INTERVAL = 10;
/** Reference of a Git poll that names none. */
export const DEFAULT_REFERENCE = "refs/heads/main";
/** Poll entries one request may have. */
export const MOST_POLL_REQUESTS = 32;

/** One poll configuration. The source of decoder, reference and API schemas. */
export const pollEntrySchema = z.strictObject({
  url: needed(
    z.string({ error: "expected a repository URL or an artifact" })
      .min(1, { error: "expected a repository URL or an artifact, found an empty text" })
      .meta({ pattern: `${REPOSITORY_PATTERN}|${ARTIFACT_PATTERN}` }),
    "Git clone URL, local repository, or OCI artifact.",
  ),
  source: field(choice(["git", "oci", ""]), "Kind of source.", "git"),
  reference: field(
    scalar(),
    `Branch, tag or commit; for Git ${DEFAULT_REFERENCE} when absent. OCI takes it from the URL.`,
  ),
  target: field(scalar(), "Configuration target; absent is the default file."),
  interval: field(
    duration(0),
    "Time between polls; 0 for none, where a watched repository is polled at the start and when " +
      `it changes; else at least ${LEAST_INTERVAL}s. 180s when absent and there is no schedule.`,
  ),
  schedule: field(
    z.string({ error: "expected a cron expression of five fields" }),
    "Cron expression of five fields, @hourly and its like, or @every 5m; a CRON_TZ=zone prefix is " +
      "allowed. Not together with an interval.",
  ),
  run_once: field(flag(), "Poll once at the start and never again.", false),
  watch: field(
    flag(),
    "Poll a repository on this machine as soon as a branch or tag of it changes; not with `schedule` or `run_once`.",
    true,
  ),
  deployments: field(
    z.array(deploymentSchema),
    "Deployment configurations instead of the repository's file.",
  ),
});

/** A poll entry after decoding. */
export type WrittenPollEntry = z.output<typeof pollEntrySchema>;
