// JSON as it is written: key order and numbers survive, and a mistake has a line and a column.
// Objects become Maps, because a plain object would move keys such as "10" and "2".

const DEEPEST = 400;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const SPACE = /[ \t\n\r]*/y;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const LITERALS = { true: true, false: false, null: null };
const FOREIGN = { True: "true", False: "false", None: "null", undefined: "null" };

/** A number with the digits it was written with. */
export class JsonNumber {
  constructor(digits) {
    this.digits = digits;
  }

  valueOf() {
    return Number(this.digits);
  }
}

/** What is wrong with a text, and where; line and column count from 1, the column in characters. */
export class JsonError extends Error {
  constructor(message, text, offset) {
    super(message);
    const before = text.slice(0, offset).split("\n");
    this.offset = offset;
    this.line = before.length;
    this.column = [...before.at(-1)].length + 1;
  }

  get sentence() {
    return `Line ${this.line}, column ${this.column}: ${this.message}`;
  }
}

/** One string for a path, to look up where a value stands. */
export function pathKey(path) {
  return JSON.stringify(path);
}

/**
 * Read a text.
 * @returns {{value: *, tokens: {kind: string, start: number, end: number}[], places: Map<string, number>,
 *   error: JsonError | null}} the tokens up to the error if there is one, for colouring; `places` says where
 *   the key or the item of each path begins.
 */
export function read(text) {
  const reader = new Reader(text);
  try {
    const value = reader.document();
    return { value, tokens: reader.tokens, places: reader.places, error: null };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { value: undefined, tokens: reader.tokens, places: reader.places, error };
  }
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.path = [];
    this.tokens = [];
    this.places = new Map();
  }

  document() {
    this.space();
    if (this.at === this.text.length) this.fail("there is nothing here; write a JSON object");
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.fail("the JSON ends before this; remove the rest");
    return value;
  }

  fail(message, offset = this.at) {
    throw new JsonError(message, this.text, offset);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0] ?? "";
  }

  space() {
    this.at += this.match(SPACE).length;
  }

  token(kind, length) {
    this.tokens.push({ kind, start: this.at, end: this.at + length });
    this.at += length;
  }

  value() {
    const character = this.text[this.at];
    if (this.path.length > DEEPEST) this.fail(`nested deeper than ${DEEPEST} levels`);
    if (character === "{") return this.object();
    if (character === "[") return this.array();
    if (character === '"') return this.string("text");
    const digits = this.match(NUMBER);
    if (digits) return this.number(digits);
    return this.literal();
  }

  number(digits) {
    const next = this.text[this.at + digits.length] ?? "";
    if (/[\d.\p{L}]/u.test(next)) this.fail("this number is not written as JSON has it");
    this.token("number", digits.length);
    return new JsonNumber(digits);
  }

  literal() {
    const word = this.match(WORD);
    if (Object.hasOwn(LITERALS, word)) {
      this.token("word", word.length);
      return LITERALS[word];
    }
    if (Object.hasOwn(FOREIGN, word)) this.fail(`${word} is not JSON; write ${FOREIGN[word]}`);
    if (word === "NaN" || word === "Infinity") this.fail(`${word} is not JSON; numbers are finite`);
    if (word) this.fail(`${word} is not JSON; put text in double quotes`);
    const character = this.text[this.at];
    if (character === undefined) this.fail("the text ends where a value is expected");
    if ("'‘’“”`".includes(character)) this.fail('JSON has straight double quotes only: "');
    if (character === ",") this.fail("a value is missing before this comma");
    return this.fail(`a value is expected here, not "${character}"`);
  }

  object() {
    const opened = this.at;
    const entries = new Map();
    this.token("mark", 1);
    this.space();
    if (this.text[this.at] === "}") return this.token("mark", 1), entries;
    for (;;) {
      const start = this.at;
      const key = this.key(opened);
      if (entries.has(key)) this.fail(`the key ${JSON.stringify(key)} is there twice`, start);
      this.path.push(key);
      this.places.set(pathKey(this.path), start);
      this.space();
      if (this.text[this.at] !== ":") this.fail(`a colon is missing after the key ${JSON.stringify(key)}`);
      this.token("mark", 1);
      this.space();
      entries.set(key, this.value());
      this.path.pop();
      if (!this.more("}", "object", opened)) return entries;
    }
  }

  key(opened) {
    const character = this.text[this.at];
    if (character === '"') return this.string("key");
    if (character === undefined) this.unclosed("object", opened);
    if (character === "}") this.fail('the comma before this "}" has nothing after it; remove the comma');
    if (this.match(WORD) || character === "'") this.fail("keys need double quotes");
    return this.fail(`a key in double quotes is expected here, not "${character}"`);
  }

  array() {
    const opened = this.at;
    const items = [];
    this.token("mark", 1);
    this.space();
    if (this.text[this.at] === "]") return this.token("mark", 1), items;
    for (;;) {
      if (this.text[this.at] === "]") this.fail('the comma before this "]" has nothing after it; remove the comma');
      this.path.push(items.length);
      this.places.set(pathKey(this.path), this.at);
      items.push(this.value());
      this.path.pop();
      if (!this.more("]", "list", opened)) return items;
    }
  }

  /** Whether another entry follows; reads the comma or the closing bracket. */
  more(closing, what, opened) {
    this.space();
    const character = this.text[this.at];
    if (character === closing) return this.token("mark", 1), false;
    if (character === undefined) this.unclosed(what, opened);
    if (character !== ",") this.fail(`a comma or "${closing}" is expected here`);
    this.token("mark", 1);
    this.space();
    if (this.at === this.text.length) this.unclosed(what, opened);
    return true;
  }

  unclosed(what, opened) {
    const { line } = new JsonError("", this.text, opened);
    this.fail(`the text ends inside the ${what} that begins in line ${line}`);
  }

  string(kind) {
    const start = this.at;
    let value = "";
    let at = start + 1;
    for (;;) {
      const character = this.text[at];
      if (character === '"') break;
      if (character === undefined) this.fail("this text is not closed; add the second double quote", start);
      if (character === "\n") this.fail("a text cannot go over the line end; write \\n for a line break", at);
      if (character < " ") this.fail("an invisible control character; write it as an escape such as \\t", at);
      if (character === "\\") {
        const [decoded, length] = this.escape(at);
        value += decoded;
        at += length;
      } else {
        value += character;
        at += 1;
      }
    }
    this.token(kind, at + 1 - start);
    return value;
  }

  escape(at) {
    const letter = this.text[at + 1] ?? "";
    if (letter && Object.hasOwn(ESCAPES, letter)) return [ESCAPES[letter], 2];
    const code = this.text.slice(at + 2, at + 6);
    if (letter === "u" && /^[\da-fA-F]{4}$/.test(code)) return [String.fromCharCode(parseInt(code, 16)), 6];
    return this.fail(`\\${letter} is not an escape of JSON; a backslash itself is written \\\\`, at);
  }
}

const JSON_WORDS = { true: "true", false: "false", null: "null" };

/**
 * A value as text, what fits on one line.
 * @param {{width?: number, indent?: string, step?: string, words?: object, comma?: string}} style `step` indents a
 *   level, `words` are the names of true, false and null, `comma` stands behind a last entry on a line of its own.
 */
export function write(value, style = {}) {
  const { width = 84, indent = "", step = "  ", words = JSON_WORDS, comma = "" } = style;
  const line = compact(value, words);
  if (!isContainer(value) || sizeOf(value) === 0) return line;
  if (indent !== "" && indent.length + line.length <= width) return line;
  const inner = indent + step;
  const below = { ...style, indent: inner };
  const entries =
    value instanceof Map
      ? [...value].map(([key, entry]) => `${inner}${JSON.stringify(key)}: ${write(entry, below)}`)
      : value.map((item) => inner + write(item, below));
  const [open, close] = value instanceof Map ? "{}" : "[]";
  return `${open}\n${entries.join(",\n")}${comma}\n${indent}${close}`;
}

/** A value as JSON on one line. */
export function compact(value, words = JSON_WORDS) {
  if (value instanceof JsonNumber) return value.digits;
  if (value instanceof Map) {
    return `{${[...value].map(([key, entry]) => `${JSON.stringify(key)}: ${compact(entry, words)}`).join(", ")}}`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => compact(item, words)).join(", ")}]`;
  return typeof value === "string" ? JSON.stringify(value) : words[String(value)];
}

export function isContainer(value) {
  return value instanceof Map || Array.isArray(value);
}

function sizeOf(container) {
  return container instanceof Map ? container.size : container.length;
}

/** The value with containers of its own, to change without touching the original. */
export function copy(value) {
  if (value instanceof Map) return new Map([...value].map(([key, entry]) => [key, copy(entry)]));
  return Array.isArray(value) ? value.map(copy) : value;
}
