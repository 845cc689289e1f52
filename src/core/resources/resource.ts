import { z } from 'zod';

/** One URI and all that Portico itself knows about it. What a platform calls its fields stands in settings. */
export interface Resource {
  /** The last part of the URI (`platform://<name>`), and the key of its settings. */
  readonly name: string;
  /** Display name in the list. */
  readonly title: string;
  readonly description: string;
  /** Whether what a caller was shown may be shown to that caller again for a while. */
  readonly stored: boolean;
  /** The item's shape: exactly these fields, every one a string; `min(1)` where it must not be empty. */
  readonly shape: z.ZodObject<Record<string, z.ZodString>>;
  /** Query that the default upstream contract adds to every page. */
  readonly query: Readonly<Record<string, string>>;
  /** Formats that apply unless settings say otherwise. */
  readonly formats: Readonly<Record<string, FieldFormat>>;
  /** Fields that tell kinds of items apart: by these, a tool narrows the list. */
  readonly filters: readonly string[];
}

/** How a field's text is brought into the documented form. */
export type FieldFormat = 'timestamp' | 'version';

/** An item of any resource: documented fields only, every one a string. */
export type Item = Readonly<Record<string, string>>;

/** What the list shows of a resource. */
export interface Definition {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: 'application/json';
}

/** A resource as the list shows it, under the URI scheme that settings name. */
export function define(resource: Resource, scheme: string): Definition {
  return {
    uri: `${scheme}://${resource.name}`,
    name: resource.title,
    description: resource.description,
    mimeType: 'application/json',
  };
}

/** JSON Schema (2020-12) of an item of a read, for those who check or generate by it. */
export function itemSchema({ shape }: Resource): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape);
  return schema;
}

/** Fields without which an item is no item: those that the shape does not let be empty. */
export function requiredFields({ shape }: Resource): string[] {
  return Object.entries(shape.shape).flatMap(([name, field]) => (field.safeParse('').success ? [] : [name]));
}
