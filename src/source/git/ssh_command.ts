interface SshSettings {
  /** Path of the key file. */
  readonly key: string;
  /** Files with the keys of hosts; new ones are added to the first. */
  readonly knownHosts: readonly string[];
  /** Whether a host without a known key is refused rather than remembered. */
  readonly strict: boolean;
  /** Whether a helper answers for the key's passphrase: batch mode would not ask it. */
  readonly asks: boolean;
}

/** The value of `GIT_SSH_COMMAND`: one key, no agent, no user files, no questions. */
export function sshCommand({ key, knownHosts, strict, asks }: SshSettings): string {
  const options = [
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    `BatchMode=${asks ? "no" : "yes"}`,
    "NumberOfPasswordPrompts=1",
    "PreferredAuthentications=publickey",
    `StrictHostKeyChecking=${strict ? "yes" : "accept-new"}`,
    `UserKnownHostsFile=${knownHosts.map(plainPath).join(" ")}`,
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
  ];
  const words = ["ssh", "-F", "/dev/null", "-i", key, ...options.flatMap((each) => ["-o", each])];
  return words.map(quote).join(" ");
}

/** Quotes a path for an ssh option: ssh splits at blanks and expands percent tokens. */
function plainPath(path: string): string {
  return `"${path.replaceAll("%", "%%").replaceAll(/["\\]/g, "\\$&")}"`;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
