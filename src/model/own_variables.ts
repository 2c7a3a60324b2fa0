/**
 * Variables of our own environment that docker compose is started with: docker needs them to find the
 * engine and credentials, and compose the home directory of a `~`. Compose files can interpolate all
 * of them, so none may be a secret: proxies are left out.
 */
export const OWN_VARIABLES: readonly string[] = [
  ...["PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["BUILDX_CONFIG", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_API_VERSION"],
  ...["DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"],
];

/** An odd number of dollar signs and one of the names: an even number stands for dollar signs. */
const USES = new RegExp(
  `(?<!\\$)(?:\\$\\$)*\\$\\{?(${OWN_VARIABLES.join("|")})(?![A-Za-z0-9_])`,
  "g",
);

/** A name without a value, for which compose takes its own variable. */
const TAKES = new RegExp(
  `^\\s*(?:-\\s+)?["']?(${OWN_VARIABLES.join("|")})["']?\\s*(?::\\s*)?(?:#.*)?$`,
);

/** The name that a line of a list or map has without a value, or those of an `environment` in one line. */
function takenIn(line: string): string[] {
  const names = /\benvironment["']?\s*:\s*[[{]([^\]}]*)/.exec(line)?.[1]?.split(",");
  return (names ?? [line]).flatMap((each) => TAKES.exec(each)?.[1] ?? []);
}

/** The variables of {@link OWN_VARIABLES} that a compose file interpolates or takes, with their first lines. */
export function ownVariablesIn(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [at, line] of text.split("\n").entries()) {
    if (/^\s*#/.test(line)) continue;
    const used = [...line.matchAll(USES)].map(([, name = ""]) => name);
    for (const name of [...used, ...takenIn(line)]) {
      if (!found.has(name)) found.set(name, at + 1);
    }
  }
  return found;
}

/** The warning about such a variable, to follow the name of the file. */
export function ownVariable(name: string): string {
  return `\${${name}} is the one of Stackwright's own process, where it is set, and no setting of the ` +
    "repository changes it (doco-cd leaves it empty): write out its value, or use another name";
}
