import { receiveWebhookOperation } from "../api/mod.ts";
import type { Assembly } from "./assemble.ts";
import type { Gate } from "./gate.ts";
import { countWebhook } from "./measure_run.ts";
import type { System } from "./system.ts";
import { webhookSources } from "./webhook_sources.ts";
import type { Prometheus } from "../record/mod.ts";
import { createHandler, createMetricsHandler, createServer, type Server } from "../serve/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { createNetworks, formatTime } from "../system/mod.ts";

interface Served {
  readonly assembly: Assembly;
  readonly gate: Gate;
  readonly meter: Prometheus;
}

/** Starts the servers for requests and, on another port, metrics; `signal` aborts at the end. */
export async function startServers(
  settings: Settings,
  system: System,
  served: Served,
  signal: AbortSignal,
): Promise<{ readonly server: Server; readonly metrics: Server }> {
  const server = await listen(settings, system, served);
  const metrics = await listenMetrics(settings, system, { server, meter: served.meter }, signal);
  system.log.info(`listening on ${server.address}`, {
    metrics: metrics.address,
    api: settings.apiSecret !== undefined,
    webhooks: settings.webhookSecret !== undefined,
  });
  return { server, metrics };
}

/** Serves requests: API, webhooks, tool server and documents, as far as enabled. */
async function listen(
  settings: Settings,
  system: System,
  { assembly, gate: { intake, operations, runs }, meter }: Served,
): Promise<Server> {
  const { clock, log, redactor, files, hostname } = system;
  const { http, apiSecret, apiReadSecret, webhookSecret } = settings;
  return await createServer({
    handler: createHandler({
      operations,
      apiKeys: { full: apiSecret, read: apiReadSecret },
      ...(http.mcpEnabled ? { mcp: { version: system.version, meter, runs } } : {}),
      ...(http.openApiEnabled ? { openApi: { version: system.version } } : {}),
      ...(webhookSecret === undefined ? {} : {
        webhooks: {
          secret: webhookSecret,
          sources: webhookSources(settings),
          operation: receiveWebhookOperation({ intake }),
          onAuthentic: (repository: string) => countWebhook(meter, repository),
        },
      }),
      proxies: {
        networks: createNetworks(http.trustedProxyNetworks),
        header: http.trustedProxyHeader,
      },
      maxPayload: http.maxPayloadBytes,
      redactor,
      log,
      ids: assembly.ids,
      clock,
    }),
    port: http.port,
    clock,
    log,
    ...(http.tls === undefined ? {} : { tls: { ...http.tls, files } }),
    hostname: hostname ?? http.host,
  });
}

/** Serves metrics on a port of their own, which need not be reachable from where the API is. */
async function listenMetrics(
  settings: Settings,
  system: System,
  { server, meter }: { readonly server: Server; readonly meter: Prometheus },
  signal: AbortSignal,
): Promise<Server> {
  const { clock, log, files, hostname } = system;
  const { http, logLevel } = settings;
  const started = formatTime(clock.now(), settings.timeZone);
  meter.move("info", { version: system.version, log_level: logLevel, start_time: started }, 1);
  try {
    return await createServer({
      handler: createMetricsHandler(meter, clock, signal),
      port: http.metricsPort,
      clock,
      log,
      ...(http.tls === undefined ? {} : { tls: { ...http.tls, files } }),
      hostname: hostname ?? http.metricsHost,
    });
  } catch (error) {
    await server.shutdown(0);
    throw error;
  }
}
