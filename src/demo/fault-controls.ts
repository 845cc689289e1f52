import { type Handler, type Routes, sendError, sendJson } from './demo-server.ts';
import { type Behaviour, FAULT_KINDS, NO_FAULT } from './faults.ts';

const MAX_LATENCY_MS = 60_000;

/**
 * Controls of one demo API: `GET /demo` shows them, `PUT /demo/fault?kind=` and `PUT /demo/latency?ms=` set them, `DELETE`
 * of `/demo`, `/demo/fault` and `/demo/latency` resets them. The response is always the new state.
 */
export function createFaultControls(api: string, behaviour: Behaviour): Routes {
  const show: Handler = ({ response }) => sendJson(response, 200, { api, ...behaviour, faultKinds: FAULT_KINDS });
  const set = (change: Partial<Behaviour>, exchange: Parameters<Handler>[0]) => {
    Object.assign(behaviour, change);
    return show(exchange);
  };
  const setFault: Handler = (exchange) => {
    const fault = FAULT_KINDS.find((kind) => kind === exchange.query.get('kind'));
    if (fault !== undefined) return set({ fault }, exchange);
    sendError(exchange.response, 400, `kind must be one of ${FAULT_KINDS.join(', ')}.`);
  };
  const setLatency: Handler = (exchange) => {
    const ms = exchange.query.get('ms') ?? '';
    if (/^\d{1,5}$/.test(ms) && Number(ms) <= MAX_LATENCY_MS) return set({ latencyMs: Number(ms) }, exchange);
    sendError(exchange.response, 400, `ms must be a whole number from 0 to ${MAX_LATENCY_MS}.`);
  };
  return {
    '/demo': { GET: show, DELETE: (exchange) => set(NO_FAULT, exchange) },
    '/demo/fault': { PUT: setFault, DELETE: (exchange) => set({ fault: null }, exchange) },
    '/demo/latency': { PUT: setLatency, DELETE: (exchange) => set({ latencyMs: 0 }, exchange) },
  };
}
