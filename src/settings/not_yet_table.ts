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
}

/**
 * Variables that would change what may be deployed, or how, and that this version does not act on.
 * None of them may be ignored silently.
 */
export const NOT_YET: readonly NotYetRow[] = [
  refused("SYNC_WINDOWS", "deployments are not limited to windows", true),
  refused("OCI_TRUST_POLICY", "no signature is verified", true),
  {
    ...flag("INTERPOLATE_EXTERNAL_SECRETS", "references are taken as they are written"),
    refused: true,
  },
  {
    ...flag("INTERPOLATE_RESOLVED_SECRETS", "values of secrets are taken as they are"),
    refused: true,
  },
  flag("CERT_ROTATION_ENABLED", "no certificate is rotated"),
  text("APPRISE_API_URL", "no notification is sent"),
  flag("MCP_ENABLED", "there is no tool server"),
  flag("SELF_UPDATE_ENABLED", "Stackwright does not update itself"),
];

function refused(name: string, missing: string, file: boolean): NotYetRow {
  return { name, file, flag: false, refused: true, missing };
}

function text(name: string, missing: string, file = false): NotYetRow {
  return { name, file, flag: false, refused: false, missing };
}

function flag(name: string, missing: string): NotYetRow {
  return { name, file: false, flag: true, refused: false, missing };
}
