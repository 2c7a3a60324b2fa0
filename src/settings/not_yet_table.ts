/** A variable of a capability that this version does not have. */
export interface NotYetRow {
  readonly name: string;
  /** Whether `<name>_FILE` means the same. */
  readonly file: boolean;
  /** Whether it is a switch, which asks for nothing while it is off. */
  readonly flag: boolean;
  /** Whether setting it is an error: ignoring it would deploy what its author wanted held back. */
  readonly refused: boolean;
  /** What does not happen, as a clause. */
  readonly missing: string;
  /** Whether this version does it in another way, which `missing` says, and none ever will do this. */
  readonly settled?: true;
  /** Whether it is a YAML map that asks for nothing until its key `enabled` is true. */
  readonly switchInside?: true;
  /** A value that asks only for the behaviour that this version has anyway. */
  readonly harmless?: string;
}

const EVERY_JOB = "each instance runs the jobs of the stacks that it deployed";

/** Variables that this version does not act on; none of them may be ignored silently. */
export const NOT_YET: readonly NotYetRow[] = [
  { ...refused("OCI_TRUST_POLICY", "no signature is verified", true), switchInside: true },
  {
    ...flag("INTERPOLATE_EXTERNAL_SECRETS", "references are taken as they are written"),
    refused: true,
  },
  {
    ...flag("INTERPOLATE_RESOLVED_SECRETS", "values of secrets are taken as they are"),
    refused: true,
  },
  {
    ...refused("DOCKER_CONTEXT", "the default engine is that of DOCKER_HOST, or of this machine"),
    harmless: "default",
  },
  refused("SCHEDULER_INSTANCE_ID", EVERY_JOB),
  refused("SCHEDULER_REQUIRE_OWNER_CONTEXTS", EVERY_JOB),
  {
    ...text(
      "MAX_DEPLOYMENT_LOOP_COUNT",
      "a release that fails is held back by growing pauses, and what is deployed is not deployed again",
    ),
    settled: true,
  },
  flag("CERT_ROTATION_ENABLED", "no certificate is rotated"),
  text("CERT_ROTATION_THRESHOLD", "no certificate is rotated"),
  text("CERT_ROTATION_CHECK_INTERVAL", "no certificate is rotated"),
  text("APPRISE_API_URL", "no notification is sent"),
  text("APPRISE_NOTIFY_URLS", "no notification is sent", true),
  text("APPRISE_NOTIFY_LEVEL", "no notification is sent"),
  text("APPRISE_NOTIFY_REPEAT_INTERVAL", "no notification is sent"),
  text("APPRISE_NOTIFY_BODY_TEMPLATE", "no notification is sent", true),
  flag("SELF_UPDATE_ENABLED", "Stackwright does not update itself"),
  text("SELF_UPDATE_STRATEGY", "Stackwright does not update itself"),
  flag("GIT_COMMIT_STATUS", "no status is written to commits"),
  text("GIT_SCM_PROVIDER", "no status is written to commits"),
  text("GIT_SCM_API_URL", "no status is written to commits"),
  flag("SECRET_PROVIDER_CACHE_ENABLED", "each run reads every secret once and keeps none"),
  text("SECRET_PROVIDER_CACHE_TTL", "each run reads every secret once and keeps none"),
  text("SECRET_PROVIDER_CACHE_MAX_SIZE", "each run reads every secret once and keeps none"),
  text("OCI_VERIFY_MAX_WORKERS", "no signature is verified"),
  text("OCI_INSECURE_REGISTRIES", "nothing is included from registries"),
  text("ARTIFACT_GC_INTERVAL", "old trees are removed after each run"),
  text("ARTIFACT_GC_RETENTION_TTL", "old trees are kept by number, not by age"),
  flag("SOURCE_GC_ENABLED", "mirrors nobody needs are removed with old trees"),
  text("SOURCE_GC_INTERVAL", "mirrors nobody needs are removed with old trees"),
  text("SOURCE_GC_RETENTION_TTL", "mirrors are kept by number, not by age"),
];

function refused(name: string, missing: string, file = false): NotYetRow {
  return { name, file, flag: false, refused: true, missing };
}

function text(name: string, missing: string, file = false): NotYetRow {
  return { name, file, flag: false, refused: false, missing };
}

function flag(name: string, missing: string): NotYetRow {
  return { name, file: false, flag: true, refused: false, missing };
}
