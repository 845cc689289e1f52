import type { Catalogue } from '../catalogue/catalogue.ts';
import { findBearer } from '../credentials/bearer.ts';
import type { Partitioner } from '../credentials/partition.ts';
import type { Encode } from '../snapshots/forms.ts';
import type { Load } from '../snapshots/load.ts';
import { cacheWord } from './cache-headers.ts';
import type { FramingLimits } from './checks/framing.ts';
import type { Connections } from './connections.ts';
import type { Ahead } from './edge.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { identify } from './identify.ts';
import { namesTag } from './if-none-match.ts';
import { type Codings, chooseCoding, codingsFor, MEDIA_TYPE } from './negotiate.ts';
import { PLAIN_READ, plainFields } from './plain-fields.ts';
import type { QuickWay } from './quick-way.ts';
import { createReadTimed } from './read-timed.ts';
import { READ_PATH } from './routes/reads.ts';
import { loadHeaders } from './snapshot-headers.ts';

export interface AnswerAheadOptions {
  readonly catalogue: Catalogue;
  readonly partition: Partitioner;
  readonly encode: Encode;
  readonly limits: FramingLimits;
  readonly compressMinBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly connections: Connections;
  readonly way: QuickWay;
}

/**
 * Answers reads ahead of Koa and its layers where nothing about the request is out of the ordinary: a well-known
 * target, and headers to which no layer has anything to say. It goes by the same functions as the layers. What any of
 * them might refuse is left to them, untouched.
 */
export function answerAhead(options: AnswerAheadOptions): Ahead {
  const { catalogue, partition, encode, limits, compressMinBytes, now, connections, way } = options;
  const { send, fail, isInOrder } = way;
  const names = targets(catalogue, limits.maxUrlBytes);
  const readTimed = createReadTimed({ catalogue, now });

  function sendForm(exchange: Exchange, load: Load, coding: Codings[number] | undefined, body: Buffer): void {
    const headers = loadHeaders(load, now());
    headers['Content-Type'] = MEDIA_TYPE;
    if (coding !== undefined) headers['Content-Encoding'] = coding;
    exchange.outcome = 'ok';
    send(exchange, 200, headers, body);
  }

  /** Answers at once where the form to send is made already. */
  function answer(exchange: Exchange, load: Load, codings: Codings, ifNoneMatch: string | undefined): void {
    const { bytes, etag, forms } = load.snapshot;
    if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag)) {
      exchange.outcome = 'not_modified';
      send(exchange, 304, loadHeaders(load, now()));
      return;
    }
    const coding = chooseCoding(codings, bytes.length, compressMinBytes);
    const form = coding === undefined ? bytes : forms[coding];
    if (coding === undefined || form !== undefined) sendForm(exchange, load, coding, form ?? bytes);
    else
      encode(load, coding)
        .then((made) => sendForm(exchange, load, coding, made))
        .catch((error) => fail(exchange, error));
  }

  return function ahead(req, res) {
    const name = names.get(req.url ?? '');
    if (name === undefined || req.method !== 'GET') return false;
    const fields = plainFields(req.rawHeaders, PLAIN_READ);
    if (fields?.authorization === undefined || !isInOrder(req, fields)) return false;
    const credential = findBearer(fields.authorization);
    const codings = codingsFor(fields.acceptEncoding);
    if (credential === undefined || codings.length === 0) return false;

    const exchange = openExchange(req, res, [fields.authorization], fields);
    exchange.route = READ_PATH;
    exchange.resource = name;
    if (!connections.begin(exchange)) return true;
    const caller = identify(exchange, credential, partition);
    const fresh = catalogue.fresh(name, caller);
    if (fresh === undefined) {
      readTimed(exchange, { name, caller, noCache: false })
        .then((load) => answer(exchange, load, codings, fields.ifNoneMatch))
        .catch((error) => fail(exchange, error));
    } else {
      exchange.upstreamMs = fresh.upstreamMs;
      exchange.cache = cacheWord(fresh, now());
      answer(exchange, fresh, codings, fields.ifNoneMatch);
    }
    return true;
  };
}

/** The resource behind every way in which clients spell the target of a read, as far as it may be that long. */
function targets(catalogue: Catalogue, maxUrlBytes: number): Map<string, string> {
  const names = new Map<string, string>();
  for (const uri of catalogue.uris) {
    for (const spelled of [uri, encodeURIComponent(uri)]) names.set(`${READ_PATH}?uri=${spelled}`, catalogue.find(uri));
  }
  return new Map([...names].filter(([target]) => target.length <= maxUrlBytes));
}
