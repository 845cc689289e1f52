import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { describeReads } from '../../../src/capabilities/api-description/api-description.ts';
import { catalogueOf } from '../catalogue.ts';

/** A response, however it was received. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer | string;
}

// biome-ignore lint/suspicious/noExplicitAny: a document that is taken apart here.
type Json = any;

/** Fields of the connection and of the framing, which HTTP itself has; and the type, which OpenAPI has elsewhere. */
const OF_HTTP = new Set(['connection', 'keep-alive', 'date', 'content-length', 'content-type', 'transfer-encoding']);

/** The reads of a gateway with the settings that all have by default. */
export const THE_READS = describedBy(JSON.stringify(describeReads(catalogueOf().offered)));

/**
 * Holds the answer to a request against the description of the reads, if it is a `GET` of one of them. The admin listener
 * has no reads.
 */
export function holdToDescription(request: string, answer: Answer): void {
  const [, where = ''] = /^GET (\/[^ ]*) HTTP\/1\.\d\r\n/.exec(request) ?? [];
  const [path = ''] = where.split('?');
  const isElsewhere = answer.status === 404 && answer.body.toString().includes('"code":"not_found"');
  if (path in THE_READS.document.paths && !isElsewhere) THE_READS.check(where, answer);
}

/** `text` is an OpenAPI document, against which answers are held. */
function describedBy(text: string) {
  const document = JSON.parse(text);
  const { components } = document;
  const ajv = new Ajv2020({ strictTypes: false }).addVocabulary(['components']);
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

  function validate(at: readonly string[], value: unknown): void {
    const place = at.join(' ');
    // References lead into components.
    const schema = compiled.get(place) ?? ajv.compile({ ...at.reduce((part, key) => part[key], document), components });
    compiled.set(place, schema);
    expect(schema(value), `${place}: ${ajv.errorsText(schema.errors)}`).to.equal(true);
  }

  return {
    document,
    /**
     * Throws where the answer to a `GET` is not as the document has it: another status, type, body or code, or a header
     * that is not described. `where` is path and query.
     */
    check(where: string, { status, headers, body }: Answer): void {
      const { response, at, searchParams } = head(where, status, headers);
      const text = (headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body).toString();
      if (response.content === undefined) return void expect(text).to.equal('');
      const [type = ''] = Object.keys(response.content);
      const value = JSON.parse(text);
      validate([...at, 'content', type, 'schema'], value);
      const [, name] = /^\w+:\/\/(\w+)$/.exec(searchParams.get('uri') ?? '') ?? [];
      if (status === 200 && name !== undefined) validate(['components', 'schemas', name], value);
    },
    /** The same for all but the body. */
    checkHead(where: string, { status, headers }: Pick<Answer, 'status' | 'headers'>): void {
      head(where, status, headers);
    },
  };

  function head(where: string, status: number, headers: Headers) {
    const { pathname, searchParams } = new URL(where, 'http://described.invalid');
    const { responses } = document.paths[pathname].get;
    const at = ['paths', pathname, 'get', 'responses', status in responses ? String(status) : 'default'];
    const response = at.reduce((part, key) => part?.[key], document);
    expect(status < 400, `${where}: ${status}`).to.equal(status in responses);
    checkHeaders(at, response.headers, headers);
    const [type] = (headers.get('content-type') ?? '').split(';');
    if (response.content !== undefined) expect(Object.keys(response.content)).to.deep.equal([type]);
    return { response, at, searchParams };
  }

  function checkHeaders(at: readonly string[], described: Json, headers: Headers): void {
    const names = Object.keys(described).map((name) => name.toLowerCase());
    for (const name of headers.keys()) {
      if (!OF_HTTP.has(name)) expect(names, `${at.join(' ')}: ${name} is not described`).to.include(name);
    }
  }
}
