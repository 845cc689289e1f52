import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { STATUS_POLICY, statusPage } from './status-page.ts';
import type { Status } from './view.ts';

const PLAIN = { methods: ['GET', 'HEAD'], takesBody: false, isProbe: false, open: true } as const;

/** How it goes, for a person at `/` and for programs at `/status`: the same. */
export function statusOperations(view: () => Status): readonly OpenOperation[] {
  return [
    {
      ...PLAIN,
      path: '/',
      respond: () => ({
        status: 200,
        headers: ['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-store'],
        body: Buffer.from(statusPage(view())),
        policy: STATUS_POLICY,
      }),
    },
    {
      ...PLAIN,
      path: '/status',
      respond: () => ({
        status: 200,
        headers: ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
        body: Buffer.from(JSON.stringify(view())),
      }),
    },
  ];
}
