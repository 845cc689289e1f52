import { z } from 'zod';
import { checkExpression } from '../../mapping/expression.ts';

/** A whole number. Not `z.int()`: at a fraction that ends all other checks, and other mistakes would stay unsaid. */
export const whole = (minimum: number, maximum: number) =>
  z.number().refine(Number.isInteger, 'must be a whole number').min(minimum).max(maximum).meta({ type: 'integer' });

/** A whole number of milliseconds. 0 only where the key's own text says what 0 means. */
export const milliseconds = (minimum = 1) => whole(minimum, 86_400_000);

/** A whole number of bytes. */
export const bytes = (minimum = 1) => whole(minimum, 1_073_741_824);

/** A TCP port; 0 lets the system choose a free one. */
export const port = whole(0, 65_535);

/** A JMESPath expression, compiled once while settings are read, so that a bad one is a mistake in settings. */
export const expression = z
  .string()
  .min(1)
  .check((context) => {
    const mistake = checkExpression(context.value);
    if (mistake !== undefined) {
      context.issues.push({ code: 'custom', message: mistake, input: context.value });
    }
  });

/** Where an HTTP API lives. One slash at its end is taken off, since every path begins with one. */
export const baseUrl = z
  .url({
    protocol: /^https?$/,
    error: ({ code }) => (code === 'invalid_format' ? 'must be an http or https URL' : undefined),
  })
  .refine((url) => !URL.canParse(url) || isBare(new URL(url)), 'must hold no user, password, query or fragment')
  .overwrite((url) => (url.endsWith('/') ? url.slice(0, -1) : url));

function isBare(url: URL): boolean {
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/**
 * Text of one header or query value. Numbers and booleans are taken as their text: `${KEY}` may look like either.
 * From a file it is the text as written (`007`, `1.10`), which `src/config/tree-value.ts` sees to.
 */
export const scalarText = z
  .union([z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'), z.number(), z.boolean()], {
    error: 'must be text',
  })
  .transform(String);
