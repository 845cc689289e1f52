import {
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  RELATED_TASK_META_KEY,
} from '@modelcontextprotocol/server';

/*
 * The SDK has guards of these names. Each walks over all that a message holds, so that a wide one of 1 MiB takes it 50 to
 * 100 ms, and a read from the cache is 5 % slower for it. These look at what JSON-RPC and the protocol say of every
 * message, and at nothing else; a test holds them against those of the SDK.
 */

/** A parsed JSON value: `Object.hasOwn` finds members of any name. */
type Members = Readonly<Record<string, unknown>>;

export function isRequest(value: unknown): value is JSONRPCRequest {
  return isMessage(value, ['id', 'method', 'params']) && isId(value['id']) && isCall(value);
}

export function isNotification(value: unknown): value is JSONRPCNotification {
  return isMessage(value, ['method', 'params']) && isCall(value);
}

export function isResponse(value: unknown): value is JSONRPCResponse {
  if (isMessage(value, ['id', 'result'])) {
    const { id, result } = value;
    return isId(id) && isObject(result) && (result['_meta'] === undefined || isObject(result['_meta']));
  }
  if (!isMessage(value, ['id', 'error'])) return false;
  const { id, error } = value;
  const isError = isObject(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string';
  return isError && (id === undefined || isId(id));
}

/** Returns whether a value is a JSON-RPC 2.0 object with only these members. */
function isMessage(value: unknown, members: readonly string[]): value is Members {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  for (const name in value) if (name !== 'jsonrpc' && !members.includes(name)) return false;
  return true;
}

function isCall({ method, params }: Members): boolean {
  if (typeof method !== 'string') return false;
  if (params === undefined) return true;
  if (!isObject(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  if (!isObject(meta)) return false;
  const { progressToken, [RELATED_TASK_META_KEY]: task } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return false;
  return task === undefined || (isObject(task) && typeof task['taskId'] === 'string');
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
