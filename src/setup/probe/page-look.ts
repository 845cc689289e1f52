import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import { createPageParser, type Page } from '../../core/mapping/page.ts';
import { textOf } from '../../core/upstream/client/receive.ts';
import { statementsOf } from '../../core/upstream/signs/statements.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';

/** Parses the body of a page as the read does. Undefined if it is not JSON; without a page if `items` selects no list. */
export function parsePage(bytes: Buffer, items: string): { readonly body: unknown; readonly page?: Page } | undefined {
  let body: unknown;
  try {
    const text = textOf(bytes);
    body = JSON.parse(text);
    return { body, page: createPageParser({ items })(text) };
  } catch (error) {
    if (!(error instanceof GatewayError || error instanceof SyntaxError)) throw error;
    return body === undefined ? undefined : { body };
  }
}

export interface Look {
  readonly count: number;
  /** The ids of the items and the totals of the page: equal for the same part of the same list. */
  readonly ids: string;
  readonly content: string;
}

export function lookAt(bytes: Buffer, headers: ReplyHeaders, settings: ResourceConfig): Look | undefined {
  const page = parsePage(bytes, settings.items)?.page;
  if (page === undefined) return undefined;
  const { id } = settings.fields;
  const map = createMapper({ fields: id === undefined ? {} : { id }, required: ['id'], invalidItems: 'drop' });
  const ids = map(page).items.map((item) => item['id']);
  const content = JSON.stringify(page.items);
  const totals = statementsOf(page.enclosing, headers).flatMap(({ sign, says }) => (sign === 'total' ? [says] : []));
  return { count: page.items.length, ids: JSON.stringify([ids.length > 0 ? ids : content, totals]), content };
}
