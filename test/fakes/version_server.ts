/**
 * A program: a web server on port 80 that answers every request with its first argument, and leaves it
 * to who asked to end the connection, as servers do that keep connections. A socket that the server
 * closed itself is given up by the kernel when it has no route for some tenths of a second.
 */
import http from "node:http";
import process from "node:process";

const body = `${process.argv[2] ?? ""}\n`;
http.createServer((_request, response) => {
  response.writeHead(200, { "content-length": body.length }).end(body);
}).listen(80);
process.on("SIGTERM", () => process.exit(0));
