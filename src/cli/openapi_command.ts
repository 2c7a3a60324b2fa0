import { openApiDocuments } from "../app.ts";
import { errors } from "../model/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { VERSION } from "./version.ts";

/** `stackwright openapi` */
export const openapiCommand: Command = {
  help: `Usage: stackwright openapi [rest|webhooks] [--json]

Prints the OpenAPI 3.2 document of the REST API (the default) or of the webhooks, as the service
shows them at /openapi/rest.json and /openapi/webhooks.json when OPENAPI_ENABLED is true. The output
is JSON with and without --json.
`,
  run(io) {
    const { operands: [name = "rest"] } = readArguments(io.args, 1);
    const documents = openApiDocuments(VERSION);
    if (name !== "rest" && name !== "webhooks") {
      throw errors.bad_request(`there is no document ${name}; there are rest and webhooks`);
    }
    io.out(JSON.stringify(documents[name], undefined, 2) + "\n");
    return Promise.resolve(EXIT.ok);
  },
};
