import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { compileExpression } from '../../core/mapping/expressions/expression.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import { createPageParser, type Page } from '../../core/mapping/page.ts';
import { bodyText } from '../../core/upstream/client/body.ts';
import { type Statement, statementsOf } from '../../core/upstream/hints/statements.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';

export interface InspectedPage {
  /** `undefined` for a 404 that settings take for an empty list. */
  readonly page?: Page;
  readonly statements: readonly Statement[];
  readonly count: number;
  /** The ids of the items and the totals of the page: equal for the same part of the same list. */
  readonly ids: string;
  readonly content: string;
  /** The largest total that the page states; 0 without one. */
  readonly total: number;
  /** How the platform writes that the list is empty. */
  readonly emptyAs?: string;
}

/** What a 404 is that settings take for an empty list. */
export const NO_LIST: InspectedPage = {
  ...{ statements: [], count: 0, ids: '', content: '[]', total: 0, emptyAs: 'status 404' },
};

/** Parses a page as the read does; `undefined` if the read refuses it. */
export function inspectPage(bytes: Buffer, headers: ReplyHeaders, settings: ResourceConfig): InspectedPage | undefined {
  const page = parsePage(bytes, settings);
  if (page === undefined) return undefined;
  const { id } = settings.fields;
  const map = createMapper({ fields: id === undefined ? {} : { id }, required: ['id'], invalidItems: 'drop' });
  const ids = map(page).items.map((item) => item['id']);
  const content = JSON.stringify(page.items);
  const statements = statementsOf(page.enclosing, headers);
  const totals = statements.filter(({ sign }) => sign === 'total');
  const count = page.items.length;
  return {
    ...{ page, statements, count, content },
    ids: JSON.stringify([ids.length > 0 ? ids : content, totals.map(({ stated }) => stated)]),
    total: Math.max(0, ...totals.map(({ stated, isCount }) => (isCount ? 0 : Number(stated)))),
    ...(count === 0 && { emptyAs: emptyForm(bytes, page, settings) }),
  };
}

function parsePage(bytes: Buffer, settings: ResourceConfig): Page | undefined {
  try {
    return createPageParser(settings)(bodyText(bytes));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}

function emptyForm(bytes: Buffer, { body }: Page, { items }: ResourceConfig): string {
  if (bytes.length === 0) return 'no body';
  const { evaluate, leadingFields } = compileExpression(items);
  const list = evaluate(body);
  if (list !== null) return list === '' ? 'an empty text' : Array.isArray(list) ? '[]' : '{}';
  let holder: unknown = body;
  for (const lead of leadingFields.slice(0, -1)) holder = Object(holder)[lead];
  const last = leadingFields.at(-1);
  return body === null || last === undefined || Object.hasOwn(Object(holder), last) ? 'null' : 'an absent member';
}
