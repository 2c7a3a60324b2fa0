import packageFile from "../../package.json" with { type: "json" };

/** The version of this program, `major.minor.patch`. */
export const VERSION: string = packageFile.version;
