import { z } from 'zod';

/**
 * What the schema of server.json, version 2025-12-11, requires of the keys in ours: required keys, lengths, patterns and
 * values, in words of our own, since no npm package brings that schema (it is published at the address below, and its
 * source is the repository modelcontextprotocol/registry). Stricter in one thing: a key that is not here is refused.
 */
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

const INPUT = {
  description: z.string().optional(),
  value: z.string().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
};

/** Only positional ones: `--config` is an option of some hosts. */
const argument = z
  .strictObject({ ...INPUT, type: z.literal('positional'), valueHint: z.string().optional() })
  .refine(({ value, valueHint }) => value !== undefined || valueHint !== undefined, 'needs value or valueHint');

/** One version, and no range of them. */
const version = z
  .string()
  .max(255)
  .regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/);

const npmPackage = z.strictObject({
  registryType: z.literal('npm'),
  identifier: z.string(),
  version,
  runtimeHint: z.string().optional(),
  transport: z.strictObject({ type: z.literal('stdio') }),
  packageArguments: z.array(argument),
  environmentVariables: z.array(z.strictObject({ ...INPUT, name: z.string() })),
});

export const serverJson = z.strictObject({
  $schema: z.literal(SCHEMA),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version,
  packages: z.tuple([npmPackage]),
});
