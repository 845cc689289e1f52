import type { Statement } from '../hints/statements.ts';
import type { ListRequest, PageSummary } from './list-read.ts';
import type { PageAddress } from './page-address.ts';

/** Facts about a list that its pages have shown so far. */
export interface Progress {
  items: number;
  /** Pages up to the last one that has items. */
  pages: number;
  filled: number;
  /** Items of the last page that has any. */
  lastPageCount: number;
  /** Digests of the ids of that page and of the one before it. */
  lastPageIds: string;
  /** The smallest that a page has stated. */
  readonly least: { total?: Statement; pages?: Statement };
  last: PageSummary;
}

/** A list that was read, as far as it shows whether it is complete. */
export interface ListEnd extends Readonly<Progress> {
  readonly list: ListRequest;
  readonly first: PageSummary;
}

/** Requests another page of the same list. Not counted in `maxPages`. */
export type Ask = (address: PageAddress, signal?: AbortSignal) => Promise<PageSummary>;

/** Confirms lists of one resource by further requests. */
export interface Confirmation {
  /** Whether the next complete list is confirmed. Its pages then have the digests of their ids, and no reply is reused. */
  isDue(): boolean;
  /**
   * Called with each complete list. Throws `upstream_invalid` if it is not complete. `isOneOfMany`: of the lists of several parents,
   * the longest one shows most.
   */
  confirm(end: ListEnd, ask: Ask, isOneOfMany?: boolean): Promise<void>;
}

/** Opens the confirmation of one resource. `fingerprint` changes with everything that its list depends on. */
export type OpenConfirmation = (resource: string, fingerprint: string) => Confirmation;

export const NO_CONFIRMATION: Confirmation = { isDue: () => false, confirm: async () => {} };

/** Confirms the list of one of several parents: all of them are due if it is now. */
export function oneOfMany({ isDue, confirm }: Confirmation): Confirmation {
  const due = isDue();
  return { isDue: () => due, confirm: (end, ask) => confirm(end, ask, due) };
}
