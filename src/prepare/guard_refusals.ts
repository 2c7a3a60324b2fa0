import { posix } from "node:path";
import { insideTree } from "../compose/mod.ts";
import { clip, errors, type StackwrightError } from "../model/mod.ts";

/** Errors for what a compose file of a tree names. */
export class GuardRefusals {
  readonly #tree: string;

  constructor(tree: string) {
    this.#tree = tree;
  }

  /** The name of a compose file in messages. */
  shown(file: string): string {
    return insideTree(file, this.#tree) ?? posix.basename(file);
  }

  /** The error for a path that cannot be understood for sure. */
  unclear(file: string, path: string, why: string): StackwrightError {
    return errors.config_invalid(`${this.shown(file)}: the path ${told(path)} ${why}: change it`);
  }

  /** The error for a path with a variable whose value is not known. */
  variable(file: string, path: string): StackwrightError {
    return errors.config_invalid(
      `${this.shown(file)}: the path ${JSON.stringify(path)} holds a variable, and the ` +
        "file is included with a dotenv file of its own; write the path without variables",
    );
  }

  /** The error for an include that versions of compose look for in places all over the repository. */
  climbs(file: string, path: string): StackwrightError {
    return errors.config_invalid(
      `${this.shown(file)}: it includes ${told(path)}, below an include with a ` +
        "project_directory: no path of the includes that lead there may begin with .., as versions " +
        "of docker compose resolve them from different directories; write the includes without project_directory, or without ..",
    );
  }

  #escapes(file: string, path: string, how: string): StackwrightError {
    return errors.path_escapes(`${this.shown(file)}: ${told(path)} ${how}`);
  }

  /** The error for a path out of the tree. */
  escapes(file: string, path: string): StackwrightError {
    const how =
      "lies outside the repository: a deployment may only read files of its own source; " +
      "put the file into the repository, or use a submodule";
    return this.#escapes(file, path, how);
  }

  /** The error for a compose file that versions of compose take for a Git repository. */
  fetched(file: string, path: string): StackwrightError {
    const how =
      "is a Git repository to versions of docker compose, and a deployment may only read " +
      "files of its own source: give the file a name without .git at its end";
    return this.#escapes(file, path, how);
  }

  /** The error for a path by way of what compose may take for the home directory. */
  home(file: string, path: string): StackwrightError {
    const how =
      "leads by way of a name that begins with ~, which docker compose may take for the " +
      "home directory: give it another name";
    return this.#escapes(file, path, how);
  }

  /**
   * The error for a path to a deployment's configuration. Encrypted ones stay so until another deployment of
   * the commit mounts them: the guard saw no paths.
   */
  configuration(file: string, path: string): StackwrightError {
    const how =
      "is a deployment configuration, which no compose file may name: give what is meant " +
      "another name";
    return this.#escapes(file, path, how);
  }
}

function told(path: string): string {
  return JSON.stringify(clip(path, 200));
}
