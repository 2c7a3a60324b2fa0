import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net, { type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";

/** Certificates of an engine that takes only clients it knows, and of one such client. */
export interface EngineCertificates {
  /** `ca.pem`, `cert.pem` and `key.pem` of the client, as the command line wants them. */
  readonly client: string;
  /** The same of the engine. */
  readonly server: string;
  remove(): void;
}

/** Makes an authority and both sides' certificates, for 127.0.0.1. */
export function makeEngineCertificates(): EngineCertificates {
  const directory = mkdtempSync(join(tmpdir(), "swt-tls-"));
  const path = (name: string) => join(directory, name);
  const run = (...args: string[]) => execFileSync("openssl", args, { stdio: "ignore" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const authority = ["-keyout", path("ca-key.pem"), "-out", path("ca.pem"), "-days", "2"];
  run("req", "-x509", ...newKey, ...authority, "-subj", "/CN=stackwright test authority");
  const side = (name: "client" | "server") => {
    const own = path(name);
    execFileSync("mkdir", [own]);
    run(
      "req",
      ...newKey,
      "-keyout",
      join(own, "key.pem"),
      "-out",
      `${own}.csr`,
      "-subj",
      `/CN=${name}`,
    );
    writeFileSync(`${own}.ext`, `subjectAltName=IP:127.0.0.1\nextendedKeyUsage=${name}Auth\n`);
    const signed = ["-CA", path("ca.pem"), "-CAkey", path("ca-key.pem"), "-CAcreateserial"];
    const out = ["-days", "2", "-extfile", `${own}.ext`, "-out", join(own, "cert.pem")];
    run("x509", "-req", "-in", `${own}.csr`, ...signed, ...out);
    writeFileSync(join(own, "ca.pem"), readFileSync(path("ca.pem")));
    return own;
  };
  const [client, server] = [side("client"), side("server")];
  return { client, server, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** A port where a socket answers over TLS, to known clients alone. */
export interface TlsFront {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts one on the loopback interface, at a port that is free or given. */
export async function startTlsFront(
  socketPath: string,
  { server: directory }: EngineCertificates,
  port = 0,
): Promise<TlsFront> {
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  const sockets = new Set<Socket>();
  const [ca, cert, key] = [read("ca.pem"), read("cert.pem"), read("key.pem")];
  const options = { ca, cert, key, requestCert: true, rejectUnauthorized: true };
  const front = tls.createServer(options, (secure) => {
    const plain = net.connect(socketPath);
    for (const [one, other] of [[secure, plain], [plain, secure]] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => front.listen(port, "127.0.0.1", resolve));
  return {
    port: (front.address() as AddressInfo).port,
    async close() {
      for (const each of sockets) each.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}
