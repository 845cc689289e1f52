import { GatewayError } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { send } from '../send.ts';
import type { Routes } from './router.ts';

const OK = {
  status: 200,
  headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
  body: Buffer.from('{"status":"ok"}'),
};

/** Whoever asks these knows no host of ours and has no credential. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** What an orchestrator asks. Neither depends on any upstream: restarting or unplugging Portico mends none. */
export function probeRoutes(isDraining: () => boolean): Routes {
  function sayOk(ctx: Context): void {
    send(ctx, OK);
    ctx.state.exchange.outcome = 'ok';
  }
  return {
    '/livez': sayOk,
    '/readyz'(ctx) {
      if (isDraining()) throw new GatewayError('draining');
      sayOk(ctx);
    },
  };
}
