import { FAULT_KINDS, type FaultKind, isFaultKind } from './faults.ts';
import { sendError, sendJson } from './reply.ts';
import type { Handler, Routes } from './server.ts';

/** How one demo API behaves just now. Each request looks once it is its turn. */
export interface Behaviour {
  /** `null`: none. */
  fault: FaultKind | null;
  /** Added before each response of the list. */
  latencyMs: number;
}

/** How it behaves where nobody has told it otherwise. */
export const CALM: Readonly<Behaviour> = { fault: null, latencyMs: 0 };

const MAX_LATENCY_MS = 60_000;

/**
 * The switches of one demo API: `GET /demo` shows them, `PUT /demo/fault?kind=` and `PUT /demo/latency?ms=` set them,
 * `DELETE /demo`, `/demo/fault` and `/demo/latency` put them back. The response is always the new state.
 */
export function createControl(api: string, behaviour: Behaviour): Routes {
  const show: Handler = ({ response }) => sendJson(response, 200, { api, ...behaviour, faultKinds: FAULT_KINDS });
  const putBack =
    (calm: Partial<Behaviour>): Handler =>
    (exchange) => {
      Object.assign(behaviour, calm);
      return show(exchange);
    };
  const setFault: Handler = (exchange) => {
    const kind = exchange.query.get('kind');
    if (!isFaultKind(kind)) return sendError(exchange.response, 400, `kind must be one of ${FAULT_KINDS.join(', ')}.`);
    behaviour.fault = kind;
    return show(exchange);
  };
  const setLatency: Handler = (exchange) => {
    const ms = exchange.query.get('ms') ?? '';
    if (!/^\d{1,5}$/.test(ms) || Number(ms) > MAX_LATENCY_MS) {
      return sendError(exchange.response, 400, `ms must be a whole number from 0 to ${MAX_LATENCY_MS}.`);
    }
    behaviour.latencyMs = Number(ms);
    return show(exchange);
  };
  return {
    '/demo': { GET: show, DELETE: putBack(CALM) },
    '/demo/fault': { PUT: setFault, DELETE: putBack({ fault: null }) },
    '/demo/latency': { PUT: setLatency, DELETE: putBack({ latencyMs: 0 }) },
  };
}
