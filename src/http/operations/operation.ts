import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpResponse } from '../response/send.ts';

interface Asked {
  /** Where it is asked for: strict and case-sensitive. Names it in the log. */
  readonly path: string;
  /** Targets, beside the bare path, that clients send most. */
  readonly targets?: readonly string[];
  /** Methods of HTTP that ask for it; none where a request asks for nothing that there is. */
  readonly methods: readonly string[];
  /** Whether its request may have a body. */
  readonly takesBody: boolean;
  /** Whether orchestrators ask for it: they know no host of ours, and ask while the listener ends, too. */
  readonly isProbe: boolean;
}

/** What anybody may ask for. */
export interface OpenOperation extends Asked {
  readonly open: true;
  /** Whether it is a page for browsers: nobody else is told that there is something at its path. */
  readonly isPage?: true;
  /** Throws a `GatewayError` for what is wrong. */
  respond(exchange: Exchange): HttpResponse;
}

/** What needs to know who asks. */
export interface CallerOperation extends Asked {
  readonly open: false;
  /** Throws, or rejects with, a `GatewayError` for what is wrong. */
  respond(exchange: Exchange, caller: Caller): HttpResponse | Promise<HttpResponse>;
}

/** What a request can ask for. */
export type Operation = OpenOperation | CallerOperation;

/** What a request asks for whose path nothing lives at. */
export const UNKNOWN_PATH: OpenOperation = {
  path: 'unmatched',
  methods: [],
  takesBody: false,
  isProbe: false,
  open: true,
  respond() {
    throw new GatewayError('not_found');
  },
};

/** What a request asks for with a method that its path does not take; `asked` are the operations that live there. */
export function wrongMethod(asked: readonly Operation[]): OpenOperation {
  const { path, isProbe } = asked[0] ?? UNKNOWN_PATH;
  const allow = [...new Set(asked.flatMap(({ methods }) => methods))].sort().join(', ');
  return {
    path,
    methods: [],
    takesBody: false,
    isProbe,
    open: true,
    respond() {
      throw new GatewayError('method_not_allowed', { allow });
    },
  };
}
