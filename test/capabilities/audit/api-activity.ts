/**
 * JSON Schema of the part of OCSF's class API Activity (6003) that Portico uses, by the public schema of version 1.6.0: required
 * attributes of the class and of its objects, constraints (`at_least_one`), types, and names: no others are allowed.
 */
const text = { type: 'string', minLength: 1 };
const integer = { type: 'integer' };
const object = (properties: object, required: readonly string[] = [], atLeastOne: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  ...(atLeastOne.length > 0 && { anyOf: atLeastOne.map((name) => ({ required: [name] })) }),
});

/** Required of the base event and of the class. */
const REQUIRED = [
  ...['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time', 'type_uid'],
  ...['actor', 'api', 'src_endpoint'],
];

const product = object({ name: text, uid: text, vendor_name: text, version: text }, [], ['name', 'uid']);
const user = object({ name: text, uid: text, credential_uid: text }, [], ['account', 'name', 'uid']);
const session = object({ uid: text, credential_uid: text });
const endpoint = object(
  { ip: { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }, name: text },
  [],
  ['ip', 'uid', 'name', 'hostname', 'svc_name'],
);

export const API_ACTIVITY = object(
  {
    category_uid: { const: 6 },
    class_uid: { const: 6003 },
    activity_id: { enum: [0, 1, 2, 3, 4, 99] },
    type_uid: { enum: [600300, 600301, 600302, 600303, 600304, 600399] },
    severity_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
    // In milliseconds; as seconds it would be in 1970.
    time: { type: 'integer', minimum: 1_000_000_000_000 },
    status_id: { enum: [0, 1, 2, 99] },
    status_code: text,
    metadata: object({ version: { const: '1.6.0' }, product, log_name: text, correlation_uid: text }, [
      'product',
      'version',
    ]),
    actor: object({ user, session }, [], ['process', 'user', 'invoked_by', 'session', 'app_name', 'app_uid']),
    src_endpoint: endpoint,
    api: object(
      { operation: text, request: object({ uid: text }, ['uid']), response: object({ code: integer, error: text }) },
      ['operation'],
    ),
    resources: { type: 'array', items: object({ name: text, uid: text }, [], ['name', 'uid']) },
    unmapped: { type: 'object' },
  },
  REQUIRED,
);
