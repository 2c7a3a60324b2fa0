import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a context into a directory of the engine client's configuration, as its command line does. */
export function writeContext(
  configDir: string,
  name: string,
  { host, certificates, ...more }: {
    readonly host: string;
    /** Directory of what is put beside it. */
    readonly certificates?: string;
    readonly SkipTLSVerify?: boolean;
  },
): void {
  const id = createHash("sha256").update(name).digest("hex");
  const meta = join(configDir, "contexts", "meta", id);
  mkdirSync(meta, { recursive: true });
  const docker = { Host: host, SkipTLSVerify: false, ...more };
  const text = JSON.stringify({ Name: name, Metadata: {}, Endpoints: { docker } });
  writeFileSync(join(meta, "meta.json"), text);
  if (certificates === undefined) return;
  const tls = join(configDir, "contexts", "tls", id, "docker");
  mkdirSync(tls, { recursive: true });
  for (const each of ["ca.pem", "cert.pem", "key.pem"]) {
    copyFileSync(join(certificates, each), join(tls, each));
  }
}
