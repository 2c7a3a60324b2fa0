/**
 * A program: a proxy on port 80 that hands every connection to port 80 of the host in its first
 * argument, whose name it looks up anew each time. It tries once: what fails there has failed.
 */
import net from "node:net";
import process from "node:process";

const host = process.argv[2] ?? "";
net.createServer({ allowHalfOpen: true }, (client) => {
  const server = net.connect({ host, port: 80, family: 4, allowHalfOpen: true });
  client.on("error", () => server.destroy());
  server.on("error", () => client.destroy());
  client.pipe(server);
  server.pipe(client);
}).listen({ port: 80, backlog: 1000 });
process.on("SIGTERM", () => process.exit(0));
