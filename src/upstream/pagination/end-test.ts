import type { GatewayError } from '../../kernel/errors.ts';
import type { ListRequest, PageView } from './list-read.ts';
import type { PageAddress } from './page-address.ts';

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
}

/** One more request, whose reply shows whether a list ends where it seems to. */
export interface EndTest {
  readonly address: PageAddress;
  /** Whether the reply is that of a list which ends there. Looks at counts: items may hold what changes with each reply. */
  passes(reply: PageView): boolean;
  /** What it shows that the platform refuses the request: nothing against the list, or that the settings are wrong. */
  readonly refusal: 'passes' | 'fails';
  /** The error of a list that fails the test. `came` says what came in place of what is due. */
  failed(came: string, cause?: unknown): GatewayError;
}
