import { GatewayError } from '../../kernel/errors.ts';
import type { HttpResponse } from '../response/send.ts';
import type { OpenOperation } from './operation.ts';

const OK: HttpResponse = {
  status: 200,
  headers: ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
  body: Buffer.from('{"status":"ok"}'),
};

/** What an orchestrator asks. Neither depends on any upstream: restarting or unplugging Portico mends none. */
export function probeOperations(isDraining: () => boolean): readonly OpenOperation[] {
  const probe = (path: string, respond: () => HttpResponse): OpenOperation => ({
    path,
    methods: ['GET', 'HEAD'],
    takesBody: false,
    isProbe: true,
    open: true,
    respond,
  });
  return [
    probe('/livez', () => OK),
    probe('/readyz', () => {
      if (isDraining()) throw new GatewayError('draining');
      return OK;
    }),
  ];
}
