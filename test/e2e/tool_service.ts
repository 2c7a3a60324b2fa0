import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { freePort } from "../fakes/free_port.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { type Program, ServiceProcess } from "./service_process.ts";

/** The key of the services that {@link withToolService} starts. */
export const KEY = "key-of-the-tool-server";

/** A service with a tool server, and a repository for it. */
export interface ToolSite {
  readonly service: ServiceProcess;
  /** URL of the tool server. */
  readonly address: string;
  /** A stack's name that nobody else has. */
  readonly stack: string;
  /** Makes an empty repository, which the service may read. */
  readonly repository: () => Promise<FakeRepository>;
}

/** Starts a service with a tool server in a directory of its own, and takes both away after `work`. */
export async function withToolService(
  program: Program,
  environment: Readonly<Record<string, string>>,
  work: (site: ToolSite) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-tools-"));
  const port = await freePort();
  const service = new ServiceProcess(program, ["serve"], {
    DATA_DIR: join(directory, "data"),
    API_SECRET: KEY,
    MCP_ENABLED: "true",
    ALLOW_LOCAL_REPOSITORY_URL: "true",
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: String(port),
    METRICS_PORT: String(await freePort()),
    ...environment,
  });
  try {
    await service.until(() => service.stderr.includes("listening on"));
    await work({
      service,
      address: `http://127.0.0.1:${port}/mcp`,
      stack: `tools-${directory.slice(-6).toLowerCase()}`,
      repository: () => createRepository(join(directory, "shop")),
    });
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Connects the official client. */
export async function connectTools(address: string, key = KEY): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(address), {
      requestInit: { headers: { "x-api-key": key } },
    }),
  );
  return client;
}
