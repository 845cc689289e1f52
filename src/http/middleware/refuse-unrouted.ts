import { GatewayError } from '../../kernel/errors.ts';
import type { Middleware } from '../context.ts';

/** Innermost: no route took the request. */
export const refuseUnrouted: Middleware = function refuse(ctx) {
  const route = ctx.matched?.[0];
  if (route === undefined) throw new GatewayError('not_found');
  const { exchange } = ctx.state;
  exchange.route = String(route.path);
  exchange.allow = [...route.methods].sort().join(', ');
  throw new GatewayError('method_not_allowed');
};
