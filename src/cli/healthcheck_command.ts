import { readListenSettings } from "../settings/listen_settings.ts";
import { healthTarget, probe } from "../system/http_probe.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";

/** `stackwright healthcheck` */
export const healthcheckCommand: Command = {
  help: `Usage: stackwright healthcheck [--json]

Asks GET /v1/health on this host, on HTTP_HOST and HTTP_PORT, with HTTPS when HTTP_TLS_CERT_FILE and
HTTP_TLS_KEY_FILE are set. Exits 0 when it is healthy, else 1.
`,
  async run(io) {
    const { json } = readArguments(io.args, 0);
    const { host, port, tls } = readListenSettings(io.env);
    const { status, body } = await probe(healthTarget({ host, port, tls: tls !== undefined }));
    const healthy = status === 200;
    if (json) io.out(JSON.stringify({ healthy, status, body }) + "\n");
    else if (healthy) io.out("healthy\n");
    else io.err(`unhealthy: ${body === "" ? `HTTP ${status}` : body.trim()}\n`);
    return healthy ? EXIT.ok : EXIT.failed;
  },
};
