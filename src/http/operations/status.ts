import type { Status } from '../../observability/status/view.ts';
import { STATUS_POLICY, statusPage } from '../pages/status-page.ts';
import type { OpenOperation } from './operation.ts';

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
