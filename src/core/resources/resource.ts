import { z } from 'zod';

/** Definition of a resource. A platform's own field names are in settings. */
export interface Resource {
  /** Last part of the URI, and the key of its settings. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Hosts show it without the server's name, so it must not be a method's, such as `tools/list`. */
  readonly tool: string;
  /** Other words for an item: hosts search tools by exact words. */
  readonly keywords: readonly string[];
  /** Whether snapshots may be stored and served to the same caller again. */
  readonly stored: boolean;
  /** Fields; `min(1)`: must not be empty. Reads do not validate items again: it would take a third of the time of parsing. */
  readonly shape: z.ZodObject<Record<string, z.ZodString>>;
  readonly query: Readonly<Record<string, string>>;
  readonly formats: Readonly<Record<string, FieldFormat>>;
  readonly filters: readonly string[];
}

type FieldFormat = 'timestamp' | 'version';

/** An item of any resource: the documented fields, all strings. */
export type Item = Readonly<Record<string, string>>;

export interface Definition {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: 'application/json';
}

/** Returns the definition of a resource under the URI scheme in settings. */
export function define(resource: Resource, scheme: string): Definition {
  return {
    uri: `${scheme}://${resource.name}`,
    name: resource.title,
    description: resource.description,
    mimeType: 'application/json',
  };
}

/** Returns the JSON Schema (2020-12) of an item. */
export function itemSchema({ shape }: Resource): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape);
  return schema;
}

/** Returns the required fields: those that must not be empty. */
export function requiredFields({ shape }: Resource): string[] {
  return Object.entries(shape.shape).flatMap(([name, field]) => (field.safeParse('').success ? [] : [name]));
}
