import type { Shape } from './shape.ts';

/** A `GET` that answers with a list, as a document describes it or a reply shows it. */
export interface Listing {
  /** Below the base URL, with `{name}` for what varies: `/orgs/{org}/installations`. */
  readonly path: string;
  /** What the platform calls it, in its own words; may be empty. */
  readonly title: string;
  /** The expression that finds the items in a body, and how sure it is. */
  readonly items: string;
  readonly itemsInDoubt: boolean;
  readonly item: Shape;
  /** The whole body. */
  readonly body: Shape;
  /** Names of response headers, in lower case. */
  readonly headers: ReadonlySet<string>;
  readonly parameters: readonly Parameter[];
  readonly deprecated: boolean;
  /** The media type of the answer; empty where it is any. */
  readonly mediaType: string;
  /** How it was seen to page, where the platform itself was asked. */
  readonly paging?: PagingProposal;
  /** Names of security schemes, each list one way to be let in. */
  readonly security: readonly (readonly string[])[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly description: string;
  /** What it is unless it is sent, or the one value that it may have. */
  readonly value: string | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isNumber: boolean;
  /** Takes true and false only. */
  readonly isFlag: boolean;
}

/** The setting `pagination`, as a file holds it. */
export type Pagination = { readonly kind: string } & Readonly<Record<string, string | number | null>>;

/** How a list is spread over pages. */
export interface PagingProposal {
  /** Undefined where nothing tells how to come to the second page, although there seems to be one. */
  readonly pagination: Pagination | undefined;
  /** What a person may want to begin with where it is undefined. */
  readonly likely?: Pagination;
  /** Query parameters without which the platform sends no total. */
  readonly query?: Readonly<Record<string, string>>;
  readonly why: string;
  /** What a person should look at, in sentences. */
  readonly doubts: readonly string[];
}
