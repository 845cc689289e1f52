import type { GatewayError } from '../../kernel/errors.ts';
import type { ListRequest, PageView } from './list-read.ts';
import type { PageAddress } from './page-address.ts';
import { inSteps } from './repeats.ts';

/** A list all pages of which came, and which nothing says to go on. */
export interface ListEnd {
  readonly list: ListRequest;
  readonly first: PageView;
  readonly last: PageView;
  /** Items of all pages. */
  readonly items: number;
  /** Pages that have items. */
  readonly filled: number;
  /** Items of the last page that has some. */
  readonly tail: number;
  /** Marks of the documented ids of that page and of the one before it. */
  readonly tailIds: string;
}

/** One more request, whose reply shows whether a list ends where it seems to. */
export interface EndTest {
  readonly address: PageAddress;
  /** Whether the reply is that of a list which ends there. Looks at counts and ids: items may hold what changes with each reply. */
  passes(reply: PageView): boolean | Promise<boolean>;
  /** What it shows that the platform refuses the request: nothing against the list, or that the settings are wrong. */
  readonly refusal: 'passes' | 'fails';
  /** The error of a list that fails the test. `came` says what came in place of what is due. */
  failed(came: string, cause?: unknown): GatewayError;
}

/** Whether all ids of a reply are among those of pages that were read. */
export async function bringsOnly(ids: string, reply: PageView): Promise<boolean> {
  const known = new Set<string>();
  for await (const some of inSteps(ids)) for (const id of some) known.add(id);
  for await (const some of inSteps(reply.ids ?? '')) if (some.some((id) => !known.has(id))) return false;
  return true;
}
