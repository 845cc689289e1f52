/** What Redis may say at once. */
export interface ReplyBounds {
  /** Of one whole reply. */
  readonly maxBytes: number;
}

/** Elements of all arrays of one reply. Evictions, counts and values take some hundreds; the slots of a cluster, eight a range. */
const MAX_ELEMENTS = 65_536;
/** Arrays within each other: those of a cluster's slots stand four deep. */
const MAX_DEPTH = 6;
/** A status, or what an error says. */
const MAX_TEXT_BYTES = 16_384;
/** A whole number, with its sign. */
const MAX_DIGITS = 20;
const SLOTS = 16_384;
/** How deep the first and the last slot of a range stand. Nothing else that is asked for has numbers there. */
const SLOTS_DEPTH = 2;

const CR = 13;
const LF = 10;
const MINUS = 45;
const [STATUS, ERROR, NUMBER, BULK, ARRAY] = [43, 45, 58, 36, 42];

/** What was sent is no reply of version 2 of the protocol, or more than was asked for. */
export class BadReply extends Error {
  override readonly name = 'BadReply';
}

/** One array of a reply, of which so much is still to come. */
interface Open {
  rest: number;
  /** The first slot of a range, where that is what it is. */
  from?: number;
}

/**
 * Gives a function that is shown all bytes of one connection, in order, before anybody reads them; it throws {@link BadReply}.
 * The client itself bounds nothing: it makes room for an array as soon as that is announced, so that eleven bytes take
 * 256 MB, and goes through whatever slots a cluster says that it has, one by one. What passes here means the same to both.
 */
export function createReplyCheck({ maxBytes }: ReplyBounds): (bytes: Buffer) => void {
  let expects: 'type' | 'text' | 'number' | 'bulk' | 'cr' | 'lf' = 'type';
  let type = 0;
  let size = 0;
  let elements = 0;
  let slots = 0;
  const open: Open[] = [];
  let digits = 0;
  let isNegative = false;
  let value = 0;
  let textBytes = 0;
  let bulkBytes = 0;

  /** A value ends; and with it all arrays whose last one it was. */
  function end(): void {
    expects = 'type';
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      top.rest -= 1;
      if (top.rest > 0) return;
      open.pop();
    }
    size = 0;
    elements = 0;
    slots = 0;
  }

  function begin(byte: number): void {
    type = byte;
    digits = 0;
    isNegative = false;
    value = 0;
    textBytes = 0;
    if (type === STATUS || type === ERROR) expects = 'text';
    else if (type === NUMBER || type === BULK || type === ARRAY) expects = 'number';
    else throw new BadReply('of another kind');
  }

  function addDigit(byte: number): void {
    if (byte === CR && digits > 0) expects = 'lf';
    else if (byte === MINUS && digits === 0 && !isNegative) isNegative = true;
    else if (byte >= 48 && byte <= 57 && digits < MAX_DIGITS) {
      digits += 1;
      value = value * 10 + byte - 48;
    } else throw new BadReply('no number');
  }

  function addText(byte: number): void {
    textBytes += 1;
    if (textBytes > MAX_TEXT_BYTES || byte === LF) throw new BadReply('no line');
    if (byte === CR) expects = 'lf';
  }

  /** Of ranges of slots, the client has each slot in hand. */
  function addSlot(): void {
    const range = open.at(-1);
    if (range === undefined || open.length !== SLOTS_DEPTH) return;
    if (isNegative || value >= SLOTS) throw new BadReply('no slot');
    if (range.from === undefined) range.from = value;
    else slots += value - range.from + 1;
    if (slots > SLOTS) throw new BadReply('too many slots');
  }

  function beginBulk(): void {
    if (value > maxBytes - size) throw new BadReply('too long');
    bulkBytes = value;
    expects = 'bulk';
  }

  function beginArray(): void {
    elements += value;
    if (elements > MAX_ELEMENTS || open.length === MAX_DEPTH) throw new BadReply('too many elements');
    expects = 'type';
    if (value === 0) end();
    else open.push({ rest: value });
  }

  function endLine(): void {
    if (type === NUMBER) addSlot();
    if (type === STATUS || type === ERROR || type === NUMBER) end();
    else if (!isNegative && type === BULK) beginBulk();
    else if (!isNegative) beginArray();
    else if (value === 1 && digits === 1) end();
    else throw new BadReply('no length');
  }

  function take(byte: number): void {
    if (expects === 'type') begin(byte);
    else if (expects === 'number') addDigit(byte);
    else if (expects === 'text') addText(byte);
    else if (byte !== (expects === 'cr' ? CR : LF)) throw new BadReply('without an end');
    else if (expects === 'lf') endLine();
    else {
      // Behind a value there is nothing more to it.
      type = STATUS;
      expects = 'lf';
    }
  }

  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (expects === 'bulk') {
        const step = Math.min(bulkBytes, bytes.length - at);
        at += step;
        size += step;
        bulkBytes -= step;
        if (bulkBytes === 0) expects = 'cr';
        continue;
      }
      size += 1;
      if (size > maxBytes) throw new BadReply('too long');
      take(bytes[at] as number);
      at += 1;
    }
  };
}
