import * as z from "zod";
import { EVERY_ADDRESS, listenHost, tlsFiles } from "./listen_settings.ts";
import { quote, type VariableReader } from "./variable_reader.ts";

/** Reads the settings of the servers. */
export function httpSettings(reader: VariableReader) {
  const header = (reader.text("TRUSTED_PROXY_HEADER") ?? "").trim();
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)) {
    reader.refuse("TRUSTED_PROXY_HEADER", `expected the name of a header, found ${quote(header)}`);
  }
  const host = listenHost(reader, "HTTP_HOST") ?? EVERY_ADDRESS;
  return {
    host,
    port: reader.integer("HTTP_PORT"),
    tls: tlsFiles(reader),
    metricsHost: listenHost(reader, "METRICS_HOST") ?? host,
    metricsPort: reader.integer("METRICS_PORT"),
    maxPayloadBytes: reader.integer("MAX_PAYLOAD_SIZE"),
    mcpEnabled: reader.boolean("MCP_ENABLED"),
    openApiEnabled: reader.boolean("OPENAPI_ENABLED"),
    /** Networks in CIDR form. */
    trustedProxyNetworks: networks(reader),
    trustedProxyHeader: header,
  };
}

function networks(reader: VariableReader): readonly string[] {
  const parts = reader.list("TRUSTED_PROXY_NETWORKS");
  for (const part of parts) {
    if (z.cidrv4().safeParse(part).success || z.cidrv6().safeParse(part).success) continue;
    reader.refuse("TRUSTED_PROXY_NETWORKS", `expected networks in CIDR form, found ${quote(part)}`);
  }
  return [...new Set(parts)];
}
