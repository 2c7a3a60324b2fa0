import { Buffer } from "node:buffer";
import { plainNumber } from "./checked_scalar.ts";
import {
  type PlainValue,
  replaced,
  type Replacement,
  SopsFormatError,
  type SopsLeaf,
  type SopsText,
} from "./sops_text.ts";
import { isObject, type JsonObject, memberOf, parseJson } from "../../model/mod.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

type Place = SopsLeaf & Span;

/** Levels that a JSON file may nest. */
const DEEPEST = 200;

/** `sops` as readers of JSON take it that do not care for case: such as the sops program. */
const METADATA = /^[s\u017f]ops$|^sop[s\u017f]$|^\u017fop\u017f$/i;

/** Takes a JSON file apart; `undefined` when it is no JSON object or has no metadata. */
export function readJsonText(text: string): SopsText | undefined {
  const metadata = metadataOf(text);
  if (metadata === undefined) return undefined;
  const scan = new JsonScan(text);
  scan.run();
  const { places, lists, cut } = scan;
  return {
    format: "json",
    metadata,
    leaves: places,
    comments: [],
    write(values) {
      const gone = new Set<Span>(places.filter((_, index) => values[index]?.type === "comment"));
      const replacements: Replacement[] = places.flatMap((place, index) => {
        const value = values[index];
        if (value === undefined || gone.has(place)) return [];
        return [{ start: place.start, end: place.end, text: spelled(value) }];
      });
      const without = lists.flatMap((each) => withoutItems(each, gone));
      return Buffer.from(replaced(text, [...replacements, ...without, ...cut]), "utf8");
    },
  };
}

/** The envelope of SOPS around a file it does not understand: a JSON object with `data` alone. */
export function asBinary(file: SopsText): SopsText | undefined {
  const [only, ...more] = file.leaves;
  if (file.format !== "json" || more.length > 0 || only?.path.join() !== "data") return undefined;
  // An item of a list may be a comment.
  if (only.mayBeComment === true) return undefined;
  return {
    ...file,
    format: "binary",
    write: ([value]) => value?.bytes ?? Buffer.from(only.text ?? "", "utf8"),
  };
}

function metadataOf(text: string): JsonObject | undefined {
  const metadata = memberOf(parseJson(text), "sops");
  return isObject(metadata) ? metadata : undefined;
}

function spelled({ type, bytes }: PlainValue): string {
  const text = Buffer.from(bytes).toString("utf8");
  if (type === "int" || type === "float") return text;
  if (type === "bool") return text.toLowerCase();
  return JSON.stringify(text);
}

/** Takes items out, each with the comma before it or, where none is left before it, the one behind it. */
function withoutItems(items: readonly Span[], gone: ReadonlySet<Span>): Replacement[] {
  const kept = items.findIndex((each) => !gone.has(each));
  return items.flatMap((each, index) => {
    if (!gone.has(each)) return [];
    const isBehind = kept >= 0 && kept < index;
    const start = isBehind ? items[index - 1]?.end : each.start;
    const end = isBehind ? each.end : items[index + 1]?.start;
    return [{ start: start ?? each.start, end: end ?? each.end, text: "" }];
  });
}

/** Walks a text that is valid JSON and notes where its values lie: objects forget the order of keys. */
class JsonScan {
  readonly places: Place[] = [];
  /** The items of each list. */
  readonly lists: Span[][] = [];
  /** Pieces that go with the metadata. */
  readonly cut: Replacement[] = [];
  readonly #text: string;
  #at = 0;
  #inMetadata = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    this.#value([], 0);
  }

  /** Answers the place of a scalar. */
  #value(path: readonly string[], depth: number, isItem = false): Place | undefined {
    if (depth > DEEPEST) throw new SopsFormatError(`it nests deeper than ${DEEPEST} levels`);
    this.#space();
    const first = this.#text[this.#at];
    if (first === "{") this.#object(path, depth);
    else if (first === "[") this.#list(path, depth);
    else return this.#scalar(path, isItem);
    return undefined;
  }

  #object(path: readonly string[], depth: number): void {
    this.#at++;
    let before = this.#at;
    const names = new Set<string>();
    for (let count = 0; this.#peek() !== "}"; count++) {
      const start = this.#at;
      const key = this.#string();
      this.#space();
      this.#at++;
      const isMetadata = depth === 0 && METADATA.test(key);
      // Other readers merge duplicate members, of which we see only the last.
      const isSecond = names.has(isMetadata ? "sops" : key) && (isMetadata || this.#inMetadata);
      if (isSecond || (isMetadata && key !== "sops")) {
        throw new SopsFormatError("its metadata, or a part of it, is there twice or misspelled");
      }
      names.add(key);
      if (isMetadata) {
        const kept = this.places.length;
        this.#inMetadata = true;
        this.#value([], depth + 1);
        this.#inMetadata = false;
        this.places.length = kept;
        this.#cutMember(count === 0 ? start : before);
      } else this.#value([...path, key], depth + 1);
      before = this.#at;
      if (this.#peek() === ",") this.#at++;
    }
    this.#at++;
  }

  /** Takes a member out with the comma that belongs to it. */
  #cutMember(start: number): void {
    const end = this.#at;
    const isFirst = !this.#text.slice(start, end).trimStart().startsWith(",");
    const isFollowed = this.#peek() === ",";
    this.cut.push({ start, end: isFirst && isFollowed ? this.#at + 1 : end, text: "" });
  }

  #list(path: readonly string[], depth: number): void {
    this.#at++;
    const items: Span[] = [];
    if (!this.#inMetadata) this.lists.push(items);
    while (this.#peek() !== "]") {
      const start = this.#at;
      const scalar = this.#value(path, depth + 1, true);
      items.push(scalar ?? { start, end: this.#at });
      if (this.#peek() === ",") this.#at++;
    }
    this.#at++;
  }

  #scalar(path: readonly string[], mayBeComment: boolean): Place | undefined {
    const start = this.#at;
    if (this.#text[start] === '"') {
      const text = this.#string();
      return this.#placed({ path, text, checked: text, start, end: this.#at, mayBeComment });
    }
    const word = /[-+\w.]+/y;
    word.lastIndex = start;
    const [source = ""] = word.exec(this.#text) ?? [];
    this.#at += source.length;
    if (source === "null") return undefined;
    const checked = source === "true" ? "True" : source === "false" ? "False" : undefined;
    const spelled = checked ?? plainNumber(Number(source));
    return this.#placed({ path, text: undefined, checked: spelled, start, end: this.#at });
  }

  #placed(place: Place): Place {
    this.places.push(place);
    return place;
  }

  #string(): string {
    this.#space();
    const start = this.#at++;
    for (; this.#text[this.#at] !== '"'; this.#at++) if (this.#text[this.#at] === "\\") this.#at++;
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at));
  }

  #peek(): string | undefined {
    this.#space();
    return this.#text[this.#at];
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }
}
